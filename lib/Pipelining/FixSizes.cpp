// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a program become numbers:
//
//   1. types of all values under the hints (Analysis/ValueSizes.h)
//   2. sizes, and floats that follow from them, that calls take: literals
//   3. what computed them is dead now, and goes
//
// So stages need not hand sizes to each other, and each is planned and compiled
// for what it will be given.

#include "cutback/Pipelining/FixSizes.h"

#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/ScalarEvaluation.h"
#include "cutback/Dialect/Aten/SizedCall.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Transforms/DeadCode.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class SizeFixer {
public:
  SizeFixer(GraphOp graph, const GraphView &view, const ValueSizes &sizes)
      : graph(graph) {
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      if (isa<RankedTensorType>(view.types[value]))
        Value(view.values[value]).setType(sizes.type[value]);
      if (!sizes.number.empty() && view.types[value].isIndex() &&
          sizes.number[value] != ShapedType::kDynamic)
        numbers[view.values[value]] = sizes.number[value];
    }
  }

  void run();

private:
  Attribute literalOf(Value value) const;
  void fix(aten::CallOp call);

  GraphOp graph;
  llvm::DenseMap<Value, int64_t> numbers;
  llvm::DenseMap<Value, double> reals; ///< that follow from them
};

} // namespace

/// Null where the number is not known.
Attribute SizeFixer::literalOf(Value value) const {
  MLIRContext *context = value.getContext();
  if (auto found = numbers.find(value); found != numbers.end())
    return IntegerAttr::get(IntegerType::get(context, 64), found->second);
  if (auto found = reals.find(value); found != reals.end())
    return FloatAttr::get(Float64Type::get(context), found->second);
  return {};
}

void SizeFixer::fix(aten::CallOp call) {
  auto real = aten::evaluateReal(call, [&](Value operand) {
    if (auto found = numbers.find(operand); found != numbers.end())
      return std::optional<double>(found->second);
    auto found = reals.find(operand);
    return found == reals.end() ? std::nullopt
                                : std::optional<double>(found->second);
  });
  if (real && call->getNumResults() == 1 &&
      isa<FloatType>(call->getResult(0).getType()))
    reals[call->getResult(0)] = *real;
  SmallVector<unsigned> kept;
  ArrayAttr args = aten::withLiterals(
      call.getArgs(),
      [&](unsigned operand) { return literalOf(call->getOperand(operand)); },
      kept);
  if (kept.size() == call->getNumOperands() ||
      llvm::any_of(call->getOperands(), [](Value operand) {
        return isa<NoneType>(operand.getType());
      }))
    return;
  SmallVector<Value> operands;
  for (unsigned operand : kept)
    operands.push_back(call->getOperand(operand));
  call->setOperands(operands);
  call.getProperties().args = args;
}

void SizeFixer::run() {
  for (Operation &op : graph.getBlock().without_terminator())
    if (auto call = dyn_cast<aten::CallOp>(op))
      fix(call);
    else if (auto random = dyn_cast<RandomOp>(op))
      if (cast<ShapedType>(random.getResult().getType()).hasStaticShape())
        random.getSizesMutable().clear();
  eliminateDeadCode(graph);
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (auto type = dyn_cast<RankedTensorType>(
            graph.getBody().getArgument(arg).getType());
        type && type.hasStaticShape())
      graph.removeArgAttr(arg, JointDialect::kDims);
  for (Operation &op : graph.getBlock().without_terminator())
    if (llvm::all_of(op.getResultTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return !tensor || tensor.hasStaticShape();
        }))
      op.removeDiscardableAttr(JointDialect::kDims);
  graph.removeSymbolsAttr();
  graph.setFunctionTypeAttr(TypeAttr::get(
      FunctionType::get(graph.getContext(), graph.getBlock().getArgumentTypes(),
                        TypeRange(graph.getOutput()->getOperands()))));
}

LogicalResult cutback::fixSizes(GraphOp graph,
                                const llvm::StringMap<int64_t> &symbols) {
  if (!graph.getSymbols())
    return success();
  GraphView view = GraphView::build(graph);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, symbols);
  if (failed(sizes))
    return failure();
  SizeFixer(graph, view, *sizes).run();
  return success();
}
