// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to kernels, proved against the graph; behind them the update,
// whose launches become figures of the plan.
//
// A stored plan that has an update says with which options: it is compared with
// one that is formed in the same way, so that nothing stored is believed.

#include "StepKernels.h"

#include "SizedStep.h"
#include "cutback/Analysis/SymbolUses.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Training/InsideUpdate.h"

using namespace mlir;
using namespace cutback;

/// Whether a size of an argument has no value on the command line.
static bool hasOpenSizes(const PartitionResult &plan) {
  return llvm::any_of(argumentSymbols(plan.view.graph),
                      [&](NamedAttribute symbol) {
                        return !plan.options.symbols.contains(symbol.getName());
                      });
}

/// Whether a size of an argument has no value there and no hint either.
static bool hasUnknownSizes(const PartitionResult &plan) {
  llvm::StringMap<int64_t> known = plannedSizes(plan);
  return llvm::any_of(
      argumentSymbols(plan.view.graph),
      [&](NamedAttribute symbol) { return !known.contains(symbol.getName()); });
}

/// The kernels of the plan: for all sizes, where that is asked for and sizes
/// are symbols.
static FailureOr<KernelModule> makeKernels(const PartitionResult &plan,
                                           bool forAllSizes) {
  joint::PartitionOp link = plan.partition.link;
  if (forAllSizes && hasOpenSizes(plan))
    return formSymbolicKernels(link, plan.view.graph, *plan.kernelPlan);
  if (plan.memory)
    return cutback::formKernels(link, *plan.kernelPlan, *plan.memory);
  MemoryPlanOptions known = *plan.options.memory;
  known.symbols = plannedSizes(plan);
  FailureOr<MemoryPlan> memory =
      planMemory(link, plan.view.graph, known, UnknownSizes::LieOutside);
  if (failed(memory))
    return failure();
  return cutback::formKernels(link, *plan.kernelPlan, *memory);
}

int cutback::formKernels(Session &session, const PartitionResult &plan,
                         bool forAllSizes,
                         std::optional<KernelModule> &kernels) {
  session.progress.step("forming kernels");
  if (!plan.kernelPlan ||
      (!forAllSizes && !plan.memory && hasUnknownSizes(plan))) {
    session.error("the step has no memory plan: " + plan.memoryProblem);
    session.note("kernels lie in an arena of known size; give sizes with "
                 "--sym, or stop with --to=partition");
    return NoPlan;
  }
  FailureOr<KernelModule> formed = makeKernels(plan, forAllSizes);
  if (failed(formed) || failed(verifyKernels(plan.view.graph, *formed)))
    return NoPlan;
  kernels = std::move(*formed);
  return Done;
}

/// Whether the sizes of the plan are in the ranges of its launches.
static bool isForSizes(const PartitionResult &plan,
                       const KernelModule &kernels) {
  DictionaryAttr symbols = kernel::findArena(kernels.link).getSymbolsAttr();
  return llvm::all_of(plan.options.symbols, [&](const auto &given) {
    auto symbol =
        dyn_cast_or_null<joint::SymbolAttr>(symbols.get(given.getKey()));
    return !symbol || !symbol.getMin() || symbol.getMin() != symbol.getMax() ||
           *symbol.getMin() == given.getValue();
  });
}

void cutback::formForAllSizes(Session &session, const PartitionResult &plan,
                              std::optional<KernelModule> &kernels) {
  if (!hasOpenSizes(plan))
    return;
  session.progress.step("forming kernels for all sizes");
  std::string why;
  {
    ScopedDiagnosticHandler quiet(&session.context,
                                  [&](Diagnostic &diagnostic) {
                                    if (why.empty())
                                      why = diagnostic.str();
                                    return success();
                                  });
    FailureOr<KernelModule> formed = formSymbolicKernels(
        plan.partition.link, plan.view.graph, *plan.kernelPlan);
    if (succeeded(formed) && succeeded(verifyKernels(plan.view.graph, *formed)))
      kernels = std::move(*formed);
  }
  if (kernels && !isForSizes(plan, *kernels))
    kernels.reset();
  if (!kernels)
    session.note("the step is for the sizes of the plan alone: " + why);
  else if (!why.empty())
    session.note(why);
}

int cutback::placeUpdate(Session &session, joint::GraphOp graph,
                         const Optimizer &optimizer) {
  if (joint::hasInsideUpdate(graph)) {
    auto diagnostic = graph.emitError("has the update of an optimizer in its "
                                      "backward already");
    diagnostic.attachNote() << "leave out --optimizer, or give the model that "
                               "it was compiled from";
    return NoPlan;
  }
  if (optimizer.place == Optimizer::After)
    return Done;
  FailureOr<std::vector<UpdatedParameter>> parameters =
      findParameters(graph, optimizer);
  if (failed(parameters))
    return NoPlan;
  std::string why = whyUpdateAfter(graph, optimizer, *parameters);
  if (why.empty())
    return succeeded(insertUpdate(graph, optimizer, *parameters)) ? Done
                                                                  : NoPlan;
  if (optimizer.place == Optimizer::Inside)
    session.note(kUpdatedAfter + why);
  return Done;
}

bool cutback::addUpdate(PartitionResult &plan, KernelModule &kernels,
                        joint::GraphOp graph, const Optimizer &optimizer,
                        std::vector<std::string> options) {
  if (joint::hasInsideUpdate(graph)) {
    plan.update = {std::move(options), {}};
    return true;
  }
  int64_t bytes = arenaBytes(kernels);
  FailureOr<std::vector<UpdatedParameter>> parameters =
      findParameters(graph, optimizer);
  FailureOr<std::vector<ListedSegment>> segments =
      addUpdate(kernels, graph, optimizer, plan.options);
  if (failed(parameters) || failed(segments) ||
      failed(checkLimit(graph, plan, kernels)))
    return false;
  plan.update = {std::move(options), std::move(*segments)};
  // What the update lays beside the gradients.
  plan.peak.bytes += arenaBytes(kernels) - bytes;
  plan.peak.temporaryBytes += arenaBytes(kernels) - bytes;
  return true;
}

int Session::planUpdate(PartitionResult &plan, joint::GraphOp graph,
                        const std::vector<std::string> &options) {
  std::string why;
  std::optional<Optimizer> optimizer = readOptimizer(options, why);
  if (!optimizer) {
    error("refused: plan.json has options of an optimizer that are not read: " +
          why);
    return NoPlan;
  }
  std::optional<KernelModule> kernels;
  if (int code = formKernels(*this, plan, /*forAllSizes=*/false, kernels))
    return code;
  return cutback::addUpdate(plan, *kernels, graph, *optimizer, options)
             ? Done
             : NoPlan;
}
