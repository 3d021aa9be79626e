// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders that `cutback compile` wrote, for the C interface.
#ifndef CUTBACK_LIB_CAPI_STORED_H
#define CUTBACK_LIB_CAPI_STORED_H

#include "Options.h"

namespace cutback::capi {

/// Whether there is a joint graph to plan; reports what could be given where
/// an input without one was read.
bool requireGraph(CutbackContext &context,
                  const mlir::FailureOr<ImportedModule> &imported);

/// Reads a folder and proves that its parts belong together. `options` are
/// those of reading.
CutbackStatus readStored(CutbackContext &context, const char *path,
                         size_t numOptions, const char *const *options,
                         CutbackGraph **graph);

/// The plan that the folder holds from which `graph` was read.
CutbackStatus takeStored(CutbackGraph &graph, const CommandLine &line,
                         CutbackPlan **made);

} // namespace cutback::capi

#endif // CUTBACK_LIB_CAPI_STORED_H
