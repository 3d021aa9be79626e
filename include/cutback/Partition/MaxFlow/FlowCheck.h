// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_FLOWCHECK_H
#define CUTBACK_PARTITION_MAXFLOW_FLOWCHECK_H

#include "cutback/Partition/MaxFlow/MinCut.h"

namespace cutback {

/// Proves `cut` right without trusting who computed it, in Release too:
///   * the flow stays within the capacities and is conserved, so its value is
///     that of a flow of the network as given, before any contraction;
///   * `cutArcs` are exactly the arcs from the source side to the sink side,
///     none is infinite, and their capacities add up to the flow's value. Then
///     no cut is smaller and no flow larger;
///   * all of the sink side reaches the sink in the residual network: the tie
///     rule.
/// O(vertices + arcs). Returns the first violation, with its numbers.
[[nodiscard]] FlowError checkFlow(const FlowNetwork &network,
                                  const MinCut &cut);

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_FLOWCHECK_H
