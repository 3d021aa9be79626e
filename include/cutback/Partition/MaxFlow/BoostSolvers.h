// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_BOOSTSOLVERS_H
#define CUTBACK_PARTITION_MAXFLOW_BOOSTSOLVERS_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

namespace cutback {

/// Boost.Graph's algorithms on a compressed sparse row copy of the graph, as
/// yardsticks. Both replace the flow in `graph` by a maximum flow.
void solveByBoostBoykovKolmogorov(ResidualGraph &graph);
void solveByBoostPushRelabel(ResidualGraph &graph);

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_BOOSTSOLVERS_H
