// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-run` of a folder that `cutback split` wrote.
#ifndef CUTBACK_TOOLS_CUTBACKRUN_PIPELINECOMMAND_H
#define CUTBACK_TOOLS_CUTBACKRUN_PIPELINECOMMAND_H

#include "cutback/Support/CommandLine.h"

namespace cutback {

/// Those that a pipeline has beside --inputs, --weights, --outputs, --seed and
/// --threads.
std::vector<OptionSpec> pipelineOptions();

/// Runs it. Exit code.
int runPipelineCommand(const CommandLine &line);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACKRUN_PIPELINECOMMAND_H
