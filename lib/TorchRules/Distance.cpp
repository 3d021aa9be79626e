// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a value is from the backward, and what is written to memory anyway.
//
// Distance: 0 outside F, else one more than the nearest user. The return of
// the graph counts as a user at distance 0 in 2.3 (it is not in F), and as
// one far away in 2.13.
//
// Materialized in the backward: PyTorch asks it node by node, with a walk
// through views. A node's answer is a disjunction over its users of "cannot
// be fused here" and, for views, of the view's own answer. The first place
// behind a node where something is written, which PyTorch finds with a heap,
// is g(x) = min over users y in F: fusible(x, y) ? g(y) : order(y). So one
// reverse sweep over all uses answers both for all nodes.
//
// Complexity: linear.
#include "RuleView.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::torchrules;

std::vector<int64_t>
torchrules::distancesToBackward(const RuleView &view,
                                const TorchNetwork &network) {
  const FxGraph &graph = view.graph;
  std::vector<int64_t> distance(graph.size(), 0);
  FxNodeId output = graph.outputNode();
  distance[output] = view.is23() ? 0 : farAway;
  for (FxNodeId n = output; n-- > 0;) {
    if (!(network.sets[n] & torchset::Forward))
      continue;
    int64_t nearest = farAway;
    for (FxNodeId user : graph.users[n])
      nearest = std::min(nearest, distance[user] + 1);
    distance[n] = nearest;
  }
  return distance;
}

std::vector<UseFacts> torchrules::factsOfUses(const RuleView &view,
                                              const TorchNetwork &network) {
  const FxGraph &graph = view.graph;
  const std::vector<uint32_t> &orders = network.forwardOrder;
  std::vector<UseFacts> facts(graph.size());
  for (FxNodeId n = graph.outputNode(); n-- > 0;) {
    // Of what the backward computes, only views are asked about.
    if (orders[n] == ~0u && (network.sets[n] & torchset::TangentClosure) &&
        !graph.nodes[n].isInput() && !view.is(n, trait::View))
      continue;
    UseFacts here;
    here.isMaterialized = graph.nodes[n].kind == FxKind::Placeholder;
    for (FxNodeId user : graph.users[n]) {
      const UseFacts &there = facts[user];
      uint32_t order = orders[user];
      bool fusible = view.fusible(n, user);
      here.isMaterialized |= !fusible;
      // 2.3 looks through views of the backward only.
      here.isMaterializedBackward |= there.isMaterializedBackward &&
                                     view.is(user, trait::View) &&
                                     !(view.is23() && order != ~0u);
      if (order == ~0u) {
        here.isMaterializedBackward |= !fusible;
        continue;
      }
      here.firstUnfusible =
          std::min(here.firstUnfusible, fusible ? there.firstUnfusible : order);
      here.firstBehindUsers =
          std::min(here.firstBehindUsers, there.firstUnfusible);
      here.endOfUsers = std::max(here.endOfUsers, order + 1);
    }
    facts[n] = here;
  }
  return facts;
}
