// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback compile`: writes joint.mlir, forward.mlir, backward.mlir and
// plan.json into a folder, and with --to=kernels kernels.mlir; with --target
// also the text of the kernels, what compilers made of it, and the manifest.
// All of them or none. With the options of a report, so that what is written is
// what was reported.

#include "ArtifactRun.h"
#include "PlanRun.h"
#include "SizedStep.h"
#include "StepKernels.h"
#include "StepSources.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Partition/RandomStates.h"
#include "cutback/Report/PartitionFiles.h"

using namespace mlir;

namespace cutback {

/// What is written, and for which machine.
static std::vector<OptionSpec> resultOptions() {
  return {
      {"o", OptionSpec::Text, "DIR", "the folder of the results"},
      {"to", OptionSpec::Choice, "partition|kernels",
       "the phase to stop after"},
      {"target", OptionSpec::Choice, "cpu|cuda|cuda-host",
       "write kernels for this processor, for a GPU, or those\n"
       "of a GPU for this machine"},
      {"arch", OptionSpec::Text, "sm_90,...",
       "with --target=cuda: for which GPUs; default sm_90.\n"
       "The first one is the device of the plan, if none is\n"
       "given"},
      {"tf32", OptionSpec::Flag, "",
       "with --target=cuda: products, convolutions of f32 on\n"
       "tensor cores, factors rounded to 10 bits of mantissa"},
      {"products", OptionSpec::Choice, "own|cublaslt",
       "with --target=cuda or cuda-host: who computes matrix\n"
       "products: our kernels, or NVIDIA's library, which is\n"
       "looked for when the step runs; default own"},
      {"expose-random-states", OptionSpec::Flag, "",
       "with --to=partition: where the backward repeats a\n"
       "draw of the framework's generator, the forward\n"
       "returns its state and the backward takes it, as with\n"
       "PyTorch's functionalize_rng_ops"},
      {"check-accesses", OptionSpec::Flag, "",
       "with --target=cpu: each load and store of a kernel\n"
       "tests that it stays in its memory; slower, equal bits"},
      {"strict", OptionSpec::Flag, "",
       "with --target=cpu: an op without machine code is an\n"
       "error; without this the step calls the interpreter\n"
       "for it, slowly"},
      {"weights", OptionSpec::Flag, "",
       "with --target: write parameters and buffers of IN\n"
       "too, so that DIR is all that cutback-run needs"},
  };
}

CommandSpec compileSpec() {
  CommandSpec spec;
  spec.name = "compile";
  spec.arguments = "IN -o DIR [--to=PHASE | --target=TARGET]";
  spec.summary =
      "Plan, and write the two halves, or kernels for a target.\n\n"
      "DIR gets joint.mlir, forward.mlir, backward.mlir and "
      "plan.json; with\n--to=kernels also kernels.mlir: both "
      "halves as launches in one arena,\nand what each kernel "
      "computes; for all sizes, where these are symbols without\n"
      "a value by --sym.\n\n--target=cuda writes the kernels as CUDA C++ "
      "(forward.cu, backward.cu) and\nmanifest.json with all "
      "launches; where nvcc is found, also machine code\n"
      "(*.fatbin). --target=cuda-host compiles the same text for "
      "this machine,\nto be run without a GPU. --target=cpu writes machine "
      "code for this\nprocessor (libstep.so). Machine code is for the sizes "
      "that the "
      "model was\nexported with; `cutback run` adds that for others, if they "
      "are "
      "symbols.";
  std::vector<OptionSpec> options = resultOptions();
  std::vector<OptionSpec> optimizer = plannedOptimizerOptions();
  options.insert(options.end(), optimizer.begin(), optimizer.end());
  spec.options = withPlanOptions(std::move(options));
  spec.examples = {
      "compile joint.txt -o out --to=partition",
      "compile model.pt2 -o out --to=kernels",
      "compile model.pt2 -o out --target=cuda --arch=sm_80,sm_90",
      "compile model.pt2 -o out --target=cpu",
      "compile model.pt2 -o out --target=cuda-host",
      "compile out --sym=s0=8 --sym=s1=128",
      "compile model.pt2 -o out --target=cuda --optimizer=adamw --clip-norm=1",
      "compile model.pt2 -o out --target=cpu --optimizer=adamw --accumulate",
      "compile trace.log --graph=0 -o out --to=partition --strategy=eager",
      "compile joint.txt -o out --to=partition --expose-random-states",
  };
  return spec;
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// The device of the target, at its place among the options that were asked
/// for: by these, in their order, a stored plan is made again.
static void assumeDevice(PartitionOptions &options, std::string device) {
  auto at = options.asked.begin();
  for (const OptionSpec &option : planOptions()) {
    if (option.name == "device")
      break;
    std::string text = "--" + std::string(option.name);
    while (at != options.asked.end() &&
           (*at == text || StringRef(*at).starts_with(text + "=")))
      ++at;
  }
  options.asked.insert(at, "--device=" + device);
  options.device = std::move(device);
}

/// Parameters and buffers of the input, under the names of the arguments.
static int addWeights(Session &session, const PlanRun &run, Artifact &artifact,
                      std::vector<TextFile> &files) {
  StepFiles sources;
  sources.weights = run.imported.weights;
  if (int code = unpackWeights(session, sources))
    return code;
  std::vector<interpreter::NamedTensor> tensors;
  for (const ArtifactArgument &argument : artifact.arguments)
    if (auto tensor = sources.find(argument.name))
      tensors.emplace_back(argument.name, std::move(*tensor));
  if (tensors.empty()) {
    session.error("there are no weights in '" +
                  std::string(session.line.arguments[0]) + "'");
    session.note("leave --weights out, and give a safetensors file to "
                 "cutback-run");
    return WrongInput;
  }
  files.emplace_back(kWeightsFile, interpreter::encodeTensors(tensors));
  artifact.files.push_back(describeFile(kWeightsFile, files.back().second));
  return Done;
}

/// The files of a target, the manifest last. `forAll`, if it is there, is the
/// step for all sizes.
static int emitFiles(Session &session, const PlanRun &run,
                     const KernelModule &kernels,
                     const std::optional<KernelModule> &forAll,
                     const TargetChoice &choice, std::vector<TextFile> &files) {
  Artifact artifact;
  if (int code = emitTarget(session, run.imported.graph, kernels, choice,
                            artifact, files))
    return code;
  if (forAll)
    addSymbols(artifact, run.imported.graph, *forAll,
               plannedSizes(*run.result));
  files.emplace_back(kKernelsFile,
                     printModule(forAll ? *forAll->module : *kernels.module));
  artifact.files.push_back(describeFile(kKernelsFile, files.back().second));
  if (session.line.has("weights"))
    if (int code = addWeights(session, run, artifact, files))
      return code;
  files.emplace_back(kManifestFile, writeManifest(artifact));
  return Done;
}

static int checkUsage(Session &session) {
  const CommandLine &line = session.line;
  if (!line.has("o")) {
    session.error("expected -o DIR");
    session.note("the two halves and the plan go into that folder");
    return WrongUsage;
  }
  if (line.has("to") == line.has("target")) {
    session.error("expected --to=PHASE or --target=TARGET");
    session.note("--to=partition or kernels stops there; --target=cpu, cuda or "
                 "cuda-host goes to the end");
    return WrongUsage;
  }
  if (line.has("optimizer") && line.get("to") == "partition") {
    session.error("--optimizer goes with kernels");
    session.note("--to=kernels or --target have a segment 'update' then");
    return WrongUsage;
  }
  if (line.has("expose-random-states") && line.get("to") != "partition") {
    session.error("--expose-random-states goes with --to=partition");
    session.note("who runs our kernels draws again by the number of a draw");
    return WrongUsage;
  }
  if (line.has("weights") && !line.has("target")) {
    session.error("--weights goes with --target");
    session.note("a step that is not compiled runs with the weights of IN");
    return WrongUsage;
  }
  if (line.has("arch") && line.get("target") != "cuda") {
    session.error("--arch goes with --target=cuda");
    return WrongUsage;
  }
  if (line.has("tf32") &&
      !StringRef(line.get("target").value_or("")).starts_with("cuda")) {
    session.error("--tf32 goes with --target=cuda or cuda-host");
    return WrongUsage;
  }
  if (line.has("check-accesses") && line.get("target") != kCpuTarget) {
    session.error("--check-accesses goes with --target=cpu");
    return WrongUsage;
  }
  if (line.has("strict") && line.get("target") != kCpuTarget) {
    session.error("--strict goes with --target=cpu");
    session.note("for a GPU each op without a kernel is an error");
    return WrongUsage;
  }
  if (line.has("products") &&
      (!line.has("target") || line.get("target") == kCpuTarget)) {
    session.error("--products goes with --target=cuda or cuda-host");
    return WrongUsage;
  }
  return Done;
}

/// Compiles a step for other sizes: all else is as it is.
static int addSizesAlone(Session &session) {
  for (const CommandLine::Given &given : session.line.options)
    if (given.name != "sym" && given.name != "progress") {
      session.error("--" + std::string(given.name) +
                    " has no effect on a step that is compiled for other "
                    "sizes: it is planned");
      session.note("leave it out, or compile the model again with -o DIR");
      return WrongUsage;
    }
  return addSizes(session, session.line.arguments[0]);
}

static void exposeStates(Session &session, joint::PartitionOp link) {
  if (!exposeRandomStates(link))
    session.note("no draw of the framework's generator runs in both halves: "
                 "there are no states to hand over");
}

int runCompile(const CommandLine &line) {
  Session session("compile", line);
  std::vector<std::string> architectures;
  if (line.has("sym") && !line.has("o") && isArtifact(line.arguments[0]))
    return addSizesAlone(session);
  if (int code = checkUsage(session))
    return code;
  if (int code = readArchitectures(session, architectures))
    return code;
  std::string error;
  std::optional<Optimizer> optimizer = readOptimizer(line, error);
  if (!error.empty()) {
    session.error(error);
    return WrongUsage;
  }
  PlanRun run;
  if (int code = run.load(session, importOptionsOf(line)))
    return code;
  if (optimizer && (!run.result || joint::hasInsideUpdate(run.imported.graph)))
    if (int code = placeUpdate(session, run.imported.graph, *optimizer))
      return code;
  bool isCpu = line.get("target") == kCpuTarget;
  if ((isCpu || line.has("arch")) && !line.has("device"))
    assumeDevice(run.options, isCpu ? "cpu" : deviceOf(architectures.front()));
  bool toTarget = line.has("target");
  bool toKernels = toTarget || line.get("to") == "kernels";
  if (int code = run.plan(session, /*memory=*/true))
    return code;
  if (line.has("expose-random-states"))
    exposeStates(session, run.result->partition.link);
  std::optional<KernelModule> kernels;
  if (toKernels)
    if (int code =
            formKernels(session, *run.result, !toTarget && !optimizer, kernels))
      return code;
  if (optimizer && !addUpdate(*run.result, *kernels, run.imported.graph,
                              *optimizer, optimizerText(line)))
    return NoPlan;
  std::vector<TextFile> files;
  std::optional<KernelModule> forAll;
  if (toTarget && !optimizer)
    formForAllSizes(session, *run.result, forAll);
  if (toTarget)
    if (int code =
            emitFiles(session, run, *kernels, forAll,
                      {std::string(*line.get("target")), architectures,
                       line.has("tf32"), line.get("products") == "cublaslt",
                       line.has("check-accesses"), line.has("strict")},
                      files))
      return code;
  if (toKernels && !toTarget)
    files.emplace_back(kKernelsFile, printModule(*kernels->module));
  session.progress.step("writing");
  std::vector<NamedFile> more;
  for (const auto &[name, data] : files)
    more.push_back({name, data});
  error = writePartition(run.imported.graph, *run.result,
                         collectExtras(*run.result),
                         std::string(*line.get("o")), more);
  return error.empty() ? Done : session.failedWrite(error);
}

} // namespace cutback
