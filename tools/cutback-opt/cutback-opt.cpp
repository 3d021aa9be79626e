// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt for this project: reads MLIR text or bytecode, runs passes, writes
// text or (with --emit-bytecode) bytecode. A file that is read and printed
// again is verified, so without passes this is the checker of test inputs.
// Graphs may be made of `aten`, or of MLIR's own dialects on tensors, of which
// it has the models.

#include "cutback/InitAll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  cutback::registerAllPasses();
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect, mlir::tosa::TosaDialect>();
  cutback::registerAllDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "training-graph optimizer driver\n", registry));
}
