// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a command line to a plan.
#ifndef CUTBACK_TOOLS_CUTBACK_PLANRUN_H
#define CUTBACK_TOOLS_CUTBACK_PLANRUN_H

#include "Session.h"

#include "cutback/Planner/AutogradSaves.h"
#include "cutback/Planner/PartitionPipeline.h"

#include <memory>

namespace cutback {

/// A graph with its plan.
struct PlanRun {
  ImportedModule imported;
  PartitionOptions options;
  double importSeconds = 0;
  std::unique_ptr<PartitionResult> result;
  /// No gradient is wanted, and there is no backward: of load() that may find
  /// so. Why, for whoever reads results.
  std::optional<std::string> inference;
  /// What eager PyTorch keeps, of an input without a backward.
  std::optional<AutogradSaves> eager;

  PlanRun() = default;
  /// Graph and plan live until the process ends: taking a million ops apart
  /// takes as long as planning them.
  ~PlanRun() {
    (void)imported.module.release();
    (void)result.release();
  }

  /// Reads the plan options and the graph; of a folder that `compile` wrote,
  /// the plan that is in it, which it proves. Returns an exit code.
  /// With `mayInfer`, a program that nothing asks gradients of, or that has no
  /// loss and is given no gradient of its results, gets none.
  int load(Session &session, const ImportOptions &options,
           bool mayInfer = false, bool hasTangents = false);
  /// Prepares the graph, plans, and asks the certificate, unless the plan was
  /// stored. With `memory` the step's arena is planned too. Returns an exit
  /// code.
  int plan(Session &session, bool memory = false);

private:
  int loadStored(Session &session);
  void findInference(const TrainingGraphOptions &gradients, bool hasTangents);
};

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_PLANRUN_H
