// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of a call is planned as any graph: kernels are formed of it
// (formNestedKernels), its ops take their order, and its memory is laid out.
// Arguments are outside, as those of a step are; what it gives is kept until
// the call has taken it. Whoever needs the plan again makes it again.

#include "cutback/MemoryPlan/NestedPlan.h"

#include "cutback/Kernels/LaunchOrder.h"
#include "cutback/Kernels/NestedLaunches.h"
#include "cutback/MemoryPlan/MemoryPlan.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// The ops of the graph in the order of its kernels.
static void orderLaunches(NestedKernels &formed, NestedGraphPlan &plan) {
  std::vector<uint32_t> order(formed.view.numOps());
  std::iota(order.begin(), order.end(), 0);
  LaunchOrder launches = orderByLaunches(formed.view, order, formed.kernels);
  plan.order = launches.order;
  plan.launchSizes = launches.sizes;
  for (auto [size, kernel] :
       llvm::zip(plan.launchSizes, formed.kernels.kernels)) {
    plan.schedules.emplace_back(spell(kernel.schedule));
    if (!kernel.isAligned)
      size = -size;
  }
  Operation *output = formed.graph.getOutput();
  for (uint32_t op : plan.order)
    formed.view.ops[op]->moveBefore(output);
  formed.graph->setAttr(
      kLaunches,
      DenseI32ArrayAttr::get(formed.graph.getContext(), plan.launchSizes));
}

static LogicalResult layOut(GraphOp graph, NestedGraphPlan &plan) {
  FailureOr<StepView> program = StepView::ofGraph(graph, {});
  if (failed(program))
    return failure();
  FailureOr<MemoryPlan> memory = planMemory(std::move(*program));
  if (failed(memory))
    return failure();
  const StepView &step = memory->program;
  plan.bytes = memory->arenaBytes();
  plan.offsets.resize(plan.order.size());
  for (uint32_t op = 0; op < plan.order.size(); ++op)
    for (uint32_t r : step.results(op)) {
      uint32_t storage = step.values[r].storage;
      bool isOwn = step.makesStorage(r) &&
                   memory->liveRanges[storage].buffer != StepView::kNone;
      plan.offsets[plan.order[op]].push_back(
          isOwn ? memory->storages[storage].offset : -1);
    }
  for (uint32_t storage = 0; storage < step.storages.size(); ++storage)
    if (step.storages[storage].isScratch)
      plan.scratch.push_back({plan.order[step.maker(storage)],
                              {memory->storages[storage].offset,
                               memory->storages[storage].bytes}});
  return success();
}

std::optional<NestedPlan> cutback::planNested(NestedOp op) {
  ScopedDiagnosticHandler quiet(op.getContext(), [](Diagnostic &) {});
  std::vector<NestedKernels> graphs = formNestedKernels(op);
  if (graphs.empty())
    return std::nullopt;
  NestedPlan plan;
  for (NestedKernels &graph : graphs) {
    NestedGraphPlan &added = plan.graphs.emplace_back();
    orderLaunches(graph, added);
    if (failed(layOut(graph.graph, added)))
      return std::nullopt;
    plan.scratchBytes = std::max(plan.scratchBytes, added.bytes);
  }
  return plan;
}
