// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All external models at once. Each dialect has a file of its own here, and
// Models.h what they share: models are not written an op but a kind of op
// ("pointwise with ten FLOPs"), and attached to all ops of that kind.

#include "cutback/Dialect/Upstream/ExternalModels.h"

void cutback::registerAllExternalModels(mlir::DialectRegistry &registry) {
  registerArithModels(registry);
  registerMathModels(registry);
  registerTensorModels(registry);
  registerLinalgModels(registry);
  registerTosaModels(registry);
}
