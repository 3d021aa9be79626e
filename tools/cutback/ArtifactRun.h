// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that was compiled for a target, from its folder.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H

#include "Session.h"

#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/StepFiles.h"

namespace cutback {

/// Whether `path` is a folder with a compiled step.
bool isArtifact(const std::string &path);

/// Runs the step in `folder` on tensors of `sources`. Exit code; results and
/// their rounding go into `result`.
int runArtifact(Session &session, const std::string &folder,
                const StepFiles &sources, ReferenceResult &result);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H
