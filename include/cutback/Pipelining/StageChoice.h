// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way from a forward program to its stages, for driver and passes.
#ifndef CUTBACK_PIPELINING_STAGECHOICE_H
#define CUTBACK_PIPELINING_STAGECHOICE_H

#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Pipelining/StageBoundaries.h"
#include "cutback/Pipelining/StageTimes.h"

namespace cutback {

/// Where a program is cut, and how.
struct StageChoice {
  std::optional<unsigned> stages; ///< of about equal time
  std::vector<SplitPoint> points; ///< of --split-spec
  double bandwidth = 50;          ///< of a link between stages, in GB/s
  /// By stage: its rank, where ranks have several (StageRequest); with
  /// `stages`.
  std::vector<int> rankOf;
  CutOptions cut;
};

/// The numbers of the ops with which stages of `graph` begin (cutGraph()); its
/// markers are gone then. `graph` is a functional forward program; it is cut at
/// its markers, or where `choice` says. Fails with an error at the graph where
/// both say something, or neither does, and where there are no so many stages.
mlir::FailureOr<std::vector<unsigned>>
findBegins(joint::GraphOp graph, const StageChoice &choice,
           const TrainingGraphOptions &gradients,
           const PartitionOptions &options);

/// Cuts `graph` there. Fails as findBegins() and cutGraph() do.
mlir::FailureOr<CutProgram> cutStages(joint::GraphOp graph,
                                      const StageChoice &choice,
                                      const TrainingGraphOptions &gradients,
                                      const PartitionOptions &options);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGECHOICE_H
