// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call of graphs costs: the sum over the ops of a graph, times how often
// it runs. Which branch is taken is not known, so the more expensive one
// counts. How often a loop runs is known of a scan, and of a loop that stacks
// its rounds once their number is; else it counts once. Attention counts all
// pairs of query and key, as attention without a function does, or half of them
// where the mask is the causal one. Sizes that the text leaves open inside of a
// graph follow from those of the call.

#include "cutback/Dialect/Joint/Nested.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback::joint;

using Shapes = ArrayRef<ArrayRef<int64_t>>;

namespace {

/// FLOPs of one run of a graph.
class GraphCost {
public:
  explicit GraphCost(Block &graph) : graph(graph) {}

  void setInput(unsigned argument, ArrayRef<int64_t> shape) {
    auto type =
        dyn_cast<RankedTensorType>(graph.getArgument(argument).getType());
    if (type && type.getRank() == static_cast<int64_t>(shape.size()))
      types[graph.getArgument(argument)] = type.clone(shape);
  }

  double run() {
    double flops = 0;
    for (Operation &op : graph.without_terminator()) {
      findTypes(op);
      flops += flopsOf(op);
    }
    return flops;
  }

private:
  Type typeOf(Value value) const {
    Type known = types.lookup(value);
    return known ? known : value.getType();
  }

  void findTypes(Operation &op) {
    auto isOpen = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !tensor.hasStaticShape();
    };
    auto model = dyn_cast<SizeEvaluationOpInterface>(op);
    if (!model || llvm::none_of(op.getResultTypes(), isOpen))
      return;
    SmallVector<Type> operands, results;
    for (Value operand : op.getOperands())
      operands.push_back(typeOf(operand));
    SmallVector<int64_t> ints(operands.size(), ShapedType::kDynamic), given;
    if (!model.evaluateSizes(operands, ints, results, given) ||
        results.size() != op.getNumResults())
      return;
    for (auto [result, type] : llvm::zip(op.getResults(), results))
      types[result] = type;
  }

  double flopsOf(Operation &op) const {
    auto model = dyn_cast<CostModelOpInterface>(op);
    if (!model)
      return 0;
    SmallVector<ArrayRef<int64_t>> shapes;
    auto add = [&](Value value) {
      auto tensor = dyn_cast<RankedTensorType>(typeOf(value));
      shapes.push_back(tensor ? tensor.getShape() : ArrayRef<int64_t>());
    };
    llvm::for_each(op.getOperands(), add);
    llvm::for_each(op.getResults(), add);
    return model.getFlops(shapes);
  }

  Block &graph;
  llvm::DenseMap<Value, Type> types;
};

} // namespace

static double flopsOfGraph(NestedOp op, NestedKind kind, unsigned number,
                           Shapes shapes) {
  GraphCost cost(op.getGraphs()[number].front());
  unsigned argument = 0;
  auto inputs = graphInputs(kind, op.getArgs(), number);
  for (const GraphInput &input : inputs ? *inputs : SmallVector<GraphInput>()) {
    if (input.source == GraphInput::Literal)
      continue;
    if (input.source == GraphInput::Operand)
      cost.setInput(argument, shapes[input.operand]);
    else if (input.source == GraphInput::Slice &&
             !shapes[input.operand].empty())
      cost.setInput(argument, shapes[input.operand].drop_front());
    ++argument;
  }
  return cost.run();
}

/// A size, or 1 where it is not known.
static double known(int64_t size) {
  return ShapedType::isDynamic(size) ? 1.0 : static_cast<double>(size);
}

/// The first of `sizes`, if it is known.
static std::optional<int64_t> firstOf(ArrayRef<int64_t> sizes) {
  return sizes.empty() || ShapedType::isDynamic(sizes.front())
             ? std::nullopt
             : std::optional(sizes.front());
}

std::optional<int64_t> cutback::joint::roundsOf(NestedOp op, Shapes shapes) {
  switch (*nestedKindOf(op.getCallee())) {
  case NestedKind::WhileLoop:
    return std::nullopt;
  case NestedKind::WhileLoopStack:
    return op->getNumResults() ? firstOf(shapes[op->getNumOperands()])
                               : std::nullopt;
  case NestedKind::Scan: {
    auto inputs = graphInputs(NestedKind::Scan, op.getArgs(), 0);
    for (const GraphInput &input : inputs ? *inputs : SmallVector<GraphInput>())
      if (input.source == GraphInput::Slice && !shapes[input.operand].empty())
        return firstOf(shapes[input.operand]);
    return std::nullopt;
  }
  default:
    return 1;
  }
}

/// True for the graph `query index >= key index`.
static bool isCausal(Region &mask) {
  Block &graph = mask.front();
  if (!llvm::hasNItems(graph, 2) || graph.getNumArguments() < 4)
    return false;
  Operation &compare = graph.front();
  auto call = dyn_cast<FrameworkCallOpInterface>(compare);
  return call && call.getPacketName() == "aten.ge" &&
         compare.getNumOperands() == 2 &&
         compare.getOperand(0) == graph.getArgument(2) &&
         compare.getOperand(1) == graph.getArgument(3) &&
         graph.back().getNumOperands() == 1 &&
         graph.back().getOperand(0) == compare.getResult(0);
}

/// `products`: how many times scores take the width of a query, and that of a
/// value.
static double attentionFlops(NestedOp op, Shapes shapes, double ofQuery,
                             double ofValue) {
  ArrayRef<int64_t> query = shapes[0], key = shapes[1], value = shapes[2];
  if (query.size() != 4 || key.size() != 4 || value.size() != 4)
    return 0;
  double pairs =
      known(query[0]) * known(query[1]) * known(query[2]) * known(key[2]);
  if (isCausal(op.getGraphs().back()))
    pairs /= 2;
  return 2 * pairs * (ofQuery * known(query[3]) + ofValue * known(value[3]));
}

double NestedOp::getFlops(Shapes shapes) {
  NestedKind kind = *nestedKindOf(getCallee());
  auto graph = [&](unsigned number) {
    return flopsOfGraph(*this, kind, number, shapes);
  };
  auto rounds = static_cast<double>(roundsOf(*this, shapes).value_or(1));
  switch (kind) {
  case NestedKind::Cond:
    return std::max(graph(0), graph(1));
  case NestedKind::WhileLoop:
  case NestedKind::WhileLoopStack:
    return rounds * (graph(0) + graph(1));
  case NestedKind::Scan:
    return rounds * graph(0);
  case NestedKind::FlexAttention:
    return attentionFlops(*this, shapes, 1, 1);
  case NestedKind::FlexAttentionBackward:
    // Scores again, dQ, dK; dV and d(scores).
    return attentionFlops(*this, shapes, 3, 2);
  }
  return 0;
}

/// True if attention, or some op in a graph, does.
bool NestedOp::usesMatrixUnits() {
  NestedKind kind = *nestedKindOf(getCallee());
  if (kind == NestedKind::FlexAttention ||
      kind == NestedKind::FlexAttentionBackward)
    return true;
  for (Region &graph : getGraphs())
    for (Operation &op : graph.front())
      if (auto model = dyn_cast<CostModelOpInterface>(op);
          model && model.usesMatrixUnits())
        return true;
  return false;
}
