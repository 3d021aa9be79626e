// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-lsp-server with the dialects of this project: diagnostics, hover,
// definitions and completion in editors that speak the language server
// protocol, for graphs of `joint` and `aten` and of the dialects that a
// training graph may be made of.

#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  cutback::registerAllDialects(registry);
  cutback::registerUpstreamDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
