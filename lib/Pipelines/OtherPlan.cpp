// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices a partition that was made elsewhere. All that is taken from it is the
// set of saved values; halves, order, peak and time come from the same
// functions as those of our own plans, so the figures can stand in one table.
// The graph is the one as it was read, because that is what the other
// partition was proved against. Linear.

#include "cutback/Pipelines/OtherPlan.h"

#include "Internal.h"

#include "cutback/Analysis/FusionPrice.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Transforms/ReorderBackward.h"

using namespace mlir;
using namespace cutback;

/// The planned peak of `halves`, or the one op by op where sizes are not known.
static FailureOr<int64_t> peakOf(joint::GraphOp graph, const GraphView &view,
                                 const ValueSizes &sizes, const Halves &halves,
                                 const PartitionOptions &options) {
  PartitionResult result;
  result.options = options;
  if (!result.options.memory)
    result.options.memory.emplace();
  result.halves = halves;
  result.partition = emitHalves(view, halves);
  LogicalResult planned = planArena(graph, result);
  erasePartition(result.partition);
  if (failed(planned))
    return failure();
  return peakBytes(result.memory, view, sizes, halves);
}

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
  GraphView view = GraphView::build(copy);
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
  RooflineCosts costs = RooflineCosts::compute(view, *sets, *sizes, device);
  FusedTime time = priceFused(view, *sizes, device, costs.flopsPs, *halves);
  FailureOr<int64_t> peak = peakOf(copy, view, *sizes, *halves, options);
  if (failed(peak))
    return failure();
  return OtherFigures{*peak, static_cast<int64_t>(std::max(0.0, time.extraPs))};
}
