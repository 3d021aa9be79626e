// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a step behind its partition.
//
//   1. the step as numbers, if all sizes are known: a graph with symbols of
//      unknown size, or with sizes that depend on data, has no plan of bytes,
//      and that is no error
//   2. the launches of the backward in an order that needs less. The numbers of
//      the halves take the same order, so that reports speak of the functions
//      as they are
//   3. the arena, with its proof
//
// Near linear, and the work of both searches.

#include "Internal.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Analysis/SymbolUses.h"
#include "cutback/Kernels/NestedLaunches.h"
#include "cutback/Kernels/NetworkTerms.h"
#include "cutback/MemoryPlan/ScheduleBackward.h"

using namespace mlir;
using namespace cutback;

/// Bound of the search for an order, in ops looked at: much for a small step,
/// and for a large one a few looks an op, so that planning stays near linear.
static uint64_t searchBound(uint64_t ops) {
  return std::max<uint64_t>(100 * ops,
                            1'000'000'000 / std::max<uint64_t>(1, ops));
}

/// Puts `ops` into the order that the schedule chose.
static void permute(std::vector<uint32_t> &ops,
                    const std::vector<uint32_t> &order) {
  std::vector<uint32_t> old = ops;
  for (size_t place = 0; place < order.size(); ++place)
    ops[place] = old[order[place]];
}

/// Bytes that the forward needs at one moment, saved values among them.
static int64_t forwardPeak(const StepView &step,
                           const MemoryPlanOptions &options) {
  StepMemory memory(step, options.memory);
  // What the forward makes is only freed behind it, so its peak is in front.
  std::vector<ArenaInterval> made;
  llvm::copy_if(memory.buffers(), std::back_inserter(made),
                [&](const ArenaInterval &interval) {
                  return interval.begin <= step.forwardEnd();
                });
  return arenaLowerBound(made, options.arena.alignment);
}

/// Bytes that the step needs at one moment: no arena is smaller.
static int64_t livePeak(const StepView &step,
                        const MemoryPlanOptions &options) {
  StepMemory memory(step, options.memory);
  return arenaLowerBound(memory.buffers(), options.arena.alignment);
}

/// Loops and prices need sizes: a symbol that nobody knows is assumed to be
/// some number. What depends on data has no loops before it runs. Nothing where
/// all sizes are known.
static std::optional<ValueSizes>
assumeSizes(const GraphView &view, const ValueSizes &sizes,
            const llvm::StringMap<int64_t> &known) {
  if (!llvm::is_contained(sizes.unknown, 1))
    return std::nullopt;
  constexpr int64_t kAssumedSize = 64;
  llvm::StringMap<int64_t> symbols = assumeSymbols(view, kAssumedSize);
  joint::GraphOp graph = view.graph;
  DictionaryAttr ofArguments = argumentSymbols(graph);
  if (DictionaryAttr all = graph.getSymbolsAttr())
    for (NamedAttribute symbol : all)
      if (!ofArguments.contains(symbol.getName()))
        symbols.erase(symbol.getName());
  for (const auto &symbol : known)
    symbols[symbol.getKey()] = symbol.getValue();
  auto computed = ValueSizes::computeAll(view, symbols);
  std::optional<ValueSizes> &found = computed;
  return std::move(found);
}

static std::shared_ptr<const KernelProblem>
makeProblem(const GraphView &view, const ValueSizes &sizes,
            const std::optional<ValueSizes> &assumed, const Device &device) {
  auto problem = std::make_shared<KernelProblem>(
      KernelProblem::build(view, assumed ? *assumed : sizes));
  problem->nested = priceNested(view, sizes, device);
  return problem;
}

RooflineCosts
cutback::networkCosts(const GraphView &view, const GraphSets &sets,
                      const ValueSizes &sizes, const Device &device,
                      const llvm::StringMap<int64_t> &symbols,
                      std::shared_ptr<const KernelProblem> &problem) {
  std::optional<ValueSizes> assumed = assumeSizes(view, sizes, symbols);
  if (!problem)
    problem = makeProblem(view, sizes, assumed, device);
  const ValueSizes &counted = assumed ? *assumed : sizes;
  RooflineCosts costs = RooflineCosts::compute(view, sets, counted, device);
  refineByKernels(costs, *problem, view, sets, counted, device);
  return costs;
}

std::optional<KernelPlanner> cutback::kernelPlanner(PartitionResult &result) {
  Device device;
  std::string error;
  if (!Device::load(result.options.device, device, error))
    return std::nullopt;
  if (!result.kernelProblem)
    result.kernelProblem = makeProblem(
        result.view, *result.sizes,
        assumeSizes(result.view, *result.sizes, result.options.symbols),
        device);
  if (!result.costs && result.flopsPs.empty())
    result.flopsPs = computeFlopsPs(result.view, *result.sizes, device);
  return KernelPlanner(*result.kernelProblem, result.view, *result.sizes,
                       device,
                       result.costs ? result.costs->flopsPs : result.flopsPs);
}

/// Puts kernels into the order that the schedule chose.
static void permute(SegmentKernels &segment,
                    const std::vector<uint32_t> &order) {
  std::vector<Kernel> old = std::move(segment.kernels);
  segment.kernels.clear();
  for (uint32_t number : order)
    segment.kernels.push_back(std::move(old[number]));
  for (uint32_t number = 0; number < segment.kernels.size(); ++number)
    for (uint32_t op : segment.kernels[number].ops)
      segment.kernelOf[op] = number;
}

/// Finds the order, and puts both functions and numbers into it.
static ScheduleOutcome orderBackward(const StepView &step,
                                     PartitionResult &result) {
  ScheduleOutcome schedule = scheduleBackward(
      step, std::min<uint64_t>(result.options.memory->scheduleWork,
                               searchBound(step.numOps())));
  if (!schedule.isChanged)
    return schedule;
  permute(result.halves.backwardOps, schedule.order);
  if (result.kernelPlan)
    permute(result.kernelPlan->backward(), schedule.launchOrder);
  return schedule;
}

static void setLaunches(func::FuncOp half, const LaunchOrder &launches,
                        const SegmentKernels &segment) {
  std::vector<int32_t> sizes = launches.sizes;
  for (auto [size, kernel] : llvm::zip(sizes, segment.kernels))
    if (!kernel.isAligned)
      size = -size;
  half->setAttr(kLaunches, DenseI32ArrayAttr::get(half.getContext(), sizes));
}

void cutback::orderByKernels(PartitionResult &result) {
  std::optional<KernelPlanner> planner = kernelPlanner(result);
  if (!planner)
    return;
  // Where there will be functions, launches are merged behind their order.
  result.kernelPlan = result.options.emit ? planner->planApart(result.halves)
                                          : planner->plan(result.halves);
  const GraphView &view = result.view;
  auto order = [&](std::vector<uint32_t> &ops, SegmentKernels &segment) {
    LaunchOrder launches = orderByLaunches(view, ops, segment);
    ops = launches.order;
    return launches;
  };
  result.forwardLaunches =
      order(result.halves.forwardOps, result.kernelPlan->forward());
  result.backwardLaunches =
      order(result.halves.backwardOps, result.kernelPlan->backward());
}

void cutback::writeLaunches(PartitionResult &result) {
  if (!result.kernelPlan)
    return;
  setLaunches(result.partition.forward, result.forwardLaunches,
              result.kernelPlan->forward());
  setLaunches(result.partition.backward, result.backwardLaunches,
              result.kernelPlan->backward());
}

namespace {
/// A step in its last order, and its memory before it has places.
struct OrderedStep {
  std::unique_ptr<StepView> step;
  StepMemory memory; ///< refers to the step
  MemoryPlanOptions options;
  ScheduleOutcome schedule;
};
} // namespace

/// Nothing where a size is not known, and where the step needs `limit` bytes at
/// one moment: `least` is a bound below it then.
static FailureOr<std::optional<OrderedStep>>
orderAndMerge(joint::GraphOp graph, PartitionResult &result, int64_t limit,
              int64_t *least = nullptr) {
  joint::PartitionOp link = result.partition.link;
  MemoryPlanOptions options = *result.options.memory;
  options.symbols = result.options.symbols;
  std::unique_ptr<StepView> step;
  if (std::optional<StepView> sized =
          sizedStep(link, graph, options.symbols, result.memoryProblem))
    step = std::make_unique<StepView>(std::move(*sized));
  else
    mergeByEstimate(graph, result);
  auto isAbove = [&](int64_t bytes) {
    if (least)
      *least = bytes;
    return bytes >= limit;
  };
  // The schedule leaves the forward as it is.
  if (!step || (limit != kNoLimit && isAbove(forwardPeak(*step, options))))
    return std::optional<OrderedStep>();
  ScheduleOutcome schedule = orderBackward(*step, result);
  bool isCurrent =
      !schedule.isChanged ||
      step->reorder(StepOrder{schedule.order, schedule.launchSizes});
  if (!isCurrent) {
    step.reset();
    FailureOr<StepView> again =
        StepView::ofPartition(link, graph, options.symbols);
    if (failed(again))
      return failure();
    step = std::make_unique<StepView>(std::move(*again));
  }
  if (limit != kNoLimit && isAbove(livePeak(*step, options)))
    return std::optional<OrderedStep>();
  FailureOr<StepMemory> memory = mergeWithin(*step, graph, result, options);
  if (failed(memory))
    return failure();
  return std::optional<OrderedStep>(
      OrderedStep{std::move(step), std::move(*memory), std::move(options),
                  std::move(schedule)});
}

LogicalResult cutback::planArena(joint::GraphOp graph, PartitionResult &result,
                                 int64_t limit) {
  PhaseTimer timer(result.seconds.memory);
  FailureOr<std::optional<OrderedStep>> ordered =
      orderAndMerge(graph, result, limit);
  if (failed(ordered))
    return failure();
  if (!*ordered)
    return success();
  auto &[step, memory, options, schedule] = **ordered;
  FailureOr<MemoryPlan> plan = layoutMemory(std::move(*step), memory, options);
  if (failed(plan))
    return failure();
  plan->isLeastOrder =
      schedule.isLeast && schedule.peakAfter == plan->lowerBound();
  result.memory = std::move(*plan);
  return success();
}

FailureOr<std::optional<int64_t>>
cutback::planLiveBytes(joint::GraphOp graph, PartitionResult &result,
                       int64_t limit) {
  PhaseTimer timer(result.seconds.memory);
  int64_t least = 0;
  FailureOr<std::optional<OrderedStep>> ordered =
      orderAndMerge(graph, result, limit, &least);
  if (failed(ordered))
    return failure();
  if (*ordered)
    return std::optional<int64_t>(arenaLowerBound(
        (*ordered)->memory.buffers(), (*ordered)->options.arena.alignment));
  return result.memoryProblem.empty() ? std::optional<int64_t>(least)
                                      : std::nullopt;
}

std::vector<std::string> cutback::savedAtPeak(const MemoryPlan &memory) {
  std::vector<std::pair<int64_t, uint32_t>> live;
  for (auto [i, storage] : llvm::enumerate(memory.storages))
    if (storage.use == StorageUse::Saved && storage.begin <= memory.peak.op &&
        memory.peak.op < storage.end)
      live.emplace_back(-storage.bytes, memory.program.storages[i].value);
  llvm::sort(live);
  std::vector<std::string> names;
  for (auto [bytes, value] : live)
    names.push_back(memory.program.name(value));
  return names;
}

LogicalResult cutback::proveArena(PartitionResult &result) {
  PhaseTimer timer(result.seconds.memory);
  return result.memory ? proveMemory(*result.memory, *result.options.memory)
                       : success();
}

int64_t cutback::peakBytes(const std::optional<MemoryPlan> &memory,
                           const GraphView &view, const ValueSizes &sizes,
                           const Halves &halves) {
  if (memory)
    return memory->arenaBytes();
  return simulateStep(view, halves, sizes.bytes, sizes.storage).bytes;
}
