// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries PyTorch's rules over to our values. The rules run on the FX view and
// give a network, which is solved like any other; the cut goes back through
// PyTorch's own extraction, and what that saves becomes a plan. PyTorch's dead
// code elimination and CSE are found on the view as well and applied to the
// graph before, so that both sides speak of the same ops from then on. Linear.

#include "cutback/TorchRules/TorchProblem.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/TorchRules/TorchFlops.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

LogicalResult TorchProblem::report(const TorchRulesError &error) const {
  joint::GraphOp graph = view.graph;
  uint32_t op = error.node == noFxNode || error.node >= fx.opOf.size()
                    ? GraphView::kNone
                    : fx.opOf[error.node];
  Location loc =
      op == GraphView::kNone ? graph.getLoc() : view.ops[op]->getLoc();
  auto diag = mlir::emitError(loc) << error.message;
  if (!error.note.empty())
    diag.attachNote() << error.note;
  return failure();
}

LogicalResult TorchProblem::build() {
  if (buildTorchNetwork(fx.graph, options, torch)) {
    // Names are for messages: only a failure is worth making them.
    fx.nameNodes(view);
    return report(*buildTorchNetwork(fx.graph, options, torch));
  }
  return assignNetwork();
}

LogicalResult TorchProblem::assignNetwork() {
  if (FlowError error = net.assignSound(
          torch.numVertices, std::move(torch.arcs), torch.capacitySum))
    return report({*error, noFxNode, ""});
  return success();
}

FailureOr<Plan> TorchProblem::plan(const MinCut &cut) {
  return planOf(savedNodesOfCut(net.arcs(), cut.onSinkSide));
}

FailureOr<Plan> TorchProblem::planWithin(const TorchBudget &budget,
                                         const ValueSizes &sizes, Solve solve,
                                         BudgetDecision &decision) {
  auto estimate = [&](FxNodeId node,
                      int64_t &runtime) -> std::optional<TorchRulesError> {
    uint32_t op = fx.opOf[node];
    std::string why;
    std::optional<int64_t> flops = 1;
    if (op != GraphView::kNone)
      flops = countTorchFlops(view, sizes, op, why);
    if (!flops) {
      TorchRulesError error;
      error.message = "an activation budget needs the FLOPs of a call: " + why;
      error.node = node;
      error.note = "decide on that call with --policy=VALUE=must-save";
      return error;
    }
    runtime = *flops;
    return std::nullopt;
  };
  auto cut = [&](const TorchNetwork &, std::vector<FxNodeId> &saved) {
    MinCut found;
    if (failed(assignNetwork()) || failed(solve(found)))
      return false;
    saved = savedNodesOfCut(net.arcs(), found.onSinkSide);
    return true;
  };
  // Names are for messages of the rules.
  fx.nameNodes(view);
  if (auto fault = decideWithinBudget(fx.graph, options, budget, estimate, cut,
                                      torch, decision)) {
    if (fault->error)
      (void)report(*fault->error);
    return failure();
  }
  return planOf(decision.saved);
}

FailureOr<Plan> TorchProblem::planOf(const std::vector<FxNodeId> &saved) {
  if (extractTorchHalves(fx.graph, options, saved, extracted, &torch)) {
    fx.nameNodes(view);
    auto error = extractTorchHalves(fx.graph, options, saved, extracted);
    return failure(failed(report(*error)));
  }
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  for (const auto *list : {&extracted.savedTensors, &extracted.savedSizes})
    for (FxNodeId node : *list)
      if (uint32_t value = fx.valueOf[node]; value != GraphView::kNone)
        plan.saved[value] = 1;
  plan.bound.assign(view.numValues(), 0);
  for (FxNodeId node : extracted.savedSizes)
    if (uint32_t value = fx.valueOf[node];
        value != GraphView::kNone && fx.graph.binds[node] >= 0)
      plan.bound[value] = 1;
  return plan;
}

LogicalResult TorchProblem::reportUnbounded(ArrayRef<VertexId> path) const {
  fx.nameNodes(view);
  std::string text;
  uint32_t op = GraphView::kNone;
  FxNodeId last = noFxNode;
  for (VertexId vertex : path) {
    if (vertex < 2)
      continue;
    FxNodeId node = (vertex - 2) / 2;
    if (node == last)
      continue;
    last = node;
    text +=
        (text.empty() ? "'" : " -> '") + std::string(fx.graph.name(node)) + "'";
    op = op == GraphView::kNone ? fx.opOf[node] : op;
  }
  joint::GraphOp graph = view.graph;
  auto diag = graph.emitOpError("has no plan: what must be saved is needed by "
                                "what must be recomputed along ")
              << text;
  if (op != GraphView::kNone)
    diag.attachNote(view.ops[op]->getLoc())
        << "the path starts here; change a tag or a policy on it";
  return failure();
}

/// A result that only the later of two merged calls used keeps the later call's
/// name.
static void moveNames(Operation *from, Operation *to) {
  auto isTaken = [&](OpResult result) {
    return result.use_empty() &&
           !from->getResult(result.getResultNumber()).use_empty();
  };
  if (llvm::none_of(to->getResults(), isTaken))
    return;
  if (!to->hasAttr("names"))
    return;
  Builder builder(to->getContext());
  SmallVector<Attribute> names;
  for (OpResult result : to->getResults())
    names.push_back(builder.getStringAttr(joint::getValueName(
        isTaken(result) ? from->getResult(result.getResultNumber()) : result)));
  to->setAttr("names", builder.getArrayAttr(names));
}

/// A node for one result of a call with several.
static bool isElement(const FxView &fx, FxNodeId node) {
  return fx.opOf[node] != GraphView::kNone && node &&
         fx.opOf[node - 1] == fx.opOf[node];
}

unsigned cutback::simplifyAsTorch(joint::GraphOp graph, GraphView &view,
                                  ValueSizes &sizes, FxView &fx,
                                  const TorchRulesOptions &options) {
  std::vector<FxNodeId> standIn;
  fx.graph = simplifyFxGraph(std::move(fx.graph), options, &standIn);
  std::vector<uint8_t> isErased(view.numOps(), 0);
  std::vector<uint32_t> valueStandIn(view.numValues());
  std::iota(valueStandIn.begin(), valueStandIn.end(), 0);
  for (FxNodeId node = 0; node < standIn.size(); ++node) {
    uint32_t op = fx.opOf[node];
    if (op == GraphView::kNone || standIn[node] == node || isElement(fx, node))
      continue;
    isErased[op] = 1;
    if (standIn[node] == noFxNode)
      continue;
    uint32_t earlier = fx.opOf[standIn[node]];
    for (uint32_t r = 0; r < view.numResults(op); ++r)
      valueStandIn[view.resultBegin[op] + r] = view.resultBegin[earlier] + r;
    moveNames(view.ops[op], view.ops[earlier]);
    view.ops[op]->replaceAllUsesWith(view.ops[earlier]->getResults());
  }
  unsigned numErased = 0;
  for (uint32_t op = view.numOps(); op-- > 0;)
    if (isErased[op]) {
      view.ops[op]->erase();
      ++numErased;
    }
  Renumbering renumbering = view.removeOps(isErased, valueStandIn);
  sizes.renumber(renumbering);
  fx.followGraph(sizes, renumbering);
  return numErased;
}
