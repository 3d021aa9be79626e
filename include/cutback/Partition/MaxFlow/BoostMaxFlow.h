// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H
#define CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

#include <memory>

namespace cutback {

/// Boost.Graph's algorithms on a compressed sparse row copy of a graph, as
/// yardsticks. Copying and solving are apart so that they can be timed apart.
class BoostMaxFlow {
public:
  /// Copies the graph with the flow it holds.
  explicit BoostMaxFlow(const ResidualGraph &graph);
  ~BoostMaxFlow();

  /// Compute a maximum flow of the copy. Can be repeated.
  void runBoykovKolmogorov();
  void runPushRelabel();

  /// Writes the last flow computed to the graph that was copied.
  void copyBack(ResidualGraph &graph) const;

private:
  struct Copy;
  std::unique_ptr<Copy> copy;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_BOOSTMAXFLOW_H
