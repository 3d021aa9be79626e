// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps from a joint graph to three phases:
//
//   prepare   as for two halves, in place
//   analyse   numbers, sets, kinds of ops, sizes under hints, costs
//   plan      by rule
//   extract   the phases as numbers, the three functions
//   verify    the certificate
//
// Linear, but for the cuts.

#include "cutback/Planner/ThreeWay.h"

#include "Internal.h"

#include "cutback/Partition/CutCheck.h"
#include "cutback/Partition/Strategies.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;

namespace {

class ThreeWayPlanner {
public:
  ThreeWayPlanner(joint::GraphOp graph, const ThreeWayOptions &options)
      : graph(graph), options(options) {}

  FailureOr<ThreeWayPartition> run() {
    if (failed(analyse()))
      return failure();
    setPrices();
    if (failed(makePlan()) ||
        (options.severalInFlight &&
         failed(verifyInFlight(result.view, result.phases))))
      return failure();
    fillFigures();
    result.functions = emitPhases(result.view, result.phases, result.kinds);
    if (options.partition.verify &&
        failed(verifyPhases(graph, result.functions))) {
      erasePhases(result.functions);
      return failure();
    }
    return std::move(result);
  }

private:
  LogicalResult analyse() {
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> prepared =
        preparePartition(graph, options.partition, seconds);
    if (failed(prepared))
      return failure();
    result.view =
        prepared->view ? std::move(*prepared->view) : GraphView::build(graph);
    FailureOr<GraphSets> computed = GraphSets::compute(result.view);
    FailureOr<ValueSizes> values =
        ValueSizes::compute(result.view, options.partition.symbols);
    FailureOr<std::vector<OpPolicy>> asked =
        collectPolicies(result.view, options.partition.policies);
    if (failed(computed) || failed(values) || failed(asked))
      return failure();
    sets = std::move(*computed);
    sizes = std::move(*values);
    policies = std::move(*asked);
    if (result.view.gradients().empty()) {
      auto diag = graph.emitOpError("has no gradients: there is no backward to "
                                    "cut into phases");
      diag.attachNote() << "give a joint graph";
      return diag;
    }
    result.kinds =
        PhaseKinds::compute(result.view, *sets, options.severalInFlight);
    std::string error;
    if (!Device::load(options.partition.device, device, error))
      return graph.emitError(error);
    std::shared_ptr<const KernelProblem> kernels;
    costs = networkCosts(result.view, *sets, *sizes, device,
                         options.partition.symbols, kernels);
    return success();
  }

  void setPrices() {
    double own = ownBytePrice(costs);
    result.prices = {options.criticalPrice, options.toInputPrice.of(own),
                     options.toWeightPrice.of(own)};
    phaseCosts = PhaseCosts::compute(result.view, *sets, *sizes, device, costs);
  }

  /// The plan of `options.as`. False where phases of this graph would hand over
  /// something else.
  bool followOther() {
    PhasePlan plan;
    auto mark = [&](const std::vector<std::string> &names) {
      std::vector<uint8_t> isHanded(result.view.numValues(), 0);
      llvm::StringSet<> wanted;
      for (const std::string &name : names)
        wanted.insert(name);
      for (uint32_t value = 0; value < result.view.numValues(); ++value)
        isHanded[value] = wanted.contains(result.view.name(value));
      return isHanded;
    };
    plan.toInput = mark(options.as->toInput);
    plan.toWeight = mark(options.as->toWeight);
    result.phases = splitPhases(result.view, *sets, result.kinds, plan);
    HandedNames names = result.handedNames();
    return names.toInput == options.as->toInput &&
           names.toWeight == options.as->toWeight;
  }

  LogicalResult makePlan() {
    if (options.as && followOther())
      return success();
    PhaseProblem problem(result.view, *sets, result.kinds, phaseCosts, policies,
                         result.prices);
    if (std::string fault = problem.problem().check(); !fault.empty())
      return graph.emitError(fault);
    ThreeWayCut cut;
    if (std::string fault = solveThreeWay(problem.problem(), cut);
        !fault.empty()) {
      auto diag = graph.emitOpError("has no plan of three phases: it ")
                  << fault;
      diag.attachNote() << "a policy asks to save what cannot be saved, or to "
                           "recompute what may run only once; give it another "
                           "one";
      return diag;
    }
    if (options.partition.verify)
      if (failed(verifyBound(graph, problem.problem(), cut.bound)))
        return failure();
    result.figures.bound = cut.bound.value;
    PhasePlan plan = problem.plan(cut.solution);
    if (options.rule == ThreeWayRule::Closure) {
      FailureOr<PhasePlan> closure = planClosure();
      if (failed(closure))
        return failure();
      plan = std::move(*closure);
    }
    result.phases = splitPhases(result.view, *sets, result.kinds, plan);
    ThreeWayCrossings crossings;
    if (options.rule == ThreeWayRule::Cuts)
      result.figures.cost = cut.solution.cost;
    else if (evaluate(problem.problem(), problem.solutionOf(result.phases),
                      crossings)
                 .empty())
      result.figures.cost = crossings.cost;
    result.bound = std::move(cut.bound);
    return success();
  }

  int64_t bytesOf(ArrayRef<uint32_t> handed) const {
    std::vector<uint8_t> isCounted(result.view.numValues(), 0);
    int64_t bytes = 0;
    for (uint32_t value : handed) {
      uint32_t storage = sizes->storage[value];
      if (!isCounted[storage])
        bytes += phaseCosts.bytes[storage];
      isCounted[storage] = 1;
    }
    return bytes;
  }

  void fillFigures() {
    ThreeWayFigures &figures = result.figures;
    const Phases &phases = result.phases;
    figures.inputOps = phases.inputOps.size();
    figures.weightOps = phases.weightOps.size();
    figures.toInputBytes = bytesOf(phases.toInput);
    figures.toWeightBytes = bytesOf(phases.toWeight);
    for (uint32_t op : phases.inputOps) {
      int64_t ps = phaseCosts.opPs[op];
      figures.inputPs += ps;
      if (phases.againInInput[op])
        figures.againInInputPs += ps;
      if (result.kinds.ops[op] == PhaseKind::Weight)
        figures.movedToInputPs += ps;
    }
    for (uint32_t op : phases.weightOps) {
      int64_t ps = phaseCosts.opPs[op];
      figures.weightPs += ps;
      if (phases.againInWeight[op])
        figures.againInWeightPs += ps;
    }
  }

  /// One minimum cut, as for two halves; what the input phase has then is
  /// handed on.
  FailureOr<PhasePlan> planClosure() {
    RooflineProblem problem(result.view, *sets, costs, policies);
    if (FlowError error = problem.build(result.prices.toInputBytePs))
      return graph.emitError(*error);
    MaxFlowSolver solver(options.partition.solver);
    MinCut cut;
    if (solver.solve(problem.network(), cut) == MinCutStatus::Unbounded)
      return problem.reportUnbounded(solver.unboundedPath());
    if (failed(verifyCut(graph, problem.network(), cut)))
      return failure();
    PhasePlan plan;
    plan.toInput = problem.plan(cut).saved;
    plan.toWeight.assign(result.view.numValues(), 0);
    // What the input phase runs or is given by itself.
    PhasePlan alone = plan;
    Phases phases = splitPhases(result.view, *sets, result.kinds, alone);
    std::vector<uint8_t> isThere(result.view.numOps(), 0);
    for (uint32_t op : phases.inputOps)
      isThere[op] = 1;
    for (uint32_t value = 0; value < result.view.numValues(); ++value) {
      uint32_t def = result.view.definer[value];
      plan.toWeight[value] =
          plan.toInput[value] || (def != GraphView::kNone && isThere[def]);
    }
    return plan;
  }

  joint::GraphOp graph;
  const ThreeWayOptions &options;
  ThreeWayPartition result;
  std::optional<GraphSets> sets;
  std::optional<ValueSizes> sizes;
  std::vector<OpPolicy> policies;
  RooflineCosts costs;
  PhaseCosts phaseCosts;
  Device device;
};

} // namespace

HandedNames ThreeWayPartition::handedNames() const {
  HandedNames names;
  for (uint32_t value : phases.toInput)
    names.toInput.push_back(view.name(value));
  for (uint32_t value : phases.toWeight)
    names.toWeight.push_back(view.name(value));
  return names;
}

FailureOr<ThreeWayPartition>
cutback::partitionThreeWay(joint::GraphOp graph,
                           const ThreeWayOptions &options) {
  return ThreeWayPlanner(graph, options).run();
}
