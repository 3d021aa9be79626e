// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow rules. Every question is answered from the definition, again each
// time it is asked: sets by fixed points, distances by recursion, what is
// materialized by a walk with a work list, used-far-apart by the heap of
// (order, fusible, node) triples. Nothing of the library is called but the
// lookup of op categories.
//
// Complexity: up to cubic; for graphs of a few hundred nodes.
#include "Reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

using namespace cutback;

namespace {
using Set = std::set<FxNodeId>;

class Rules {
public:
  Rules(const FxGraph &graph, const TorchRulesOptions &options)
      : g(graph), o(options), old(options.rules == TorchRuleSet::Torch23) {}

  reference::Network build();

private:
  std::string packet(FxNodeId n) const {
    if (g.nodes[n].kind == FxKind::GetItem)
      return "operator.getitem";
    return g.nodes[n].kind == FxKind::Call ? g.packets[g.nodes[n].packet] : "";
  }
  bool has(FxNodeId n, unsigned categories) const {
    return lookupTorchOp(o.rules, packet(n)) & categories;
  }
  bool inForward(FxNodeId n) const { return net.forward.count(n); }
  bool isImpure(FxNodeId n) const {
    if (packet(n) == "aten.copy_" || packet(n) == "aten._assert_async")
      return true;
    return !old && (g.nodes[n].flags & fxflag::MutableSchema);
  }
  bool fusible(FxNodeId a, FxNodeId b) const {
    unsigned fused = torchop::Recomputable | torchop::Random;
    return packet(b) == "aten.cat" || (has(a, fused) && has(b, fused));
  }

  void findForward();
  void findBackward();
  int64_t distance(FxNodeId n);
  bool materialized(FxNodeId n) const;
  bool materializedBackwards(FxNodeId n) const;
  int64_t size(FxNodeId n) const;
  bool reduction(FxNodeId n) const;
  bool shouldBan(FxNodeId n);
  void ban(FxNodeId n);
  int64_t weight(FxNodeId n);
  uint32_t order(FxNodeId n) const {
    return static_cast<uint32_t>(
        std::distance(net.forward.begin(), net.forward.find(n)));
  }
  uint32_t firstUnfusible(const std::vector<FxNodeId> &start,
                          uint32_t last) const;
  void banUsedFarApart();
  void banLongChains();

  const FxGraph &g;
  const TorchRulesOptions &o;
  bool old;
  reference::Network net;
  std::map<FxNodeId, int64_t> distances;
};

void Rules::findForward() {
  // Computable from the inputs.
  Set valid;
  for (FxNodeId n = 0; n < g.outputNode(); ++n) {
    bool all = g.nodes[n].kind != FxKind::Placeholder || g.nodes[n].isInput();
    for (FxNodeId operand : g.inputs[n])
      all = all && valid.count(operand);
    if (all)
      valid.insert(n);
  }
  std::function<void(FxNodeId)> need = [&](FxNodeId n) {
    if (!net.forward.insert(n).second)
      return;
    for (FxNodeId operand : g.inputs[n])
      need(operand);
  };
  for (FxNodeId n = 0; n < g.outputNode(); ++n)
    if (g.nodes[n].isInput() || (valid.count(n) && isImpure(n)))
      need(n);
  for (unsigned i = 0; i < g.numForwardOutputs; ++i)
    if (g.outputs[i] != noFxNode)
      need(g.outputs[i]);
}

void Rules::findBackward() {
  std::function<void(FxNodeId)> spread = [&](FxNodeId n) {
    if (n == g.outputNode() || !net.closure.insert(n).second)
      return;
    for (FxNodeId user : g.users[n])
      spread(user);
  };
  for (FxNodeId n = 0; n < g.outputNode(); ++n)
    if (g.nodes[n].role == FxRole::Tangent)
      spread(n);
  for (size_t i = g.numForwardOutputs; i < g.outputs.size(); ++i)
    if (g.outputs[i] != noFxNode)
      net.gradients.insert(g.outputs[i]);
}

int64_t Rules::distance(FxNodeId n) {
  if (n == g.outputNode())
    return old ? 0 : 1000000000;
  if (!inForward(n))
    return 0;
  auto known = distances.find(n);
  if (known != distances.end())
    return known->second;
  int64_t result = 1000000000;
  for (FxNodeId user : g.users[n])
    result = std::min(result, distance(user) + 1);
  return distances[n] = result;
}

bool Rules::materialized(FxNodeId n) const {
  bool result = g.nodes[n].kind == FxKind::Placeholder;
  for (FxNodeId user : g.users[n])
    result = result || !fusible(n, user);
  return result;
}

bool Rules::materializedBackwards(FxNodeId n) const {
  if (!old && has(n, torchop::View))
    return false;
  Set work{n};
  while (!work.empty()) {
    FxNodeId at = *work.begin();
    work.erase(work.begin());
    for (FxNodeId user : g.users[at]) {
      if (!inForward(user) && !fusible(at, user))
        return true;
      if (has(user, torchop::View) && (!old || !inForward(user)))
        work.insert(user);
    }
  }
  return false;
}

int64_t Rules::size(FxNodeId n) const {
  FxValue value = g.nodes[n].value;
  if (value == FxValue::Tensor || value == FxValue::Tuple)
    return g.nodes[n].size;
  if (value == FxValue::None)
    return 0;
  return old && value != FxValue::SymInt ? 999999 : 1;
}

bool Rules::reduction(FxNodeId n) const {
  int64_t operands = 0;
  for (FxNodeId operand : g.directArgs(n))
    operands += size(operand);
  return 4 * size(n) < operands;
}

bool Rules::shouldBan(FxNodeId n) {
  std::string name = packet(n);
  unsigned denied = torchop::Random | torchop::ComputeIntensive;
  if (old && o.aggressiveRecomputation)
    return has(n, denied);
  if (name.empty())
    return false;
  bool lift = name == "aten.lift_fresh_copy";
  if (old) {
    if (!has(n, torchop::Recomputable))
      return true;
    if (name == "operator.getitem" || lift)
      return false;
    return materializedBackwards(n) ||
           distance(n) > (o.maxDistance < 0 ? 3 : o.maxDistance) ||
           reduction(n);
  }
  if (name == "operator.getitem" || lift ||
      (o.recomputeViews && has(n, torchop::View)))
    return false;
  bool aggressive = o.aggressiveRecomputation;
  if (o.banNotInAllowList && !aggressive ? !has(n, torchop::Recomputable)
                                         : has(n, denied))
    return true;
  if (o.banMaterializedBackward && !aggressive && materializedBackwards(n))
    return true;
  int64_t limit = o.maxDistance < 0 ? 1000 : o.maxDistance;
  if (limit < distance(n) && distance(n) < 1000)
    return true;
  return o.banReductions && reduction(n);
}

void Rules::ban(FxNodeId n) {
  if (!old && (has(n, torchop::View) || g.nodes[n].value == FxValue::SymFloat))
    return;
  net.banned.insert(n);
  net.arcs[{0, 2 + 2 * n}] = -1;
}

int64_t Rules::weight(FxNodeId n) {
  const FxNode &node = g.nodes[n];
  if (node.isSymbolic())
    return node.value == FxValue::SymFloat ? 4 : 1;
  if (node.value != FxValue::Tensor)
    return -1;
  if (!old && o.freeParameters && node.role == FxRole::Primal &&
      (node.flags & fxflag::StaticLifetime))
    return 0;
  if (!old && o.recomputeViews && has(n, torchop::View))
    return -1;
  double steps = static_cast<double>(
      std::max<int64_t>(std::min<int64_t>(distance(n), 100), 1));
  auto bytes = static_cast<int64_t>(static_cast<double>(node.size) *
                                    std::pow(1.1, steps));
  return materialized(n) ? bytes : 2 * bytes;
}

uint32_t Rules::firstUnfusible(const std::vector<FxNodeId> &start,
                               uint32_t last) const {
  std::set<std::tuple<uint32_t, bool, FxNodeId>> heap;
  for (FxNodeId n : start)
    heap.insert({order(n), true, n});
  while (!heap.empty()) {
    auto [at, fused, n] = *heap.begin();
    heap.erase(heap.begin());
    if (!fused)
      return at;
    for (FxNodeId user : g.users[n])
      if (inForward(user) && order(user) <= last)
        heap.insert({order(user), fusible(n, user), user});
  }
  return last;
}

void Rules::banUsedFarApart() {
  for (FxNodeId n : net.forward) {
    std::vector<FxNodeId> users;
    uint32_t last = 0;
    for (FxNodeId user : g.users[n])
      if (inForward(user)) {
        users.push_back(user);
        last = std::max(last, order(user));
      }
    if (users.empty())
      continue;
    uint32_t first = firstUnfusible(users, last);
    for (FxNodeId user : users)
      if (order(user) > first && fusible(n, user) && !net.banned.count(user))
        ban(user);
  }
}

void Rules::banLongChains() {
  Set visited;
  for (FxNodeId start : net.forward) {
    std::multiset<std::pair<uint32_t, FxNodeId>> heap{{order(start), start}};
    while (!heap.empty()) {
      FxNodeId n = heap.begin()->second;
      heap.erase(heap.begin());
      if (!visited.insert(n).second)
        continue;
      if (order(n) > order(start) + 100 && heap.empty()) {
        ban(n);
        break;
      }
      for (FxNodeId user : g.users[n])
        if (inForward(user) && fusible(n, user) && !net.banned.count(user))
          heap.insert({order(user), user});
    }
  }
}

reference::Network Rules::build() {
  findForward();
  findBackward();
  for (FxNodeId n = 0; n < g.outputNode(); ++n) {
    uint32_t in = 2 + 2 * n, out = 3 + 2 * n;
    bool closure = net.closure.count(n), gradient = net.gradients.count(n);
    bool input = g.nodes[n].isInput();
    if ((closure || (gradient && old)) && !input) {
      net.arcs[{in, 1}] = -1;
      continue;
    }
    if (closure || gradient)
      net.arcs[{out, 1}] = -1;
    if (input)
      ban(n);
    if (inForward(n) && shouldBan(n))
      ban(n);
    net.arcs[{in, out}] = weight(n);
    for (FxNodeId user : g.users[n])
      net.arcs[{out, 2 + 2 * user}] = -1;
  }
  if (!old && !o.aggressiveRecomputation) {
    if (o.banUsedFarApart)
      banUsedFarApart();
    if (o.banLongFusibleChains)
      banLongChains();
  }
  return net;
}
} // namespace

reference::Network reference::buildNetwork(const FxGraph &graph,
                                           const TorchRulesOptions &options) {
  return Rules(graph, options).build();
}

std::vector<FxNodeId> reference::simplify(const FxGraph &g,
                                          const TorchRulesOptions &options) {
  bool old = options.rules == TorchRuleSet::Torch23;
  auto packet = [&](FxNodeId n) {
    return g.nodes[n].kind == FxKind::Call ? g.packets[g.nodes[n].packet] : "";
  };
  auto writes = [&](FxNodeId n) {
    return (g.nodes[n].flags & fxflag::MutableSchema) != 0;
  };
  // Nodes that nobody uses go, until there are none.
  Set kept;
  for (FxNodeId n = 0; n < g.size(); ++n)
    kept.insert(n);
  for (bool changed = true; changed;) {
    changed = false;
    for (FxNodeId n = 0; n < g.outputNode(); ++n) {
      bool used = g.nodes[n].kind == FxKind::Placeholder ||
                  packet(n) == "aten.copy_" ||
                  packet(n) == "aten._assert_async" || (!old && writes(n));
      for (FxNodeId user : g.users[n])
        used = used || kept.count(user);
      if (!used && kept.erase(n))
        changed = true;
    }
  }
  std::map<FxNodeId, FxNodeId> now;
  std::map<std::vector<int64_t>, std::pair<FxNodeId, int>> seen;
  int region = 0;
  for (FxNodeId n : Set(kept)) {
    now[n] = n;
    region += !old && writes(n);
    bool shared = false;
    for (FxNodeId result : g.inputs[g.outputNode()])
      shared = shared || (!old && g.nodes[n].storage >= 0 &&
                          g.nodes[n].storage == g.nodes[result].storage);
    if (!g.nodes[n].isCall() || shared || packet(n) == "aten.rand_like")
      continue;
    std::vector<int64_t> key{g.targets[n]};
    size_t next = 0;
    for (uint32_t token : g.skeletonTokens[g.skeleton[n]])
      key.push_back(token == fxtoken::node ? int64_t(now[g.args[n][next++]])
                                           : -int64_t(token));
    auto found = seen.find(key);
    if (found != seen.end() && found->second.second == region) {
      now[n] = found->second.first;
      kept.erase(n);
    } else {
      seen[key] = {n, region};
    }
  }
  return {kept.begin(), kept.end()};
}
