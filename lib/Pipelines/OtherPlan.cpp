// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices a partition that was made elsewhere. All that is taken from it is the
// set of saved values; halves, order, peak and time come from the same
// functions as those of our own plans, so the figures can stand in one table.
// The graph is the one as it was read, because that is what the other
// partition was proved against. Linear.

#include "cutback/Pipelines/OtherPlan.h"

#include "Internal.h"

#include "cutback/Analysis/Roofline.h"
#include "cutback/Transforms/ReorderBackward.h"

using namespace mlir;
using namespace cutback;

/// The values of `graph` in `saved`, by number.
static Plan planOf(joint::GraphOp graph, ArrayRef<Value> saved) {
  GraphView view = GraphView::build(graph);
  llvm::DenseMap<Value, uint32_t> numbers;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    numbers[view.values[value]] = value;
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  for (Value value : saved)
    if (auto it = numbers.find(value); it != numbers.end())
      plan.saved[it->second] = 1;
  return plan;
}

FailureOr<OtherFigures> cutback::figureOther(joint::GraphOp graph,
                                             ArrayRef<Value> saved,
                                             const PartitionOptions &options) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(graph.getLoc());
  joint::GraphOp copy = graph.clone();
  scratch->push_back(copy);
  PartitionResult result;
  result.options = options;
  if (!result.options.memory)
    result.options.memory.emplace();
  result.view = GraphView::build(copy);
  const GraphView &view = result.view;
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, options.symbols);
  if (failed(sets) || failed(sizes))
    return failure();
  Device device;
  std::string error;
  if (!Device::load(options.device, device, error))
    return graph.emitError(error);
  FailureOr<Halves> halves = splitGraph(view, *sets, planOf(graph, saved));
  if (failed(halves))
    return failure();
  improveBackwardOrder(view, *halves, sizes->bytes, sizes->storage);
  result.costs = RooflineCosts::compute(view, *sets, *sizes, device);
  result.sets = std::move(*sets);
  result.sizes = std::move(*sizes);
  result.halves = std::move(*halves);
  orderByKernels(result);
  result.partition = emitHalves(view, result.halves);
  writeLaunches(result);
  bool isPlanned =
      succeeded(planArena(copy, result)) && succeeded(proveArena(result));
  erasePartition(result.partition);
  if (!isPlanned)
    return failure();
  KernelPlanner planner = *kernelPlanner(result);
  double extraPs = planner.extraPs(result.halves, *result.kernelPlan);
  return OtherFigures{
      peakBytes(result.memory, view, *result.sizes, result.halves),
      static_cast<int64_t>(std::max(0.0, extraPs))};
}
