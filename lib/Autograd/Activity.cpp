// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The activity of a differentiation without making one: what cuts a program
// into parts that are differentiated apart has to know which values between
// them get a gradient. One walk in program order.
//
// It follows Differentiator::makeNodes(), which makes a node of each op that
// this finds active; what a gradient reaches in the end is known there alone.

#include "cutback/Autograd/Activity.h"

#include "DifferentiateTargets.h"

using namespace mlir;
using namespace cutback;

std::vector<unsigned> cutback::findGradientTargets(joint::GraphOp graph) {
  std::set<unsigned> targets = takeGradient(graph);
  return {targets.begin(), targets.end()};
}

LogicalResult
cutback::markGradientTargets(joint::GraphOp graph,
                             const std::vector<std::string> &names) {
  if (names.empty())
    return success();
  DifferentiateOptions options;
  options.gradOf = names;
  GradientTargets targets;
  if (failed(chooseTargets(graph, options, targets)))
    return failure();
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    graph.removeArgAttr(arg, kRequiresGrad);
    if (targets.wanted.count(arg))
      graph.setArgAttr(arg, kRequiresGrad, UnitAttr::get(graph.getContext()));
  }
  return success();
}

llvm::DenseSet<Value> cutback::findActiveValues(joint::GraphOp graph) {
  llvm::DenseSet<Value> active;
  for (unsigned arg : findGradientTargets(graph))
    active.insert(graph.getBody().getArgument(arg));
  for (Operation &op : graph.getBlock().without_terminator()) {
    bool isReached = false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      isReached |= active.contains(operand) &&
                   mayPassGradient(&op, static_cast<unsigned>(i));
    for (Value result : op.getResults())
      if (isReached && isDifferentiable(result.getType()))
        active.insert(result);
  }
  return active;
}
