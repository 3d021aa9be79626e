// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan options, the same for every command that plans and for programs
// that embed the planner.
#ifndef CUTBACK_PLANNER_PLANOPTIONS_H
#define CUTBACK_PLANNER_PLANOPTIONS_H

#include "cutback/Import/Import.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Runtime/HookOption.h"
#include "cutback/Support/CommandLine.h"

#include <string>
#include <vector>

namespace cutback {

/// Options that decide a plan.
std::vector<OptionSpec> planOptions();

/// Whether an option of these decides what the plan is; the others say what is
/// written about it.
bool isOfPlan(const OptionSpec &option);

/// Reads the plan options. Returns false and sets `error` if they contradict
/// each other or a value is malformed.
bool readPlanOptions(const CommandLine &line, PartitionOptions &options,
                     std::string &error);

/// Options of all commands that read a graph, and of those that may take long.
std::vector<OptionSpec> inputOptions();
ImportOptions importOptionsOf(const CommandLine &line);

/// Options that say what is differentiated, of a graph without gradients or for
/// a second time. Reading them returns false with `error` set.
std::vector<OptionSpec> gradientOptions();
bool readGradientOptions(const CommandLine &line, TrainingGraphOptions &options,
                         std::string &error);

/// Options common to all commands that plan, behind their own.
std::vector<OptionSpec> withPlanOptions(std::vector<OptionSpec> own);

/// Lets the planner emit a remark for every decision, as `--remarks` asks for.
void enablePlanRemarks(mlir::MLIRContext &context);

/// Whether the analyses that depend on the graph and the options alone
/// succeed, asked in silence. After a failed plan: false puts the blame on the
/// input, true says that there is no such plan.
bool inputAllowsPlan(joint::GraphOp graph, const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PLANNER_PLANOPTIONS_H
