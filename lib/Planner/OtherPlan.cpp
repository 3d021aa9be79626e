// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices a partition that was made elsewhere. All that is taken from it is the
// set of saved values; halves, order, peak and time come from the same
// functions as those of our own plans, so the figures can stand in one table.
// The graph is the one as it was read, because that is what the other
// partition was proved against. Linear.

#include "cutback/Planner/OtherPlan.h"

#include "Internal.h"

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
  // Of the options only sizes and device are looked at.
  PartitionOptions other;
  other.symbols = options.symbols;
  other.device = options.device;
  other.decompose = options.decompose;
  other.memory = options.memory ? options.memory : MemoryPlanOptions();
  Plan plan = planOf(graph, saved);
  PreparedGraph nothing;
  FailureOr<DraftPlan> draft =
      DraftPlan::make(copy, other, PlanChoice(), nothing, &plan);
  if (failed(draft))
    return failure();
  draft->formKernels();
  PartitionResult &result = draft->result();
  if (failed(draft->layOut()) || failed(proveArena(result)))
    return failure();
  double extraPs =
      kernelPlanner(result)->extraPs(result.halves, *result.kernelPlan);
  return OtherFigures{
      peakBytes(result.memory, result.view, *result.sizes, result.halves),
      static_cast<int64_t>(std::max(0.0, extraPs))};
}
