// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nodes may not be recomputed.
//
// reasonsOf lists the rules that apply to one node; PyTorch stops at the lowest
// number. mayBan knows the refusals of 2.13 (views, tagged nodes, float
// symbols). Two rules of 2.13 look at the forward as a whole:
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

namespace {
struct ReasonText {
  std::string_view name;
  BanRule rule;
};
} // namespace

/// All bans there are, in the order of the enum: PyTorch's word, what the rule
/// looks at, and what switches it off.
static constexpr ReasonText reasonTexts[numBanReasons] = {
    {"", {"", ""}},
    {"primal input", {"it is an input, which nothing computes", ""}},
    {"marked MUST_SAVE",
     {"a tag, the border of a checkpointed region, or an effect", ""}},
    {"not in recomputable allowlist",
     {"PyTorch recomputes only ops that it lists",
      "ban_recompute_not_in_allowlist"}},
    {"random op", {"a second run draws other numbers", ""}},
    {"compute intensive op", {"it is listed as expensive", ""}},
    {"non-builtin op",
     {"it is a custom op or a kernel of the user",
      "is_non_builtin_to_include"}},
    {"materialized in backward",
     {"an op of the backward that cannot be fused with it reads it",
      "ban_recompute_materialized_backward"}},
    {"too far from the backward",
     {"more steps from the backward than max_dist_from_bw",
      "max_dist_from_bw"}},
    {"reduction op",
     {"its operands take more than four times its bytes",
      "ban_recompute_reductions"}},
    {"used far apart",
     {"an operand is used before and behind an op that cannot be fused",
      "ban_recompute_used_far_apart"}},
    {"long fusible chain",
     {"over 100 steps of ops that can be fused lead to it",
      "ban_recompute_long_fusible_chains"}},
};

std::string_view cutback::describeBanReason(BanReason reason) {
  return reasonTexts[static_cast<unsigned>(reason)].name;
}

BanRule cutback::ruleOf(BanReason reason) {
  return reasonTexts[static_cast<unsigned>(reason)].rule;
}

/// A value that is much smaller than what it is computed from.
bool BanRules::isReduction(FxNodeId n) const {
  // Sizes may be near the limit of 64 bits.
  __int128 operands = 0;
  for (FxNodeId operand : view.graph.directArgs(n))
    operands += ruleSize(view, operand);
  return __int128(4) * ruleSize(view, n) < operands;
}

BanReasons BanRules::heuristicsOf(FxNodeId n, bool materialized, bool tooFar,
                                  bool reduction) const {
  BanReasons reasons = 0;
  if (materialized && uses[n].isMaterializedBackward)
    reasons |= banBit(BanReason::MaterializedBackward);
  if (tooFar)
    reasons |= banBit(BanReason::TooFar);
  if (reduction && isReduction(n))
    reasons |= banBit(BanReason::Reduction);
  return reasons;
}

/// The list that stands for the allow list where that is switched off.
static BanReasons reasonsOfDenyList(const RuleView &view, FxNodeId n) {
  BanReasons reasons = 0;
  if (view.is(n, trait::Random))
    reasons |= banBit(BanReason::RandomOp);
  if (view.is(n, trait::ComputeIntensive))
    reasons |= banBit(BanReason::ComputeIntensive);
  return reasons;
}

BanReasons BanRules::reasonsOf23(FxNodeId n) const {
  FxPolicy policy = network.policy[n];
  if (policy != FxPolicy::None)
    return isRecompute(policy) ? 0 : banBit(BanReason::MustSave);
  const TorchRulesOptions &options = view.options;
  if (options.aggressiveRecomputation)
    return reasonsOfDenyList(view, n);
  const FxNode &node = view.graph.nodes[n];
  if (!node.isCall())
    return 0;
  BanReasons reasons = 0;
  if (!view.is(n, trait::Recomputable))
    reasons = banBit(BanReason::NotInAllowList);
  else if (node.kind == FxKind::GetItem || view.is(n, trait::LiftFresh))
    return 0;
  int64_t limit = options.maxDistance < 0 ? 3 : options.maxDistance;
  return reasons |
         heuristicsOf(n, true,
                      !network.anyRecompute && network.distance[n] > limit,
                      true);
}

BanReasons BanRules::reasonsOf213(FxNodeId n) const {
  const FxNode &node = view.graph.nodes[n];
  if (!node.isCall() || node.kind == FxKind::GetItem)
    return 0;
  const TorchRulesOptions &options = view.options;
  bool isView = view.is(n, trait::View);
  BanReasons reasons = 0;
  if (network.policy[n] == FxPolicy::MustSave)
    reasons = banBit(BanReason::MustSave);
  if ((options.recomputeViews && isView) || view.is(n, trait::LiftFresh))
    return reasons;
  bool aggressive = options.aggressiveRecomputation;
  if (!options.banNotInAllowList || aggressive) {
    reasons |= reasonsOfDenyList(view, n);
    if (options.includeNonBuiltin &&
        node.has(fxflag::NonBuiltin | fxflag::TritonWrapper))
      reasons |= banBit(BanReason::NonBuiltin);
  } else if (!view.is(n, trait::Recomputable)) {
    reasons |= banBit(BanReason::NotInAllowList);
  }
  int64_t limit = options.maxDistance < 0 ? 1000 : options.maxDistance;
  bool tooFar = network.distance[n] > limit && network.distance[n] < 1000;
  return reasons |
         heuristicsOf(n,
                      options.banMaterializedBackward && !aggressive && !isView,
                      tooFar, options.banReductions);
}

BanReasons BanRules::reasonsOf(FxNodeId n) const {
  return view.is23() ? reasonsOf23(n) : reasonsOf213(n);
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
  network.reasons[n] |= banBit(reason);
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
          rules.mayBan(user)) {
        if (network.banned[user] == BanReason::None)
          ban(network, user, BanReason::UsedFarApart);
        else
          network.reasons[user] |= banBit(BanReason::UsedFarApart);
      }
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
