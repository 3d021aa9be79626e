// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as loops: dialects func, scf, memref, arith, math and vector.
#ifndef CUTBACK_TARGET_CPU_LOWERKERNEL_H
#define CUTBACK_TARGET_CPU_LOWERKERNEL_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cutback {

/// What loops are cut for: a thread of a processor, or one of many of a device.
enum class LoopsFor { Processor, Thread };

/// Which accesses to memory are tested at run time: those at places that data
/// say, or each load and store. The verifier has proved the others, so that one
/// of them outside is a defect of the lowering.
enum class AccessTests { OfData, OfAll };

/// Functions that have no formula here: calls of the C library, or ops of math,
/// in double precision.
enum class RareFunctions { AreCalls, AreOps };

/// Results of so many bytes and more pass the caches of a processor.
constexpr int64_t kStreamedBytes = int64_t(32) << 20;

/// How kernels become loops.
struct LoopChoices {
  LoopsFor loops = LoopsFor::Processor;
  AccessTests tests = AccessTests::OfData;
  int64_t streamedBytes = kStreamedBytes;
  /// Of the machine: numbers are multiplied by powers of two in an instruction.
  bool hasScaling = false;
};

/// What a kernel's loops read.
struct KernelFrame : LoopChoices {
  mlir::ValueRange memories; ///< of the kernel, truth values as bytes
  mlir::Value cells;         ///< kKernelCells (Runtime/Artifact.h)
  mlir::Value part, parts;   ///< indices: which part, and of how many
  RareFunctions functions = RareFunctions::AreCalls;
};

/// Types of the memories, and of the cells behind them.
llvm::SmallVector<mlir::Type> loweredTypes(kernel::FuncOp kernel);

/// Writes the loops of `kernel` in front of the terminator of the block where
/// `builder` is: dialects scf, memref, arith, math and vector. All parts
/// together do what the kernel does, in any order. After an access outside of a
/// memory, or a pick outside of a row, the first cells have the number in
/// `checked`, from 1 on, and where. Emits an error at an op that has no machine
/// code. Linear in the ops, times the loops over a row.
mlir::LogicalResult lowerNests(kernel::FuncOp kernel, mlir::OpBuilder &builder,
                               const KernelFrame &frame,
                               std::vector<mlir::Operation *> &checked);

struct LoweredKernel {
  /// Takes what loweredTypes() says; the cells have part and parts too.
  mlir::func::FuncOp function;
  /// Ops of the kernel that may fail at run time.
  std::vector<mlir::Operation *> checked;
};

/// The same, as a function of the kernel's name in `module`. The order of every
/// sum, and each rounding, is that of docs/Kernels.md.
mlir::FailureOr<LoweredKernel> lowerKernel(kernel::FuncOp kernel,
                                           mlir::ModuleOp module,
                                           const LoopChoices &choices = {});

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_LOWERKERNEL_H
