// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One training step in the interpreter.
//
//   1. arguments by name; they bind the symbolic sizes
//   2. prepare and partition for those sizes
//   3. both halves, in order, in one arena of the planned size
//   4. results by name
//
// A whole run leaves out 2 and 3 and is what the halves are compared with.

#include "cutback/Pipelines/ReferenceStep.h"

#include "cutback/Interpreter/Interpreter.h"
#include "cutback/MemoryPlan/PlannedMemory.h"
#include "cutback/MemoryPlan/ScheduleBackward.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Runs both halves of `result` in the planned arena and returns the joint
/// graph's results.
static FailureOr<std::vector<RuntimeValue>>
runHalves(joint::GraphOp graph, ArrayRef<RuntimeValue> arguments,
          const ReferenceOptions &options,
          const llvm::StringMap<int64_t> &symbols, ReferenceResult &result) {
  PlannedRunOptions run;
  run.seed = options.seed;
  run.checkMemory = options.checkMemory;
  run.plan.symbols = symbols;
  if (failed(scheduleBackward(result.partition->partition.link, graph,
                              run.plan.symbols)))
    return failure();
  FailureOr<PlannedRun> done = runPartitionPlanned(
      result.partition->partition.link, graph, arguments, run);
  if (failed(done))
    return failure();
  result.arenaBytes = done->plan.arenaBytes();
  result.lowerBound = done->plan.lowerBound();
  return std::move(done->results);
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
  StepNames names = nameStep(graph);
  PartitionOptions partition = options.partition;
  auto arguments = bindArguments(graph, names, find, partition.symbols);
  if (failed(arguments))
    return failure();
  setSeeds(graph, options.seed, *arguments);
  ReferenceResult result;
  FailureOr<std::vector<RuntimeValue>> values = failure();
  if (options.whole) {
    InterpreterOptions run;
    run.seed = options.seed;
    values = interpreter::run(graph, *arguments, run);
  } else {
    PhaseSeconds seconds;
    if (failed(preparePartition(graph, partition, seconds)))
      return failure();
    auto planned = partitionGraph(graph, partition);
    if (failed(planned))
      return failure();
    result.partition = std::move(*planned);
    values = runHalves(graph, *arguments, options, partition.symbols, result);
  }
  if (failed(values))
    return failure();
  result.tensors = collectResults(names, *arguments, *values);
  return result;
}
