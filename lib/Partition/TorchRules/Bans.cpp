// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nodes may not be recomputed.
//
// shouldBan asks the rules that look at one node, first match decides; mayBan
// knows the refusals of 2.13 (views, tagged nodes, float symbols). Two rules
// of 2.13 look at the forward as a whole:
//
// Used far apart. A value's user is banned if, on the way from all users to
// it, something had to be written to memory already. PyTorch finds the first
// such place for each value with a heap of (order, fusible) over everything
// behind its users. Orders only grow along edges, so that place is
//   min(last user, min over users u of g(u)),
// where g(x) is the first place behind x, over fusible edges, that is written;
// factsOfUses() has it for all values.
//
// Long chains. A walk in forward order from each node over fusible edges, each
// node visited once in all. A node over 100 steps behind the start is banned
// when the heap holds nothing else; so entries of visited nodes are kept.
//
// Complexity: linear, and O(E log E) for the chains.
#include "RuleView.h"

#include <algorithm>
#include <functional>

using namespace cutback;
using namespace cutback::torchrules;

std::string_view cutback::describeBanReason(BanReason reason) {
  switch (reason) {
  case BanReason::None:
    return "";
  case BanReason::Input:
    return "primal input";
  case BanReason::MustSave:
    return "marked MUST_SAVE";
  case BanReason::NotInAllowList:
    return "not in recomputable allowlist";
  case BanReason::InDenyList:
    return "in the deny list";
  case BanReason::MaterializedBackward:
    return "materialized in backward";
  case BanReason::TooFar:
    return "too far from the backward";
  case BanReason::Reduction:
    return "reduction op";
  case BanReason::UsedFarApart:
    return "used far apart";
  case BanReason::LongFusibleChain:
    return "long fusible chain";
  }
  return "";
}

/// A value that is much smaller than what it is computed from.
bool BanRules::isReduction(FxNodeId n) const {
  // Sizes may be near the limit of 64 bits.
  __int128 operands = 0;
  for (FxNodeId operand : view.graph.directArgs(n))
    operands += ruleSize(view, operand);
  return __int128(4) * ruleSize(view, n) < operands;
}

BanReason BanRules::shouldBan23(FxNodeId n) const {
  FxPolicy policy = network.policy[n];
  if (policy != FxPolicy::None)
    return isRecompute(policy) ? BanReason::None : BanReason::MustSave;
  const TorchRulesOptions &options = view.options;
  if (options.aggressiveRecomputation)
    return view.is(n, trait::Random | trait::ComputeIntensive)
               ? BanReason::InDenyList
               : BanReason::None;
  const FxNode &node = view.graph.nodes[n];
  if (!node.isCall())
    return BanReason::None;
  if (!view.is(n, trait::Recomputable))
    return BanReason::NotInAllowList;
  if (node.kind == FxKind::GetItem || view.is(n, trait::LiftFresh))
    return BanReason::None;
  if (uses[n].isMaterializedBackward)
    return BanReason::MaterializedBackward;
  int64_t limit = options.maxDistance < 0 ? 3 : options.maxDistance;
  if (!network.anyRecompute && network.distance[n] > limit)
    return BanReason::TooFar;
  return isReduction(n) ? BanReason::Reduction : BanReason::None;
}

BanReason BanRules::shouldBan213(FxNodeId n) const {
  const FxNode &node = view.graph.nodes[n];
  if (!node.isCall() || node.kind == FxKind::GetItem)
    return BanReason::None;
  if (network.policy[n] == FxPolicy::MustSave)
    return BanReason::MustSave;
  const TorchRulesOptions &options = view.options;
  bool isView = view.is(n, trait::View);
  if ((options.recomputeViews && isView) || view.is(n, trait::LiftFresh))
    return BanReason::None;
  bool aggressive = options.aggressiveRecomputation;
  if (options.banNotInAllowList && !aggressive) {
    if (!view.is(n, trait::Recomputable))
      return BanReason::NotInAllowList;
  } else if (view.is(n, trait::Random | trait::ComputeIntensive) ||
             (options.includeNonBuiltin &&
              node.has(fxflag::NonBuiltin | fxflag::TritonWrapper))) {
    return BanReason::InDenyList;
  }
  if (options.banMaterializedBackward && !aggressive && !isView &&
      uses[n].isMaterializedBackward)
    return BanReason::MaterializedBackward;
  int64_t limit = options.maxDistance < 0 ? 1000 : options.maxDistance;
  if (network.distance[n] > limit && network.distance[n] < 1000)
    return BanReason::TooFar;
  return options.banReductions && isReduction(n) ? BanReason::Reduction
                                                 : BanReason::None;
}

BanReason BanRules::shouldBan(FxNodeId n) const {
  return view.is23() ? shouldBan23(n) : shouldBan213(n);
}

bool BanRules::mayBan(FxNodeId n) const {
  if (view.is23())
    return true;
  const FxNode &node = view.graph.nodes[n];
  if (view.is(n, trait::View))
    return false;
  if (!dontBan.empty() && dontBan[n] &&
      (!node.has(fxflag::Collective) || view.options.optimizeCollectives))
    return false;
  return !isRecompute(network.policy[n]) && node.value != FxValue::SymFloat;
}

void torchrules::ban(TorchNetwork &network, FxNodeId n, BanReason reason) {
  network.banned[n] = reason;
  network.arcs.push_back({0, TorchNetwork::in(n), infiniteCapacity});
}

void torchrules::banUsedFarApart(const BanRules &rules, TorchNetwork &network) {
  const RuleView &view = rules.view;
  const std::vector<uint32_t> &order = network.forwardOrder;
  for (FxNodeId n = 0; n < view.graph.outputNode(); ++n) {
    if (order[n] == ~0u)
      continue;
    uint32_t border = rules.uses[n].firstBehindUsers;
    // No user is behind the last one; and without one there is no border.
    if (border >= rules.uses[n].endOfUsers - 1)
      continue;
    for (FxNodeId user : view.graph.users[n])
      if (order[user] != ~0u && order[user] > border && view.fusible(n, user) &&
          network.banned[user] == BanReason::None && rules.mayBan(user))
        ban(network, user, BanReason::UsedFarApart);
  }
}

void torchrules::banLongFusibleChains(const BanRules &rules,
                                      TorchNetwork &network) {
  constexpr uint32_t longest = 100;
  const RuleView &view = rules.view;
  const std::vector<uint32_t> &order = network.forwardOrder;
  std::vector<uint8_t> visited(view.graph.size(), 0);
  // Node numbers grow with orders, so they can stand for them.
  std::vector<FxNodeId> heap;
  std::greater<FxNodeId> later;
  auto pushUsers = [&](FxNodeId n) {
    visited[n] = 1;
    for (FxNodeId user : view.graph.users[n])
      if (order[user] != ~0u && view.fusible(n, user) &&
          network.banned[user] == BanReason::None) {
        heap.push_back(user);
        std::push_heap(heap.begin(), heap.end(), later);
      }
  };
  for (FxNodeId start = 0; start < view.graph.outputNode(); ++start) {
    if (order[start] == ~0u || visited[start])
      continue;
    heap.clear();
    pushUsers(start);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      FxNodeId n = heap.back();
      heap.pop_back();
      if (visited[n])
        continue;
      if (heap.empty() && order[n] > order[start] + longest) {
        visited[n] = 1;
        if (rules.mayBan(n) && network.banned[n] == BanReason::None)
          ban(network, n, BanReason::LongFusibleChain);
        break;
      }
      pushUsers(n);
    }
  }
}
