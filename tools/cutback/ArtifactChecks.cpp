// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code knows nothing of ops. A folder that was compiled for a target
// has kernels.mlir beside it: each launch with the ops that it stands for, and
// where its results lie.
//
//   1. kernels.mlir, proved against the joint graph of the folder, for the
//      sizes of the machine code
//   2. launches are listed from it once more, as `compile` did; that list must
//      be the manifest's
//   3. the interpreter goes over kernels.mlir in the arena of the executor.
//      Each launch is run by machine code; views, sizes, hooks and what is
//      handed over are the interpreter's. So checks see values in their places,
//      and a launch op by op on what it has read.

#include "ArtifactChecks.h"

#include "SizedStep.h"

#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Interpreter/LaunchRunner.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/StepHooks.h"
#include "cutback/Report/StoredHalves.h"
#include "cutback/Target/CUDA/EmitStep.h"

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

namespace {

/// Runs the launches of an executor.
class ExecutorLaunches : public LaunchRunner {
public:
  ExecutorLaunches(BoundArtifact &bound, const CudaStep &step,
                   kernel::StepSegments segments)
      : bound(bound), step(step), segments(std::move(segments)) {}

  LogicalResult run(kernel::LaunchOp launch) override {
    size_t segment = segmentOf(launch->getParentOp());
    const auto &origins = step.origins[segment];
    passHooks(segment);
    for (; next < origins.size() && origins[next] == launch.getOperation();
         ++next)
      if (failed(runNext(segment, launch)))
        return failure();
    return success();
  }

  LogicalResult finish(Operation *function) override {
    size_t segment = segmentOf(function);
    passHooks(segment);
    for (; next < step.origins[segment].size(); ++next)
      if (failed(runNext(segment, function)))
        return failure();
    next = 0;
    return success();
  }

private:
  size_t segmentOf(Operation *function) const {
    return llvm::find(segments.functions, cast<func::FuncOp>(function)) -
           segments.functions.begin();
  }
  /// Hooks are run by the interpreter, which copies gradients for them itself.
  void passHooks(size_t segment) {
    const auto &origins = step.origins[segment];
    while (next < origins.size() &&
           isa_and_nonnull<joint::HookOp>(origins[next]))
      ++next;
  }
  LogicalResult runNext(size_t segment, Operation *at) {
    std::string error =
        bound.executor->runLaunch(segment, next, bound.arguments);
    return error.empty() ? success() : LogicalResult(at->emitError(error));
  }

  BoundArtifact &bound;
  const CudaStep &step;
  kernel::StepSegments segments;
  size_t next = 0; ///< launch of the segment at work
};

bool sameLaunches(const Artifact &a, const Artifact &b) {
  if (a.segments.size() != b.segments.size())
    return false;
  for (auto [first, second] : llvm::zip_equal(a.segments, b.segments)) {
    if (first.launches.size() != second.launches.size())
      return false;
    for (auto [one, other] : llvm::zip_equal(first.launches, second.launches)) {
      if (a.kernels[one.kernel].name != b.kernels[other.kernel].name ||
          one.operands.size() != other.operands.size())
        return false;
      for (auto [x, y] : llvm::zip_equal(one.operands, other.operands))
        if (x.memory.kind != y.memory.kind || x.memory.at != y.memory.at ||
            x.bytes != y.bytes || x.isWritten != y.isWritten)
          return false;
    }
  }
  return true;
}

/// What a folder says of its machine code.
struct Source {
  StoredHalves stored;
  std::optional<KernelModule> kernels;
  CudaStep step;
};

int loadSource(Session &session, const std::string &folder,
               const Artifact &artifact, Source &source) {
  if (int code = source.stored.load(session, {folder}, ImportOptions()))
    return code;
  if (int code = source.stored.verify(session))
    return code;
  joint::GraphOp planned = source.stored.plan->view.graph;
  if (int code = loadKernels(session, folder, planned, source.kernels))
    return code;
  if (isSymbolic(*source.kernels)) {
    llvm::StringMap<int64_t> sizes;
    for (const ArtifactSymbol &symbol : artifact.symbols)
      sizes[symbol.name] = symbol.value;
    FailureOr<SizedKernels> sized =
        instantiateKernels(*source.kernels, planned, sizes);
    if (failed(sized))
      return NoPlan;
    source.kernels = std::move(sized->kernels);
  }
  CudaOptions options;
  options.tf32 = artifact.tf32;
  FailureOr<CudaStep> step =
      emitCudaStep(*source.kernels, source.stored.graph,
                   artifact.target == kCpuTarget ? StepKernels::AreMachineCode
                                                 : StepKernels::HaveText,
                   options);
  if (failed(step))
    return NoPlan;
  source.step = std::move(*step);
  if (sameLaunches(artifact, source.step.artifact))
    return Done;
  session.error("refused: the manifest of '" + folder +
                "' has other launches than its kernels.mlir");
  session.note("compile the model again");
  return NoPlan;
}

/// Arguments of the graph: tensors are those that machine code gets.
FailureOr<llvm::StringMap<RuntimeValue>> nameArguments(const Source &source,
                                                       BoundArtifact &bound) {
  joint::GraphOp graph = source.stored.graph;
  StepNames names = nameStep(graph);
  auto find = [&](StringRef name) -> std::optional<Tensor> {
    for (auto [argument, tensor] :
         llvm::zip_equal(bound.artifact.arguments, bound.tensors))
      if (argument.name == name)
        return tensor;
    return std::nullopt;
  };
  llvm::StringMap<int64_t> symbols;
  auto values = bindArguments(graph, names, find, symbols);
  if (failed(values))
    return failure();
  llvm::StringMap<RuntimeValue> byName;
  for (auto [i, value] : llvm::enumerate(*values))
    byName[graph.getArgName(i)] = value;
  // order: of no importance, each name has one number.
  for (const auto &entry : source.step.argumentNumbers)
    if (static_cast<size_t>(entry.second) < bound.tensors.size())
      byName[entry.first()] = bound.tensors[entry.second];
  return byName;
}

} // namespace

struct WatchedStep::Parts {
  BoundArtifact &bound;
  Source source;
  llvm::StringMap<RuntimeValue> arguments;
  std::unique_ptr<ExecutorLaunches> launches;
  std::unique_ptr<LaunchMemory> memory;
  std::vector<OpObserver *> observers;
};

WatchedStep::WatchedStep() = default;
WatchedStep::~WatchedStep() = default;

int WatchedStep::open(Session &session, const std::string &folder,
                      BoundArtifact &bound, const RunChecks &checks) {
  std::string error;
  char *bytes = bound.executor->beginLaunches(error);
  if (!bytes) {
    session.error("the step in '" + folder + "' " + error);
    session.note("compile it with --target=cpu or cuda-host for checks of "
                 "each launch");
    return NoPlan;
  }
  parts.reset(new Parts{bound, {}, {}, nullptr, nullptr, checks.observers()});
  Source &source = parts->source;
  if (int code = loadSource(session, folder, bound.artifact, source))
    return code;
  FailureOr<kernel::StepSegments> segments =
      kernel::findSegments(kernel::findArena(source.kernels->link));
  FailureOr<llvm::StringMap<RuntimeValue>> arguments =
      nameArguments(source, bound);
  if (failed(segments) || failed(arguments))
    return NoPlan;
  parts->arguments = std::move(*arguments);
  auto storage = std::make_shared<Storage>();
  storage->data = bytes;
  storage->bytes = bound.artifact.arenaBytes;
  parts->memory = std::make_unique<LaunchMemory>(source.kernels->link, storage);
  parts->launches = std::make_unique<ExecutorLaunches>(bound, source.step,
                                                       std::move(*segments));
  return Done;
}

bool WatchedStep::run(ArrayRef<StringRef> segments) {
  std::string error;
  if (!parts->bound.executor->beginLaunches(error))
    return false;
  InterpreterOptions run;
  run.memory = parts->memory.get();
  run.launches = parts->launches.get();
  run.observers = parts->observers;
  run.hook = runHooksOf(parts->bound.hooks);
  kernel::ArenaOp step = kernel::findArena(parts->source.kernels->link);
  return succeeded(runSegments(step, segments, parts->arguments, run));
}

} // namespace cutback
