// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of this folder share: networks written as lists, and the list
// of algorithms.
#ifndef CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_TESTNETWORKS_H
#define CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_TESTNETWORKS_H

#include "cutback/Partition/MaxFlow/FlowCheck.h"

#include "gtest/gtest.h"

namespace cutback {

inline constexpr int64_t kInf = kInfiniteCapacity;

inline const MaxFlowAlgorithm kAllAlgorithms[] = {
    MaxFlowAlgorithm::Auto, MaxFlowAlgorithm::BoykovKolmogorov,
    MaxFlowAlgorithm::PushRelabel, MaxFlowAlgorithm::BoostPushRelabel,
    MaxFlowAlgorithm::EdmondsKarp};

inline FlowNetwork makeNetwork(uint32_t numVertices,
                               const std::vector<FlowArc> &arcs,
                               ParallelArcs rule = ParallelArcs::Keep) {
  FlowNetwork network(numVertices);
  for (const FlowArc &arc : arcs)
    network.addArc(arc.from, arc.to, arc.capacity);
  EXPECT_EQ(network.finish(rule), std::nullopt);
  return network;
}

/// The cut by Auto, proved right.
inline MinCut solve(const FlowNetwork &network,
                    MaxFlowAlgorithm algorithm = MaxFlowAlgorithm::Auto) {
  MaxFlowSolver solver(algorithm);
  MinCut cut;
  EXPECT_EQ(solver.solve(network, cut), MinCutStatus::Solved);
  EXPECT_EQ(checkFlow(network, cut), std::nullopt)
      << getAlgorithmName(algorithm);
  return cut;
}

/// Expects every algorithm to give this cut, and returns it.
inline MinCut solveByAll(const FlowNetwork &network) {
  MinCut first = solve(network);
  for (MaxFlowAlgorithm algorithm : kAllAlgorithms) {
    MinCut cut = solve(network, algorithm);
    EXPECT_EQ(cut.value, first.value) << getAlgorithmName(algorithm);
    EXPECT_EQ(cut.onSinkSide, first.onSinkSide) << getAlgorithmName(algorithm);
    EXPECT_EQ(cut.cutArcs, first.cutArcs) << getAlgorithmName(algorithm);
  }
  return first;
}

} // namespace cutback

#endif // CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_TESTNETWORKS_H
