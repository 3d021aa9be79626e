// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels to MLIR's own dialects for GPUs. The examples are the tests
// test/Target/NVVM/<pass>-doc.mlir, line by line.
#ifndef CUTBACK_TARGET_NVVM_PASSES_TD
#define CUTBACK_TARGET_NVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernelsToGpu
    : Pass<"cutback-lower-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "write every kernel as a gpu.func of MLIR's own dialects";
  let description = [{
    Makes one `gpu.module` of the `kernel.func` ops of a module, with loops in
    `scf`, `memref`, `arith`, `math` and `vector`: those of the CPU target, cut
    for one thread an iteration. `gpu-lower-to-nvvm-pipeline` of `mlir-opt`
    makes PTX of it. It is a check of kernels by another compiler, not what
    `--target=cuda` runs: rows are not shared by the lanes of a warp.

    Arguments are those of the kernel, truth values as bytes, then four cells:
    after an index outside of its memory the first two say which access that
    was, and where. Any grid of one dimension will do.

    Assumes: sizes are known (`compile --sym` gives them).
    Guarantees: the bits of the CPU target, where functions without a formula
    (`pow`, `log1p`, ...) round as its library does.
    Never: keeps anything else of the module.
    Cost: linear in the ops, times the loops over a row.

    Example: each thread takes its share of four elements.

    ```mlir
    kernel.func @k_neg(%arg0: memref<4xf32>) to (%arg1: memref<4xf32>) schedule "pointwise" {
      kernel.nest (%i) in [4] {
        %0 = kernel.load %arg0[%i] : memref<4xf32>
        %1 = arith.negf %0 : f32
        kernel.store %1, %arg1[%i] : memref<4xf32>
      }
    }
    ```
  }];
  let options = [
    Option<"kernel", "kernel", "std::string", "",
           "name of the only kernel to write; empty for all">,
  ];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
  ];
}

#endif // CUTBACK_TARGET_NVVM_PASSES_TD
