// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is emitted is what was planned: from the launches back to their ops.
//
//   1. The kernel of each launch, built again from the ops inside of it, is the
//      one that it names.
//   2. The ops of all launches, in their place, are two halves of the graph.

#include "cutback/Lowering/FormKernels.h"

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

static bool hasUnknownSizes(joint::GraphOp graph) {
  auto isOpen = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return type.isIndex() || (shaped && !shaped.hasStaticShape());
  };
  bool found = llvm::any_of(graph.getArgumentTypes(), isOpen);
  graph->walk([&](Operation *op) {
    found |= llvm::any_of(op->getResultTypes(), isOpen);
  });
  return found;
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
  if (hasUnknownSizes(graph))
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
  return verifyHalves(graph, half(link.getForward()), half(link.getBackward()),
                      link);
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
}
