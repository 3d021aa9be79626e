// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FX view of a training graph: what PyTorch's partitioner sees.
//
// Its rules speak of FX nodes, not of our ops: placeholders, calls, one
// `getitem` per *used* result of a call with several results, `get_attr`, and
// one `output` at the end. The view is a set of flat arrays over node numbers
// in graph order, so that every rule is one linear walk. It owns no MLIR
// object; whoever builds it keeps the map from node numbers to values.
#ifndef CUTBACK_TORCHRULES_FXGRAPH_H
#define CUTBACK_TORCHRULES_FXGRAPH_H

#include "cutback/Support/FlatIndex.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// The position of a node in graph order.
using FxNodeId = uint32_t;
inline constexpr FxNodeId noFxNode = ~FxNodeId(0);

/// A read-only window on a row of a flat array.
template <typename T> class FxRow {
public:
  FxRow(const T *first, const T *last) : first(first), last(last) {}
  FxRow(const std::vector<T> &all)
      : first(all.data()), last(all.data() + all.size()) {}
  const T *begin() const { return first; }
  const T *end() const { return last; }
  size_t size() const { return static_cast<size_t>(last - first); }
  bool empty() const { return first == last; }
  const T &operator[](size_t i) const { return first[i]; }

private:
  const T *first;
  const T *last;
};

/// `GetItem` is `operator.getitem(call, i)`; the rules count it as a call.
enum class FxKind : uint8_t { Placeholder, GetAttr, Call, GetItem, Output };

/// What a node yields. `Tuple` also stands for lists and dicts; `None` for
/// calls without results and `get_attr` nodes without a known value; `Object`
/// for a Python object that the graph is given (BackwardState, a device mesh).
enum class FxValue : uint8_t {
  None,
  Tensor,
  Tuple,
  Object,
  SymInt,
  SymBool,
  SymFloat
};

/// What a placeholder is. Parameters, buffers, inputs and sizes of the step
/// are all `Primal`. Seeds are the seeds and offsets of the random generator
/// for either half.
enum class FxRole : uint8_t {
  None,
  Primal,
  Tangent,
  ForwardSeed,
  BackwardSeed
};

/// Checkpoint tags. Both RECOMPUTE policies mean "tagged for recompute".
enum class FxPolicy : uint8_t {
  None,
  MustSave,
  PreferSave,
  MustRecompute,
  PreferRecompute
};

/// Facts about a node that only its schema or its origin tells.
namespace fxflag {
enum : uint32_t {
  /// The schema writes an argument (`copy_`, `index_put_`, `add_`, `out=`).
  MutableSchema = 1u << 0,
  /// A wrapper that threads an effect token (`with_effects`).
  Effectful = 1u << 1,
  /// `_assert_async`, `_assert_scalar` and the like.
  Assert = 1u << 2,
  /// Draws from the random generator (tag `nondeterministic_seeded`).
  SeededRandom = 1u << 3,
  /// Tag `is_backward`: recorded while the backward was traced. Texts have no
  /// such tags; nodes that depend on a tangent are taken as if they had it.
  TagBackward = 1u << 4,
  /// Tags `must_be_in_forward` and `must_be_in_backward`.
  MustBeForward = 1u << 5,
  MustBeBackward = 1u << 6,
  /// A `_c10d_functional` call.
  Collective = 1u << 7,
  /// The node has a backward hook.
  BackwardHook = 1u << 8,
  /// A custom op: not ATen, prims, or Python arithmetic.
  NonBuiltin = 1u << 9,
  /// A primal that outlives the step: parameter or buffer. Saving it is free
  /// where the options say so.
  StaticLifetime = 1u << 10,
  /// The size of the value depends on a symbol without a hint. Only for
  /// reports: `size` has the fallback already.
  UnknownSymbol = 1u << 11,
  /// A functional wrapper of a writing kernel, `auto_functionalized` or
  /// `triton_kernel_wrapper_functional`: it clones FxGraph::clonedArgs.
  FunctionalWrapper = 1u << 12,
  /// The second of the two above.
  TritonWrapper = 1u << 13,
  /// Any other call that is kept for what it does outside the graph
  /// (`pippy._pipe_split`, prints, host callbacks).
  SideEffect = 1u << 14,
};
} // namespace fxflag

/// Everything about one node but its edges. 32 bytes.
struct FxNode {
  /// Tensor: elements x item size in bytes; tuple: the sum over its tensors,
  /// unused results too. Not looked at for other values. Symbolic sizes by
  /// hint; see torchTensorSize in TorchRules.h for symbols without one.
  int64_t size = 0;
  /// Index into FxGraph::packets ("aten.mul", "operator.getitem").
  uint32_t packet = 0;
  /// Bits of fxflag.
  uint32_t flags = 0;
  /// The checkpointed region; only looked at where `policy` is set.
  int32_t region = -1;
  /// The storage that a tensor lies in, shared by all views of it; -1 if the
  /// value has none. Index into FxGraph::storageBytes.
  int32_t storage = -1;
  /// The node that a mutating call writes (first argument of `copy_`).
  FxNodeId destination = noFxNode;
  FxKind kind = FxKind::Call;
  FxValue value = FxValue::Tensor;
  FxRole role = FxRole::None;
  FxPolicy policy = FxPolicy::None;

  bool isCall() const {
    return kind == FxKind::Call || kind == FxKind::GetItem;
  }
  bool isSymbolic() const { return value >= FxValue::SymInt; }
  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  /// An input of the forward half: primal, forward seed or offset.
  bool isInput() const {
    return role == FxRole::Primal || role == FxRole::ForwardSeed;
  }
};

/// Rows of unequal length in one array.
struct FxRows {
  std::vector<uint32_t> begin{0};
  std::vector<uint32_t> items;
  FxRow<uint32_t> operator[](size_t row) const {
    return {items.data() + begin[row], items.data() + begin[row + 1]};
  }
  /// Ends the row that was appended to `items`.
  void close() { begin.push_back(static_cast<uint32_t>(items.size())); }
};

/// Rows of which few have items.
class FxSparseRows {
public:
  FxRow<uint32_t> operator[](uint32_t row) const;
  /// Appends to the last row or to one behind it.
  void append(uint32_t row, uint32_t item);
  bool empty() const { return rows.empty(); }

private:
  std::vector<uint32_t> rows, begin, items;
};

/// One token of a call's skeleton, for common subexpressions. The two top bits
/// say what it is.
namespace fxtoken {
inline constexpr uint32_t kindMask = 3u << 30;
inline constexpr uint32_t node = 0u << 30;      ///< the next of FxGraph::args
inline constexpr uint32_t literal = 1u << 30;   ///< FxGraph::literalHash index
inline constexpr uint32_t structure = 2u << 30; ///< brackets, keywords
inline constexpr uint32_t open = structure, close = structure | 1;
} // namespace fxtoken

/// The arguments of a call without the nodes. Calls have few of them, so they
/// are numbered: equal numbers, equal arguments but for the nodes.
struct FxSkeleton {
  /// Equal numbers: Python's hash() is equal, as far as literals go.
  uint32_t alike = 0;
  /// All nodes are positional arguments of their own.
  bool isFlat = true;
};

/// The view. Read-only once FxGraphBuilder::finish returned it. At most 2^30
/// nodes, literals and keywords.
struct FxGraph {
  std::vector<FxNode> nodes;
  /// Distinct operand nodes, in argument order (positional, then keyword).
  FxRows inputs;
  /// Distinct users in graph order, `output` included.
  FxRows users;
  /// All operand nodes as they stand in the call; duplicates kept.
  FxRows args;
  /// What stands between them: a number per node, skeletons by number, and
  /// their tokens.
  std::vector<uint32_t> skeleton;
  std::vector<FxSkeleton> skeletons;
  FxRows skeletonTokens;
  /// Operands that a FunctionalWrapper clones before it writes them.
  FxSparseRows clonedArgs;
  /// Free symbols of sizes, strides and offset of a value, as symbol numbers.
  FxSparseRows symbols;
  /// Target per node: overload, interned; equal numbers = equal targets.
  std::vector<uint32_t> targets;
  /// The symbol that a node binds (a size that is an input), or -1.
  std::vector<int32_t> binds;
  /// The flat results; noFxNode stands for None. The first
  /// `numForwardOutputs` belong to the forward.
  std::vector<FxNodeId> outputs;
  uint32_t numForwardOutputs = 0;
  /// Distinct op packets, and symbol names, by number.
  std::vector<std::string> packets;
  std::vector<std::string> symbolNames;
  /// What a rule set knows of the packets, by number, once it has looked; and
  /// the number of that rule set.
  std::vector<uint16_t> packetTraits;
  unsigned traitRules = 0;
  /// Bytes of each storage.
  std::vector<int64_t> storageBytes;
  /// What Python's hash() makes of a literal, up to equality.
  std::vector<uint64_t> literalHash;
  /// The node of the graph that this one was made from by DCE and CSE; the
  /// identity for a graph that comes from the builder.
  std::vector<FxNodeId> origin;

  size_t size() const { return nodes.size(); }
  /// The number of the `output` node, always the last.
  FxNodeId outputNode() const {
    return static_cast<FxNodeId>(nodes.size() - 1);
  }
  /// Top-level positional arguments that are nodes; duplicates kept.
  FxRow<uint32_t> directArgs(FxNodeId n) const {
    return skeletons[skeleton[n]].isFlat ? args[n] : someDirectArgs[n];
  }
  /// Empty in a graph without names.
  std::string_view name(FxNodeId n) const {
    if (n + 1 >= nameBegin.size())
      return {};
    return std::string_view(nameChars).substr(nameBegin[n],
                                              nameBegin[n + 1] - nameBegin[n]);
  }
  bool hasNames() const { return nameBegin.size() > 1; }
  /// The name of the next node. All nodes have names, or none.
  void appendName(std::string_view name);
  /// Drops the names of nodes with a 0 in `keep`.
  void keepNames(const std::vector<uint8_t> &keep);
  /// Fills `users` from `inputs`, in linear time.
  void computeUsers();

  /// Of calls whose skeleton is not flat.
  FxSparseRows someDirectArgs;

private:
  std::string nameChars;
  std::vector<uint32_t> nameBegin{0};
};

/// Builds an FxGraph, node by node in graph order:
///
///   uint32_t mul = builder.packet("aten.mul");
///   builder.begin("mul_3", node);          // FxNode with packet = mul
///   builder.target("aten.mul.Tensor");
///   builder.argNode(x);                    // positional
///   builder.argFloat(0.5);
///   builder.keyword("dtype"); builder.argText("torch.float32");
///   FxNodeId n = builder.end();
///
/// Inside argListBegin/argListEnd and after keyword() nodes still count as
/// inputs, but not as direct arguments. A graph without names is built with
/// begin(node); one without a name must have none at all.
class FxGraphBuilder {
public:
  FxGraphBuilder() = default;
  FxGraphBuilder(const FxGraphBuilder &) = delete;
  FxGraphBuilder &operator=(const FxGraphBuilder &) = delete;

  void reserve(size_t nodes, size_t edges);
  uint32_t packet(std::string_view name);
  int32_t symbol(std::string_view name);
  /// A new storage of `bytes` bytes.
  int32_t storage(int64_t bytes);

  void begin(std::string_view name, const FxNode &node);
  void begin(const FxNode &node) {
    current = node;
    currentTarget = 0;
    currentTokens.clear();
  }
  /// The number of a target, for target().
  uint32_t internTarget(std::string_view name);
  void target(uint32_t number) { currentTarget = number; }
  void target(std::string_view name) { target(internTarget(name)); }
  void argNode(FxNodeId n) {
    auto self = static_cast<FxNodeId>(graph.nodes.size());
    currentTokens.push_back(fxtoken::node);
    graph.args.items.push_back(n);
    // The stamp is this node's number plus one; 0 means never.
    if (lastSeen[n] == self + 1)
      return;
    lastSeen[n] = self + 1;
    graph.inputs.items.push_back(n);
  }
  /// argNode, for an operand that a FunctionalWrapper clones.
  void argClonedNode(FxNodeId n);
  void argInt(int64_t value);
  void argFloat(double value);
  void argBool(bool value);
  /// None, dtypes, devices, strings: anything that is equal if its text is.
  void argText(std::string_view text);
  /// Any literal that the caller has interned itself, for instance by the
  /// address of a uniqued attribute; equal numbers = equal literals. Below
  /// 2^63.
  void argOpaque(uint64_t identity);
  void argListBegin();
  void argListEnd();
  /// What follows is the value of this keyword, until the next one.
  void keyword(std::string_view name);
  void freeSymbol(int32_t symbol);
  void bindSymbol(int32_t symbol);
  FxNodeId end();
  /// The skeleton of the node that end() closed last.
  uint32_t lastSkeleton() const { return graph.skeleton.back(); }
  /// end() of a call whose arguments are those of a known skeleton. Nodes have
  /// been given with argNode() in their order, and nothing else.
  FxNodeId end(uint32_t skeleton) {
    auto id = static_cast<FxNodeId>(graph.nodes.size());
    graph.nodes.push_back(current);
    graph.targets.push_back(currentTarget);
    graph.skeleton.push_back(skeleton);
    graph.inputs.close();
    graph.args.close();
    lastSeen.push_back(0);
    if (!graph.skeletons[skeleton].isFlat)
      listDirectArgs(id);
    return id;
  }

  /// Adds the `output` node and the users. `outputs` may hold noFxNode.
  FxGraph finish(std::vector<FxNodeId> outputs, uint32_t numForwardOutputs);

private:
  /// Texts by number; looking one up allocates nothing.
  struct Names {
    std::vector<std::string> texts;
    FlatIndex index;
    uint32_t intern(std::string_view text);
  };
  struct Literal {
    char kind;
    uint64_t bits;
  };

  void literal(char kind, uint64_t bits, uint64_t hash);
  void structure(uint32_t what);
  uint32_t internSkeleton();
  uint32_t classOfAlike(uint32_t skeleton);
  void listDirectArgs(FxNodeId n);

  FxGraph graph;
  FxNode current;
  uint32_t currentTarget = 0;
  std::vector<uint32_t> currentTokens;
  std::vector<std::pair<FxNodeId, int32_t>> bindings;
  std::vector<FxNodeId> lastSeen;
  /// Skeletons by hash; those that stand for all that are alike.
  FlatIndex skeletonsByHash, alikeByHash;
  Names packets, targets, texts, symbols;
  std::vector<Literal> literals;
  FlatIndex literalsByHash;
};

} // namespace cutback

#endif // CUTBACK_TORCHRULES_FXGRAPH_H
