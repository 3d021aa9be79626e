// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a folder with a manifest to named results.
//
//   1. the manifest, verified; files that are not those that it names are
//      refused
//   2. machine code for the sizes of the inputs, compiled if there is none yet
//   3. arguments by name; what a kernel reads sixteen bytes at a time is copied
//      to where it may be
//   4. the step, on this machine ("cuda-host") or on a GPU ("cuda")
//   5. results, with their strides taken out

#include "ArtifactRun.h"

#include "ArtifactChecks.h"
#include "SizedStep.h"
#include "StepSources.h"

#include "cutback/Runtime/Arguments.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Runtime/StepSizes.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Target/CUDA/Toolchain.h"
#include "cutback/Training/Update.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

bool isArtifact(const std::string &path) {
  return llvm::sys::fs::exists(path + "/" + kManifestFile);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

DType dtypeNamed(StringRef name) {
  for (int type = 0; type <= static_cast<int>(DType::C128); ++type)
    if (nameOf(static_cast<DType>(type)) == name)
      return static_cast<DType>(type);
  return DType::F32;
}

static int wrongArgument(Session &session, const std::string &what,
                         const std::string &next) {
  session.error(what);
  session.note(next);
  return WrongInput;
}

/// Bytes that kernels may read sixteen at a time, and a copy if they are
/// written.
static Tensor placed(const Tensor &given, bool isWritten) {
  Tensor dense = given.contiguous();
  if (!isWritten && reinterpret_cast<uintptr_t>(dense.data()) % 16 == 0)
    return dense;
  return copyOf(dense);
}

static void makeUp(Tensor &tensor) {
  if (isFloating(tensor.type) || isComplex(tensor.type))
    for (int64_t i = 0, n = tensor.numel(); i < n; ++i)
      tensor.set(i, static_cast<double>(i * 37 % 61 - 30) / 256);
}

static int bindArgument(Session &session, const ArtifactArgument &argument,
                        const std::optional<Tensor> &found, int64_t seed,
                        bool changes, MissingArguments missing,
                        Tensor &tensor) {
  DType type = dtypeNamed(argument.dtype);
  if (found) {
    if (found->type != type ||
        ArrayRef<int64_t>(found->sizes) != ArrayRef<int64_t>(argument.sizes))
      return wrongArgument(
          session,
          "tensor '" + argument.name + "' is " +
              textOf(found->type, found->sizes) +
              ", the step was compiled for " + textOf(type, argument.sizes),
          "give that type and size, or compile the model for this one");
    tensor = placed(*found, argument.isWritten || changes);
    return Done;
  }
  bool isUnknown = argument.fill == ArtifactArgument::Required;
  if (isUnknown && missing == MissingArguments::AreErrors)
    return wrongArgument(session, "there is no tensor '" + argument.name + "'",
                         isInputName(argument.name)
                             ? "--inputs takes a safetensors file with it"
                             : "--weights takes the .pt2 or safetensors "
                               "file with it");
  tensor = Tensor::zeros(type, argument.sizes);
  if (isUnknown)
    makeUp(tensor);
  else
    fillArgument(argument, seed, tensor.data());
  return Done;
}

/// A name of an input that the step does not have is a mistake.
static int checkNames(Session &session, const Artifact &artifact,
                      StepFiles &sources) {
  for (const auto &[name, tensor] : sources.inputs.tensors()) {
    if (isInputName(name) && !takesArgument(artifact, name))
      return wrongArgument(session,
                           "the file of --inputs has '" + name +
                               "', and the step takes nothing of that name",
                           "the manifest lists what it takes");
  }
  return Done;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::string readTensor(const ArtifactResult &result, Executor &executor,
                       const std::vector<char *> &arguments, Tensor &own) {
  own = Tensor::zeros(dtypeNamed(result.dtype), result.sizes);
  return readResult(result, executor, arguments, own.data());
}

//===----------------------------------------------------------------------===//
// Executors
//===----------------------------------------------------------------------===//

static int doesNotRun(Session &session, const std::string &error,
                      const std::string &next) {
  session.error(error);
  session.note(next);
  return NoPlan;
}

/// Of a step for all sizes, the machine code for those of the inputs: that of
/// the manifest, or what lies beside it, compiled now if it does not.
static int chooseSizes(Session &session, StepFiles &sources,
                       std::string &folder, Artifact &artifact) {
  auto sizesOf =
      [&](const std::string &name) -> std::optional<std::vector<int64_t>> {
    auto tensor = sources.find(name);
    if (!tensor)
      return std::nullopt;
    return std::vector<int64_t>(tensor->sizes.begin(), tensor->sizes.end());
  };
  StepError why;
  std::vector<int64_t> values;
  if (!bindSizes(artifact, sizesOf, values, why))
    return wrongArgument(session, why.what, why.next);
  if (findSized(folder, artifact, values, why))
    return Done;
  session.note("compiling for " + sizesText(artifact, values) + ", once");
  if (int code = compileForSizes(session, folder, artifact, values))
    return code;
  return findSized(folder, artifact, values, why)
             ? Done
             : doesNotRun(session, why.what, why.next);
}

bool hasUpdate(const Artifact &artifact) {
  return llvm::any_of(artifact.arguments, [](const ArtifactArgument &argument) {
    return argument.name == kLearningRate;
  });
}

bool updatesInBackward(const Artifact &artifact) {
  return hasUpdate(artifact) &&
         llvm::none_of(artifact.segments, [](const ArtifactSegment &segment) {
           return segment.name == kUpdateSegment;
         });
}

/// Of an update, set before each step.
static bool isNumber(const ArtifactArgument &argument) {
  return argument.name == kLearningRate || argument.name == kStepNumber;
}

int openArtifact(Session &session, std::string folder, StepFiles &sources,
                 FindTensor findInput, BoundArtifact &bound,
                 MissingArguments missing) {
  bool trains = static_cast<bool>(findInput);
  Artifact &artifact = bound.artifact;
  StepError why;
  if (!readStepFolder(folder, artifact, why))
    return doesNotRun(session, why.what, why.next);
  if (!trains && updatesInBackward(artifact)) {
    session.error("the backward of '" + folder +
                  "' updates parameters: it has no gradients to give");
    session.note("run it with `train`, or compile it with --update=after");
    return WrongUsage;
  }
  if (session.line.has("single-launches") && artifact.target != "cuda") {
    session.error("--single-launches is of a step for a GPU; '" + folder +
                  "' is for '" + artifact.target + "'");
    session.note("leave it out: here launches are single");
    return WrongUsage;
  }
  if (int code = openOwnWeights(session, folder, artifact, sources))
    return code;
  if (int code = chooseSizes(session, sources, folder, artifact))
    return code;
  if (int code = checkNames(session, artifact, sources))
    return code;
  bound.tensors.resize(artifact.arguments.size());
  int64_t seed = session.line.integer("seed").value_or(0);
  for (size_t i = 0; i < bound.tensors.size(); ++i) {
    const ArtifactArgument &argument = artifact.arguments[i];
    Tensor &tensor = bound.tensors[i];
    bool isTaken = trains || !isOptimizerSegment(argument.segment);
    if (trains && argument.tied >= 0)
      tensor = bound.tensors[argument.tied];
    else if (isTaken)
      if (int code = bindArgument(session, argument,
                                  isInputName(argument.name) && trains
                                      ? findInput(argument.name)
                                      : sources.find(argument.name),
                                  seed, trains,
                                  trains && isNumber(argument)
                                      ? MissingArguments::AreMadeUp
                                      : missing,
                                  tensor))
        return code;
    bound.arguments.push_back(isTaken ? tensor.data() : nullptr);
  }
  StepOptions options;
  options.checkMemory = session.line.has("check-memory");
  options.singleLaunches = session.line.has("single-launches");
  bound.executor = openStep(folder, options, artifact, why);
  if (!bound.executor)
    return doesNotRun(session, why.what, why.next);
  for (const std::string &note : bound.executor->notes())
    session.note(note);
  bound.hooks = HookTable(hookPointsOf(artifact));
  if (int code = session.addHooks(bound.hooks))
    return code;
  bound.executor->setHooks(&bound.hooks);
  if (auto threads = session.line.integer("threads"))
    bound.executor->setThreads(static_cast<unsigned>(*threads));
  return Done;
}

int runArtifact(Session &session, const std::string &folder, StepFiles &sources,
                const RunChecks &checks, ReferenceResult &result) {
  BoundArtifact bound;
  if (int code = openArtifact(session, folder, sources, nullptr, bound))
    return code;
  const Artifact &artifact = bound.artifact;
  session.progress.step("running");
  std::string error;
  if (checks.any()) {
    WatchedStep watched;
    if (int code = watched.open(session, folder, bound, checks))
      return code;
    session.progress.step("running");
    if (!watched.run({kernel::kForward, kernel::kBackward}))
      return NoPlan;
  } else {
    error = bound.executor->run(artifact.stepSegments(), bound.arguments);
  }
  for (const ArtifactResult &one : artifact.results) {
    if (!error.empty())
      break;
    // What an update gives is there behind an update.
    if (isOptimizerSegment(one.segment))
      continue;
    Tensor tensor;
    error = readTensor(one, *bound.executor, bound.arguments, tensor);
    result.tensors.emplace_back(one.name, std::move(tensor));
    if (one.rounding != 0)
      result.rounding[one.name] = one.rounding;
  }
  if (!error.empty())
    return doesNotRun(session, error, "nothing was written");
  for (size_t i = 0; i < bound.tensors.size(); ++i) {
    const ArtifactArgument &argument = artifact.arguments[i];
    if (!argument.isWritten)
      continue;
    result.tensors.emplace_back(argument.name, bound.tensors[i]);
    if (argument.rounding != 0)
      result.rounding[argument.name] = argument.rounding;
  }
  result.arenaBytes = artifact.arenaBytes;
  return Done;
}

} // namespace cutback
