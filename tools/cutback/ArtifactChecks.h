// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled step that runs launch by launch, for those who look on.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H

#include "ArtifactRun.h"
#include "RunChecks.h"

namespace cutback {

/// Runs forward and backward of `bound`, which was opened from `folder`, as
/// they are compiled, and tells the observers of `checks` of each launch, with
/// what kernels.mlir says of it. Exit code; 3 if a check has stopped it.
int runWithChecks(Session &session, const std::string &folder,
                  BoundArtifact &bound, const RunChecks &checks);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H
