// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_EDMONDSKARP_H
#define CUTBACK_PARTITION_MAXFLOW_EDMONDSKARP_H

#include "cutback/Partition/MaxFlow/MinCut.h"

namespace cutback {

/// The naive reference: shortest augmenting paths on the network as given.
/// False if the minimum cut is infinite. O(vertices x arcs^2).
bool solveByEdmondsKarp(const FlowNetwork &network, MinCut &cut);

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_EDMONDSKARP_H
