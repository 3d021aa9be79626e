// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's network, arc by arc and in its order.
//
//  1. clean the tags
//  2. classify (F, B, gradient results), number F
//  3. distances; what is materialized in the backward
//  4. for each node in graph order: arcs to the sink, the ban, the save arc,
//     the arcs to the users
//  5. 2.13: the bans that look at the whole forward
//
// No arc is added twice: a node's arcs are added when its turn comes, users
// are distinct, and a banned node is not banned again.
//
// Complexity: near linear (the heap of the last step). Limits: capacities and
// their sum are checked against 64 bits.
#include "RuleView.h"

#include <limits>

using namespace cutback;
using namespace cutback::torchrules;

/// Adds the arcs to the sink; true if the node has no other.
static bool addSinkArcs(const RuleView &view, FxNodeId n,
                        TorchNetwork &network) {
  uint8_t set = network.sets[n];
  bool closure = set & torchset::TangentClosure;
  bool gradient = set & torchset::GradientResult;
  bool isInput = view.graph.nodes[n].isInput();
  if ((closure || (gradient && view.is23())) && !isInput) {
    network.arcs.push_back({TorchNetwork::in(n), 1, infiniteCapacity});
    return true;
  }
  if (closure || gradient)
    network.arcs.push_back({TorchNetwork::out(n), 1, infiniteCapacity});
  if (!view.is23() && isRecompute(network.policy[n])) {
    network.arcs.push_back({TorchNetwork::in(n), 1, infiniteCapacity});
    return true;
  }
  return false;
}

static TorchRulesError capacityError(const FxGraph &graph, FxNodeId n,
                                     int64_t distance) {
  return {"the weight of '" + std::string(graph.name(n)) + "', " +
              std::to_string(graph.nodes[n].size) + " bytes at distance " +
              std::to_string(distance) + ", does not fit 64 bits",
          n, "the cost model pytorch multiplies bytes by up to 27561"};
}

/// The arcs of one node, in PyTorch's order.
static std::optional<TorchRulesError> addNode(const BanRules &rules, FxNodeId n,
                                              TorchNetwork &network) {
  const RuleView &view = rules.view;
  if (addSinkArcs(view, n, network))
    return std::nullopt;
  bool inForward = network.sets[n] & torchset::Forward;
  if (view.graph.nodes[n].isInput() && rules.mayBan(n))
    ban(network, n, BanReason::Input);
  if (inForward)
    if (BanReasons reasons = rules.reasonsOf(n); reasons && rules.mayBan(n)) {
      network.reasons[n] |= reasons;
      if (network.banned[n] == BanReason::None)
        ban(network, n, static_cast<BanReason>(__builtin_ctz(reasons)));
    }
  int64_t capacity = 0;
  if (!saveCapacity(view, n, network.distance[n], rules.uses[n].isMaterialized,
                    capacity))
    return capacityError(view.graph, n, network.distance[n]);
  if (capacity > 0) {
    if (capacity >
        std::numeric_limits<int64_t>::max() - 1 - network.capacitySum)
      return TorchRulesError{
          "the sum of all weights does not fit 64 bits at '" +
              std::string(view.graph.name(n)) + "'",
          n, "the cost model pytorch multiplies bytes by up to 27561"};
    network.capacitySum += capacity;
  }
  network.arcs.push_back({TorchNetwork::in(n), TorchNetwork::out(n), capacity});
  for (FxNodeId user : view.graph.users[n])
    network.arcs.push_back(
        {TorchNetwork::out(n), TorchNetwork::in(user), infiniteCapacity});
  return std::nullopt;
}

TorchNetwork cutback::classifyTorchGraph(const FxGraph &graph,
                                         const TorchRulesOptions &options) {
  TorchNetwork network;
  RuleView view(graph, options);
  network.numVertices = static_cast<uint32_t>(2 + 2 * graph.size());
  network.policy = cleanTags(view, network.anyRecompute);
  classifyNodes(view, network);
  network.distance = distancesToBackward(view, network);
  network.traits = std::move(view.traits);
  return network;
}

std::optional<TorchRulesError> cutback::buildTorchNetwork(
    const FxGraph &graph, const TorchRulesOptions &options,
    TorchNetwork &network, const std::vector<uint8_t> &dontBan) {
  network.arcs.clear();
  network.capacitySum = 0;
  network.banned.assign(graph.size(), BanReason::None);
  network.reasons.assign(graph.size(), 0);
  if (network.emptyBackward)
    return std::nullopt;

  RuleView view(graph, options, network.traits);
  BanRules rules{view, network, dontBan, factsOfUses(view, network)};
  network.arcs.reserve(2 * graph.size() + graph.users.items.size());
  for (FxNodeId n = 0; n < graph.outputNode(); ++n)
    if (auto error = addNode(rules, n, network))
      return error;
  if (!view.is23() && !options.aggressiveRecomputation) {
    if (options.banUsedFarApart)
      banUsedFarApart(rules, network);
    if (options.banLongFusibleChains)
      banLongFusibleChains(rules, network);
  }
  return std::nullopt;
}

std::vector<FxNodeId>
cutback::savedNodesOfCut(const std::vector<TorchArc> &arcs,
                         const std::vector<uint8_t> &sinkSide) {
  std::vector<FxNodeId> saved;
  for (const TorchArc &arc : arcs)
    if (arc.from >= 2 && arc.from % 2 == 0 && arc.to == arc.from + 1 &&
        !sinkSide[arc.from] && sinkSide[arc.to])
      saved.push_back((arc.from - 2) / 2);
  return saved;
}

TorchNetworkDump cutback::dumpTorchNetwork(const TorchNetwork &network) {
  // Vertices in the order in which they are first mentioned, and the arcs of
  // each behind each other: that is how networkx lists a graph's edges.
  std::vector<uint32_t> place(network.numVertices, ~0u), degree;
  for (const TorchArc &arc : network.arcs)
    for (uint32_t vertex : {arc.from, arc.to})
      if (place[vertex] == ~0u) {
        place[vertex] = static_cast<uint32_t>(degree.size());
        degree.push_back(0);
      }
  std::vector<uint32_t> next(degree.size() + 1, 0);
  for (const TorchArc &arc : network.arcs)
    ++next[place[arc.from] + 1];
  for (size_t i = 0; i < degree.size(); ++i)
    next[i + 1] += next[i];
  TorchNetworkDump dump;
  dump.arcs.resize(network.arcs.size());
  for (const TorchArc &arc : network.arcs)
    dump.arcs[next[place[arc.from]]++] = arc;

  std::vector<uint32_t> number(network.numVertices / 2, ~0u);
  auto renumber = [&](uint32_t vertex) {
    if (vertex < 2)
      return vertex;
    uint32_t &n = number[(vertex - 2) / 2];
    if (n == ~0u) {
      n = static_cast<uint32_t>(dump.nodes.size());
      dump.nodes.push_back((vertex - 2) / 2);
    }
    return 2 + 2 * n + vertex % 2;
  };
  for (TorchArc &arc : dump.arcs) {
    arc.from = renumber(arc.from);
    arc.to = renumber(arc.to);
  }
  return dump;
}
