// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan options, the same for every command that plans, and the way from a
// command line to a plan.
#ifndef CUTBACK_TOOLS_CUTBACK_PLANRUN_H
#define CUTBACK_TOOLS_CUTBACK_PLANRUN_H

#include "Session.h"

#include "cutback/Pipelines/PartitionPipeline.h"

#include <memory>
#include <vector>

namespace cutback {

/// Options that decide a plan, then those of reading the input.
std::vector<OptionSpec> planOptions();

/// Reads the plan options. Returns false and sets `error` if they contradict
/// each other or a value is malformed.
bool readPlanOptions(const CommandLine &line, PartitionOptions &options,
                     std::string &error);

/// A graph with its plan.
struct PlanRun {
  ImportedModule imported;
  PartitionOptions options;
  PhaseSeconds seconds; ///< of reading and preparing
  std::unique_ptr<PartitionResult> result;

  PlanRun() = default;
  /// Graph and plan live until the process ends: taking a million ops apart
  /// takes as long as planning them.
  ~PlanRun() {
    (void)imported.module.release();
    (void)result.release();
  }

  /// Reads the plan options and the graph. Returns an exit code.
  int load(Session &session, const ImportOptions &options);
  /// Prepares the graph, plans, and asks the certificate. Returns an exit code.
  int plan(Session &session);
};

/// Options common to all commands that plan, behind their own.
std::vector<OptionSpec> withPlanOptions(std::vector<OptionSpec> own);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_PLANRUN_H
