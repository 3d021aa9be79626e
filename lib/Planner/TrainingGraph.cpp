// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a reader gives to a joint graph: functional, decomposed, seeded,
// differentiated. The order matters: composite ops hide random ones, and
// in-place ops must be gone before anybody looks at values.
//
// A graph that has gradients only gets its marks on determinants.

#include "cutback/Planner/TrainingGraph.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Autograd/Hooks.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Decompose/Functionalize.h"
#include "cutback/Decompose/FunctionalizeRng.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/Collectives.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Interpreter/Determinants.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace cutback;

void cutback::registerTrainingGraph(MLIRContext &context) {
  DialectRegistry registry;
  registerAtenVjps(registry);
  registerAtenDecompositions(registry);
  context.appendDialectRegistry(registry);
}

/// The gradients that the second differentiation reads, as a graph that can be
/// differentiated.
static LogicalResult openFirst(joint::GraphOp graph,
                               const TrainingGraphOptions &options,
                               bool isForward, DifferentiateOptions &second) {
  DifferentiateOptions first;
  first.gradOf = options.second.firstGradients();
  if (isForward && !first.gradOf.empty() && failed(differentiate(graph, first)))
    return failure();
  if (!isForward && failed(checkGivenGradients(graph)))
    return failure();
  second = options.differentiate;
  if (failed(openGradients(graph, options.second, second)))
    return failure();
  return decomposeComposites(graph);
}

/// What a backward that is there computes, and in which order, was somebody
/// else's to choose.
static LogicalResult checkBackwardIsOpen(joint::GraphOp graph,
                                         const DifferentiateOptions &options) {
  std::string without =
      !options.sequence.empty() || options.collectivesFirst
          ? "whose order is given: sequence numbers and collectives-first"
      : !options.gradOf.empty()
          ? "whose gradients are given: a choice of arguments (grad-of)"
      : !options.groupSizes.empty()
          ? "which is not made here: the size of a group"
          : "";
  if (without.empty())
    return success();
  auto diagnostic = graph.emitError("'")
                    << graph.getSymName() << "' has a backward, " << without
                    << " would have no effect";
  diagnostic.attachNote() << "give the forward program, or leave "
                          << (options.gradOf.empty() ? "them" : "it") << " out";
  return failure();
}

/// What is said of collectives is said of one that is there.
static LogicalResult checkCollectives(joint::GraphOp graph,
                                      const DifferentiateOptions &options) {
  bool isAny = false;
  llvm::StringSet<> groups;
  graph->walk([&](Operation *op) {
    auto model = dyn_cast<joint::RematerializableOpInterface>(op);
    isAny |= model && model.hasOrderedEffects();
    if (aten::isCollective(op))
      groups.insert(aten::CallReader(cast<aten::CallOp>(op))
                        .string(aten::optional("group_name")));
  });
  if (options.collectivesFirst && !isAny) {
    auto diagnostic = graph.emitError("'")
                      << graph.getSymName()
                      << "' has no collectives: collectives-first would have "
                         "no effect";
    diagnostic.attachNote() << "leave it out";
    return failure();
  }
  for (const auto &[name, size] : options.groupSizes)
    if (!groups.contains(name)) {
      auto diagnostic = graph.emitError("no collective of '")
                        << graph.getSymName() << "' is of group '" << name
                        << "', whose size is given";
      diagnostic.attachNote() << "leave it out";
      return failure();
    }
  return success();
}

static bool hasCheckpoints(joint::GraphOp graph) {
  return !graph.getBody().front().getOps<joint::CheckpointOp>().empty();
}

static bool asksForBackward(const TrainingGraphOptions &options) {
  const DifferentiateOptions &asked = options.differentiate;
  return options.second.isAsked() || !asked.gradOf.empty() ||
         !asked.lossOutputs.empty() || !asked.sequence.empty() ||
         !asked.hooks.empty() || asked.collectivesFirst;
}

bool cutback::wantsNoGradient(joint::GraphOp graph,
                              const TrainingGraphOptions &options) {
  bool isMarked = false;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    isMarked |= static_cast<bool>(graph.getArgAttr(arg, kRequiresGrad));
  return !isMarked && !asksForBackward(options) && !joint::hasBackward(graph);
}

LogicalResult cutback::makeFunctional(joint::GraphOp graph,
                                      bool functionalizeRng) {
  return success(
      succeeded(functionalize(graph)) &&
      succeeded(decomposeComposites(graph)) &&
      (!functionalizeRng || succeeded(cutback::functionalizeRng(graph))));
}

LogicalResult cutback::makeTrainingGraph(joint::GraphOp graph,
                                         const TrainingGraphOptions &options,
                                         EagerCount *eager) {
  if (options.forwardOnly)
    return success(succeeded(makeFunctional(graph, options.functionalizeRng)) &&
                   succeeded(decomposeToCore(graph)));
  bool isForward = !joint::hasBackward(graph);
  bool isSecond = options.second.isAsked();
  if (!isForward)
    interpreter::markDeterminants(graph);
  if (!isForward && !isSecond) {
    LogicalResult hooked = hookGradients(graph, options.differentiate.hooks);
    makeHooksDense(graph);
    return success(succeeded(hooked) && succeeded(checkBackwardIsOpen(
                                            graph, options.differentiate)));
  }
  if (isForward && failed(checkCollectives(graph, options.differentiate)))
    return failure();
  if (!isForward && failed(detachAliases(graph)))
    return failure();
  if (eager && (!isForward || isSecond))
    eager = nullptr;
  llvm::StringSet<> untracked;
  if (eager)
    untracked = findUntracked(graph);
  if (failed(functionalize(graph)) || failed(decomposeComposites(graph)))
    return failure();
  if (eager)
    eager->countSaves(graph, untracked);
  bool isOpByOp = eager && eager->saves && !hasCheckpoints(graph);
  if (isForward && options.functionalizeRng && failed(functionalizeRng(graph)))
    return failure();
  DifferentiateOptions last = options.differentiate;
  if (isSecond && failed(openFirst(graph, options, isForward, last)))
    return failure();
  unsigned forwardOps = llvm::range_size(graph.getBlock().without_terminator());
  if (failed(differentiate(graph, last)))
    return failure();
  if (isOpByOp)
    eager->countPeak(graph, forwardOps);
  LogicalResult decomposed = decomposeToCore(graph);
  makeHooksDense(graph);
  return decomposed;
}
