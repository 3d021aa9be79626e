// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of a call is planned as any graph: its ops stand in a `joint.graph`
// of their own for as long as that takes, kernels are formed of it, its ops
// take their order, and its memory is laid out. Arguments are outside, as those
// of a step are; what it gives is kept until the call has taken it.
//
// Rates decide only which ops join, so those of one device do for all: the plan
// is a function of the op alone, and whoever needs it again makes it again.

#include "cutback/MemoryPlan/NestedPlan.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Kernels/LaunchOrder.h"
#include "cutback/MemoryPlan/MemoryPlan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool isSized(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return !shaped || (shaped.hasRank() && shaped.hasStaticShape());
}

static bool areSized(Block &graph) {
  return llvm::all_of(graph.getArguments(), isSized) &&
         llvm::all_of(graph, [](Operation &op) {
           return llvm::all_of(op.getResults(), isSized);
         });
}

/// The ops of `block` in a graph of their own.
static GraphOp copyGraph(Block &block, ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Operation *output = block.getTerminator();
  auto type = builder.getFunctionType(block.getArgumentTypes(),
                                      output->getOperandTypes());
  Location loc = output->getLoc();
  auto graph = GraphOp::create(
      builder, loc, "nested", type, output->getNumOperands(),
      SmallVector<DictionaryAttr>(block.getNumArguments(),
                                  builder.getDictionaryAttr({})));
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  Block &body = graph.getBody().front();
  IRMapping map;
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    map.map(argument, number < body.getNumArguments()
                          ? body.getArgument(number)
                          : body.addArgument(argument.getType(), loc));
  }
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : block.without_terminator())
    builder.clone(op, map);
  SmallVector<Value> results;
  for (Value result : output->getOperands())
    results.push_back(map.lookup(result));
  OutputOp::create(builder, loc, results, builder.getDenseI32ArrayAttr({}));
  return graph;
}

/// Kernels, and the ops of `graph` in their order.
static void formLaunches(GraphOp graph, NestedGraphPlan &plan) {
  Device device;
  std::string error;
  Device::load("h100", device, error);
  GraphView view = GraphView::build(graph);
  FailureOr<ValueSizes> sizes = ValueSizes::computeAll(view, {});
  KernelProblem problem = KernelProblem::build(view, *sizes);
  std::vector<double> flopsPs(view.numOps(), 0);
  std::vector<uint32_t> order(view.numOps());
  std::iota(order.begin(), order.end(), 0);
  SegmentOps segment{order, {view.forwardResults()}, {}, false};
  SegmentKernels kernels =
      formKernels(problem, view, *sizes, segment,
                  {device.bandwidth, device.launchPs, &flopsPs});
  LaunchOrder launches = orderByLaunches(view, order, kernels);
  plan.order = launches.order;
  plan.launchSizes = launches.sizes;
  for (auto [size, kernel] : llvm::zip(plan.launchSizes, kernels.kernels)) {
    plan.schedules.emplace_back(spell(kernel.schedule));
    if (!kernel.isAligned)
      size = -size;
  }
  Operation *output = graph.getOutput();
  for (uint32_t op : plan.order)
    view.ops[op]->moveBefore(output);
  graph->setAttr(kLaunches,
                 DenseI32ArrayAttr::get(graph.getContext(), plan.launchSizes));
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
  NestedKind kind = *nestedKindOf(op.getCallee());
  if (kind == NestedKind::FlexAttention ||
      kind == NestedKind::FlexAttentionBackward ||
      !llvm::all_of(op.getGraphs(),
                    [](Region &graph) { return areSized(graph.front()); }))
    return std::nullopt;
  ScopedDiagnosticHandler quiet(op.getContext(), [](Diagnostic &) {});
  NestedPlan plan;
  for (Region &graph : op.getGraphs()) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
    GraphOp copy = copyGraph(graph.front(), *module);
    NestedGraphPlan &added = plan.graphs.emplace_back();
    formLaunches(copy, added);
    if (failed(layOut(copy, added)))
      return std::nullopt;
    plan.scratchBytes = std::max(plan.scratchBytes, added.bytes);
  }
  return plan;
}
