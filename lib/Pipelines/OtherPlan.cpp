// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices a partition that was made elsewhere. All that is taken from it is the
// set of saved values; halves, order, peak and time come from the same
// functions as those of our own plans, so the figures can stand in one table.
// The graph is the one as it was read, because that is what the other
// partition was proved against. Linear.

#include "cutback/Pipelines/OtherPlan.h"

#include "cutback/Analysis/FusionPrice.h"
#include "cutback/Analysis/Peak.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Transforms/ReorderBackward.h"

using namespace mlir;
using namespace cutback;

FailureOr<OtherFigures> cutback::figureOther(joint::GraphOp graph,
                                             ArrayRef<Value> saved,
                                             const PartitionOptions &options) {
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, options.symbols);
  if (failed(sets) || failed(sizes))
    return failure();
  Device device;
  std::string error;
  if (!Device::load(options.device, device, error))
    return graph.emitError(error);
  llvm::DenseMap<Value, uint32_t> numbers;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    numbers[view.values[value]] = value;
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  for (Value value : saved)
    if (auto it = numbers.find(value); it != numbers.end())
      plan.saved[it->second] = 1;
  FailureOr<Halves> halves = splitGraph(view, *sets, plan);
  if (failed(halves))
    return failure();
  improveBackwardOrder(view, *halves, sizes->bytes, sizes->storage);
  OtherFigures figures;
  figures.peakBytes =
      simulateStep(view, *halves, sizes->bytes, sizes->storage).bytes;
  RooflineCosts costs = RooflineCosts::compute(view, *sets, *sizes, device);
  FusedTime time = priceFused(view, *sizes, device, costs.flopsPs, *halves);
  figures.pricedPs = static_cast<int64_t>(std::max(0.0, time.extraPs));
  return figures;
}
