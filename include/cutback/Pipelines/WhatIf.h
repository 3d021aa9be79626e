// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan with one choice taken away from the solver.
#ifndef CUTBACK_PIPELINES_WHATIF_H
#define CUTBACK_PIPELINES_WHATIF_H

#include "cutback/Pipelines/PartitionPipeline.h"

namespace cutback {

/// What is to happen to one value.
struct ForcedChoice {
  uint32_t value = 0; ///< number in the view of the prepared graph
  /// The forward hands the value over and the backward does not compute it;
  /// else the backward computes it.
  bool save = false;
};

/// partitionGraph() by the minimum cut of the same network with the choice in
/// it as infinite arcs; nothing is emitted, all figures are filled in. Fails,
/// with an error at the graph, where no plan makes that choice. `prepared` is
/// what partitionGraph() may be given.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
partitionForced(joint::GraphOp graph, const PartitionOptions &options,
                const ForcedChoice &choice, PreparedGraph prepared = {});

} // namespace cutback

#endif // CUTBACK_PIPELINES_WHATIF_H
