// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One training step in the interpreter.
//
//   1. arguments by name; they bind the symbolic sizes
//   2. prepare and partition for those sizes, or take halves as they are; of
//      both, what has no kernel is decomposed
//   3. both halves, in order, in one arena of the planned size
//   4. results by name
//
// A whole run leaves out 2 and 3 and is what the halves are compared with: of
// the same core ops, so that it has the same bits.

#include "cutback/Planner/ReferenceStep.h"

#include "cutback/Dialect/Aten/Collectives.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Interpreter/PlannedMemory.h"
#include "cutback/Interpreter/Rounding.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/Runnable.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// The next step where there are no kernels to run.
static const char *withoutKernels(const ReferenceOptions &options) {
  return options.compileKernels ? "run it with --reference, not --target=cpu"
                                : "run it without --kernels";
}

/// Runs the launches of the step in their arena.
static FailureOr<std::vector<RuntimeValue>>
runLaunches(joint::GraphOp graph, const KernelModule &kernels,
            ArrayRef<RuntimeValue> arguments, const ReferenceOptions &options) {
  LaunchMemory arena(kernels.link);
  InterpreterOptions run;
  run.seed = options.seed;
  run.hook = options.hook;
  run.memory = &arena;
  run.checkKernels = options.checkKernels;
  run.observers = options.observers;
  std::unique_ptr<KernelRunner> runner;
  if (options.compileKernels) {
    auto compiled = options.compileKernels(kernels.module.get());
    if (failed(compiled))
      return failure();
    runner = std::move(*compiled);
  }
  run.kernels = runner.get();
  llvm::StringMap<RuntimeValue> byName;
  for (auto [i, value] : llvm::enumerate(arguments))
    byName[graph.getArgName(i)] = value;
  return runSegments(kernel::findArena(kernels.link),
                     {kernel::kForward, kernel::kBackward}, byName, run);
}

/// Forms kernels of the plan, and runs them.
static FailureOr<std::vector<RuntimeValue>>
runKernels(joint::GraphOp graph, joint::PartitionOp link,
           const MemoryPlan &memory, ArrayRef<RuntimeValue> arguments,
           const ReferenceOptions &options, ReferenceResult &result) {
  if (!result.partition || !result.partition->kernelPlan) {
    auto diag = graph.emitError("has no kernels: its halves are stored, and no "
                                "plan with them");
    diag.attachNote() << withoutKernels(options);
    return diag;
  }
  FailureOr<KernelModule> formed =
      formKernels(link, *result.partition->kernelPlan, memory);
  if (failed(formed))
    return failure();
  result.kernels = std::move(*formed);
  return runLaunches(graph, *result.kernels, arguments, options);
}

/// Runs a step of launches as it is stored; one for all sizes at those of the
/// arguments.
static FailureOr<std::vector<RuntimeValue>>
runStoredKernels(joint::GraphOp graph, ArrayRef<RuntimeValue> arguments,
                 const ReferenceOptions &options,
                 const llvm::StringMap<int64_t> &symbols,
                 ReferenceResult &result) {
  const KernelModule &stored = *options.storedKernels;
  if (!isSymbolic(stored)) {
    result.arenaBytes = arenaBytes(stored);
    return runLaunches(graph, stored, arguments, options);
  }
  FailureOr<SizedKernels> sized = instantiateKernels(stored, graph, symbols);
  if (failed(sized))
    return failure();
  result.arenaBytes = sized->memory.arenaBytes();
  result.lowerBound = sized->memory.lowerBound();
  result.formedAnew = sized->formedAnew;
  result.kernels = std::move(sized->kernels);
  return runLaunches(graph, *result.kernels, arguments, options);
}

/// Kernels and calls of a step in which data decide sizes: what these are lies
/// outside of the arena.
static FailureOr<std::vector<RuntimeValue>> runKernelsOfUnknownSizes(
    joint::GraphOp graph, joint::PartitionOp link,
    ArrayRef<RuntimeValue> arguments, const ReferenceOptions &options,
    const llvm::StringMap<int64_t> &symbols, ReferenceResult &result) {
  MemoryPlanOptions known;
  known.symbols = symbols;
  FailureOr<MemoryPlan> memory =
      planMemory(link, graph, known, UnknownSizes::LieOutside);
  if (failed(memory))
    return failure();
  result.arenaBytes = memory->arenaBytes();
  result.lowerBound = memory->lowerBound();
  return runKernels(graph, link, *memory, arguments, options, result);
}

/// Runs both halves and returns the joint graph's results: in the planned
/// arena, or without one where sizes depend on data.
static FailureOr<std::vector<RuntimeValue>>
runHalves(joint::GraphOp graph, joint::PartitionOp link,
          const std::optional<MemoryPlan> &memory,
          ArrayRef<RuntimeValue> arguments, const ReferenceOptions &options,
          const llvm::StringMap<int64_t> &symbols, ReferenceResult &result) {
  if (memory) {
    result.arenaBytes = memory->arenaBytes();
    result.lowerBound = memory->lowerBound();
    if (options.kernels)
      return runKernels(graph, link, *memory, arguments, options, result);
    PlannedRunOptions run;
    run.seed = options.seed;
    run.hook = options.hook;
    run.checkMemory = options.checkMemory;
    run.observers = options.observers;
    return runPartitionInArena(link, graph, arguments, *memory, run);
  }
  if (options.kernels)
    return runKernelsOfUnknownSizes(graph, link, arguments, options, symbols,
                                    result);
  if (options.checkMemory) {
    auto diag = graph.emitError("has no memory plan: ");
    diag << result.memoryProblem;
    diag.attachNote() << "run it without --check-memory";
    return diag;
  }
  InterpreterOptions run;
  run.seed = options.seed;
  run.hook = options.hook;
  run.observers = options.observers;
  return runPartition(link, graph, arguments, run);
}

/// Plans the memory of halves that were not planned with it.
static LogicalResult planHalves(joint::GraphOp graph, joint::PartitionOp link,
                                const llvm::StringMap<int64_t> &symbols,
                                std::optional<MemoryPlan> &memory,
                                ReferenceResult &result) {
  memory.reset();
  auto step = sizedStep(link, graph, symbols, result.memoryProblem);
  if (!step)
    return success();
  FailureOr<MemoryPlan> plan = planMemory(std::move(*step));
  if (failed(plan))
    return failure();
  memory = std::move(*plan);
  return success();
}

static FailureOr<bool> makeRunnable(Partition halves) {
  FailureOr<bool> forward = makeRunnable(halves.forward.getOperation());
  FailureOr<bool> backward = makeRunnable(halves.backward.getOperation());
  if (failed(forward) || failed(backward))
    return failure();
  // The launches were of other ops.
  if (*forward)
    halves.forward->removeAttr(kLaunches);
  if (*backward)
    halves.backward->removeAttr(kLaunches);
  return *forward || *backward;
}

static FailureOr<std::vector<RuntimeValue>>
runStored(joint::GraphOp graph, ArrayRef<RuntimeValue> arguments,
          const ReferenceOptions &options,
          const llvm::StringMap<int64_t> &symbols, ReferenceResult &result) {
  if (options.kernels && options.storedKernels)
    return runStoredKernels(graph, arguments, options, symbols, result);
  const Partition &stored = *options.stored;
  std::optional<MemoryPlan> memory;
  if (failed(makeRunnable(stored)) ||
      failed(planHalves(graph, stored.link, symbols, memory, result)))
    return failure();
  return runHalves(graph, stored.link, memory, arguments, options, symbols,
                   result);
}

static FailureOr<std::vector<RuntimeValue>>
runPlanned(joint::GraphOp graph, ArrayRef<RuntimeValue> arguments,
           const ReferenceOptions &options, PartitionOptions partition,
           ReferenceResult &result) {
  if (!partition.memory)
    partition.memory.emplace();
  auto planned = planStep(graph, partition);
  if (failed(planned))
    return failure();
  result.partition = std::move(*planned);
  PartitionResult &plan = *result.partition;
  result.memoryProblem = plan.memoryProblem;
  // A composite op that is left has a rule that says why.
  const Partition &halves = plan.partition;
  if (failed(makeRunnable(halves)))
    return failure();
  return runHalves(graph, halves.link, plan.memory, arguments, options,
                   partition.symbols, result);
}

/// The seed of `joint.random` is an argument: the one that the options say.
static void setSeeds(joint::GraphOp graph, uint64_t seed,
                     std::vector<RuntimeValue> &arguments) {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    auto *tensor = std::get_if<Tensor>(&arguments[i]);
    if (tensor && graph.getRole(i).getKind() == joint::RoleKind::RngSeed)
      for (int64_t e = 0, n = tensor->numel(); e < n; ++e)
        tensor->setInt(e, static_cast<int64_t>(seed));
  }
}

FailureOr<ReferenceResult>
cutback::runReferenceStep(joint::GraphOp graph, FindTensor find,
                          const ReferenceOptions &options) {
  if (!aten::runsInOneProcess(graph))
    return failure();
  StepNames names = nameStep(graph);
  PartitionOptions partition = options.partition;
  auto arguments = bindArguments(graph, names, find, partition.symbols);
  if (failed(arguments))
    return failure();
  setSeeds(graph, options.seed, *arguments);
  ReferenceResult result;
  result.rounding = getRounding(graph, names);
  FailureOr<std::vector<RuntimeValue>> values = failure();
  if (options.whole) {
    // In core ops, as a plan: sums of a Fourier transform have another order
    // there, and so other bits.
    simplifyToCoreOps(graph);
    if (failed(makeRunnable(graph)))
      return failure();
    InterpreterOptions run;
    run.seed = options.seed;
    run.hook = options.hook;
    run.observers = options.observers;
    values = interpreter::run(graph, *arguments, run);
  } else if (options.stored) {
    values = runStored(graph, *arguments, options, partition.symbols, result);
  } else {
    values = runPlanned(graph, *arguments, options, partition, result);
  }
  if (failed(values))
    return failure();
  result.tensors = collectResults(names, *arguments, *values);
  return result;
}
