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
// be fused here" and, for views, of the view's own answer; so one reverse
// sweep answers it for all nodes.
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

std::vector<uint8_t>
torchrules::materializedBackwards(const RuleView &view,
                                  const TorchNetwork &network) {
  const FxGraph &graph = view.graph;
  std::vector<uint8_t> result(graph.size(), 0);
  for (FxNodeId n = graph.outputNode(); n-- > 0;)
    for (FxNodeId user : graph.users[n]) {
      bool inForward = network.sets[user] & torchset::Forward;
      if (!inForward && !view.fusible(n, user))
        result[n] = 1;
      // 2.3 looks through views of the backward only.
      else if (view.is(user, trait::View) && !(view.is23() && inForward))
        result[n] |= result[user];
      if (result[n])
        break;
    }
  return result;
}

bool torchrules::isMaterialized(const RuleView &view, FxNodeId n) {
  if (view.graph.nodes[n].kind == FxKind::Placeholder)
    return true;
  for (FxNodeId user : view.graph.users[n])
    if (!view.fusible(n, user))
      return true;
  return false;
}
