// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The minimum cut minimizes time, and time is what saved bytes cost; a peak is
// something else: what is recomputed has to lie somewhere too. So plans are
// compared by their planned arenas:
//
//   1. the plan as asked for
//   2. PyTorch's decision, put through the same planner
//   3. if that needs less: dearer bytes, in steps of three, on the graph as we
//      prepare it and as PyTorch does, until the plan needs no more; at last
//      PyTorch's decision itself
//
// What is tried out is made on copies. Each is a partition and a memory plan.

#include "cutback/Pipelines/PeakPlan.h"

#include "cutback/MemoryPlan/ScheduleBackward.h"

using namespace mlir;
using namespace cutback;

FailureOr<PeakPlan> cutback::planStep(joint::GraphOp graph,
                                      const PartitionOptions &options,
                                      const MemoryPlanOptions &memory) {
  auto result = partitionGraph(graph, options);
  if (failed(result))
    return failure();
  joint::PartitionOp link = (*result)->partition.link;
  MemoryPlanOptions sized = memory;
  sized.symbols = options.symbols;
  if (failed(scheduleBackward(link, graph, options.symbols)))
    return failure();
  FailureOr<MemoryPlan> plan = planMemory(link, graph, sized);
  if (failed(plan))
    return failure();
  return PeakPlan{std::move(*result), std::move(*plan), options};
}

namespace {

/// One way to a plan.
struct Way {
  PartitionOptions options;
  bool asTorch = false; ///< the graph is prepared as PyTorch does
};

/// Prepares `graph` and plans it.
FailureOr<PeakPlan> go(joint::GraphOp graph, const Way &way,
                       const MemoryPlanOptions &memory) {
  PartitionOptions prepare = way.options;
  if (way.asTorch)
    prepare.costModel = CostModel::PyTorch;
  PhaseSeconds seconds;
  if (failed(preparePartition(graph, prepare, seconds)))
    return failure();
  return planStep(graph, way.options, memory);
}

/// The arena of a plan that is thrown away, made on a copy of the graph.
FailureOr<int64_t> tryOut(joint::GraphOp graph, Way way,
                          const MemoryPlanOptions &memory) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(graph.getLoc());
  Operation *copy = graph->clone();
  scratch->push_back(copy);
  way.options.figures = false;
  way.options.verify = false;
  FailureOr<PeakPlan> plan = go(cast<joint::GraphOp>(copy), way, memory);
  if (failed(plan))
    return failure();
  return plan->memory.arenaBytes();
}

} // namespace

FailureOr<PeakPlan> cutback::planForPeak(joint::GraphOp graph,
                                         const PartitionOptions &options,
                                         const MemoryPlanOptions &memory) {
  Way asked{options, false};
  if (options.strategy != Strategy::MinCut ||
      options.costModel != CostModel::Roofline || options.bytePricePs != 0)
    return go(graph, asked, memory);
  Way torch{options, true};
  torch.options.costModel = CostModel::PyTorch;
  torch.options.rules = Rules::Torch2_13;
  FailureOr<int64_t> own = tryOut(graph, asked, memory);
  FailureOr<int64_t> least = tryOut(graph, torch, memory);
  if (failed(own) || failed(least) || *own <= *least)
    return go(graph, asked, memory);
  for (double price : {0.0, 0.1, 0.3, 1.0, 3.0, 10.0})
    for (bool asTorch : {false, true}) {
      Way dearer{options, asTorch};
      dearer.options.bytePricePs = price;
      FailureOr<int64_t> arena = tryOut(graph, dearer, memory);
      if (succeeded(arena) && *arena <= *least)
        return go(graph, dearer, memory);
    }
  return go(graph, torch, memory);
}
