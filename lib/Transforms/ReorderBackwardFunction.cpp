// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reordering of the backward on a function that stands in the IR.
//
//   1. Number the body (GraphView).
//   2. Solve the same problem as for a partition that is still numbers.
//   3. Simulate the peak of both orders; keep the better one.
//   4. Relink the ops in the new order in front of the terminator, and erase
//      what nothing needs.
//
// Saved values are arguments here; their storages count as handed in and are
// free after their last use. Linear.

#include "ReorderProblem.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Support/MLIR/TensorBytes.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class FunctionOrder {
public:
  FunctionOrder(func::FuncOp function, int64_t unknownDimension)
      : function(function), unknownDimension(unknownDimension),
        view(GraphView::build(function.front())), storage(view.findStorages()) {
    for (Type type : view.types)
      bytes.push_back(bytesOf(type));
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      halves.backwardOps.push_back(op);
      if (view.ops[op]->hasAttr(JointDialect::kRecompute))
        halves.recomputed.push_back(op);
    }
  }

  ReorderOutcome run() {
    std::vector<uint8_t> isStart(view.numArgs, 0);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      isStart[arg] = cutback::detail::startsBackward(roleOf(arg));
    std::vector<uint32_t> order = reorder(cutback::detail::makeReorderProblem(
        view, halves, view.results(), isStart));
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
    return tensorBytes(shaped, unknownDimension)
        .value_or(std::numeric_limits<int64_t>::max() / 4096);
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
    run.kept = view.results();
    return simulatePeak(view, bytes, storage, run).bytes;
  }

  void apply(ArrayRef<uint32_t> order, ArrayRef<uint8_t> isNeeded) {
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (!isNeeded[op])
        view.ops[op]->erase();
    for (uint32_t op : order)
      view.ops[op]->moveBefore(view.terminator);
  }

  func::FuncOp function;
  int64_t unknownDimension;
  GraphView view;
  Halves halves;
  std::vector<uint32_t> storage; ///< by value
  std::vector<int64_t> bytes;    ///< by value
};

} // namespace

ReorderOutcome cutback::reorderBackward(func::FuncOp backward,
                                        int64_t unknownDimension) {
  if (backward.empty())
    return {};
  return FunctionOrder(backward, unknownDimension).run();
}
