// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of a pipeline's run. Each rank is this program, started by mpirun; or
// ranks are threads of it, which needs no MPI and serves tests and small
// machines. What goes together is checked here, before any rank begins; errors
// and results are said by one rank. A signal by which mpirun ends ranks only
// ends their waits, so that they can say where they were.
//
// Of a training, options are those of `cutback train`, but for the schedule of
// the learning rate, whose name is that of the ranks here.

#include "PipelineCommand.h"

#include "cutback/Runtime/Pipeline/PipelineRun.h"
#include "cutback/Support/ExitCode.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace cutback;

/// But for a training's.
static std::vector<OptionSpec> stepOptions() {
  return {
      {"schedule", OptionSpec::Text, "NAME|F",
       "of a pipeline: 1F1B (default), GPipe, ZBVZeroBubble, ...,\n"
       "or a .csv file in PyTorch's notation"},
      {"micro-batches", OptionSpec::Integer, "N",
       "of a pipeline: parts of the batch, or of the share of it\n"
       "that a replica runs; default 1",
       false, 1},
      validTokensOption(),
      {"replicas", OptionSpec::Integer, "R",
       "of a pipeline: R copies, each on ranks of its own\n"
       "(mpirun -n R * P) and with its share of the batch, in\n"
       "order; gradients are those of the mean over all",
       false, 1},
      {"group", OptionSpec::Text, "NAME=N",
       "of a pipeline whose stages have collectives of the\n"
       "group NAME: N consecutive ranks run each stage\n"
       "together (mpirun -n R * P * N); %g in a file's name is\n"
       "the number of a rank among them"},
      {"forward-only", OptionSpec::Flag, "",
       "of a pipeline: no gradients, nothing is kept"},
      {"ranks", OptionSpec::Integer, "N",
       "of a pipeline: N ranks as threads of this process, for\n"
       "each of its replicas; without it those that mpirun has\n"
       "started",
       false, 1},
      {"mpi", OptionSpec::Choice, "openmpi|mpich",
       "which MPI; default: that of the mpirun"},
      {"transport", OptionSpec::Choice, "nccl",
       "of a pipeline: values between stages go over NCCL,\n"
       "all else over the MPI, or between threads; each rank\n"
       "takes a GPU of its own"},
      {"timeout", OptionSpec::Number, "SECONDS",
       "of a pipeline: when one rank has waited so long for\n"
       "another one, all end, with exit code 3; default 600",
       false, 0},
      {"trace", OptionSpec::Text, "F",
       "of a pipeline: when each action ran and what it waited\n"
       "for, for Perfetto or chrome://tracing"},
      {"times", OptionSpec::Text, "F",
       "of a pipeline: microseconds that actions computed, for\n"
       "`cutback schedule P --times=@F`"},
      {"repeat", OptionSpec::Integer, "N",
       "of a pipeline: run the step N times; trace and times\n"
       "are those of the median, the first left out",
       false, 1},
  };
}

static std::vector<OptionSpec> trainOptions() {
  return {
      {"train", OptionSpec::Flag, "",
       "of a pipeline of `split --optimizer`: steps with\n"
       "updates. --inputs has one dimension more: micro-batch\n"
       "i of step k of M (of all replicas) has row k * M + i;\n"
       "for two sizes of a micro-batch (`split --batch`) a row\n"
       "is the batch of a step"},
      {"steps", OptionSpec::Integer, "N", "with --train: of it all", false, 1},
      {"until", OptionSpec::Integer, "N",
       "with --train: stop after this step all the same", false, 1},
      {"lr", OptionSpec::Number, "X",
       "with --train: learning rate, the highest one"},
      {"lr-schedule", OptionSpec::Choice, "constant|cosine",
       "with --train: of the learning rate; cosine goes down\n"
       "to --min-lr"},
      {"min-lr", OptionSpec::Number, "X", "with --lr-schedule=cosine"},
      {"warmup", OptionSpec::Integer, "N",
       "with --train: steps in which it rises first"},
      {"loss-scale", OptionSpec::Text, "dynamic|X",
       "with --train, of an update with --scale-loss"},
      {"state", OptionSpec::Text, "F",
       "with --train: go on from this safetensors file, if it\n"
       "is there, and write it: the file of `cutback train`"},
      {"save-every", OptionSpec::Integer, "N",
       "with --state: write it after so many steps too", false, 1},
      {"", OptionSpec::Flag, "", "Batches of a pipeline's training"},
  };
}

std::vector<OptionSpec> cutback::pipelineOptions() {
  std::vector<OptionSpec> options = stepOptions();
  for (const auto &more : {trainOptions(), batchOptions()})
    options.insert(options.end(), more.begin(), more.end());
  return options;
}

static void complain(const std::string &what, const std::string &next) {
  std::fprintf(stderr, "cutback-run: error: %s\ncutback-run: note: %s\n",
               what.c_str(), next.c_str());
  std::fflush(stderr);
}

/// The options of --train. False if they are wrong.
static bool readTraining(const CommandLine &line,
                         pipeline::PipelineRunOptions &options) {
  static constexpr const char *kOfTraining[] = {
      "steps",  "until",      "lr",    "lr-schedule", "min-lr",
      "warmup", "loss-scale", "state", "save-every"};
  if (!line.has("train")) {
    std::vector<std::string_view> names(std::begin(kOfTraining),
                                        std::end(kOfTraining));
    for (const OptionSpec &option : batchOptions())
      names.push_back(option.name);
    for (std::string_view name : names)
      if (line.has(name)) {
        complain("--" + std::string(name) + " goes with --train",
                 "without it one step runs, and nothing is updated");
        return false;
      }
    return true;
  }
  auto wrong = [&](const char *what, const char *next) {
    complain(what, next);
    return false;
  };
  if (!line.has("steps") || !line.has("lr") ||
      (!line.has("inputs") && !line.has("tokens")))
    return wrong("expected --steps=N, --lr=X, and --inputs=F or --tokens=F "
                 "with --train",
                 "cutback-run --help shows all options");
  for (const char *other :
       {"outputs", "trace", "times", "repeat", "forward-only"})
    if (line.has(other))
      return wrong((std::string("--") + other + " is of one step").c_str(),
                   "leave it out of a training");
  pipeline::PipelineTrainOptions &train = options.train.emplace();
  if (std::string error = readBatchOptions(line, train.batches); !error.empty())
    return wrong(error.c_str(), "cutback-run --help shows all options");
  train.rate.peak = *line.number("lr");
  train.rate.steps = *line.integer("steps");
  train.rate.warmup = line.integer("warmup").value_or(0);
  train.rate.least = line.number("min-lr").value_or(0);
  if (line.get("lr-schedule") == "cosine")
    train.rate.kind = LearningRate::Cosine;
  if (line.has("min-lr") &&
      (train.rate.kind != LearningRate::Cosine || train.rate.least < 0 ||
       train.rate.least > train.rate.peak))
    return wrong("--min-lr takes a number from 0 to --lr, and goes with "
                 "--lr-schedule=cosine",
                 "cutback-run --help shows all options");
  train.until = line.integer("until").value_or(0);
  train.state = std::string(line.get("state").value_or(""));
  train.saveEvery = line.integer("save-every").value_or(0);
  if (train.saveEvery && train.state.empty())
    return wrong("--save-every goes with --state", "there is no file to write");
  if (auto text = line.get("loss-scale")) {
    train.scale = LossScale::parse(*text);
    if (!train.scale)
      return wrong("--loss-scale takes 'dynamic' or a positive number",
                   "cutback-run --help shows all options");
  }
  return true;
}

/// --group. False if it is wrong, or goes with other options that have no
/// meaning then.
static bool readGroup(const CommandLine &line,
                      pipeline::PipelineRunOptions &options) {
  auto given = line.get("group");
  if (!given)
    return true;
  std::string text(*given);
  size_t at = text.rfind('=');
  char *end = nullptr;
  long size = at == std::string::npos
                  ? 0
                  : std::strtol(text.c_str() + at + 1, &end, 10);
  if (at == 0 || size < 1 || size > 1 << 20 || *end != '\0') {
    complain("--group takes the name of a group and its size (0=4), not '" +
                 text + "'",
             "cutback-run --help shows all options");
    return false;
  }
  options.group = text.substr(0, at);
  options.groupSize = static_cast<int>(size);
  for (const char *name : {"outputs", "state"})
    if (size > 1 && line.has(name) &&
        line.get(name)->find(pipeline::kMember) == std::string_view::npos) {
      complain(std::string("--") + name +
                   " has one file for all ranks of a group, and each has "
                   "parameters of its own",
               std::string("put ") + pipeline::kMember +
                   " into the name: the number of a rank in its group");
      return false;
    }
  return true;
}

int cutback::runPipelineCommand(const CommandLine &line) {
  pipeline::PipelineRunOptions options;
  auto text = [&](const char *name) {
    return std::string(line.get(name).value_or(""));
  };
  options.folder = line.arguments.front();
  options.inputs = text("inputs");
  options.weights = text("weights");
  options.outputs = text("outputs");
  options.trace = text("trace");
  options.times = text("times");
  options.repeat = static_cast<int>(line.integer("repeat").value_or(1));
  options.mpi = text("mpi");
  options.usesNccl = line.has("transport");
  // Code that a GPU loads when it first runs waits for all that runs there,
  // also for a message of a rank that waits for this one.
  if (options.usesNccl)
    ::setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  if (line.get("schedule"))
    options.schedule = text("schedule");
  options.microBatches =
      static_cast<int>(line.integer("micro-batches").value_or(1));
  options.isForwardOnly = line.has("forward-only");
  options.ranks = static_cast<int>(line.integer("ranks").value_or(0));
  options.replicas = static_cast<int>(line.integer("replicas").value_or(1));
  options.seed = line.integer("seed").value_or(0);
  options.threads = static_cast<unsigned>(line.integer("threads").value_or(1));
  options.timeoutSeconds = line.number("timeout").value_or(600);
  options.print = [](const std::string &one) {
    std::printf("%s\n", one.c_str());
    std::fflush(stdout); // a training takes long
  };
  options.complain = complain;
  if (auto text = line.get("valid-tokens")) {
    options.valid = ValidTokens::parse(*text);
    if (!options.valid) {
      complain(ValidTokens::kWrong, "cutback-run --help shows all options");
      return WrongUsage;
    }
  }
  if (line.has("mpi") && line.has("ranks")) {
    complain("--mpi has no effect with --ranks, which are threads",
             "leave one of them out");
    return WrongUsage;
  }
  if (!readTraining(line, options) || !readGroup(line, options))
    return WrongUsage;
  if (options.repeat > 1 && !options.outputs.empty()) {
    complain("--outputs are of one step, and --repeat runs several",
             "steps may change buffers: leave one of them out");
    return WrongUsage;
  }
  for (const char *other : {"check-memory", "hook", "anomaly"})
    if (line.has(other)) {
      complain(std::string("--") + other + " is for a step of one process",
               "leave it out, or run the model without cutting it");
      return WrongUsage;
    }
  pipeline::Peers::endOn(SIGTERM);
  return pipeline::runPipeline(options);
}
