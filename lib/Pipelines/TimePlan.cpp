// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan for time, with a peak that is not above that of PyTorch's decision:
// nobody changes his partitioner to need more memory.
//
//   1. the minimum cut, with its arena
//   2. PyTorch's decision on a copy; if its forward alone needs as much, or its
//      arena is not smaller, the minimum cut stays
//   3. else minimum cuts under small prices of a byte, on the graph as we
//      prepare it and as PyTorch does, and PyTorch's decision, by the time that
//      fused kernels take; arenas are laid out from the fastest on, until one
//      is no larger than PyTorch's
//
// What is tried out has no figures and proofs; what is taken from it is made
// again on the graph, with both.

#include "Internal.h"

#include "cutback/Analysis/FusionPrice.h"

using namespace mlir;
using namespace cutback;

using Result = FailureOr<std::unique_ptr<PartitionResult>>;

PartitionOptions cutback::torchDecision(PartitionOptions options) {
  options.costModel = CostModel::PyTorch;
  options.rules = Rules::Torch2_13;
  options.bytePricePs = 0;
  return options;
}

Result cutback::prepareAndPlan(joint::GraphOp graph,
                               const PartitionOptions &options, bool asTorch) {
  PartitionOptions prepare = options;
  if (asTorch)
    prepare.costModel = CostModel::PyTorch;
  PhaseSeconds seconds;
  auto prepared = preparePartition(graph, prepare, seconds);
  if (failed(prepared))
    return failure();
  // What PyTorch's preparation leaves behind is for its own rules.
  bool fits = prepare.costModel == options.costModel;
  auto result = partitionGraph(graph, options,
                               fits ? std::move(*prepared) : PreparedGraph());
  if (succeeded(result)) {
    (*result)->seconds.prepare += seconds.prepare;
    (*result)->isOfTorchGraph = asTorch;
  }
  return result;
}

namespace {

/// Plans of one prepared graph that are thrown away. What is known of the graph
/// goes from plan to plan.
class Trials {
public:
  Trials(joint::GraphOp graph, PreparedGraph known)
      : graph(graph), known(std::move(known)) {}

  /// A plan without an arena: the time of both halves in ps by kernels of fused
  /// ops, and what it saves. Negative if there is no such plan.
  double time(PartitionOptions options, std::vector<uint32_t> &saved) {
    options.emit = false;
    auto result = run(options);
    if (failed(result))
      return -1;
    double ps = timeOf(**result);
    saved = std::move((*result)->halves.savedTensors);
    known = takePrepared(**result);
    return ps;
  }

  /// The arena of a plan, or nothing if it is not smaller than `limit`.
  std::optional<int64_t> arenaBelow(const PartitionOptions &options,
                                    int64_t limit) {
    auto result = run(options);
    if (failed(result))
      return std::nullopt;
    PartitionResult &plan = **result;
    plan.options.memory = options.memory;
    std::optional<int64_t> arena;
    // The schedule leaves the forward as it is.
    if (forwardBytes(graph, plan) < limit &&
        succeeded(planArena(graph, plan)) && plan.memory &&
        plan.memory->arenaBytes() < limit)
      arena = plan.memory->arenaBytes();
    erasePartition(plan.partition);
    known = takePrepared(plan);
    return arena;
  }

private:
  Result run(PartitionOptions options) {
    options.memory.reset();
    options.figures = false;
    options.verify = false;
    options.dumpNetwork.clear();
    auto result = partitionGraph(graph, options, std::move(known));
    known = PreparedGraph();
    return result;
  }

  static double timeOf(PartitionResult &result) {
    Device device;
    std::string error;
    if (!Device::load(result.options.device, device, error))
      return -1;
    if (!result.costs)
      result.costs = RooflineCosts::compute(result.view, *result.sets,
                                            *result.sizes, device);
    FusedTime time = priceFused(result.view, *result.sizes, device,
                                result.costs->flopsPs, result.halves);
    return time.forwardPs + time.backwardPs;
  }

  joint::GraphOp graph;
  PreparedGraph known;
};

/// One way to a plan.
struct Way {
  PartitionOptions options;
  bool asTorch = false;
  double timePs = 0;
  std::vector<uint32_t> saved;

  bool isAlike(const Way &other) const {
    return asTorch == other.asTorch && saved == other.saved;
  }
};

class TimePlan {
public:
  TimePlan(joint::GraphOp graph, const PartitionOptions &options)
      : graph(graph), options(options), asRead(graph.clone()) {}

  Result run() {
    Result result = prepareAndPlan(graph, options, false);
    if (failed(result) || !(*result)->memory)
      return result;
    double seconds = 0;
    PassedOver passed{(*result)->memory->arenaBytes(), 0, (*result)->pricedPs};
    std::optional<Way> other;
    {
      PhaseTimer timer(seconds);
      ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
      other = findOther(**result, passed);
    }
    if (other) {
      erasePartition((*result)->partition);
      graph->setAttrs((*asRead)->getAttrDictionary());
      graph->getRegion(0).takeBody((*asRead)->getRegion(0));
      result = prepareAndPlan(graph, other->options, other->asTorch);
      if (failed(result))
        return result;
      (*result)->passedOver = passed;
    }
    (*result)->seconds.compare += seconds;
    return result;
  }

private:
  /// The way to take in place of the minimum cut, if it needs too much.
  std::optional<Way> findOther(const PartitionResult &minCut,
                               PassedOver &passed) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(graph.getLoc());
    joint::GraphOp copy = asRead->clone();
    scratch->push_back(copy);
    PartitionOptions torch = torchDecision(options);
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> prepared = preparePartition(copy, torch, seconds);
    if (failed(prepared))
      return std::nullopt;
    Trials theirs(copy, std::move(*prepared));
    std::optional<int64_t> limit = theirs.arenaBelow(torch, passed.peakBytes);
    if (!limit)
      return std::nullopt;
    passed.torchPeakBytes = *limit;
    Trials ours(graph, {minCut.view, minCut.sizes, std::nullopt, minCut.sets,
                        minCut.costs});
    return fastestWithin(*limit, ours, theirs);
  }

  /// PyTorch's decision is one of the ways, so there is one.
  Way fastestWithin(int64_t limit, Trials &ours, Trials &theirs) {
    std::vector<Way> ways;
    for (double price : {0.0, 0.1, 0.3, 1.0})
      for (bool asTorch : {false, true}) {
        ways.push_back({options, asTorch, 0, {}});
        ways.back().options.bytePricePs = price;
      }
    ways.push_back({torchDecision(options), true, 0, {}});
    for (Way &way : ways)
      way.timePs = (way.asTorch ? theirs : ours).time(way.options, way.saved);
    Way minCut = ways.front(), torch = ways.back();
    llvm::stable_sort(
        ways, [](const Way &a, const Way &b) { return a.timePs < b.timePs; });
    std::vector<const Way *> tried = {&minCut};
    for (const Way &way : ways) {
      if (way.options.costModel == CostModel::PyTorch || way.isAlike(torch))
        return torch;
      if (way.timePs < 0 ||
          llvm::any_of(
              tried, [&](const Way *other) { return way.isAlike(*other); }))
        continue;
      if ((way.asTorch ? theirs : ours).arenaBelow(way.options, limit + 1))
        return way;
      tried.push_back(&way);
    }
    return torch;
  }

  joint::GraphOp graph;
  const PartitionOptions &options;
  OwningOpRef<joint::GraphOp> asRead;
};

/// Who asks for a price of a byte or another strategy gets that.
bool isCompared(joint::GraphOp graph, const PartitionOptions &options) {
  constexpr ptrdiff_t maxOps = 100'000;
  Block &block = graph.getBlock();
  return options.withinTorchPeak && options.strategy == Strategy::MinCut &&
         options.costModel == CostModel::Roofline && options.bytePricePs == 0 &&
         options.emit && std::distance(block.begin(), block.end()) <= maxOps;
}

} // namespace

Result cutback::planForTime(joint::GraphOp graph,
                            const PartitionOptions &options) {
  if (!isCompared(graph, options))
    return prepareAndPlan(graph, options, false);
  PartitionOptions planned = options;
  if (!planned.memory)
    planned.memory.emplace();
  return TimePlan(graph, planned).run();
}
