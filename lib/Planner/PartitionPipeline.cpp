// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of a partition:
//
//   prepare   dead code, common subexpressions, tags (in place)
//   analyse   numbers, sets F/B/X, sizes under hints, costs
//   solve     network, contraction, minimum cut, check of the cut
//   extract   halves, order of the backward, the two functions
//   memory    the backward scheduled against the peak, the arena (if asked for)
//   verify    the proof of the arena; the certificate, on the functions alone
//
// Here is the first step, and what calls all of them; the others are in
// DraftPlan.cpp. Linear.

#include "Internal.h"

#include "cutback/Decompose/OldViews.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Transforms/ChooseRegions.h"
#include "cutback/Transforms/CleanTags.h"
#include "cutback/Transforms/CommonSubexpressions.h"
#include "cutback/Transforms/DeadCode.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace cutback;

std::vector<uint8_t> cutback::freeArguments(joint::GraphOp graph,
                                            const FreeParameters &free) {
  unsigned count = graph.getArgumentTypes().size();
  std::vector<uint8_t> isFree(count, 0);
  for (unsigned arg = 0; arg < count; ++arg) {
    joint::RoleKind kind = graph.getRole(arg).getKind();
    isFree[arg] =
        free.kind == FreeParameters::Auto &&
        (kind == joint::RoleKind::Param || kind == joint::RoleKind::Buffer);
  }
  if (free.kind == FreeParameters::List)
    for (unsigned arg : free.indices)
      if (arg < count)
        isFree[arg] = 1;
  return isFree;
}

TorchRulesOptions cutback::torchOptions(joint::GraphOp graph,
                                        const PartitionOptions &options,
                                        Rules rules) {
  TorchRulesOptions torch = options.torch;
  torch.rules =
      rules == Rules::Torch2_3 ? TorchRuleSet::Torch23 : TorchRuleSet::Torch213;
  torch.fallbackRandom =
      rules == Rules::Torch2_3 && graph->hasAttr(joint::kUnannotatedText);
  torch.freeParameters = rules == Rules::Torch2_13 &&
                         options.freeParameters.kind != FreeParameters::None;
  return torch;
}

//===----------------------------------------------------------------------===//
// Prepare
//===----------------------------------------------------------------------===//

/// In a text without annotations PyTorch 2.13 takes a write for a part of the
/// half in which it stands: behind the first reader of a tangent, the backward.
static void placeWrites(joint::GraphOp graph) {
  auto isTangent = [&](Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    return arg && graph.getRole(arg.getArgNumber()).getKind() ==
                      joint::RoleKind::Tangent;
  };
  bool inBackward = false;
  for (Operation &op : graph.getBody().front()) {
    inBackward = inBackward || llvm::any_of(op.getOperands(), isTangent);
    if (auto write = dyn_cast<joint::WriteOp>(op); write && inBackward)
      write.setSide(joint::Side::Backward);
  }
}

/// Takes checkpoint regions apart, if there are any; `view` follows.
static void spreadCheckpoints(joint::GraphOp graph, GraphView &view) {
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (view.traits[op].hasRegions && isa<joint::CheckpointOp>(view.ops[op])) {
      flattenCheckpoints(graph);
      view = GraphView::build(graph);
      return;
    }
}

/// Copies what nested regions run more than once, for strategies that look at
/// tags, and for all where a run computes something else. `view` follows; true
/// if there was anything: what else is known of the graph is old then.
static FailureOr<bool> spreadRuns(GraphView &view, const Policies &policies,
                                  const PartitionOptions &options) {
  bool looks = options.strategy == Strategy::MinCut ||
               options.strategy == Strategy::Eager ||
               view.graph->hasAttr(joint::JointDialect::kRegions);
  if (!looks || !hasRegionsToExpand(view, policies))
    return false;
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  if (failed(sets))
    return failure();
  return expandRegions(view, *sets, policies).any();
}

/// What is not known to give the same on a second run does so if the user says
/// it.
static LogicalResult markRecomputable(joint::GraphOp graph,
                                      const std::vector<std::string> &names) {
  if (names.empty())
    return success();
  std::set<std::string> unknown(names.begin(), names.end()), others;
  auto attr = UnitAttr::get(graph->getContext());
  for (auto op : graph.getBody().front().getOps<joint::OpaqueOp>()) {
    std::string packet = op.getPacketName().str(), call = op.getCallee().str();
    others.insert(packet);
    if (!llvm::is_contained(names, packet) && !llvm::is_contained(names, call))
      continue;
    op->setAttr(joint::kRepeatable, attr);
    unknown.erase(packet);
    unknown.erase(call);
  }
  if (unknown.empty())
    return success();
  auto diagnostic = graph.emitError("no op of yours is called '")
                    << *unknown.begin() << "', which is to be recomputable";
  if (others.empty())
    diagnostic.attachNote()
        << "all ops of the graph are known: what may run twice is known of "
           "them";
  else
    diagnostic.attachNote()
        << "there are " << llvm::join(others.begin(), others.end(), ", ");
  return failure();
}

/// Dead code elimination and CSE as PyTorch does them, so that the networks
/// can be compared. The numbers that they need serve the plan, too.
static FailureOr<PreparedGraph>
prepareAsTorch(joint::GraphOp graph, const PartitionOptions &options) {
  if (options.rules == Rules::Torch2_13 &&
      graph->hasAttr(joint::kUnannotatedText))
    placeWrites(graph);
  PreparedGraph prepared;
  GraphView &view = prepared.view.emplace(GraphView::build(graph));
  spreadCheckpoints(graph, view);
  markReplays(view);
  FailureOr<ValueSizes> sizes = ValueSizes::computeAll(view, options.symbols);
  if (failed(sizes))
    return failure();
  TorchRulesOptions rules = torchOptions(graph, options, options.rules);
  FxView fx = FxView::build(
      view, *sizes, freeArguments(graph, options.freeParameters), rules.rules);
  simplifyAsTorch(graph, view, *sizes, fx, rules);
  if (failed(sizes->checkSizes(view)))
    return failure();
  FailureOr<bool> isSpread = spreadRuns(view, readPolicies(view), options);
  if (failed(isSpread))
    return failure();
  if (*isSpread)
    return prepared; // only the view
  prepared.sizes = std::move(*sizes);
  prepared.fx = std::move(fx);
  return prepared;
}

FailureOr<PreparedGraph>
cutback::preparePartition(joint::GraphOp graph, const PartitionOptions &options,
                          PhaseSeconds &seconds) {
  PhaseTimer timer(seconds.prepare);
  if (failed(markRecomputable(graph, options.torch.recomputable)))
    return failure();
  RegionRequest request{options.checkpoint, options.checkpointSegments,
                        options.checkpointPolicies};
  if (!request.empty()) {
    flattenCheckpoints(graph);
    if (failed(chooseRegions(graph, request)))
      return failure();
  }
  if (options.costModel == CostModel::PyTorch)
    return prepareAsTorch(graph, options);
  if (options.decompose)
    reachCoreOps(graph);
  DeadCode code = eliminateDeadCode(graph);
  bool mayHaveTags = code.annotated;
  if (mayHaveTags && flattenCheckpoints(graph) > 0)
    code = eliminateDeadCode(graph);
  eliminateCommonSubexpressions(graph);
  PreparedGraph prepared;
  GraphView &view = prepared.view.emplace(GraphView::build(graph, code.kept));
  Policies policies;
  if (mayHaveTags) {
    policies = readPolicies(view);
    cleanTags(view, policies);
    markReplays(view);
  }
  if (options.decompose)
    if (unsigned copies = copyOldViews(graph)) {
      view = GraphView::build(graph, code.kept + copies);
      policies = readPolicies(view);
    }
  if (mayHaveTags && failed(spreadRuns(view, policies, options)))
    return failure();
  prepared.whole = splitForPlan(view, options);
  return prepared;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

PlanChoice PlanChoice::of(const PartitionOptions &options) {
  PlanChoice choice;
  choice.strategy = options.strategy;
  choice.costModel = options.costModel;
  choice.rules = options.rules;
  choice.bytePrice = options.bytePrice.value_or(BytePrice());
  return choice;
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::partitionGraph(joint::GraphOp graph, const PartitionOptions &options,
                        PreparedGraph prepared) {
  return partitionGraph(graph, options, PlanChoice::of(options),
                        std::move(prepared));
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::partitionGraph(joint::GraphOp graph, const PartitionOptions &options,
                        const PlanChoice &choice, PreparedGraph prepared) {
  FailureOr<DraftPlan> draft =
      DraftPlan::make(graph, options, choice, prepared);
  if (failed(draft))
    return failure();
  draft->formKernels();
  if (failed(draft->layOut()))
    return failure();
  return draft->finish();
}

PreparedGraph cutback::copyPrepared(const PartitionResult &result) {
  if (result.given)
    return {};
  return {result.view,  result.sizes,         std::nullopt, result.sets,
          result.costs, result.kernelProblem, result.whole};
}

PreparedGraph cutback::takePrepared(PartitionResult &result) {
  PreparedGraph prepared;
  if (result.given)
    return prepared;
  prepared.view = std::move(result.view);
  prepared.sizes = std::move(result.sizes);
  prepared.sets = std::move(result.sets);
  prepared.costs = std::move(result.costs);
  prepared.kernelProblem = std::move(result.kernelProblem);
  prepared.whole = std::move(result.whole);
  return prepared;
}
