// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the FX view (25-partition-rules §1) in one walk over the ops:
//
//   * an argument is a placeholder, a constant made in the forward a
//     `get_attr` in front of its first user;
//   * an op is a call; with several results, each used one is a getitem
//     directly behind it;
//   * a write is a call of `copy_`, a check a call of `_assert_async`.
//
// Two calls are equal to PyTorch's CSE if target, argument list and operands
// are. Argument lists are uniqued attributes: each is taken apart once, and is
// a number from then on. An op of a dialect without framework calls is a call
// named after the op. Linear.

#include "cutback/TorchRules/FxView.h"

#include "cutback/Analysis/SymbolUses.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Support/MLIR/OpAccess.h"
#include "cutback/Support/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

FxValue kindOf(ValueKind kind) {
  switch (kind) {
  case ValueKind::Tensor:
    return FxValue::Tensor;
  case ValueKind::Size:
    return FxValue::SymInt;
  case ValueKind::Bool:
    return FxValue::SymBool;
  case ValueKind::Float:
    return FxValue::SymFloat;
  case ValueKind::Other:
    return FxValue::None;
  }
  return FxValue::None;
}

FxRole roleOf(RoleAttr role) {
  switch (role.getKind()) {
  case RoleKind::Tangent:
  case RoleKind::GradSeed:
    return FxRole::Tangent;
  case RoleKind::RngSeed:
  case RoleKind::RngOffset:
    return role.getBackward() ? FxRole::BackwardSeed : FxRole::ForwardSeed;
  default:
    return FxRole::Primal;
  }
}

FxPolicy policyOf(PolicyKind kind) {
  switch (kind) {
  case PolicyKind::MustSave:
    return FxPolicy::MustSave;
  case PolicyKind::PreferSave:
    return FxPolicy::PreferSave;
  case PolicyKind::MustRecompute:
    return FxPolicy::MustRecompute;
  case PolicyKind::PreferRecompute:
    return FxPolicy::PreferRecompute;
  case PolicyKind::AdviseRecompute:
    return FxPolicy::None;
  }
  return FxPolicy::None;
}

/// PyTorch tags attention as random whatever its dropout is.
bool isSeededAttention(StringRef packet) {
  return packet.starts_with("aten._scaled_dot_product_") &&
         !packet.ends_with("_backward") && !packet.contains("_math");
}

/// What all calls of one overload have in common.
struct CallKind {
  uint32_t target = 0, packet = 0, flags = 0;
  unsigned numPositional = 0;
  const FrameworkCallOpInterface::Concept *call = nullptr;
  bool isTuple = false, isWrite = false, isAssert = false;
};

class FxBuilder {
public:
  FxBuilder(const GraphView &view, const ValueSizes &sizes,
            const std::vector<uint8_t> &isFree, TorchRuleSet rules)
      : view(view), sizes(sizes), isFree(isFree), rules(rules),
        graph(view.graph), isUnannotated(graph->hasAttr(kUnannotatedText)),
        policyAttr(StringAttr::get(graph->getContext(), JointDialect::kPolicy)),
        dimsAttr(StringAttr::get(graph->getContext(), JointDialect::kDims)),
        symbols(SymbolUses::find(view)) {
    assumeSizes();
  }

  FxView run() {
    fx.nodeOf.assign(view.numValues(), noFxNode);
    storageOf.assign(view.numValues(), -1);
    builder.reserve(view.numValues() + view.numOps() / 8,
                    view.operandList.size() + view.numOps() / 8);
    fx.valueOf.reserve(view.numValues() + view.numOps() / 8);
    fx.opOf.reserve(view.numValues() + view.numOps() / 8);
    getItemPacket = builder.packet("operator.getitem");
    literalPacket = builder.packet(
        rules == TorchRuleSet::Torch23 ? "aten.lift_fresh_copy" : "aten.view");
    getItemTarget = builder.internTarget("operator.getitem");
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      if (graph.getRole(arg).getKind() != RoleKind::Constant)
        addPlaceholder(arg);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (op + 4 < view.numOps())
        prefetchOp(view.ops[op + 4]);
      addOp(op);
    }
    std::vector<FxNodeId> outputs;
    addOutputs(outputs);
    fx.graph = builder.finish(std::move(outputs), view.forwardResults().size());
    fx.valueOf.push_back(GraphView::kNone);
    fx.opOf.push_back(GraphView::kNone);
    return std::move(fx);
  }

private:
  void noteNode(FxNodeId node, uint32_t value, uint32_t op) {
    fx.valueOf.push_back(value);
    fx.opOf.push_back(op);
    if (value != GraphView::kNone)
      fx.nodeOf[value] = node;
  }

  int32_t storage(uint32_t value) {
    uint32_t base = sizes.storage[value];
    if (storageOf[base] < 0)
      storageOf[base] = builder.storage(sizes.bytes[base]);
    return storageOf[base];
  }

  /// Kind, size and storage of a value.
  void describe(uint32_t value, FxNode &node) {
    node.value = kindOf(sizes.kind[value]);
    if (node.value != FxValue::Tensor)
      return;
    node.storage = storage(value);
    node.size = tensorSize(value);
    if (sizes.unknown[value])
      node.flags |= fxflag::UnknownSymbol;
  }

  /// PyTorch 2.13 has a size for each symbol without a hint.
  void assumeSizes() {
    if (rules != TorchRuleSet::Torch213 ||
        !llvm::is_contained(sizes.unknown, 1))
      return;
    llvm::StringMap<int64_t> values =
        assumeSymbols(view, ValueSizes::fallbackElements);
    if (auto all = ValueSizes::computeAll(view, values);
        !values.empty() && succeeded(all))
      assumed = std::move(*all);
  }

  int64_t tensorSize(uint32_t value) {
    if (!sizes.unknown[value])
      return sizes.bytes[value];
    if (assumed && !assumed->unknown[value])
      return assumed->bytes[value];
    int64_t item = sizes.bytes[value] / ValueSizes::fallbackElements;
    return torchTensorSize(rules, 0, item, true);
  }

  void addPlaceholder(uint32_t arg) {
    FxNode node;
    RoleAttr role = graph.getRole(arg);
    bool isConstant = role.getKind() == RoleKind::Constant;
    node.kind = isConstant ? FxKind::GetAttr : FxKind::Placeholder;
    node.role = isConstant ? FxRole::None : roleOf(role);
    if (isFree[arg])
      node.flags |= fxflag::StaticLifetime;
    describe(arg, node);
    if (sizes.kind[arg] == ValueKind::Other)
      node.value = FxValue::Object;
    // PyTorch knows no value of a constant whose text has no type.
    if (isConstant && isUnannotated)
      node.value = FxValue::None;
    builder.begin(node);
    bindSymbols(arg);
    noteNode(builder.end(), arg, GraphView::kNone);
  }

  /// A size that is an argument binds its symbol.
  void bindSymbols(uint32_t arg) {
    auto dims = graph.getArgAttrOfType<ArrayAttr>(arg, JointDialect::kDims);
    if (!dims)
      return;
    for (Attribute dim : dims) {
      auto text = dyn_cast<StringAttr>(dim);
      if (!text)
        continue;
      std::vector<std::string> symbols = sizeExprSymbols(text.getValue());
      for (const std::string &name : symbols)
        builder.freeSymbol(builder.symbol(name));
      if (sizes.kind[arg] == ValueKind::Size && symbols.size() == 1 &&
          symbols[0] == text.getValue())
        builder.bindSymbol(builder.symbol(symbols[0]));
    }
  }

  /// What a result needs to be bound: symbols of arguments that its sizes
  /// depend on, and those that the text names. A number that only a run tells
  /// (`u0`) is bound where it is made.
  void addSymbols(uint32_t value, ArrayAttr dims) {
    for (auto [name, uses] : llvm::zip(symbols.names, symbols.uses))
      if (uses[value])
        builder.freeSymbol(builder.symbol(name));
    for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>()) {
      auto text = dyn_cast<StringAttr>(dim);
      if (!text)
        continue;
      for (const std::string &name : sizeExprSymbols(text.getValue())) {
        bool isOfRun =
            name.size() > 1 && name[0] == 'u' && llvm::isDigit(name[1]);
        if (isOfRun)
          builder.freeSymbol(builder.symbol(name));
        if (isOfRun && sizes.kind[value] == ValueKind::Size &&
            name == text.getValue())
          builder.bindSymbol(builder.symbol(name));
      }
    }
  }

  /// Constants stand in front of their first user.
  void addConstants(uint32_t op) {
    for (uint32_t value : view.operands(op))
      if (view.isArg(value) && fx.nodeOf[value] == noFxNode)
        addPlaceholder(value);
  }

  void addOp(uint32_t op) {
    addConstants(op);
    Operation *operation = view.ops[op];
    uint32_t first = view.resultBegin[op], count = view.numResults(op);
    const CallKind &kind = callKind(operation);
    FxNode node;
    bool isTuple = kind.call ? kind.isTuple : count > 1;
    if (isTuple) {
      node.value = FxValue::Tuple;
      for (uint32_t r = first; r < first + count; ++r)
        node.size += sizes.kind[r] == ValueKind::Tensor ? tensorSize(r) : 0;
    } else if (count == 1) {
      describe(first, node);
    } else {
      node.value = FxValue::None;
    }
    if (view.traits[op].annotated)
      addTag(operation, node);
    // PyTorch has literals in argument lists. What it always computes again,
    // whoever reads it, are views; in 2.3, which keeps those that are read far
    // from the backward, it is a constant's copy.
    node.packet = view.traits[op].literal ? literalPacket : kind.packet;
    node.flags |= kind.flags | flagsOf(op, kind);
    if (kind.isWrite) {
      node.destination = fx.nodeOf[view.operands(op).front()];
      if (cast<WriteOp>(operation).getSide() == Side::Backward)
        node.flags |= fxflag::TagBackward;
    }
    builder.begin(node);
    if (!isTuple && count == 1)
      addSymbols(first, dyn_cast_or_null<ArrayAttr>(
                            operation->getDiscardableAttr(dimsAttr)));
    builder.target(kind.target);
    FxNodeId id =
        kind.call ? addCallArguments(op, kind) : addPlainArguments(op);
    noteNode(id, !isTuple && count == 1 ? first : GraphView::kNone, op);
    if (isTuple)
      for (uint32_t r = first; r < first + count; ++r)
        if (!view.users(r).empty())
          addGetItem(op, id, r, node);
  }

  void addTag(Operation *operation, FxNode &node) {
    auto tag =
        dyn_cast_or_null<PolicyAttr>(operation->getDiscardableAttr(policyAttr));
    if (!tag)
      return;
    node.policy = policyOf(tag.getKind());
    node.region = static_cast<int32_t>(tag.getOutermost());
  }

  uint32_t flagsOf(uint32_t op, const CallKind &kind) const {
    const OpTraits &traits = view.traits[op];
    uint32_t flags = traits.random ? uint32_t(fxflag::SeededRandom) : 0;
    if (traits.ordered && !traits.random && !kind.isWrite && !kind.isAssert)
      flags |= fxflag::SideEffect;
    return flags;
  }

  /// All ops of one name are of one kind, but for those that spell their
  /// callee in an attribute.
  const CallKind &callKind(Operation *op) {
    if (isa<OpaqueOp, NestedOp>(op)) {
      opaqueKind = makeKind(op);
      return opaqueKind;
    }
    auto [it, isNew] = kindOfName.try_emplace(
        op->getName().getAsOpaquePointer(), kinds.size());
    if (isNew)
      kinds.push_back(makeKind(op));
    return kinds[it->second];
  }

  CallKind makeKind(Operation *op) {
    auto call = dyn_cast<FrameworkCallOpInterface>(op);
    CallKind kind;
    kind.call = conceptOf<FrameworkCallOpInterface>(op);
    StringRef packet = isa<WriteOp>(op)    ? "aten.copy_"
                       : isa<AssertOp>(op) ? "aten._assert_async"
                       : call              ? call.getPacketName()
                                           : op->getName().getStringRef();
    kind.packet = builder.packet(packet);
    llvm::SmallString<64> target(packet);
    if (call)
      if (StringRef overload = call.getOverloadName(); !overload.empty())
        (target += '.') += overload;
    kind.target = builder.internTarget(target.str());
    kind.isWrite = isa<WriteOp>(op);
    kind.isAssert = isa<AssertOp>(op);
    if (kind.isWrite)
      kind.flags |= fxflag::MutableSchema;
    if (kind.isAssert)
      kind.flags |= fxflag::Assert;
    if (!call)
      return kind;
    if (isSeededAttention(packet))
      kind.flags |= fxflag::SeededRandom;
    if (packet.starts_with("_c10d_functional."))
      kind.flags |= fxflag::Collective;
    kind.numPositional = call.getNumPositionalArgs();
    kind.isTuple = call.returnsTuple();
    return kind;
  }

  /// Gives a node the arguments of an op that is no call, and ends it: whatever
  /// two equal ops have in common. Regions are not compared, so an op with one
  /// equals itself only.
  FxNodeId addPlainArguments(uint32_t op) {
    Operation *operation = view.ops[op];
    auto add = [&](const void *identity) {
      builder.argOpaque(reinterpret_cast<uint64_t>(identity));
    };
    if (operation->getNumRegions()) {
      add(operation);
    } else {
      add(operation->getPropertiesAsAttribute().getAsOpaquePointer());
      for (Type type : operation->getResultTypes())
        add(type.getAsOpaquePointer());
      if (!operation->isRegistered())
        add(operation->getRawDictionaryAttrs().getAsOpaquePointer());
    }
    for (uint32_t value : view.operands(op))
      builder.argNode(fx.nodeOf[value]);
    return builder.end();
  }

  /// The same for a call.
  FxNodeId addCallArguments(uint32_t op, const CallKind &kind) {
    ArrayRef<uint32_t> operands = view.operands(op);
    unsigned numPositional = kind.numPositional;
    ArrayAttr args =
        FrameworkCallOpInterface(view.ops[op], kind.call).getCallArgs();
    // PyTorch reads each nested graph by a node of its own.
    bool hasGraphs = view.ops[op]->getNumRegions() != 0;
    auto known =
        hasGraphs ? skeletonOf.end() : skeletonOf.find({args, numPositional});
    if (known != skeletonOf.end()) {
      for (uint32_t value : operands)
        builder.argNode(fx.nodeOf[value]);
      return builder.end(known->second);
    }
    isUnlikeAll = hasGraphs;
    if (hasGraphs)
      builder.argOpaque(reinterpret_cast<uint64_t>(view.ops[op]));
    const uint32_t *next = operands.begin();
    for (auto [i, arg] : llvm::enumerate(args)) {
      if (i >= numPositional)
        builder.keyword("keyword");
      addArgument(arg, next);
    }
    FxNodeId node = builder.end();
    if (!isUnlikeAll)
      skeletonOf[{args, numPositional}] = builder.lastSkeleton();
    return node;
  }

  /// PyTorch's CSE hashes literals as Python does, so they go in by value.
  void addArgument(Attribute arg, const uint32_t *&next) {
    if (isa<OperandAttr>(arg)) {
      builder.argNode(fx.nodeOf[*next++]);
    } else if (auto list = dyn_cast<ArrayAttr>(arg)) {
      builder.argListBegin();
      for (Attribute element : list)
        addArgument(element, next);
      builder.argListEnd();
    } else if (auto boolean = dyn_cast<BoolAttr>(arg)) {
      builder.argBool(boolean.getValue());
    } else if (auto integer = dyn_cast<IntegerAttr>(arg)) {
      builder.argInt(integer.getInt());
    } else if (auto number = dyn_cast<FloatAttr>(arg)) {
      isUnlikeAll |= number.getValue().isNaN();
      builder.argFloat(number.getValueAsDouble());
    } else {
      builder.argOpaque(reinterpret_cast<uint64_t>(arg.getAsOpaquePointer()));
    }
  }

  void addGetItem(uint32_t op, FxNodeId call, uint32_t value,
                  const FxNode &callNode) {
    FxNode node;
    node.kind = FxKind::GetItem;
    node.packet = getItemPacket;
    node.policy = callNode.policy;
    node.region = callNode.region;
    describe(value, node);
    builder.begin(node);
    auto dims =
        dyn_cast_or_null<ArrayAttr>(view.ops[op]->getDiscardableAttr(dimsAttr));
    uint32_t place = value - view.resultBegin[op];
    if (dims && place < dims.size())
      dims = dyn_cast<ArrayAttr>(dims[place]);
    addSymbols(value, dims);
    builder.target(getItemTarget);
    builder.argNode(call);
    builder.argInt(value - view.resultBegin[op]);
    noteNode(builder.end(), value, op);
  }

  /// Forward results, then one gradient an argument, None where there is none.
  void addOutputs(std::vector<FxNodeId> &outputs) {
    for (uint32_t value : view.forwardResults())
      outputs.push_back(fx.nodeOf[value]);
    ArrayRef<int32_t> of = joint::OutputOp(view.output).getGradientOf();
    size_t next = 0;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      bool has = next < of.size() && of[next] == static_cast<int32_t>(arg);
      outputs.push_back(has ? fx.nodeOf[view.gradients()[next]] : noFxNode);
      next += has;
    }
  }

  const GraphView &view;
  const ValueSizes &sizes;
  const std::vector<uint8_t> &isFree;
  TorchRuleSet rules;
  GraphOp graph;
  bool isUnannotated;
  StringAttr policyAttr, dimsAttr;
  SymbolUses symbols;
  std::optional<ValueSizes> assumed; ///< where PyTorch knows more
  FxGraphBuilder builder;
  uint32_t getItemPacket = 0, getItemTarget = 0, literalPacket = 0;
  std::vector<CallKind> kinds;
  CallKind opaqueKind;
  llvm::SmallDenseMap<const void *, uint32_t, 64> kindOfName;
  /// By argument list and number of positional arguments.
  llvm::DenseMap<std::pair<Attribute, unsigned>, uint32_t> skeletonOf;
  bool isUnlikeAll = false; ///< a NaN is equal to nothing
  std::vector<int32_t> storageOf;
  FxView fx;
};

} // namespace

FxView FxView::build(const GraphView &view, const ValueSizes &sizes,
                     const std::vector<uint8_t> &isFree, TorchRuleSet rules) {
  return FxBuilder(view, sizes, isFree, rules).run();
}

void FxView::nameNodes(const GraphView &view) {
  if (graph.hasNames())
    return;
  for (FxNodeId node = 0; node < graph.size(); ++node) {
    bool isCall = graph.nodes[node].kind == FxKind::Call;
    StringAttr given;
    if (isCall)
      given = view.ops[opOf[node]]->getAttrOfType<StringAttr>("joint.call");
    if (given)
      graph.appendName(given.getValue());
    else if (valueOf[node] != GraphView::kNone)
      graph.appendName(view.name(valueOf[node]));
    else
      graph.appendName(isCall ? "call_" + std::to_string(opOf[node])
                              : "output");
  }
}

void FxView::followGraph(const ValueSizes &sizes,
                         const Renumbering &renumbering) {
  std::vector<uint32_t> oldValueOf = std::move(valueOf);
  std::vector<uint32_t> oldOpOf = std::move(opOf);
  valueOf.assign(graph.size(), GraphView::kNone);
  opOf.assign(graph.size(), GraphView::kNone);
  nodeOf.assign(sizes.bytes.size(), noFxNode);
  graph.storageBytes.clear();
  std::vector<int32_t> storageOf(sizes.bytes.size(), -1);
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    FxNode &node = graph.nodes[n];
    FxNodeId old = graph.origin[n];
    graph.origin[n] = n;
    // An element of a merged call belongs to the call that is left.
    if (node.kind == FxKind::GetItem)
      opOf[n] = opOf[graph.inputs[n][0]];
    else if (oldOpOf[old] != GraphView::kNone)
      opOf[n] = renumbering.newOp[oldOpOf[old]];
    if (oldValueOf[old] == GraphView::kNone)
      continue;
    uint32_t value = renumbering.newValue[oldValueOf[old]];
    valueOf[n] = value;
    nodeOf[value] = n;
    if (node.storage < 0)
      continue;
    int32_t &storage = storageOf[sizes.storage[value]];
    if (storage < 0) {
      storage = static_cast<int32_t>(graph.storageBytes.size());
      graph.storageBytes.push_back(sizes.storageBytes(value));
    }
    node.storage = storage;
  }
}
