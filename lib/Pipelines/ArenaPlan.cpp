// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a step behind its partition.
//
//   1. the step as numbers, if all sizes are known: a graph with symbols of
//      unknown size, or with sizes that depend on data, has no plan of bytes,
//      and that is no error
//   2. the backward in an order that needs less, unless it costs more than it
//      is worth: an op far from its reader is no part of its kernel. The
//      numbers of the halves take the same order, so that reports speak of the
//      functions as they are
//   3. the arena, with its proof
//
// Near linear, and the work of both searches.

#include "Internal.h"

#include "cutback/Analysis/FusionPrice.h"
#include "cutback/Analysis/Peak.h"
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
static int64_t forwardPeak(const StepProgram &step,
                           const MemoryPlanOptions &options) {
  StepMemory memory(step, options.memory);
  // What the forward makes is only freed behind it, so its peak is in front.
  std::vector<ArenaInterval> made;
  llvm::copy_if(memory.buffers(), std::back_inserter(made),
                [&](const ArenaInterval &interval) {
                  return interval.begin <= step.forwardEnd;
                });
  return arenaLowerBound(made, options.arena.alignment);
}

/// Time of the backward in the order of `result.halves`, by kernels of fused
/// ops; 0 for a device that is not known.
static double backwardPs(PartitionResult &result) {
  Device device;
  std::string error;
  if (!Device::load(result.options.device, device, error))
    return 0;
  if (!result.costs)
    result.costs = RooflineCosts::compute(result.view, *result.sets,
                                          *result.sizes, device);
  return priceBackward(result.view, *result.sizes, device,
                       result.costs->flopsPs, result.halves);
}

/// Whether the order that was found is taken: the step's peak has to fall by
/// the larger share than the one by which the backward's time grows, or by
/// bytes whose price is more than that time. `step` is of the order before.
static bool isWorthItsTime(const ScheduleOutcome &schedule, double beforePs,
                           double afterPs, const StepProgram &step,
                           const PartitionOptions &options) {
  if (afterPs <= beforePs || options.minimize == Minimize::Peak)
    return true;
  int64_t forward = forwardPeak(step, *options.memory);
  int64_t before = std::max(forward, schedule.peakBefore);
  auto saved =
      static_cast<double>(before - std::max(forward, schedule.peakAfter));
  return saved / static_cast<double>(before) >= afterPs / beforePs - 1 ||
         saved * options.bytePricePs >= afterPs - beforePs;
}

/// Finds the order, and puts both functions and numbers into it if it is taken.
static ScheduleOutcome orderBackward(const StepProgram &step,
                                     PartitionResult &result) {
  ScheduleOutcome schedule = scheduleBackward(
      step, std::min<uint64_t>(result.options.memory->scheduleWork,
                               searchBound(step.numOps())));
  if (!schedule.isChanged)
    return schedule;
  double beforePs = backwardPs(result);
  std::vector<uint32_t> old = result.halves.backwardOps;
  permute(result.halves.backwardOps, schedule.order);
  if (isWorthItsTime(schedule, beforePs, backwardPs(result), step,
                     result.options))
    return schedule;
  result.halves.backwardOps = std::move(old);
  for (size_t op = step.forwardEnd + 1; op + 1 < step.ops.size(); ++op)
    step.ops[op]->moveBefore(step.ops.back());
  schedule.isChanged = false;
  return schedule;
}

LogicalResult cutback::planArena(joint::GraphOp graph, PartitionResult &result,
                                 int64_t limit) {
  PhaseTimer timer(result.seconds.memory);
  joint::PartitionOp link = result.partition.link;
  MemoryPlanOptions options = *result.options.memory;
  options.symbols = result.options.symbols;
  std::optional<StepProgram> step =
      sizedStep(link, graph, options.symbols, result.memoryProblem);
  // The schedule leaves the forward as it is.
  if (!step || (limit != kNoLimit && forwardPeak(*step, options) >= limit))
    return success();
  ScheduleOutcome schedule = orderBackward(*step, result);
  bool isCurrent = !schedule.isChanged || step->reorderBackward(schedule.order);
  if (!isCurrent) {
    step.reset();
    FailureOr<StepProgram> again =
        StepProgram::ofPartition(link, graph, options.symbols);
    if (failed(again))
      return failure();
    step.emplace(std::move(*again));
  }
  FailureOr<MemoryPlan> plan = layoutMemory(std::move(*step), options);
  if (failed(plan))
    return failure();
  plan->isLeastOrder =
      schedule.isLeast && schedule.peakAfter == plan->lowerBound();
  result.memory = std::move(*plan);
  return success();
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
