// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps from a prepared graph to a plan: analyse, solve, extract, memory,
// verify, as PartitionPipeline.cpp lists them. Up to the arena a plan is a
// draft, which may be compared with others; the one that is taken is verified
// and gets its figures.
//
// A wrong plan is an error here, in every build: the cut is proved with its
// flow, the halves with value numbering. Near linear; the maximum flow is the
// only step that is not bounded so.

#include "Internal.h"
#include "RegionBudgets.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/CutCheck.h"
#include "cutback/Partition/Strategies.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;

namespace {

class Planner {
public:
  Planner(PartitionResult &result, joint::GraphOp graph, PreparedGraph prepared)
      : result(result), options(result.options), choice(result.choice),
        graph(graph), prepared(std::move(prepared)), sizes(result.sizes) {}

  LogicalResult make(const Plan *given) {
    if (failed(analyse()))
      return failure();
    if (isByRoofline())
      computeCosts();
    if (given)
      result.plan = *given;
    else if (choice.saved)
      result.plan = planOfNames(*choice.saved);
    else if (failed(plan()))
      return failure();
    bool isDecided =
        given || choice.saved || choice.costModel == CostModel::PyTorch;
    if (isDecided && options.decompose && failed(reachCore()))
      return failure();
    result.ops = result.view.numOps();
    return split();
  }

  void formKernels() {
    PhaseTimer timer(result.seconds.kernels);
    if (options.memory)
      orderByKernels(result);
  }

  LogicalResult layOut(int64_t arenaLimit) {
    if (!options.emit)
      return success();
    emitFunctions();
    return options.memory ? planArena(graph, result, arenaLimit) : success();
  }

  FailureOr<std::optional<int64_t>> liveBytes(int64_t limit) {
    emitFunctions();
    return planLiveBytes(graph, result, limit);
  }

  /// What is left.
  LogicalResult finish() {
    if (options.emit && failed(verify()))
      return failure();
    if (options.alsoCheck)
      if (std::optional<std::string> fault = options.alsoCheck(result))
        return graph.emitError(*fault);
    if (!options.figures)
      return success();
    if (failed(planKernels()))
      return failure();
    fillFigures();
    return options.bounds ? checkBounds() : success();
  }

  /// The numbers are of another graph op by now, with the same body.
  void follow(joint::GraphOp now) {
    graph = now;
    (result.given ? result.given->view : result.view).graph = now;
  }
  joint::GraphOp getGraph() const { return graph; }

private:
  void emitFunctions() {
    PhaseTimer timer(result.seconds.extract);
    result.partition = emitHalves(result.view, result.halves, graph);
    writeLaunches(result);
  }

  LogicalResult analyse() {
    PhaseTimer timer(result.seconds.prepare);
    result.view =
        prepared.view ? std::move(*prepared.view) : GraphView::build(graph);
    result.costs = std::move(prepared.costs);
    result.kernelProblem = std::move(prepared.kernelProblem);
    result.whole = std::move(prepared.whole);
    if (failed(checkTypes()) || failed(computeSets()) || failed(computeSizes()))
      return failure();
    FailureOr<std::vector<OpPolicy>> asked =
        collectPolicies(result.view, askedPolicies());
    if (failed(asked))
      return failure();
    policies = std::move(*asked);
    if (!joint::hasBackward(graph) && !options.mayLackGradients) {
      auto diag = graph.emitOpError("has no gradients: there is no backward to "
                                    "plan for");
      diag.attachNote() << "give a joint graph; if its last outputs are "
                           "gradients, say how many forward outputs there are "
                           "(--forward-outputs)";
      return diag;
    }
    std::string error;
    if (needsDevice() && !Device::load(options.device, device, error))
      return graph.emitError(error);
    return success();
  }

  llvm::StringMap<std::string> askedPolicies() const {
    llvm::StringMap<std::string> asked = options.policies;
    for (const std::string &name : choice.recompute)
      asked[name] = "must-recompute";
    return asked;
  }

  Plan planOfNames(const std::vector<std::string> &names) const {
    llvm::StringSet<> saved;
    for (const std::string &name : names)
      saved.insert(name);
    Plan plan;
    plan.saved.assign(result.view.numValues(), 0);
    for (uint32_t value = 0; value < result.view.numValues(); ++value)
      plan.saved[value] = saved.contains(result.view.name(value));
    return plan;
  }

  /// A plan moves values: what they are and how many bytes they have follows
  /// from their types.
  LogicalResult checkTypes() {
    Type last;
    for (auto [i, type] : llvm::enumerate(result.view.types)) {
      if (type == last || !isa<BaseMemRefType, UnrankedTensorType>(type)) {
        last = type;
        continue;
      }
      bool isMemory = isa<BaseMemRefType>(type);
      InFlightDiagnostic diag = emitError(result.view.values[i].getLoc());
      diag << "'" << result.view.name(i) << "' is of type " << type
           << (isMemory ? ": a joint graph computes values, not memory"
                        : ": a plan needs the rank of every tensor");
      diag.attachNote() << (isMemory
                                ? "partition before tensors become buffers"
                                : "give it a ranked type; sizes that are not "
                                  "static may be symbols (joint.dims)");
      return diag;
    }
    return success();
  }

  LogicalResult computeSets() {
    result.sets = std::move(prepared.sets);
    if (result.sets)
      return success();
    FailureOr<GraphSets> computed = GraphSets::compute(result.view);
    if (failed(computed))
      return failure();
    result.sets = std::move(*computed);
    return success();
  }

  LogicalResult computeSizes() {
    sizes = std::move(prepared.sizes);
    if (sizes)
      return success();
    FailureOr<ValueSizes> values =
        ValueSizes::compute(result.view, options.symbols);
    if (failed(values))
      return failure();
    sizes = std::move(*values);
    return success();
  }

  /// With tags the default partitioner of PyTorch 2.3 goes over to the minimum
  /// cut; that of 2.13 does so only for graphs that write in place, which are
  /// not read.
  bool isCut() const {
    return choice.strategy == Strategy::MinCut ||
           (choice.strategy == Strategy::Eager &&
            choice.rules == Rules::Torch2_3 &&
            llvm::is_contained(policies, OpPolicy::MustRecompute));
  }

  bool isByRoofline() const {
    return isCut() && choice.costModel == CostModel::Roofline;
  }
  /// Figures are in time always.
  bool needsDevice() const { return options.figures || isByRoofline(); }

  /// PyTorch's rules have costs of their own, and figures show these too.
  void computeCosts() {
    PhaseTimer timer(result.seconds.kernels);
    if (!result.costs)
      result.costs = networkCosts(result.view, *result.sets, *sizes, device,
                                  options.symbols, result.kernelProblem);
  }

  LogicalResult plan() {
    if (isCut())
      return choice.costModel == CostModel::PyTorch ? planAsTorch()
                                                    : planByRoofline();
    switch (choice.strategy) {
    case Strategy::Eager:
      result.plan = planEager(result.view, *result.sets, *sizes, policies);
      return success();
    case Strategy::Precompute:
      result.plan = planPrecompute(result.view, *result.sets);
      return success();
    case Strategy::RecomputeAll:
      result.plan = planRecomputeAll(result.view, *result.sets);
      return success();
    case Strategy::MinCut:
      break;
    }
    return failure();
  }

  LogicalResult planByRoofline() {
    result.bytePricePs = choice.bytePrice.of(ownBytePrice(*result.costs));
    if (options.keepsRegionBudgets)
      result.regionBudgets = regionBudgetsOf(result.view);
    if (result.regionBudgets.empty())
      return cutByRoofline(*result.costs, result.plan);
    FailureOr<Plan> plan = planWithinRegions(
        result.view, *result.costs,
        [&](const RooflineCosts &costs) -> FailureOr<Plan> {
          Plan found;
          if (failed(cutByRoofline(costs, found)))
            return failure();
          return found;
        },
        result.regionBudgets);
    if (failed(plan))
      return failure();
    result.plan = std::move(*plan);
    return success();
  }

  LogicalResult cutByRoofline(const RooflineCosts &costs, Plan &plan) {
    RooflineProblem problem(result.view, *result.sets, costs, policies);
    MinCut cut;
    {
      PhaseTimer timer(result.seconds.network);
      if (FlowError error = problem.build(result.bytePricePs))
        return graph.emitError(*error);
    }
    auto name = [&](uint32_t vertex) { return problem.vertexName(vertex); };
    if (failed(dumpNetwork(graph, options, problem.network(), name,
                           problem.network().numVertices(), false)))
      return failure();
    auto report = [&](ArrayRef<VertexId> path) {
      return problem.reportUnbounded(path);
    };
    if (failed(solve(problem.network(), cut, report)))
      return failure();
    plan = problem.plan(cut);
    return success();
  }

  /// The graph as PyTorch's rules see it: numbers again, so a part of prepare.
  void viewAsTorch(const TorchRulesOptions &rules) {
    PhaseTimer timer(result.seconds.prepare);
    fx = std::move(prepared.fx);
    if (!fx)
      fx = FxView::build(result.view, *sizes,
                         freeArguments(graph, options.freeParameters),
                         rules.rules);
    if (!options.policies.empty() || !choice.recompute.empty())
      overrideTags();
    if (!options.dumpNetwork.empty() || options.figures)
      fx->nameNodes(result.view);
    torch.emplace(result.view, *fx, rules);
    torch->classify();
  }

  /// Policies of the command line stand over the tags of the graph.
  void overrideTags() {
    for (FxNodeId node = 0; node < fx->graph.size(); ++node) {
      uint32_t op = fx->opOf[node];
      if (op == GraphView::kNone || policies[op] == OpPolicy::None)
        continue;
      fx->graph.nodes[node].policy =
          policies[op] == OpPolicy::MustSave     ? FxPolicy::MustSave
          : policies[op] == OpPolicy::PreferSave ? FxPolicy::PreferSave
                                                 : FxPolicy::MustRecompute;
    }
  }

  LogicalResult planAsTorch() {
    TorchRulesOptions rules = torchOptions(graph, options, choice.rules);
    viewAsTorch(rules);
    if (options.activationBudget && options.costModel == CostModel::PyTorch &&
        !torch->rules().emptyBackward)
      return planWithinBudget();
    {
      PhaseTimer timer(result.seconds.network);
      if (failed(torch->build()))
        return failure();
    }
    if (torch->rules().emptyBackward) {
      result.plan = planEager(result.view, *result.sets, *sizes);
      return success();
    }
    MinCut cut;
    if (failed(dumpTorchNetwork()) || failed(solveAsTorch(cut)))
      return failure();
    PhaseTimer timer(result.seconds.extract);
    FailureOr<Plan> plan = torch->plan(cut);
    if (failed(plan))
      return failure();
    result.plan = std::move(*plan);
    return success();
  }

  LogicalResult dumpTorchNetwork() {
    auto name = [&](uint32_t node) {
      return std::string(fx->graph.name(node));
    };
    return dumpNetwork(graph, options, torch->network(), name, fx->graph.size(),
                       true);
  }

  LogicalResult solveAsTorch(MinCut &cut) {
    return solve(torch->network(), cut, [&](ArrayRef<VertexId> path) {
      return torch->reportUnbounded(path);
    });
  }

  LogicalResult planWithinBudget() {
    result.budget.emplace();
    FailureOr<Plan> plan = torch->planWithin(
        *options.activationBudget, *sizes,
        [&](MinCut &cut) { return solveAsTorch(cut); }, *result.budget);
    if (failed(plan) || failed(dumpTorchNetwork()))
      return failure();
    result.plan = std::move(*plan);
    replayDraws();
    return success();
  }

  /// PyTorch runs random calls again that a budget releases, with other numbers
  /// than the forward had: a wrong gradient. Here they are replayed.
  void replayDraws() {
    std::vector<uint32_t> ops;
    SmallVector<Operation *> draws;
    for (FxNodeId node : torch->halves().recomputed) {
      uint32_t op = fx->opOf[node];
      if (op == GraphView::kNone || !result.view.traits[op].random ||
          fx->graph.nodes[node].kind != FxKind::Call)
        continue;
      bool isTagged = llvm::is_contained(torch->halves().replayedRandom, node);
      if (!isTagged)
        result.drawnAlike.push_back(result.view.name(
            fx->valueOf[node] == GraphView::kNone ? result.view.resultBegin[op]
                                                  : fx->valueOf[node]));
      if (joint::isReplayed(result.view.ops[op]))
        continue;
      ops.push_back(op);
      draws.push_back(result.view.ops[op]);
    }
    joint::markReplays(graph, draws);
    for (uint32_t op : ops)
      result.view.readTraits(op);
  }

  LogicalResult
  solve(const FlowNetwork &network, MinCut &cut,
        llvm::function_ref<LogicalResult(ArrayRef<VertexId>)> report) {
    MaxFlowSolver solver(options.solver);
    MinCutStatus status;
    {
      PhaseTimer timer(result.seconds.solve);
      status = solver.solve(network, cut);
    }
    result.networkVertices = network.numVertices();
    result.networkArcs = network.numArcs();
    result.solver = getAlgorithmName(options.solver);
    if (options.solver == Solver::Auto)
      result.solver = solver.stats().switched ? "auto: push-relabel"
                                              : "auto: boykov-kolmogorov";
    if (status == MinCutStatus::Unbounded)
      return report(solver.unboundedPath());
    result.cutValue = cut.value;
    if (!options.verify && status == MinCutStatus::Solved)
      return success();
    PhaseTimer timer(result.seconds.verify);
    return verifyCut(graph, network, cut);
  }

  /// PyTorch's decision, or somebody's, is of the graph as it is given. What
  /// follows is of a copy in core ops, with the same values saved.
  LogicalResult reachCore() {
    PhaseTimer timer(result.seconds.prepare);
    std::optional<CoreGraph> core = makeCoreGraph(result.view);
    if (!core)
      return success();
    FailureOr<Halves> decided =
        splitGraph(result.view, *result.sets, result.plan);
    if (failed(decided))
      return failure();
    Plan followed;
    followed.saved.assign(core->view.numValues(), 0);
    for (auto *list : {&decided->savedSizes, &decided->savedTensors})
      for (uint32_t value : *list)
        if (uint32_t to = core->fromGiven[value]; to != GraphView::kNone)
          followed.saved[to] = 1;
    // Handed over, whether a part of an op still reads it or not.
    followed.bound = followed.saved;
    result.plan = std::move(followed);
    std::swap(result.view, core->view);
    result.given = GivenGraph{std::move(core->view), std::move(core->toGiven),
                              std::move(core->graph)};
    prepared = PreparedGraph();
    result.kernelProblem.reset();
    result.costs.reset();
    result.flopsPs.clear();
    if (failed(computeSets()) || failed(computeSizes()))
      return failure();
    followPolicies();
    return success();
  }

  /// Those that the user gave by name are of the given graph.
  void followPolicies() {
    std::vector<OpPolicy> decided = std::move(policies);
    policies = *collectPolicies(result.view, {});
    const GraphView &given = result.given->view;
    for (uint32_t op = 0; op < result.view.numOps(); ++op)
      for (uint32_t value = result.view.resultBegin[op];
           value < result.view.resultBegin[op + 1]; ++value)
        if (uint32_t from = result.given->numberOf[value];
            from != GraphView::kNone && !given.isArg(from))
          policies[op] = decided[given.definer[from]];
  }

  /// A view of what an update in the backward writes would be handed over as a
  /// copy; the backward has it for nothing.
  void dropUpdatedViews() {
    const GraphView &view = result.view;
    joint::GraphOp graph = view.graph;
    if (!joint::hasInsideUpdate(graph))
      return;
    llvm::SmallDenseSet<uint32_t> written; // storages
    for (auto write : graph.getBody().front().getOps<joint::WriteOp>())
      if (auto argument = dyn_cast<BlockArgument>(write.getDestination());
          argument && write.getSide() == joint::Side::Backward)
        written.insert(sizes->storage[argument.getArgNumber()]);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value) {
      if (!written.contains(sizes->storage[value]) ||
          !view.traits[view.definer[value]].view)
        continue;
      result.plan.saved[value] = 0;
      if (!result.plan.bound.empty())
        result.plan.bound[value] = 0;
    }
  }

  LogicalResult split() {
    PhaseTimer timer(result.seconds.extract);
    dropUpdatedViews();
    FailureOr<Halves> halves =
        splitGraph(result.view, *result.sets, result.plan);
    if (failed(halves))
      return failure();
    result.halves = std::move(*halves);
    if (options.reorderBackward)
      improveBackwardOrder(result.view, result.halves, sizes->bytes,
                           sizes->storage);
    return success();
  }

  LogicalResult verify() {
    if (failed(proveArena(result)))
      return failure();
    if (!options.verify)
      return success();
    PhaseTimer timer(result.seconds.verify);
    if (failed(verifyHalves(result.view.graph, result.partition.forward,
                            result.partition.backward, result.partition.link)))
      return failure();
    result.verified = true;
    return success();
  }

  LogicalResult planKernels() {
    planner.emplace(*kernelPlanner(result));
    if (!result.kernelPlan)
      result.kernelPlan = planner->plan(result.halves);
    std::optional<std::string> fault =
        planner->verify(result.halves, *result.kernelPlan);
    if (!fault)
      return success();
    return graph.emitError(*fault);
  }

  LogicalResult checkBounds() {
    if (result.bounds)
      return success();
    auto diagnostic = graph.emitError("has no bounds: they are of steps of "
                                      "known sizes whose ops run whole, and "
                                      "once in a half");
    diagnostic.attachNote() << "leave out --bounds, or what is beside it of "
                               "--optimizer, --split, and regions in regions";
    return diagnostic;
  }

  void fillFigures() {
    result.pricedPs = static_cast<int64_t>(
        std::max(0.0, planner->extraPs(result.halves, *result.kernelPlan)));
    result.kernels = result.kernelPlan->numLaunches();
    computeCosts();
    summarize(result, *sizes, &*result.costs, policies,
              torch ? &*torch : nullptr, fx ? &*fx : nullptr);
    if ((options.bounds || options.memoryLimit) && result.memory) {
      PhaseTimer timer(result.seconds.kernels);
      result.bounds = findBounds(result, result.memory->arenaBytes());
    }
    emitRemarks(result);
  }

  PartitionResult &result;
  const PartitionOptions &options;
  const PlanChoice &choice;
  joint::GraphOp graph;
  PreparedGraph prepared;
  std::optional<ValueSizes> &sizes;
  std::vector<OpPolicy> policies;
  Device device;
  std::optional<FxView> fx;
  std::optional<TorchProblem> torch;
  std::optional<KernelPlanner> planner;
};

} // namespace

struct DraftPlan::State {
  State(joint::GraphOp graph, const PartitionOptions &options,
        const PlanChoice &choice, PreparedGraph prepared)
      : result(std::make_unique<PartitionResult>()),
        planner(setUp(graph, options, choice), graph, std::move(prepared)) {}

  std::unique_ptr<PartitionResult> result;
  Planner planner; ///< refers to the result

private:
  PartitionResult &setUp(joint::GraphOp graph, const PartitionOptions &options,
                         const PlanChoice &choice) const {
    result->graph = graph.getSymName().str();
    result->options = options;
    result->choice = choice;
    return *result;
  }
};

DraftPlan::DraftPlan(std::unique_ptr<State> state) : state(std::move(state)) {}
DraftPlan::DraftPlan(DraftPlan &&) noexcept = default;
DraftPlan &DraftPlan::operator=(DraftPlan &&) noexcept = default;
DraftPlan::~DraftPlan() = default;

FailureOr<DraftPlan> DraftPlan::make(joint::GraphOp graph,
                                     const PartitionOptions &options,
                                     const PlanChoice &choice,
                                     PreparedGraph &prepared,
                                     const Plan *given) {
  DraftPlan draft(std::make_unique<State>(
      graph, options, choice, std::exchange(prepared, PreparedGraph())));
  if (failed(draft.state->planner.make(given))) {
    prepared = takePrepared(draft.result());
    return failure();
  }
  return draft;
}

void DraftPlan::formKernels() { state->planner.formKernels(); }

LogicalResult DraftPlan::layOut(int64_t arenaLimit) {
  return state->planner.layOut(arenaLimit);
}

FailureOr<std::optional<int64_t>> DraftPlan::liveBytes(int64_t limit) {
  return state->planner.liveBytes(limit);
}

PartitionResult &DraftPlan::result() { return *state->result; }

joint::GraphOp DraftPlan::getGraph() const { return state->planner.getGraph(); }

void DraftPlan::moveTo(joint::GraphOp graph) {
  joint::GraphOp from = getGraph();
  graph->setAttrs(from->getAttrDictionary());
  graph->getRegion(0).takeBody(from->getRegion(0));
  Partition &partition = state->result->partition;
  Operation *last = graph;
  for (Operation *op :
       {partition.forward.getOperation(), partition.backward.getOperation(),
        partition.link.getOperation()}) {
    if (!op)
      continue; // not laid out yet
    op->moveAfter(last);
    last = op;
  }
  state->planner.follow(graph);
}

FailureOr<std::unique_ptr<PartitionResult>> DraftPlan::finish() {
  if (failed(state->planner.finish()))
    return failure();
  return std::move(state->result);
}

PreparedGraph DraftPlan::discard() {
  if (state->result->partition.link)
    erasePartition(state->result->partition);
  PreparedGraph prepared = takePrepared(*state->result);
  state.reset();
  return prepared;
}
