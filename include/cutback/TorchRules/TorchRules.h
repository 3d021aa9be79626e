// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model `pytorch`: what PyTorch's min-cut partitioner would save.
//
// The rules are those of two releases, reproduced exactly on an FX view:
//
//   simplifyFxGraph      dead code elimination and CSE, as PyTorch does them
//   classifyTorchGraph   tags, sets, distances
//   buildTorchNetwork    bans, capacities, network
//   (any max-flow solver; take the smallest sink side)
//   savedNodesOfCut      the cut as a list of nodes
//   extractTorchHalves   the two halves and what goes between them
//
// Source: torch/_functorch/partitioners.py of the releases 2.3.1 and 2.13,
// described in docs; the op table is data (lib/.../ops.tsv).
#ifndef CUTBACK_TORCHRULES_TORCHRULES_H
#define CUTBACK_TORCHRULES_TORCHRULES_H

#include "cutback/Partition/MaxFlow/FlowNetwork.h"
#include "cutback/TorchRules/FxGraph.h"

#include <optional>

namespace cutback {

/// The releases whose rules are known. `torch-2.13-static` is Torch213 with
/// TorchRulesOptions::freeParameters.
enum class TorchRuleSet : uint8_t { Torch23, Torch213 };

/// Flags of the partitioner, with PyTorch's defaults.
struct TorchRulesOptions {
  TorchRuleSet rules = TorchRuleSet::Torch213;
  /// Values with fxflag::StaticLifetime weigh nothing. From 2.13 on.
  bool freeParameters = false;
  bool cse = true;
  /// Distances to the backward above this are banned; -1: the default of the
  /// rule set (3 in 2.3.1, 1000, without effect, in 2.13).
  int64_t maxDistance = -1;
  bool aggressiveRecomputation = false;
  /// From here on 2.13 only.
  bool recomputeViews = false;
  bool banNotInAllowList = true;
  bool banMaterializedBackward = true;
  bool banReductions = true;
  bool banUsedFarApart = true;
  bool banLongFusibleChains = true;
  bool includeNonBuiltin = false;
  bool optimizeCollectives = false;
  /// Seeded random calls are impure (Inductor's `fallback_random`).
  bool fallbackRandom = false;
  /// Packets ("mylib.gelu") or overloads ("mylib.gelu.default") that the user
  /// lets PyTorch recompute beside its own list. Any rule set.
  std::vector<std::string> recomputable;
};

/// A failure, and the node that it is about (noFxNode: the graph). The
/// message follows the project's rules for diagnostics; `note` says what to
/// do next and may be empty.
struct TorchRulesError {
  std::string message;
  FxNodeId node = noFxNode;
  std::string note;
};

/// Op categories, as in ops.tsv.
namespace torchop {
enum : uint8_t {
  Recomputable = 1, ///< R or P
  View = 2,
  Random = 4,
  ComputeIntensive = 8,
};
} // namespace torchop

/// Categories of a packet ("aten.mul") under a rule set; 0 if unknown.
uint8_t lookupTorchOp(TorchRuleSet rules, std::string_view packet);

/// The size of a tensor in the rules' units, bytes. PyTorch replaces the
/// *whole* element count, not the symbol, where a symbol has no hint: by 4096
/// elements (2.13) or 4098 (2.3). `elements` is then ignored. The largest
/// int64_t, which buildTorchNetwork refuses, if the bytes do not fit.
int64_t torchTensorSize(TorchRuleSet rules, int64_t elements, int64_t itemSize,
                        bool hasUnknownSymbol);

/// Dead code elimination, then CSE (unless switched off), as a new graph whose
/// `origin` names the nodes of `graph`. `standIn`, if given, gets for each node
/// of `graph` the node of `graph` that stands for it afterwards: itself, the
/// earlier call that it was merged into, or noFxNode if it was dead. Linear,
/// expected.
FxGraph simplifyFxGraph(FxGraph graph, const TorchRulesOptions &options,
                        std::vector<FxNodeId> *standIn = nullptr);

/// Why a node may not be recomputed, in the order in which PyTorch asks: the
/// first one decides. 2.3 knows but one word for all.
enum class BanReason : uint8_t {
  None,
  Input,
  MustSave,
  NotInAllowList,
  RandomOp,
  ComputeIntensive,
  NonBuiltin,
  MaterializedBackward,
  TooFar,
  Reduction,
  UsedFarApart,
  LongFusibleChain,
};
inline constexpr unsigned numBanReasons = 12;
/// "primal input", "not in recomputable allowlist", ...
std::string_view describeBanReason(BanReason reason);
/// What the rule is about, in a sentence for people, and the flag of PyTorch
/// that switches it off ("" if there is none).
struct BanRule {
  std::string_view cause, flag;
};
BanRule ruleOf(BanReason reason);

/// A set of reasons, one bit each.
using BanReasons = uint16_t;
inline constexpr BanReasons banBit(BanReason reason) {
  return static_cast<BanReasons>(1u << static_cast<unsigned>(reason));
}

/// Bits of TorchNetwork::sets.
namespace torchset {
enum : uint8_t {
  Forward = 1,        ///< F: required by the forward
  TangentClosure = 2, ///< B: depends on a tangent
  GradientResult = 4, ///< a result that is not the forward's
};
} // namespace torchset

using TorchArc = FlowArc;
inline constexpr int64_t infiniteCapacity = kInfiniteCapacity;

/// PyTorch's flow network. Vertex 0 is the source, 1 the sink; node i has the
/// vertices 2 + 2i (`in`) and 3 + 2i (`out`). Not every node has arcs.
struct TorchNetwork {
  uint32_t numVertices = 0;
  /// In the order in which PyTorch adds them; an arc that is added twice is
  /// listed once, at its first place, with its last capacity.
  std::vector<TorchArc> arcs;
  /// Of all finite arcs; below 2^63 - 1.
  int64_t capacitySum = 0;
  /// Per node.
  std::vector<uint8_t> sets;
  /// The reason that decides.
  std::vector<BanReason> banned;
  /// Of banned nodes: all rules that apply, the one that decides among them.
  /// After a ban PyTorch stops asking, so of a chain it finds but the first.
  std::vector<BanReasons> reasons;
  /// Number among the nodes of F, in graph order; ~0u outside F.
  std::vector<uint32_t> forwardOrder;
  /// Steps to the backward; the two versions differ, see Distance.cpp.
  std::vector<int64_t> distance;
  /// The tags after the clean-up that PyTorch does first.
  std::vector<FxPolicy> policy;
  /// What the rules know of a node; internal to them.
  std::vector<uint16_t> traits;
  /// Whether any node was tagged for recompute before the clean-up.
  bool anyRecompute = false;
  /// Nothing belongs to the backward: PyTorch uses its default partition, and
  /// the network is empty.
  bool emptyBackward = false;

  static uint32_t in(FxNodeId n) { return 2 + 2 * n; }
  static uint32_t out(FxNodeId n) { return 3 + 2 * n; }
};

/// What PyTorch knows of a simplified graph before it looks for a cut: all
/// members of the result but the arcs, their sum, and `banned`. Linear.
TorchNetwork classifyTorchGraph(const FxGraph &graph,
                                const TorchRulesOptions &options);

/// Adds the bans and the arcs to what classifyTorchGraph made of the graph.
/// `dontBan`, if not empty, has one byte a node: these may be recomputed
/// whatever the rules say (memory budgets, 2.13). Near linear. Fails if a
/// capacity or the sum of all finite ones does not fit 64 bits.
std::optional<TorchRulesError>
buildTorchNetwork(const FxGraph &graph, const TorchRulesOptions &options,
                  TorchNetwork &network,
                  const std::vector<uint8_t> &dontBan = {});

/// The nodes whose save arc is cut, in graph order. `arcs` are those of the
/// network; `sinkSide` has one byte a vertex, nonzero for what can still reach
/// the sink in the residual network.
std::vector<FxNodeId> savedNodesOfCut(const std::vector<TorchArc> &arcs,
                                      const std::vector<uint8_t> &sinkSide);

/// A network as the golden `.net.json` files list it: vertices renumbered by
/// their first mention in `arcs`, which go by their first vertex in the order
/// in which PyTorch first named it. `nodes[i]` has the vertices 2 + 2i, 3 + 2i;
/// `output` may be among them.
struct TorchNetworkDump {
  std::vector<FxNodeId> nodes;
  std::vector<TorchArc> arcs;
};
TorchNetworkDump dumpTorchNetwork(const TorchNetwork &network);

/// The two halves of a partition, as nodes of the joint graph.
struct TorchHalves {
  /// What the forward hands over, pruned; sizes: binding ones first.
  std::vector<FxNodeId> savedTensors;
  std::vector<FxNodeId> savedSizes;
  /// Calls and `get_attr` nodes of either half, in graph order. Inputs and
  /// `output` are not listed.
  std::vector<FxNodeId> forwardNodes;
  std::vector<FxNodeId> backwardNodes;
  /// Calls that both halves contain, in graph order.
  std::vector<FxNodeId> recomputed;
  /// Those of them that are tagged for recompute and draw random numbers: the
  /// forward has to save the state of the generator, the backward runs them
  /// with it.
  std::vector<FxNodeId> replayedRandom;
};

/// Extracts the halves from a list of saved nodes in graph order. Fails if a
/// result cannot be computed from what its half is given. `network` is that of
/// the graph, if there is one: it knows some of what is needed here.
std::optional<TorchRulesError>
extractTorchHalves(const FxGraph &graph, const TorchRulesOptions &options,
                   const std::vector<FxNodeId> &saved, TorchHalves &halves,
                   const TorchNetwork *network = nullptr);

/// Bytes of a list of saved tensors, as PyTorch's `_size_of` sees them.
struct TorchSavedBytes {
  /// Elements x item size, each tensor by itself.
  int64_t plain = 0;
  /// Each storage once, with its largest saved view (not with all its bytes).
  int64_t storage = 0;
  /// The part of `plain` that is inputs.
  int64_t primal = 0;
};
TorchSavedBytes countSavedBytes(const FxGraph &graph,
                                const std::vector<FxNodeId> &savedTensors);

} // namespace cutback

#endif // CUTBACK_TORCHRULES_TORCHRULES_H
