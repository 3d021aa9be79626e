// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback run`: one training step, in the reference interpreter (slow, exact,
// and what everything faster is compared with), or of a folder that was
// compiled for a target.
//
// Tensors of arguments come from three places: weights from --weights or from
// the input itself, everything else from --inputs. Results are written by
// --outputs and compared by --check; a tied parameter's gradient counts under
// each of its names.

#include "ArtifactRun.h"
#include "PlanRun.h"
#include "ResultCheck.h"
#include "RunChecks.h"
#include "RunUsage.h"
#include "SizedStep.h"
#include "StagesRun.h"
#include "StepSources.h"
#include "cutback/Partition/LinkHalves.h"
#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/StepFiles.h"
#include "cutback/Planner/StepHooks.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Report/Report.h"
#include "cutback/Runtime/Pipeline/PipelineRun.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"
#include "cutback/Target/CPU/NativeStep.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

/// Those of the run itself.
static std::vector<OptionSpec> runOptions() {
  std::vector<OptionSpec> options = {
      {"reference", OptionSpec::Flag, "",
       "use the reference interpreter: slow, and exact"},
      {"target", OptionSpec::Choice, "cpu",
       "run the kernels as machine code for this CPU, in the\n"
       "arena; calls are the interpreter's. The default, but\n"
       "for a DIR of `compile --target=...`, which runs as it\n"
       "was compiled"},
      {"inputs", OptionSpec::Text, "F", "safetensors file with the arguments"},
      {"weights", OptionSpec::Text, "F",
       "parameters and buffers: a .pt2 or safetensors file;\n"
       "without it, those that IN or DIR holds"},
      {"outputs", OptionSpec::Text, "F", "write results to a safetensors file"},
      {"check", OptionSpec::Text, "F",
       "compare results with those of a safetensors file:\n"
       "difference <= atol + rtol x largest magnitude"},
      {"rtol", OptionSpec::Number, "X",
       "default 1e-5; 2e-2 of what comes from bf16 or f16,\n"
       "with one rounding of the largest gradient as least\n"
       "magnitude"},
      {"atol", OptionSpec::Number, "X", "default 1e-7"},
      {"tolerances", OptionSpec::Text, "F.json", "an object: rtol by name"},
      {"exact", OptionSpec::Text, "F",
       "the results in float64: four times what those of\n"
       "--check differ from them is allowed too"},
      {"whole", OptionSpec::Flag, "",
       "run the graph as it is, without a partition"},
      {"kernels", OptionSpec::Flag, "",
       "run the bodies of kernels, launch by launch"},
      {"check-kernels", OptionSpec::Flag, "",
       "the same, and compare each with the ops that it\nstands for"},
      {"check-memory", OptionSpec::Flag, "",
       "fill dead bytes of the arena with NaN; of a compiled\n"
       "step, give each operand memory of its own"},
      {"single-launches", OptionSpec::Flag, "",
       "of a step for a GPU: issue each launch by itself, in\n"
       "a range of its name for a profiler (NVTX)"},
      {"seed", OptionSpec::Integer, "N", "of random ops; default 0", false, 0,
       "", INT64_MAX},
      {"threads", OptionSpec::Integer, "N",
       "of this machine that run a compiled step; default:\n"
       "one a processor. Results have the same bits",
       false, 1},
  };
  std::vector<OptionSpec> checks = checkOptions();
  options.insert(options.end(), checks.begin(), checks.end());
  std::vector<OptionSpec> stages = stagesRunOptions();
  options.insert(options.end(), stages.begin(), stages.end());
  return options;
}

CommandSpec runSpec() {
  CommandSpec spec;
  spec.name = "run";
  spec.arguments = "IN | DIR | P | JOINT FORWARD BACKWARD";
  spec.summary =
      "Execute one training step: loss, outputs, gradients, buffers.\n"
      "\nTensors are called input.N, param.NAME, buffer.NAME, tangent.N; "
      "loss,\n"
      "output.N, grad.NAME, grad.input.N. Exit code 3 if --check finds a\n"
      "difference.\n\nThe forward alone runs where nothing requires a "
      "gradient, and of a .pt2 whose\nfirst output is no loss, unless "
      "--inputs has tangent.N, its gradient.\n\nHalves that are stored, in a "
      "folder that `compile` "
      "wrote or in three files,\nare proved against the joint graph and run as "
      "they are.";
  spec.minArguments = 1;
  spec.maxArguments = 3;
  spec.options = withPlanOptions(runOptions());
  spec.examples = {
      "run model.pt2 --inputs=batch.safetensors",
      "run model.pt2 --reference --inputs=batch.safetensors",
      "run model.pt2 --reference --inputs=e.safetensors --check=e.safetensors",
      ("run joint.txt --reference --weights=model.pt2 "
       "--inputs=batch.safetensors"),
      "run out --reference --weights=model.pt2 --inputs=batch.safetensors",
      ("run out --weights=model.pt2 --inputs=e.safetensors "
       "--check=e.safetensors"),
      "run model.pt2 --inputs=e.safetensors --check=e.safetensors",
      "run model.pt2 --inputs=batch.safetensors --anomaly",
      "run out --inputs=e.safetensors --check-recompute --trace=run.json",
      "run P --local --micro-batches=8 --inputs=batch.safetensors",
  };
  return spec;
}

/// After a step for which an input was missing: what there is instead.
static void noteInputs(Session &session, const StepFiles &sources,
                       StringRef missing) {
  if (!missing.starts_with("input."))
    return;
  if (!session.line.has("inputs")) {
    session.note("no --inputs=F.safetensors is given");
    return;
  }
  std::string names;
  for (const auto &[name, tensor] : sources.inputs.tensors())
    if (names.size() < 60)
      names += (names.empty() ? "'" : ", '") + name + "'";
  session.note("the file of --inputs begins with " +
               (names.empty() ? "no tensor" : names));
}

/// `'a', 'b', 'c'`, cut behind the name with which it gets long.
static std::string listNames(ArrayRef<std::string> names) {
  std::string text;
  for (const std::string &name : names) {
    if (text.size() >= 120)
      return text + ", ...";
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text;
}

/// A name in --inputs that the step does not have is a mistake. Where an input
/// is missing as well, that is the error, and the run says so.
static int checkInputs(Session &session, const StepFiles &sources,
                       joint::GraphOp graph) {
  StepNames names = nameStep(graph);
  std::vector<std::string> stray = sources.findStray(names), takes;
  bool isComplete = true;
  for (const std::string &name : names.arguments)
    if (StringRef(name).starts_with("input.") ||
        StringRef(name).starts_with("tangent.")) {
      takes.push_back(name);
      isComplete &= sources.find(name).has_value() ||
                    StringRef(name).starts_with("tangent.");
    }
  if (stray.empty() || !isComplete)
    return Done;
  session.error("the file of --inputs has " + listNames(stray) +
                ", and the step takes nothing of that name");
  session.note(takes.empty() ? "it takes no inputs"
                             : "its inputs are " + listNames(takes) +
                                   "; parameters and results may stand beside "
                                   "them under their own names");
  return WrongInput;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

static std::string kernelText(const KernelModule &kernels) {
  std::string text = llvm::formatv(
      "{0} kernels in {1} launches, and {2} calls\n", kernels.kernels,
      kernels.launches - kernels.calls, kernels.calls);
  if (kernels.ownBuffers)
    text += formatCount(kernels.ownBuffers, "tensor") +
            " of a size that depends on data, outside of the arena\n";
  for (const auto &[why, count] : kernels.refused)
    text += llvm::formatv("  {0} calls: {1}\n", count, why);
  return text;
}

static std::string resultText(const ReferenceResult &result,
                              const StoredHalves *stored,
                              const std::optional<std::string> &inference) {
  std::string text;
  if (inference)
    text += "the forward alone, without gradients: " + *inference + "\n";
  for (const auto &[name, tensor] : result.tensors)
    if (name == "loss" && tensor.numel() == 1)
      text += llvm::formatv("loss {0}\n", tensor.getDouble(0));
  if (stored)
    text += "stored halves, verified: " +
            formatCount(stored->signature.saved.size(), "saved value") + "; " +
            formatCount(stored->stats.recomputedOps, "op") + " recomputed\n";
  if (stored && stored->plan)
    text += "plan: " + planText(*stored->plan) + "; saved " +
            formatBytes(stored->plan->savedBytes) + " between the halves\n";
  if (result.partition && !inference)
    text += "saved " + formatBytes(result.partition->savedBytes) +
            " between the halves; " +
            formatCount(result.partition->recomputed.size(), "op") +
            " recomputed\n";
  if (result.kernels)
    text += kernelText(*result.kernels);
  if (result.formedAnew)
    text += *result.formedAnew
                ? formatCount(*result.formedAnew, "launch", "launches") +
                      " formed anew for these sizes\n"
                : "kernels for all sizes, at the sizes of the inputs\n";
  if (result.arenaBytes)
    text += "arena " + formatBytes(result.arenaBytes) +
            (result.lowerBound
                 ? ", lower bound " + formatBytes(result.lowerBound) + "\n"
                 : "\n");
  else if (!result.memoryProblem.empty())
    text += "no arena: " + result.memoryProblem + "\n";
  return text;
}

/// Halves from files, proved and linked.
static int loadStored(Session &session, StoredHalves &stored,
                      std::optional<KernelModule> &kernels,
                      ReferenceOptions &options) {
  // Sizes that no input of the step tells.
  if (int code = refusePlanOptions(session, session.line, {"sym", "hook"}))
    return code;
  std::string error;
  if (!readPlanOptions(session.line, options.partition, error)) {
    session.error(error);
    return WrongUsage;
  }
  if (int code = stored.load(session, session.line.arguments,
                             importOptionsOf(session.line)))
    return code;
  if (int code = stored.verify(session))
    return code;
  options.stored = linkHalves(stored.graph, stored.forward, stored.backward,
                              stored.signature);
  if (!options.kernels || !stored.plan)
    return Done;
  if (int code = loadKernels(session, session.line.arguments[0],
                             stored.plan->view.graph, kernels))
    return code;
  options.storedKernels = &*kernels;
  return Done;
}

/// What is to run: a graph that is planned, or stored halves.
static int loadStep(Session &session, PlanRun &run, StoredHalves &stored,
                    std::optional<KernelModule> &kernels,
                    ReferenceOptions &options) {
  const std::vector<std::string> &paths = session.line.arguments;
  if (paths.size() > 1 || (isStoredPlan(paths[0]) && !options.whole))
    return loadStored(session, stored, kernels, options);
  bool hasTangents = false;
  if (session.line.has("inputs")) {
    TensorFile inputs;
    if (int code = openTensors(session, "inputs", inputs))
      return code;
    for (const auto &[name, tensor] : inputs.tensors())
      hasTangents |= StringRef(name).starts_with("tangent.");
  }
  if (int code = run.load(session, importOptionsOf(session.line),
                          /*mayInfer=*/true, hasTangents))
    return code;
  options.partition = run.options;
  return Done;
}

/// Results to files and to the screen.
static int finishRun(Session &session, ReferenceResult &result,
                     const StepFiles &sources, const StoredHalves *stored,
                     const RunChecks &checks,
                     const std::optional<std::string> &inference = {}) {
  addTiedResults(result.tensors, result.rounding, sources.weights.get());
  if (auto path = session.line.get("outputs"))
    if (int code = session.write(path, encodeTensors(result.tensors)))
      return code;
  std::string text = resultText(result, stored, inference) + checks.text();
  int code =
      session.line.has("check") ? checkResults(session, result, text) : Done;
  if (code == WrongInput)
    return code;
  if (int failed = session.write(std::nullopt, text))
    return failed;
  return code;
}

/// The weights in a folder that is run op by op.
static int openFolderWeights(Session &session, StepFiles &sources) {
  const std::string &folder = session.line.arguments[0];
  if (session.line.arguments.size() != 1 || !isArtifact(folder) ||
      session.line.has("weights"))
    return Done;
  Artifact artifact;
  StepError why;
  if (readStepFolder(folder, artifact, why))
    return openOwnWeights(session, folder, artifact, sources);
  session.error(why.what);
  session.note(why.next);
  return NoPlan;
}

static int runCompiled(Session &session, RunChecks &checks) {
  const std::string &folder = session.line.arguments[0];
  if (int code = refuseReferenceOptions(session))
    return code;
  StepFiles sources;
  if (int code = openSources(session, sources))
    return code;
  if (int code = unpackWeights(session, sources))
    return code;
  ReferenceResult result;
  int ran = runArtifact(session, folder, sources, checks, result);
  int traced = checks.writeTrace(session);
  if (ran || traced)
    return ran ? ran : traced;
  return finishRun(session, result, sources, nullptr, checks);
}

/// The functions of --hook, which may stop the step.
static int openHooks(Session &session, HookTable &hooks, bool &isStopped,
                     ReferenceOptions &options) {
  options.hook = [&isStopped, run = runHooksOf(hooks)](int64_t key,
                                                       const Tensor &gradient) {
    std::string why = run(key, gradient);
    isStopped |= !why.empty();
    return why;
  };
  return session.addHooks(hooks);
}

/// Whether machine code runs what is no folder for a target: unless the line
/// asks for the interpreter, or for a check, which looks at each op.
static bool isNative(const CommandLine &line, const RunChecks &checks) {
  return line.has("target") || (!line.has("reference") && !checks.any());
}

/// What the line says about how the step runs, apart from its hooks.
static ReferenceOptions optionsOf(const CommandLine &line, RunChecks &checks,
                                  bool isNative) {
  ReferenceOptions options;
  if (isNative)
    options.compileKernels = compileNativeStep;
  options.whole = line.has("whole");
  options.checkMemory = line.has("check-memory");
  options.checkKernels = line.has("check-kernels");
  options.kernels = isNative || line.has("kernels") || options.checkKernels;
  options.seed = static_cast<uint64_t>(line.integer("seed").value_or(0));
  options.observers = checks.observers();
  return options;
}

int runRun(const CommandLine &line) {
  Session session("run", line);
  if (int code = refuseAlone(session))
    return code;
  if (line.arguments.size() == 1 &&
      pipeline::isPipelineFolder(line.arguments[0]))
    return runStages(session);
  if (int code = refuseStagesOptions(session))
    return code;
  RunChecks checks(line);
  bool isFolder = line.arguments.size() == 1 && isArtifact(line.arguments[0]);
  if (!line.has("target") && !line.has("reference") && isFolder)
    return runCompiled(session, checks);
  bool native = isNative(line, checks);
  if (int code = refuseOtherTargets(session, native))
    return code;
  ReferenceOptions options = optionsOf(line, checks, native);
  PlanRun run;
  StoredHalves stored;
  std::optional<KernelModule> kernels;
  if (int code = loadStep(session, run, stored, kernels, options))
    return code;
  ImportedModule &imported = options.stored ? stored.joint : run.imported;
  StepFiles sources;
  sources.weights = imported.weights;
  if (int code = openSources(session, sources))
    return code;
  if (int code = openFolderWeights(session, sources))
    return code;
  if (int code = unpackWeights(session, sources))
    return code;
  if (int code = checkInputs(session, sources, imported.graph))
    return code;
  HookTable hooks(hookPointsOf(imported.graph));
  bool isStopped = false; // by a hook
  if (int code = openHooks(session, hooks, isStopped, options))
    return code;
  session.progress.step("running");
  std::string missing;
  FailureOr<ReferenceResult> result = runReferenceStep(
      imported.graph,
      [&](StringRef name) {
        auto tensor = sources.find(name);
        if (!tensor)
          missing = name.str();
        return tensor;
      },
      options);
  // A step that stops has a trace, too.
  if (int code = checks.writeTrace(session))
    return code;
  if (failed(result) && checks.hasStopped())
    return NoPlan;
  if (failed(result)) {
    noteInputs(session, sources, missing);
    return isStopped ? NoPlan : WrongInput;
  }
  return finishRun(session, *result, sources,
                   options.stored ? &stored : nullptr, checks, run.inference);
}

} // namespace cutback
