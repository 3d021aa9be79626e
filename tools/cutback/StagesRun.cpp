// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline in this process: its ranks are threads, and phases run as they
// were compiled, or op by op where there is no machine code. Results are
// compared as those of a step are.
//
// The file of results is written by rank 0 either way; a check reads it back.

#include "StagesRun.h"

#include "ResultCheck.h"
#include "StepSources.h"

#include "cutback/Interpreter/Rounding.h"
#include "cutback/Pipelining/InterpretedPhase.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Runtime/Pipeline/MpiTransport.h"
#include "cutback/Runtime/Pipeline/PipelineRun.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace cutback {

std::vector<OptionSpec> stagesRunOptions() {
  return {
      {"", OptionSpec::Flag, "", "of a folder of `cutback split`"},
      {"local", OptionSpec::Flag, "",
       "run all stages in this process, each a rank; without\n"
       "it this is a rank of mpirun"},
      {"ranks", OptionSpec::Integer, "N",
       "with --local: so many, in place of one a stage", false, 1},
      {"schedule", OptionSpec::Text, "NAME|F",
       "default: 1F1B, or GPipe with fewer micro-batches than\n"
       "stages; or a .csv file: `cutback schedule --help`"},
      {"micro-batches", OptionSpec::Integer, "M",
       "parts of the batch in --inputs; default 1", false, 1},
      {"forward-only", OptionSpec::Flag, "", "no gradients"},
      {"timeout", OptionSpec::Number, "SECONDS",
       "that one rank waits for another; default 600", false, 0},
  };
}

int refuseStagesOptions(Session &session) {
  for (const OptionSpec &option : stagesRunOptions())
    if (!option.name.empty() && session.line.has(option.name)) {
      session.error("--" + std::string(option.name) +
                    " is for the folder of a pipeline");
      session.note("`cutback split` writes one");
      return WrongUsage;
    }
  return Done;
}

namespace {

/// A phase with a context of its own: ranks are threads.
class OwnPhase : public PhaseRunner {
public:
  static std::unique_ptr<PhaseRunner> open(const std::string &path,
                                           StepError &error) {
    auto phase = std::make_unique<OwnPhase>();
    auto text = llvm::MemoryBuffer::getFile(path);
    if (!text) {
      error = {"cannot read '" + path + "': " + text.getError().message(),
               "split the model again: cutback split MODEL -o DIR"};
      return nullptr;
    }
    registerTrainingGraph(phase->context);
    phase->inner =
        interpretPhase(phase->context, (*text)->getBuffer().str(), path, error);
    if (!phase->inner)
      return nullptr;
    phase->taken = phase->inner->arguments();
    phase->made = phase->inner->results();
    return phase;
  }
  int64_t arenaBytes() const override { return 0; }
  std::string run(const std::vector<char *> &arguments,
                  const std::vector<char *> &results) override {
    return inner->run(arguments, results);
  }
  std::string read(size_t result, char *to) override {
    return inner->read(result, to);
  }

private:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::unique_ptr<PhaseRunner> inner;
};

/// A file that goes when its user does.
class TemporaryFile {
public:
  TemporaryFile() {
    SmallString<128> made;
    if (!llvm::sys::fs::createTemporaryFile("cutback", "safetensors", made))
      path = made.str().str();
  }
  ~TemporaryFile() {
    if (!path.empty())
      (void)llvm::sys::fs::remove(path);
  }
  std::string path;
};

} // namespace

/// What goes with one graph and not with stages.
static int refuseOthers(Session &session) {
  static constexpr const char *kTaken[] = {
      "inputs",       "weights",    "outputs", "check",    "rtol",
      "atol",         "tolerances", "exact",   "seed",     "threads",
      "progress",     "local",      "ranks",   "schedule", "micro-batches",
      "forward-only", "timeout",    "trace"};
  for (const CommandLine::Given &given : session.line.options)
    if (!llvm::is_contained(kTaken, std::string_view(given.name))) {
      session.error("--" + std::string(given.name) +
                    " has no effect on a pipeline: its stages are planned");
      session.note("leave it out, or give it to `cutback split`");
      return WrongUsage;
    }
  if (!session.line.has("local") && pipeline::mpiOfEnvironment().empty()) {
    session.error(
        "'" + session.line.arguments[0] +
        "' is a pipeline, and there is no mpirun around this process");
    session.note(
        "--local runs all stages in it; mpirun -n N starts a rank each");
    return WrongUsage;
  }
  if (session.line.has("ranks") && !session.line.has("local")) {
    session.error("--ranks goes with --local");
    session.note("mpirun -n N says how many ranks there are");
    return WrongUsage;
  }
  return Done;
}

/// The weights of --weights as a safetensors file.
static int unpackFor(Session &session, const TemporaryFile &file,
                     std::string &path) {
  auto given = session.line.get("weights");
  if (!given)
    return Done;
  path = std::string(*given);
  if (!isArchive(path))
    return Done;
  StepFiles sources;
  if (int code = openSources(session, sources))
    return code;
  if (int code = unpackWeights(session, sources))
    return code;
  std::vector<interpreter::NamedTensor> tensors;
  for (const WeightTensor &weight : sources.weights->all())
    for (const char *kind : {"param.", "buffer.", "const."})
      if (auto tensor = sources.find(kind + weight.name))
        tensors.emplace_back(kind + weight.name, std::move(*tensor));
  path = file.path;
  return session.write(path, interpreter::encodeTensors(tensors));
}

/// The rounding of results, from the graphs of all stages.
static int findRounding(Session &session, const Pipeline &pipeline,
                        llvm::StringMap<double> &rounding) {
  for (const PipelineStage &stage : pipeline.stages) {
    double seconds = 0;
    auto module = session.loadJoint(
        session.line.arguments[0] + "/" + stage.name, ImportOptions(), seconds);
    if (failed(module))
      return WrongInput;
    auto own = interpreter::getRounding(module->graph,
                                        interpreter::nameStep(module->graph));
    for (const auto &entry : own)
      rounding[entry.getKey()] =
          std::max(rounding.lookup(entry.getKey()), entry.getValue());
  }
  return Done;
}

/// A value that was rounded in one stage is read in another: all that is
/// computed from 16-bit floats anywhere counts so.
static int check(Session &session, const Pipeline &pipeline,
                 const std::string &outputs) {
  ReferenceResult result;
  interpreter::TensorFile file;
  if (std::string error = interpreter::TensorFile::open(outputs, file);
      !error.empty()) {
    session.error(error);
    return NoPlan;
  }
  for (const auto &[name, tensor] : file.tensors())
    result.tensors.emplace_back(name, tensor);
  if (int code = findRounding(session, pipeline, result.rounding))
    return code;
  double most = 0;
  for (const auto &entry : result.rounding)
    most = std::max(most, entry.getValue());
  for (const auto &[name, tensor] : result.tensors)
    if (most > 0)
      result.rounding[name] = most;
  std::string text;
  int code = checkResults(session, result, text);
  if (code == WrongInput)
    return code;
  int failed = session.write(std::nullopt, text);
  return failed ? failed : code;
}

int runStages(Session &session) {
  const CommandLine &line = session.line;
  if (int code = refuseOthers(session))
    return code;
  pipeline::PipelineRunOptions options;
  options.folder = line.arguments[0];
  Pipeline pipeline;
  StepError error;
  if (!readPipelineFolder(options.folder, pipeline, error)) {
    session.error(error.what);
    session.note(error.next);
    return NoPlan;
  }
  auto text = [&](const char *name) {
    return std::string(line.get(name).value_or(""));
  };
  TemporaryFile weights, outputs;
  if (int code = unpackFor(session, weights, options.weights))
    return code;
  options.inputs = text("inputs");
  options.trace = text("trace");
  options.outputs = line.has("outputs") ? text("outputs")
                    : line.has("check") ? outputs.path
                                        : "";
  if (line.has("schedule"))
    options.schedule = text("schedule");
  options.microBatches =
      static_cast<int>(line.integer("micro-batches").value_or(1));
  if (!line.has("schedule") &&
      options.microBatches < static_cast<int>(pipeline.stages.size()))
    options.schedule = "GPipe";
  options.isForwardOnly = line.has("forward-only");
  options.seed = line.integer("seed").value_or(0);
  options.threads = static_cast<unsigned>(line.integer("threads").value_or(1));
  options.timeoutSeconds = line.number("timeout").value_or(600);
  if (line.has("local"))
    options.ranks = static_cast<int>(line.integer("ranks").value_or(
        static_cast<int64_t>(pipeline.stages.size())));
  if (pipeline.target == "reference")
    options.openFolder = [](const std::string &folder, const PipelinePhase &,
                            StepError &why) {
      std::string path = findGraphFile(folder, why.what, why.next);
      return path.empty() ? nullptr : OwnPhase::open(path, why);
    };
  options.print = [&](const std::string &one) {
    (void)session.write(std::nullopt, one + "\n");
  };
  options.complain = [&](const std::string &what, const std::string &next) {
    session.error(what);
    session.note(next);
  };
  session.progress.step("running");
  if (int code = pipeline::runPipeline(options))
    return code;
  return line.has("check") ? check(session, pipeline, options.outputs) : Done;
}

} // namespace cutback
