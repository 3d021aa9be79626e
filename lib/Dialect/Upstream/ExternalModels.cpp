// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All external models at once. Each dialect has a file of its own here, and
// Models.h what they share: models are not written an op but a kind of op
// ("pointwise with ten FLOPs"), and attached to all ops of that kind.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

void cutback::registerAllExternalModels(mlir::DialectRegistry &registry) {
  registerArithModels(registry);
  registerMathModels(registry);
  registerTensorModels(registry);
  registerLinalgModels(registry);
  registerTosaModels(registry);
  registerResultNames(registry);
}

void cutback::registerUpstreamDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect, mlir::tosa::TosaDialect>();
  registerAllExternalModels(registry);
}
