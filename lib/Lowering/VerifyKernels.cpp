// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is emitted is what was planned: from the launches back to their ops.
//
//   1. The kernel of each launch, built again from the ops inside of it, is the
//      one that it names.
//   2. The ops of all launches, in their place, are two halves of the graph.

#include "cutback/Lowering/FormKernels.h"

#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Lowering/KernelBody.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Partition/Certificate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace cutback;

/// Without its name, by which launches know it.
static std::string textOf(kernel::FuncOp function) {
  auto copy = cast<kernel::FuncOp>(function->clone());
  copy.setSymName("");
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().assumeVerified());
  copy->erase();
  return text;
}

/// The kernel of a launch is what its ops give.
static LogicalResult verifyBody(kernel::LaunchOp launch,
                                kernel::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : launch.getBlock().without_terminator())
    ops.push_back(&op);
  SmallVector<Value> outputs;
  for (int32_t output : launch.getOutputs())
    outputs.push_back(launch.getYield().getOperand(output));
  std::string problem;
  std::optional<KernelBody> body =
      buildKernelBody(ops, outputs, function.getSchedule(), problem);
  if (body && textOf(*body->function) == textOf(function))
    return success();
  InFlightDiagnostic diagnostic =
      launch.emitOpError("has ops that are not those of its kernel ")
      << launch.getKernelAttr();
  if (!problem.empty())
    diagnostic << ": " << problem;
  diagnostic.attachNote(function.getLoc()) << "the kernel is here";
  return diagnostic;
}

/// Whether the halves are those of one of many sizes.
static bool hasOpenArguments(joint::GraphOp graph) {
  return llvm::any_of(graph.getArgumentTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return type.isIndex() || (shaped && !shaped.hasStaticShape());
  });
}

static bool hasOpenResults(joint::GraphOp graph) {
  return llvm::any_of(graph.getBlock(), [](Operation &op) {
    return llvm::any_of(op.getResultTypes(), [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped && !shaped.hasStaticShape();
    });
  });
}

/// `graph`, with the sizes that follow from others where some depend on data:
/// launches have them.
static OwningOpRef<joint::GraphOp> withKnownSizes(joint::GraphOp graph) {
  OwningOpRef<joint::GraphOp> copy(cast<joint::GraphOp>(graph->clone()));
  GraphView view = GraphView::build(*copy);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
  if (failed(sizes))
    return nullptr;
  for (auto [value, type] : llvm::zip_equal(view.values, sizes->type))
    if (isa<RankedTensorType>(value.getType()) && isa<OpResult>(value))
      value.setType(type);
  return copy;
}

LogicalResult cutback::verifyKernels(joint::GraphOp graph,
                                     const KernelModule &kernels) {
  if (isSymbolic(kernels))
    return verifySymbolicKernels(graph, kernels);
  SymbolTable symbols(*kernels.module);
  WalkResult result =
      (*kernels.module)->walk([&](kernel::LaunchOp launch) -> WalkResult {
        if (!launch.getKernelAttr())
          return WalkResult::advance();
        auto function = symbols.lookup<kernel::FuncOp>(*launch.getKernel());
        return function ? WalkResult(verifyBody(launch, function))
                        : WalkResult::interrupt();
      });
  if (result.wasInterrupted())
    return failure();
  if (hasOpenArguments(graph))
    return success();
  OwningOpRef<ModuleOp> inlined =
      OwningOpRef<ModuleOp>(cast<ModuleOp>((*kernels.module)->clone()));
  SymbolTable copies(*inlined);
  auto half = [&](StringRef name) {
    auto function = copies.lookup<func::FuncOp>(name);
    inlineLaunches(function);
    return function;
  };
  auto link = kernels.link;
  func::FuncOp backward = half(link.getBackward());
  // Behind gradients stands what later segments alone take.
  Operation *output = backward.front().getTerminator();
  output->setOperands(
      output->getOperands().take_front(link.getGradientOf().size()));
  backward.setType(FunctionType::get(backward.getContext(),
                                     backward.getArgumentTypes(),
                                     TypeRange(output->getOperands())));
  OwningOpRef<joint::GraphOp> sized;
  if (hasOpenResults(graph)) {
    sized = withKnownSizes(graph);
    if (!sized)
      return failure();
    graph = *sized;
  }
  return verifyHalves(graph, half(link.getForward()), backward, link);
}

/// Ops of a graph of a call, as they were given: in their order, and each once.
/// What has the number of another op and is another one stays, and the graph is
/// not that of the joint graph.
static void restoreGraph(Block &graph) {
  auto numberOf = [](Operation *op) {
    return op->getAttrOfType<IntegerAttr>(kernel::kGivenNumber);
  };
  SmallVector<Operation *> ops;
  for (Operation &op : graph.without_terminator()) {
    if (!numberOf(&op))
      return;
    ops.push_back(&op);
  }
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) {
    return numberOf(a).getInt() < numberOf(b).getInt();
  });
  Operation *last = nullptr;
  for (Operation *op : ops) {
    op->moveBefore(graph.getTerminator());
    bool isRepeated = last && numberOf(op) == numberOf(last) &&
                      OperationEquivalence::isEquivalentTo(
                          op, last, OperationEquivalence::IgnoreLocations);
    if (isRepeated) {
      op->replaceAllUsesWith(last);
      op->erase();
    } else {
      last = op;
    }
  }
  for (Operation &op : graph)
    op.removeAttr(kernel::kGivenNumber);
}

void cutback::inlineLaunches(Operation *function) {
  SmallVector<kernel::LaunchOp> launches;
  function->walk([&](kernel::LaunchOp launch) { launches.push_back(launch); });
  for (kernel::LaunchOp launch : launches) {
    kernel::YieldOp yield = launch.getYield();
    launch->replaceAllUsesWith(yield.getOperands());
    yield->erase();
    Block *block = launch->getBlock();
    for (Operation &op : launch.getBlock())
      op.removeAttr(kernel::kDrawNumber);
    block->getOperations().splice(Block::iterator(launch),
                                  launch.getBlock().getOperations());
    launch->erase();
  }
  function->walk([](joint::NestedOp call) {
    for (Region &graph : call.getGraphs())
      restoreGraph(graph.front());
  });
}
