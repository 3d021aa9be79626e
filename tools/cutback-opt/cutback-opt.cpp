// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt for this project: reads MLIR text or bytecode, runs passes, writes
// text or (with --emit-bytecode) bytecode. A file that is read and printed
// again is verified, so without passes this is the checker of test inputs.
// Graphs may be made of `aten`, or of MLIR's own dialects on tensors, of which
// it has the models.

#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/InitAll.h"
#include "cutback/Target/NVVM/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  cutback::registerAllPasses();
  cutback::registerCutbackTargetNvvmPasses();
  mlir::DialectRegistry registry;
  cutback::registerAllDialects(registry);
  cutback::registerUpstreamDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "training-graph optimizer driver\n", registry));
}
