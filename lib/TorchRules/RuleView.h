// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rules share: one graph under one rule set, with the facts that
// several rules ask for as flat arrays over nodes. Internal to the library.
#ifndef CUTBACK_LIB_PARTITION_TORCHRULES_RULEVIEW_H
#define CUTBACK_LIB_PARTITION_TORCHRULES_RULEVIEW_H

#include "cutback/TorchRules/TorchRules.h"

#include <utility>

namespace cutback::torchrules {

/// Traits of a call: the categories of the op table in the low bits, and the
/// packets that rules mention by name.
namespace trait {
enum : uint16_t {
  Recomputable = torchop::Recomputable,
  View = torchop::View,
  Random = torchop::Random,
  ComputeIntensive = torchop::ComputeIntensive,
  Fusible = 1 << 4,
  Cat = 1 << 5,
  LiftFresh = 1 << 6,
  Copy = 1 << 7,
  SideEffect = 1 << 8,
  NeverMerged = 1 << 9,
  AssertScalar = 1 << 10,
  WaitTensor = 1 << 11,
  Wrapper = 1 << 12,
  TritonItem = 1 << 13,
  PinnedForward = 1 << 14,
  PinnedBackward = 1 << 15,
};
} // namespace trait

uint16_t packetTraits(TorchRuleSet rules, std::string_view packet);
/// The traits of all packets of a graph.
std::vector<uint16_t> tableOfPackets(const FxGraph &graph,
                                     const TorchRulesOptions &options);
std::vector<uint16_t> nodeTraits(const FxGraph &graph,
                                 const TorchRulesOptions &options);

/// The distance of a node that no path leads from to the backward.
inline constexpr int64_t farAway = 1000000000;

/// A graph under a rule set.
struct RuleView {
  const FxGraph &graph;
  const TorchRulesOptions &options;
  std::vector<uint16_t> traits;

  RuleView(const FxGraph &graph, const TorchRulesOptions &options)
      : graph(graph), options(options), traits(nodeTraits(graph, options)) {
    if (!is23())
      pinNodes();
  }
  /// With the traits of an earlier view of the same graph.
  RuleView(const FxGraph &graph, const TorchRulesOptions &options,
           std::vector<uint16_t> traits)
      : graph(graph), options(options), traits(std::move(traits)) {}

  bool is23() const { return options.rules == TorchRuleSet::Torch23; }
  bool is(FxNodeId n, uint16_t mask) const { return (traits[n] & mask) != 0; }

  /// Kept by dead code elimination although nobody uses it.
  bool isImpure(FxNodeId n) const {
    const FxNode &node = graph.nodes[n];
    if (!node.isCall())
      return node.kind != FxKind::GetAttr;
    if (is(n, trait::SideEffect) || node.has(fxflag::SideEffect) ||
        (options.fallbackRandom && node.has(fxflag::SeededRandom)))
      return true;
    return !is23() &&
           node.has(fxflag::MutableSchema | fxflag::Effectful | fxflag::Assert);
  }

  /// 2.13: may only run in one half.
  bool isPinnedToBackward(FxNodeId n) const {
    return is(n, trait::PinnedBackward);
  }
  bool isPinnedToForward(FxNodeId n) const {
    return is(n, trait::PinnedForward);
  }

  /// Would `user` be compiled into one kernel with its operand `n`?
  bool fusible(FxNodeId n, FxNodeId user) const {
    uint16_t ofNode = traits[n], ofUser = traits[user];
    if ((ofUser & trait::Wrapper) | (ofNode & trait::TritonItem)) {
      if (clones(user, n))
        return true;
      if (ofNode & trait::TritonItem)
        return false;
    }
    return (ofUser & (trait::Cat | (ofNode & trait::Fusible))) != 0;
  }

private:
  void pinNodes();
  /// `user` wraps a writing kernel and clones its operand `n`.
  bool clones(FxNodeId user, FxNodeId n) const;
};

/// Tags after PyTorch's clean-up; `anyRecompute` is told whether any node was
/// tagged for recompute before it.
std::vector<FxPolicy> cleanTags(const RuleView &view, bool &anyRecompute);
inline bool isRecompute(FxPolicy policy) {
  return policy >= FxPolicy::MustRecompute;
}

/// Fills `sets`, `forwardOrder` and `emptyBackward`.
void classifyNodes(const RuleView &view, TorchNetwork &network);

/// One half as PyTorch extracts it from the joint graph.
enum class Half : uint8_t { Forward, Backward };
/// Bits of the result of extractHalf, one byte a node.
namespace halfbit {
enum : uint8_t { Valid = 1, Live = 2, Input = 4, Result = 8 };
}
/// `marks` holds halfbit::Input for what the half is given. Adds Valid to what
/// can be computed from that.
void markValid(const RuleView &view, Half half, std::vector<uint8_t> &marks);
/// `marks` is what markValid() made of it, with halfbit::Live for the results;
/// on return, Live says that the half contains a node (or, for an input, uses
/// it). Result is the caller's.
void markLive(const RuleView &view, std::vector<uint8_t> &marks);
/// Both.
void extractHalf(const RuleView &view, Half half, std::vector<uint8_t> &marks);

std::vector<int64_t> distancesToBackward(const RuleView &view,
                                         const TorchNetwork &network);

/// What the users of a node tell of it.
struct UseFacts {
  /// The least number in `forwardOrder` of what is written to memory behind
  /// the node, over fusible edges of F; ~0u if nothing is.
  uint32_t firstUnfusible = ~0u;
  /// The least of this of its users in F; ~0u if there is none.
  uint32_t firstBehindUsers = ~0u;
  /// One behind the number of the last user in F; 0 if there is none.
  uint32_t endOfUsers = 0;
  /// The value is written to memory whatever the cut says.
  bool isMaterialized = false;
  /// Some path of views leads to a user in the backward that cannot be fused
  /// with what it reads.
  bool isMaterializedBackward = false;
};
/// By node; nothing for ops of the backward that are no views.
std::vector<UseFacts> factsOfUses(const RuleView &view,
                                  const TorchNetwork &network);

/// Bytes of a value as the 4x rule and the tuples count them.
inline int64_t ruleSize(const RuleView &view, FxNodeId n) {
  const FxNode &node = view.graph.nodes[n];
  switch (node.value) {
  case FxValue::None:
  case FxValue::Object:
    return 0;
  case FxValue::Tensor:
  case FxValue::Tuple:
    return node.size;
  case FxValue::SymInt:
    return 1;
  case FxValue::SymBool:
  case FxValue::SymFloat:
    // Where 2.3 asks for the size of an operand, only integers have one.
    return view.is23() ? 999999 : 1;
  }
  return 0;
}

/// Everything the ban rules look at.
struct BanRules {
  const RuleView &view;
  const TorchNetwork &network;
  const std::vector<uint8_t> &dontBan;
  std::vector<UseFacts> uses;

  /// All rules that forbid to recompute this node, looked at by itself. For
  /// any node.
  BanReasons reasonsOf(FxNodeId n) const;
  /// May this node be banned at all?
  bool mayBan(FxNodeId n) const;

private:
  BanReasons reasonsOf23(FxNodeId n) const;
  BanReasons reasonsOf213(FxNodeId n) const;
  /// Of the three rules that both releases end with.
  BanReasons heuristicsOf(FxNodeId n, bool materialized, bool tooFar,
                          bool reduction) const;
  bool isReduction(FxNodeId n) const;
};

/// The two rules that look at the forward as a whole, 2.13 only. Each banned
/// node gets an arc from the source.
void banUsedFarApart(const BanRules &rules, TorchNetwork &network);
void banLongFusibleChains(const BanRules &rules, TorchNetwork &network);
void ban(TorchNetwork &network, FxNodeId n, BanReason reason);

/// The capacity of n_in -> n_out; false if it does not fit 64 bits.
bool saveCapacity(const RuleView &view, FxNodeId n, int64_t distance,
                  bool isMaterialized, int64_t &capacity);

} // namespace cutback::torchrules

#endif // CUTBACK_LIB_PARTITION_TORCHRULES_RULEVIEW_H
