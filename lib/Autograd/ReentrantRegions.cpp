// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reentrant variant of a checkpoint region. A framework that has it runs
// the region without recording anything, and in the backward once more as a
// program of its own, from inputs that are cut off. So gradients flow only
// where an input has one: parameters that the region reads by itself count for
// nothing. What holds a region up is the same there and here; what a user is
// told is said before the step, not in it.
//
// An input is what the region reads from outside, but for parameters, buffers
// and constants. One walk in program order marks the values that have a
// gradient, as differentiation does (makeNode). Linear.

#include "ReentrantRegions.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class ReentrantWalk {
public:
  ReentrantWalk(GraphOp graph, const DifferentiateOptions &options,
                const GradientTargets &targets)
      : graph(graph), options(options), namer(graph) {
    for (const std::vector<unsigned> &group : targets.groups)
      for (unsigned arg : group)
        hasGradient.insert(graph.getBody().getArgument(arg));
  }

  LogicalResult run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto region = dyn_cast<CheckpointOp>(op);
      if (!region) {
        mark(op);
        continue;
      }
      if (failed(run(region.getBody().front())))
        return failure();
      Operation *yield = region.getBody().front().getTerminator();
      for (auto [result, value] :
           llvm::zip(region.getResults(), yield->getOperands()))
        if (hasGradient.contains(value))
          hasGradient.insert(result);
      if (region.getReentrant() && failed(visit(region)))
        return failure();
    }
    return success();
  }

private:
  void mark(Operation &op) {
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (hasGradient.contains(operand) &&
          mayPassGradient(&op, static_cast<unsigned>(i)))
        for (Value result : op.getResults())
          if (isDifferentiable(result.getType()))
            hasGradient.insert(result);
  }

  /// Whether a value is given to the region, not held by its modules.
  bool isInput(Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || arg.getOwner() != &graph.getBlock())
      return true;
    RoleKind kind = graph.getRole(arg.getArgNumber()).getKind();
    return kind != RoleKind::Param && kind != RoleKind::Buffer &&
           kind != RoleKind::Constant;
  }

  LogicalResult visit(CheckpointOp region) {
    if (!options.gradOf.empty()) {
      auto diag = region.emitError("a reentrant checkpoint region runs its own "
                                   "backward: gradients of chosen arguments "
                                   "cannot be asked for");
      diag.attachNote() << "leave out --grad-of, or make the region one with "
                           "reentrant = false";
      return diag;
    }
    SetVector<Value> read;
    getUsedValuesDefinedAbove(region->getRegions(), read);
    bool anyInput = llvm::any_of(read, [&](Value value) {
      return isInput(value) && hasGradient.contains(value);
    });
    if (!anyInput)
      return detach(region);
    if (llvm::any_of(region.getResults(),
                     [&](Value value) { return hasGradient.contains(value); }))
      return success();
    auto diag = region.emitError("no result of a reentrant checkpoint region "
                                 "has a gradient: the region is not necessary");
    diag.attachNote() << "take the ops out of the region, or detach its "
                         "results behind it";
    return diag;
  }

  LogicalResult detach(CheckpointOp region) {
    region.emitWarning("no value that a reentrant checkpoint region reads has "
                       "a gradient, parameters aside: what is in it, "
                       "parameters too, gets none");
    OpBuilder builder(region->getContext());
    builder.setInsertionPointAfter(region);
    for (Value result : region.getResults()) {
      if (!hasGradient.erase(result))
        continue;
      aten::CallBuilder call(builder, region.getLoc(), &namer);
      Value detached = call.call(aten::op::detach, {result});
      if (!detached)
        return failure();
      result.replaceAllUsesExcept(detached, detached.getDefiningOp());
    }
    return success();
  }

  GraphOp graph;
  const DifferentiateOptions &options;
  aten::ValueNamer namer;
  llvm::DenseSet<Value> hasGradient;
};

} // namespace

LogicalResult cutback::detachReentrant(GraphOp graph,
                                       const DifferentiateOptions &options,
                                       const GradientTargets &targets) {
  bool any = false;
  graph.walk([&](CheckpointOp region) { any |= region.getReentrant(); });
  return any ? ReentrantWalk(graph, options, targets).run(graph.getBlock())
             : success();
}
