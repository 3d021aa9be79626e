// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a group (SplitGroup.h) to ops in parts:
//
//   1. The order: all ops that are not of the group stay single, the group's
//      ops of the forward are one block, those of the backward another. A
//      topological order of these, by places in the program; if there is none
//      the parts would wait for each other.
//   2. New ops: a block is all its ops of the first part, then all of the
//      second, and so on. So a part's large values are dead before those of the
//      next. What is read from outside is sliced, what goes outside is
//      concatenated or, if it is a sum over parts, added up on the way: one
//      accumulator, which each part adds to.
//   3. The old ops go.
//
// New ops are made before anything is moved: an op that infers other types for
// a part than the part of its types has is refused, and nothing has happened.

#include "cutback/Transforms/SplitOps.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace cutback;

namespace op = cutback::aten::op;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

/// Ops of a view with the two halves of a group as one node each.
class BlockOrder {
public:
  BlockOrder(const GraphView &view, const SplitGroup &group)
      : view(view), nodeOf(view.numOps()) {
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (!group.contains(op)) {
        nodeOf[op] = nodes.size();
        nodes.push_back({op});
      }
    for (const auto *half : {&group.forwardOps, &group.backwardOps}) {
      for (uint32_t op : *half)
        nodeOf[op] = nodes.size();
      nodes.push_back(*half);
    }
    findEdges();
  }

  /// Nodes as lists of ops; nothing if a node waits for itself.
  std::optional<std::vector<std::vector<uint32_t>>> run() {
    using Ready = std::pair<uint32_t, uint32_t>; // place, node
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    auto place = [&](uint32_t node) {
      return nodes[node].empty() ? 0 : nodes[node].back();
    };
    for (uint32_t node = 0; node < nodes.size(); ++node)
      if (waitsFor[node] == 0)
        ready.emplace(place(node), node);
    std::vector<std::vector<uint32_t>> order;
    while (!ready.empty()) {
      uint32_t node = ready.top().second;
      ready.pop();
      for (uint32_t next : after[node])
        if (--waitsFor[next] == 0)
          ready.emplace(place(next), next);
      order.push_back(nodes[node]);
    }
    if (order.size() != nodes.size())
      return std::nullopt;
    return order;
  }

private:
  void addEdge(uint32_t from, uint32_t to) {
    if (nodeOf[from] == nodeOf[to])
      return;
    after[nodeOf[from]].push_back(nodeOf[to]);
    ++waitsFor[nodeOf[to]];
  }

  void findEdges() {
    after.resize(nodes.size());
    waitsFor.assign(nodes.size(), 0);
    uint32_t last = GraphView::kNone;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      for (uint32_t operand : view.operands(op))
        if (uint32_t def = view.definer[operand]; def != GraphView::kNone)
          addEdge(def, op);
      if (!view.traits[op].keepsOrder() && !view.traits[op].readsOldValue)
        continue;
      if (last != GraphView::kNone)
        addEdge(last, op);
      last = op;
    }
  }

  const GraphView &view;
  std::vector<uint32_t> nodeOf; ///< by op
  std::vector<std::vector<uint32_t>> nodes, after;
  std::vector<uint32_t> waitsFor;
};

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

class Splitter {
public:
  Splitter(joint::GraphOp graph, const GraphView &view, const SplitGroup &group,
           unsigned parts)
      : view(view), group(group), parts(parts), namer(graph),
        builder(graph.getContext()) {
    partOf.resize(view.numValues());
    whole.assign(view.numValues(), Value());
  }

  /// Whether it could; else the op that could not is `blocked`.
  bool run() {
    auto order = BlockOrder(view, group).run();
    if (!order) {
      blocked = group.root;
      why = "needs all parts, and parts need it";
      return false;
    }
    builder.setInsertionPoint(view.terminator);
    for (const auto *half : {&group.forwardOps, &group.backwardOps}) {
      made.emplace_back();
      slices.clear();
      Operation *last = view.terminator->getPrevNode();
      if (!makeHalf(*half)) {
        eraseNew(view.numOps() ? view.ops.back() : nullptr);
        return false;
      }
      Operation *first =
          last ? last->getNextNode() : &view.terminator->getBlock()->front();
      for (Operation *op = first; op != view.terminator; op = op->getNextNode())
        made.back().push_back(op);
    }
    place(*order);
    return true;
  }

  uint32_t blocked = GraphView::kNone;
  std::string why;

private:
  int64_t begin(unsigned part, int64_t size) const {
    int64_t grain = static_cast<int64_t>(part) * group.grains / parts;
    return grain * (size / group.grains);
  }

  bool makeHalf(const std::vector<uint32_t> &ops) {
    for (unsigned part = 0; part < parts; ++part)
      for (uint32_t op : ops)
        if (!makePart(op, part))
          return false;
    for (uint32_t op : ops)
      makeWhole(op);
    return true;
  }

  //===--- One op ---------------------------------------------------------===//

  /// The part of a type along `dim`.
  Type partType(Type type, int dim, unsigned part) const {
    if (dim == AxisUse::kNone)
      return type;
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    int64_t size = shape[dim];
    shape[dim] = begin(part + 1, size) - begin(part, size);
    return RankedTensorType::get(shape, tensor.getElementType(),
                                 tensor.getEncoding());
  }

  /// What `op` reads for a part.
  Value read(uint32_t op, unsigned operand, unsigned part) {
    uint32_t value = view.operands(op)[operand];
    int dim = group.uses[op]->operandDim[operand];
    if (dim == AxisUse::kNone)
      return wholeOf(value);
    if (group.axis[value] == dim && !partOf[value].empty())
      return partOf[value][part];
    Value &slice = slices[{value, dim, part}];
    if (!slice) {
      Value base = wholeOf(value);
      int64_t size = aten::shapeOf(base)[dim];
      aten::CallBuilder b(builder, view.ops[op]->getLoc(), &namer);
      slice = b.call(op::slice_Tensor,
                     {base, dim, begin(part, size), begin(part + 1, size)});
    }
    return slice;
  }

  Value wholeOf(uint32_t value) const {
    return whole[value] ? whole[value] : view.values[value];
  }

  /// The arguments of the op, with sizes of the part where they name sizes of
  /// the result.
  ArrayAttr partArgs(aten::CallOp call, int dim, unsigned part) const {
    if (dim == AxisUse::kNone)
      return call.getArgs();
    int64_t size = aten::shapeOf(call->getResult(0))[dim];
    SmallVector<Attribute> args(call.getArgs().getValue());
    for (auto [param, arg] : llvm::zip(call.getSchema().params, args)) {
      auto list = dyn_cast<ArrayAttr>(arg);
      if (!list || !isSizesParameter(param.name) ||
          static_cast<size_t>(dim) >= list.size())
        continue;
      SmallVector<Attribute> entries(list.getValue());
      auto entry = dyn_cast<IntegerAttr>(entries[dim]);
      if (entry && entry.getInt() == size)
        entries[dim] = IntegerAttr::get(entry.getType(), begin(part + 1, size) -
                                                             begin(part, size));
      arg = ArrayAttr::get(call->getContext(), entries);
    }
    return ArrayAttr::get(call->getContext(), args);
  }

  bool makePart(uint32_t op, unsigned part) {
    auto call = dyn_cast<aten::CallOp>(view.ops[op]);
    if (!call)
      return block(op, "does not run in parts");
    const AxisUse &use = *group.uses[op];
    SmallVector<Value> operands;
    for (unsigned i = 0; i < call->getNumOperands(); ++i)
      operands.push_back(read(op, i, part));
    if (use.isSum && addProduct(op, call, operands, part))
      return true;
    SmallVector<Type> expected, inferred;
    for (auto [type, dim] :
         llvm::zip_equal(call->getResultTypes(), use.resultDim))
      expected.push_back(partType(type, dim, part));
    ArrayAttr args = partArgs(call, use.resultDim[0], part);
    if (failed(aten::inferResultTypes(call.getSchema(), args,
                                      ValueRange(operands), {}, std::nullopt,
                                      inferred)) ||
        inferred != expected)
      return block(op, "has other sizes in parts");
    OperationState state(call->getLoc(), call->getName());
    aten::CallOp::build(state, expected, operands, args, namesOf(call));
    state.addAttributes(attributesOf(op));
    Operation *made = builder.create(state);
    for (unsigned r = 0; r < made->getNumResults(); ++r) {
      uint32_t value = view.resultBegin[op] + r;
      if (use.isSum)
        addSum(value, made->getResult(r));
      else
        partOf[value].push_back(made->getResult(r));
    }
    return true;
  }

  bool block(uint32_t op, StringRef reason) {
    blocked = op;
    why = reason.str();
    return false;
  }

  ArrayAttr namesOf(Operation *op) {
    SmallVector<Attribute> names;
    for (Value result : op->getResults()) {
      StringRef name = joint::getValueName(result);
      names.push_back(namer.next(name.empty() ? "part" : name));
    }
    return builder.getArrayAttr(names);
  }

  /// Those of the op. Strides that were declared are those of the whole. What
  /// is large is not kept for the backward.
  SmallVector<NamedAttribute> attributesOf(uint32_t op) {
    NamedAttrList attrs(view.ops[op]->getDiscardableAttrDictionary());
    attrs.erase(joint::JointDialect::kStrides);
    uint32_t value = view.resultBegin[op];
    bool isForward = llvm::is_contained(group.forwardOps, op);
    if (isForward && group.isLarge[value] &&
        !attrs.get(joint::JointDialect::kPolicy))
      attrs.set(joint::JointDialect::kPolicy,
                joint::PolicyAttr::get(builder.getContext(),
                                       joint::PolicyKind::MustRecompute,
                                       int64_t(-1)));
    return SmallVector<NamedAttribute>(attrs.getAttrs());
  }

  //===--- Sums -----------------------------------------------------------===//

  static bool isNarrow(Type element) {
    auto type = dyn_cast<FloatType>(element);
    return type && type.getWidth() < 32;
  }

  /// A product that adds to the sum so far, if there is one; whether it was
  /// that.
  bool addProduct(uint32_t op, aten::CallOp call, ArrayRef<Value> operands,
                  unsigned part) {
    bool isMatrix = call.getPacketName() == "aten.mm",
         isBatch = call.getPacketName() == "aten.bmm";
    if (part == 0 || (!isMatrix && !isBatch) ||
        isNarrow(aten::elementOf(call->getResult(0))))
      return false;
    aten::CallBuilder b(builder, call->getLoc(), &namer);
    Value &sum = whole[view.resultBegin[op]];
    sum = b.call(isMatrix ? op::addmm : op::baddbmm,
                 {sum, operands[0], operands[1]});
    return true;
  }

  void addSum(uint32_t value, Value term) {
    aten::CallBuilder b(builder, term.getLoc(), &namer);
    Type element = aten::elementOf(term);
    if (isNarrow(element))
      term = b.call(op::prims_convert_element_type, {term, b.f32()});
    Value &sum = whole[value];
    sum = sum ? b.call(op::add_Tensor, {sum, term}) : term;
  }

  /// What others read of an op's results.
  void makeWhole(uint32_t op) {
    for (uint32_t value = view.resultBegin[op];
         value < view.resultBegin[op + 1]; ++value) {
      Value old = view.values[value];
      aten::CallBuilder b(builder, old.getLoc(), &namer);
      if (group.uses[op]->isSum) {
        Type element = aten::elementOf(old);
        if (isNarrow(element))
          whole[value] =
              b.call(op::prims_convert_element_type, {whole[value], element});
      } else if (isReadWhole(value)) {
        whole[value] = b.call(
            op::cat, {ArrayRef<Value>(partOf[value]), group.axis[value]});
      }
    }
  }

  bool isReadWhole(uint32_t value) const {
    return llvm::any_of(view.users(value), [&](uint32_t user) {
      if (user == view.numOps() || !group.contains(user))
        return true;
      for (auto [i, operand] : llvm::enumerate(view.operands(user)))
        if (operand == value &&
            group.uses[user]->operandDim[i] != group.axis[value])
          return true;
      return false;
    });
  }

  //===--- Into the graph -------------------------------------------------===//

  void eraseNew(Operation *last) {
    while (view.terminator->getPrevNode() != last)
      view.terminator->getPrevNode()->erase();
  }

  void place(const std::vector<std::vector<uint32_t>> &order) {
    for (const std::vector<uint32_t> &node : order) {
      if (node.empty())
        continue;
      if (!group.contains(node[0])) {
        view.ops[node[0]]->moveBefore(view.terminator);
        continue;
      }
      bool isForward =
          !group.forwardOps.empty() && node[0] == group.forwardOps[0];
      for (Operation *op : made[isForward ? 0 : 1])
        op->moveBefore(view.terminator);
    }
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (whole[value])
        Value(view.values[value]).replaceAllUsesWith(whole[value]);
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (group.contains(op)) {
        view.ops[op]->dropAllUses();
        view.ops[op]->erase();
      }
  }

  const GraphView &view;
  const SplitGroup &group;
  unsigned parts;
  aten::ValueNamer namer;
  OpBuilder builder;
  std::vector<std::vector<Value>> partOf; ///< by value
  std::vector<Value> whole;               ///< by value: in place of it
  /// Of this half: by value, dimension and part.
  std::map<std::tuple<uint32_t, int, unsigned>, Value> slices;
  std::vector<std::vector<Operation *>> made; ///< of both halves
};

} // namespace

SplitOutcome cutback::splitOps(joint::GraphOp graph, const GraphView &view,
                               const GraphSets &sets, unsigned parts) {
  SplitOutcome outcome;
  outcome.refusal.why = "no product of the forward is reduced to a loss";
  for (uint32_t root : findSplitRoots(view, sets)) {
    SplitRefusal refusal;
    std::optional<SplitGroup> group = findSplitGroup(view, sets, root, refusal);
    if (group && !group->hasReduction(view))
      continue;
    if (group) {
      auto count =
          static_cast<unsigned>(std::min<int64_t>(parts, group->grains));
      std::string name = view.name(view.resultBegin[root]);
      Splitter splitter(graph, view, *group, count);
      if (splitter.run()) {
        outcome.parts = count;
        outcome.root = name;
        outcome.ops = group->forwardOps.size() + group->backwardOps.size();
        return outcome;
      }
      refusal = {splitter.blocked, splitter.why};
    }
    if (!outcome.refused) {
      outcome.refusal = refusal;
      outcome.refused = view.ops[refusal.op];
    }
  }
  return outcome;
}
