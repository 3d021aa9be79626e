// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that a compiler registers to use Cutback whole: what
// `cutback-opt`, the language server and the plugin do.
#ifndef CUTBACK_INITALL_H
#define CUTBACK_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace cutback {

/// Dialects `joint` and `aten`, the gradient rules of `aten`, and the models of
/// MLIR's own dialects (ExternalModels.h), which apply where those are loaded.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes and the pipeline `cutback-pipeline`; for once a process, as
/// MLIR's registry of passes is.
void registerAllPasses();

} // namespace cutback

#endif // CUTBACK_INITALL_H
