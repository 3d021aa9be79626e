// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a step behind its partition.
//
//   1. the step as numbers, if all sizes are known: a graph with symbols of
//      unknown size, or with sizes that depend on data, has no plan of bytes,
//      and that is no error
//   2. the backward in an order that needs less; the numbers of the halves take
//      the same order, so that reports speak of the functions as they are
//   3. the arena, with its proof
//
// Near linear, and the work of both searches.

#include "Internal.h"

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

LogicalResult cutback::planArena(joint::GraphOp graph,
                                 PartitionResult &result) {
  PhaseTimer timer(result.seconds.memory);
  joint::PartitionOp link = result.partition.link;
  MemoryPlanOptions options = *result.options.memory;
  options.symbols = result.options.symbols;
  std::optional<StepProgram> step =
      sizedStep(link, graph, options.symbols, result.memoryProblem);
  if (!step)
    return success();
  ScheduleOutcome schedule =
      scheduleBackward(*step, std::min<uint64_t>(options.scheduleWork,
                                                 searchBound(step->numOps())));
  permute(result.halves.backwardOps, schedule.order);
  bool isCurrent = !schedule.isChanged || step->reorderBackward(schedule.order);
  FailureOr<MemoryPlan> plan = isCurrent ? planMemory(std::move(*step), options)
                                         : planMemory(link, graph, options);
  if (failed(plan))
    return failure();
  plan->isLeastOrder =
      schedule.isLeast && schedule.peakAfter == plan->lowerBound();
  result.memory = std::move(*plan);
  return success();
}

int64_t cutback::forwardBytes(joint::GraphOp graph,
                              const PartitionResult &result) {
  std::string problem;
  std::optional<StepProgram> step =
      sizedStep(result.partition.link, graph, result.options.symbols, problem);
  if (!step)
    return 0;
  const MemoryPlanOptions &options = *result.options.memory;
  StepMemory memory(*step, options.memory);
  // What the forward makes is only freed behind it, so its peak is in front.
  std::vector<ArenaInterval> made;
  llvm::copy_if(memory.buffers(), std::back_inserter(made),
                [&](const ArenaInterval &interval) {
                  return interval.begin <= step->forwardEnd;
                });
  return arenaLowerBound(made, options.arena.alignment);
}

int64_t cutback::peakBytes(const std::optional<MemoryPlan> &memory,
                           const GraphView &view, const ValueSizes &sizes,
                           const Halves &halves) {
  if (memory)
    return memory->arenaBytes();
  return simulateStep(view, halves, sizes.bytes, sizes.storage).bytes;
}
