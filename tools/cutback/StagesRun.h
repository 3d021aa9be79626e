// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback run P`: a step of a pipeline in this process, or as a rank of an
// mpirun.
#ifndef CUTBACK_TOOLS_CUTBACK_STAGESRUN_H
#define CUTBACK_TOOLS_CUTBACK_STAGESRUN_H

#include "Session.h"

namespace cutback {

/// The options of `run` that are for a pipeline alone.
std::vector<OptionSpec> stagesRunOptions();

/// Refuses them where the input is no pipeline. Exit code.
int refuseStagesOptions(Session &session);

/// Runs the pipeline in the folder of the command line. Exit code.
int runStages(Session &session);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_STAGESRUN_H
