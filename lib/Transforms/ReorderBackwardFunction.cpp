// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reordering of the backward on a function that stands in the IR.
//
//   1. Number the body into the arrays of a GraphView (there is no
//      joint.graph, so its methods that ask the graph are not used).
//   2. Solve the same problem as for a partition that is still numbers.
//   3. Simulate the peak of both orders; keep the better one.
//   4. Relink the ops in the new order in front of the terminator, and erase
//      what nothing needs.
//
// Saved values are arguments here; their storages count as handed in and are
// free after their last use. Linear.

#include "ReorderProblem.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class FunctionOrder {
public:
  FunctionOrder(func::FuncOp function, int64_t unknownDimension)
      : function(function), block(function.front()),
        unknownDimension(unknownDimension) {}

  ReorderOutcome run() {
    number();
    std::vector<uint8_t> isStart(view.numArgs, 0);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      isStart[arg] = cutback::detail::startsBackward(roleOf(arg));
    std::vector<uint32_t> order = reorder(
        cutback::detail::makeReorderProblem(view, halves, results, isStart));
    ReorderOutcome outcome;
    outcome.erased = view.numOps() - order.size();
    std::vector<uint8_t> isNeeded(view.numOps(), 0);
    for (uint32_t op : order)
      isNeeded[op] = 1;
    std::vector<uint32_t> before;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (isNeeded[op])
        before.push_back(op);
    outcome.peakBefore = peakOf(before);
    outcome.peakAfter = peakOf(order);
    outcome.reordered = outcome.peakAfter <= outcome.peakBefore;
    if (!outcome.reordered) {
      outcome.peakAfter = outcome.peakBefore;
      remark::missed(function.getLoc(),
                     remark::RemarkOpts::name("order-kept")
                         .category("cutback-reorder-backward")
                         .function(function.getName()))
          << remark::reason("recomputing right before the first use needs {0} "
                            "bytes at the peak, the order kept {1}",
                            peakOf(order), outcome.peakBefore);
      order = before;
    }
    apply(order, isNeeded);
    return outcome;
  }

private:
  RoleAttr roleOf(uint32_t arg) {
    return function.getArgAttrOfType<RoleAttr>(arg, JointDialect::kRole);
  }

  int64_t bytesOf(Type type) const {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return isa<NoneType>(type) ? 0 : 8;
    Type element = shaped.getElementType();
    int64_t bytes = 8;
    if (element.isIntOrFloat())
      bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
    else if (auto complex = dyn_cast<ComplexType>(element))
      bytes = complex.getElementType().getIntOrFloatBitWidth() / 4;
    for (int64_t size : shaped.getShape())
      if (llvm::MulOverflow(
              bytes, ShapedType::isDynamic(size) ? unknownDimension : size,
              bytes))
        return std::numeric_limits<int64_t>::max() / 4096;
    return bytes;
  }

  void addValue(Value value, uint32_t op) {
    numbers.try_emplace(value, view.values.size());
    view.values.push_back(value);
    view.definer.push_back(op);
    bytes.push_back(bytesOf(value.getType()));
    storage.push_back(storage.size());
  }

  void addOp(Operation *op) {
    uint32_t index = view.ops.size(), first = view.values.size();
    OpTraits traits;
    auto model = dyn_cast<RematerializableOpInterface>(op);
    traits.ordered =
        model ? model.hasOrderedEffects() : !isMemoryEffectFree(op);
    traits.random = model && model.isRandom();
    traits.recomputable =
        model ? model.isRecomputable() || (traits.random && isReplayed(op))
              : isPure(op);
    view.resultBegin.push_back(first);
    view.traits.push_back(traits);
    view.ops.push_back(op);
    halves.backwardOps.push_back(index);
    if (op->hasAttr(JointDialect::kRecompute))
      halves.recomputed.push_back(index);
    for (OpResult result : op->getResults()) {
      addValue(result, index);
      int64_t operand =
          model ? model.getAliasedOperand(result.getResultNumber()) : -1;
      if (operand >= 0)
        storage.back() = storage[numbers.lookup(op->getOperand(operand))];
    }
  }

  void number() {
    for (BlockArgument arg : block.getArguments())
      addValue(arg, GraphView::kNone);
    view.numArgs = view.values.size();
    view.operandBegin.push_back(0);
    for (Operation &op : block) {
      for (Value operand : op.getOperands())
        view.operandList.push_back(numbers.lookup(operand));
      if (op.getNumRegions()) {
        llvm::SetVector<Value> captured;
        getUsedValuesDefinedAbove(op.getRegions(), captured);
        for (Value value : captured)
          view.operandList.push_back(numbers.lookup(value));
      }
      view.operandBegin.push_back(view.operandList.size());
      if (!op.hasTrait<OpTrait::IsTerminator>())
        addOp(&op);
    }
    view.resultBegin.push_back(view.values.size());
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(numbers.lookup(value));
  }

  int64_t peakOf(ArrayRef<uint32_t> order) {
    std::vector<uint32_t> given, saved;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      RoleAttr role = roleOf(arg);
      bool isSaved = role && role.getKind() == RoleKind::Saved;
      (isSaved ? saved : given).push_back(arg);
    }
    PeakRun run;
    run.order = order;
    run.given = given;
    run.handedIn = saved;
    run.kept = results;
    return simulatePeak({view.operandBegin, view.operandList, view.resultBegin,
                         bytes, storage},
                        run)
        .bytes;
  }

  void apply(ArrayRef<uint32_t> order, ArrayRef<uint8_t> isNeeded) {
    Operation *terminator = block.getTerminator();
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (!isNeeded[op])
        view.ops[op]->erase();
    for (uint32_t op : order)
      view.ops[op]->moveBefore(terminator);
  }

  func::FuncOp function;
  Block &block;
  int64_t unknownDimension;
  GraphView view;
  Halves halves;
  llvm::DenseMap<Value, uint32_t> numbers;
  std::vector<int64_t> bytes;    ///< by value
  std::vector<uint32_t> storage; ///< by value
  std::vector<uint32_t> results;
};

} // namespace

ReorderOutcome cutback::reorderBackward(func::FuncOp backward,
                                        int64_t unknownDimension) {
  if (backward.empty())
    return {};
  return FunctionOrder(backward, unknownDimension).run();
}
