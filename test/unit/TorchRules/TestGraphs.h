// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the tests of PyTorch's rules: graphs from text, nodes by name,
// and a plain minimum cut.
#ifndef CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_TESTGRAPHS_H
#define CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_TESTGRAPHS_H

#include "FxText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace cutback::fxtext {

inline FxGraph parse(const std::string &text) {
  std::istringstream in(text);
  Reader reader;
  FxGraph graph = reader.read(in);
  EXPECT_EQ(reader.error, "");
  return graph;
}

inline FxNodeId find(const FxGraph &graph, std::string_view name) {
  for (FxNodeId n = 0; n < graph.size(); ++n)
    if (graph.name(n) == name)
      return n;
  ADD_FAILURE() << "no node " << name;
  return noFxNode;
}

inline std::string names(const FxGraph &graph,
                         const std::vector<FxNodeId> &nodes) {
  std::string text;
  for (FxNodeId n : nodes) {
    if (!text.empty())
      text += ' ';
    text += graph.name(n);
  }
  return text;
}

inline TorchRulesOptions rules(TorchRuleSet set) {
  TorchRulesOptions options;
  options.rules = set;
  return options;
}
inline TorchRulesOptions torch23() { return rules(TorchRuleSet::Torch23); }
inline TorchRulesOptions torch213() { return rules(TorchRuleSet::Torch213); }

/// What FlowNetwork::assignSound takes the rules' word for.
inline void expectSoundArcs(const TorchNetwork &network) {
  int64_t sum = 0;
  for (const TorchArc &arc : network.arcs) {
    EXPECT_LT(std::max(arc.from, arc.to), network.numVertices);
    EXPECT_GE(arc.capacity, infiniteCapacity);
    sum += std::max<int64_t>(arc.capacity, 0);
  }
  EXPECT_EQ(network.capacitySum, sum);
}

inline TorchNetwork build(const FxGraph &graph,
                          const TorchRulesOptions &options) {
  TorchNetwork network = classifyTorchGraph(graph, options);
  std::optional<TorchRulesError> error =
      buildTorchNetwork(graph, options, network);
  EXPECT_FALSE(error) << (error ? error->message : "");
  expectSoundArcs(network);
  return network;
}

/// A minimum cut by shortest augmenting paths.
struct Cut {
  int64_t value = 0;
  std::vector<uint8_t> sinkSide;
};

inline Cut minimumCut(const TorchNetwork &network) {
  struct Edge {
    uint32_t to;
    int64_t left;
  };
  int64_t infinite = 1;
  for (const TorchArc &arc : network.arcs)
    infinite += arc.capacity < 0 ? 0 : arc.capacity;
  std::vector<Edge> edges;
  std::vector<std::vector<uint32_t>> at(network.numVertices);
  for (const TorchArc &arc : network.arcs) {
    at[arc.from].push_back(static_cast<uint32_t>(edges.size()));
    edges.push_back({arc.to, arc.capacity < 0 ? infinite : arc.capacity});
    at[arc.to].push_back(static_cast<uint32_t>(edges.size()));
    edges.push_back({arc.from, 0});
  }
  Cut cut;
  while (true) {
    // Backwards from the sink, so that the last search is the sink side.
    std::vector<uint32_t> next(network.numVertices, ~0u);
    cut.sinkSide.assign(network.numVertices, 0);
    cut.sinkSide[1] = 1;
    std::deque<uint32_t> queue{1};
    while (!queue.empty()) {
      uint32_t vertex = queue.front();
      queue.pop_front();
      for (uint32_t e : at[vertex])
        if (edges[e ^ 1].left > 0 && !cut.sinkSide[edges[e].to]) {
          cut.sinkSide[edges[e].to] = 1;
          next[edges[e].to] = e ^ 1;
          queue.push_back(edges[e].to);
        }
    }
    if (!cut.sinkSide[0])
      return cut;
    int64_t amount = infinite;
    for (uint32_t v = 0; v != 1; v = edges[next[v]].to)
      amount = std::min(amount, edges[next[v]].left);
    for (uint32_t v = 0; v != 1; v = edges[next[v]].to) {
      edges[next[v]].left -= amount;
      edges[next[v] ^ 1].left += amount;
    }
    cut.value += amount;
  }
}

} // namespace cutback::fxtext

#endif // CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_TESTGRAPHS_H
