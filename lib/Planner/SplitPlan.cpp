// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops in parts, inside a plan (docs/Memory.md). The graph is split when it is
// prepared: what is saved, kernels, times and the arena are then those of a
// graph like any other. Views of views are one view first: a tensor that is
// seen with other sizes and back would tie the parts to both sizes.

#include "Internal.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Planner/PlanRecord.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Transforms/DeadCode.h"
#include "cutback/Transforms/SplitCheck.h"
#include "cutback/Transforms/SplitOps.h"

using namespace mlir;
using namespace cutback;

/// `view(view(x, a), b)` as `view(x, b)`, and `x` where it has those sizes.
static bool foldViews(joint::GraphOp graph) {
  auto isView = [](Operation *op) {
    auto call = dyn_cast_or_null<aten::CallOp>(op);
    return call &&
           llvm::is_contained({"aten.view", "aten._unsafe_view"},
                              call.getPacketName()) &&
           call.getOverloadName() == "default" && call->getNumOperands() == 1;
  };
  bool any = false;
  for (Operation &op : graph.getBlock()) {
    Operation *inner = isView(&op) ? op.getOperand(0).getDefiningOp() : nullptr;
    if (!isView(inner))
      continue;
    any = true;
    op.setOperand(0, inner->getOperand(0));
    if (op.getOperand(0).getType() == op.getResult(0).getType())
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
  }
  return any;
}

static void sayWhy(joint::GraphOp graph, const SplitOutcome &outcome) {
  Operation *refused = outcome.refused ? outcome.refused : graph;
  InFlightDiagnostic remark = mlir::emitRemark(refused->getLoc());
  remark << "not split: ";
  if (outcome.refused)
    remark << "'" << joint::getValueName(refused->getResult(0)) << "' ("
           << refused->getName().getStringRef() << ") ";
  remark << outcome.refusal.why;
}

static void record(joint::GraphOp graph, const SplitOutcome &outcome) {
  Builder builder(graph.getContext());
  NamedAttrList record;
  record.append("parts", builder.getI64IntegerAttr(outcome.parts));
  record.append("product", builder.getStringAttr(outcome.root));
  graph->setAttr(kSplitRecord, record.getDictionary(graph.getContext()));
}

WholeGraph cutback::splitForPlan(GraphView &view,
                                 const PartitionOptions &options) {
  if (!options.split || options.split->parts == 0)
    return nullptr;
  joint::GraphOp graph = view.graph;
  if (foldViews(graph)) {
    eliminateDeadCode(graph);
    view = GraphView::build(graph);
  }
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  if (failed(sets))
    return nullptr; // the plan says why
  std::vector<Value> copies;
  auto whole =
      std::make_shared<OwningOpRef<joint::GraphOp>>(copyGraph(view, copies));
  SplitOutcome outcome = splitOps(graph, view, *sets, options.split->parts);
  if (outcome.parts == 0) {
    sayWhy(graph, outcome);
    return nullptr;
  }
  if (failed(verifySplit(**whole, graph))) {
    // A defect, which was said: the whole graph is right.
    graph->getRegion(0).takeBody((**whole)->getRegion(0));
    view = GraphView::build(graph);
    return nullptr;
  }
  view = GraphView::build(graph);
  record(graph, outcome);
  return whole;
}

//===----------------------------------------------------------------------===//
// How many parts
//===----------------------------------------------------------------------===//

namespace {
struct Tried {
  unsigned parts = 0;
  int64_t peakBytes = 0;
  double timePs = 0;
};
} // namespace

/// The peak and the time of a plan in `parts` parts; nothing if there is none.
static std::optional<Tried> tryParts(joint::GraphOp graph,
                                     PartitionOptions options, unsigned parts) {
  options.split =
      PartsRequest{parts ? PartsRequest::Loss : PartsRequest::Off, parts};
  options.dumpNetwork.clear();
  options.alsoCheck = nullptr;
  options.figures = options.verify = false;
  options.emit = true;
  if (!options.memory)
    options.memory.emplace();
  FailureOr<CopiedPlan> plan = planCopy(graph, options);
  if (failed(plan))
    return std::nullopt;
  PartitionResult &result = *plan->result;
  Tried tried;
  tried.parts = parts;
  tried.peakBytes =
      peakBytes(result.memory, result.view, *result.sizes, result.halves);
  tried.timePs = result.kernelPlan ? result.kernelPlan->ps() : 0;
  if (parts && !result.view.graph->hasAttr(kSplitRecord))
    return std::nullopt;
  return tried;
}

std::optional<PartitionOptions>
cutback::chooseParts(joint::GraphOp graph, const PartitionOptions &options) {
  constexpr unsigned kTried[] = {0, 8, 16};
  // Less than this of a peak is not worth other bits, nor more launches.
  constexpr double kWorth = 0.95, kNearly = 1.02;
  bool isPeak = options.minimize == Minimize::Peak;
  bool chooses = options.split && options.split->kind != PartsRequest::Off &&
                 options.split->parts == 0;
  if (!chooses || options.costModel != CostModel::Roofline || !options.emit)
    return std::nullopt;
  ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
  std::vector<Tried> plans;
  for (unsigned parts : kTried) {
    std::optional<Tried> tried = tryParts(graph, options, parts);
    if (tried)
      plans.push_back(*tried);
    else if (!options.memoryLimit)
      break; // as for fewer parts
  }
  PartitionOptions chosen = options;
  chosen.split = PartsRequest{};
  if (plans.size() < (options.memoryLimit ? 1 : 2))
    return chosen;
  auto least = llvm::min_element(plans, [](const Tried &a, const Tried &b) {
    return std::tie(a.peakBytes, a.timePs) < std::tie(b.peakBytes, b.timePs);
  });
  auto within = [&](double factor, int64_t bytes) {
    return static_cast<double>(least->peakBytes) <=
           factor * static_cast<double>(bytes);
  };
  Tried taken = *least;
  if (options.memoryLimit)
    taken = *llvm::min_element(plans, [](const Tried &a, const Tried &b) {
      return std::tie(a.timePs, a.parts) < std::tie(b.timePs, b.parts);
    });
  else if (!isPeak && !within(kWorth, plans[0].peakBytes))
    taken = plans[0];
  else if (!isPeak)
    taken = *llvm::find_if(llvm::drop_begin(plans), [&](const Tried &plan) {
      return within(1, plan.peakBytes) &&
             static_cast<double>(plan.peakBytes) <=
                 kNearly * static_cast<double>(least->peakBytes);
    });
  if (taken.parts)
    chosen.split = PartsRequest{PartsRequest::Loss, taken.parts};
  return chosen;
}
