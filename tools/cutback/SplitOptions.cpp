// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `split`.
//
// An option that means something for one graph alone, or for a plan of two
// halves, is refused where it would have no effect.
//
// Names of values, modules and parameters are those of the model: which stage
// has them is found out later (Pipelining/StageOptions.h).

#include "ScheduleInputs.h"
#include "SplitProgram.h"

#include "cutback/Schedule/Generate.h"

using namespace mlir;

namespace cutback {

/// Where a model is cut, and for which ranks.
static std::vector<OptionSpec> cutOptions() {
  return {
      {"o", OptionSpec::Text, "P", "the folder of the stages"},
      {"stages", OptionSpec::Integer, "N",
       "cut into so many, the slowest as fast as can be", false, 1},
      {"bandwidth", OptionSpec::Number, "GB/S",
       "with --stages: of the link between stages, which no\n"
       "boundary is to keep busy longer than a stage computes;\n"
       "default 50"},
      {"split-spec", OptionSpec::Text, "M=begin|end,...",
       "begin a stage before, or after, these modules"},
      {"multi-use", OptionSpec::Text, "replicate|transmit|P=...,...",
       "a parameter of several stages: each has it (default),\n"
       "or the first sends it; of all, or by name"},
      {"backward", OptionSpec::Choice, "split|whole",
       "split: input and weight gradients can run apart, for\n"
       "schedules with I and W (default); whole: a plan for\n"
       "schedules without"},
      {"stage-memory", OptionSpec::Text, "SIZE",
       "the memory of a rank: stages save less, until all\n"
       "ranks of --schedule fit; without that the schedule\n"
       "with the shortest makespan. Exit code 3 if none fits"},
      {"schedule", OptionSpec::Text, "NAME",
       "with --stage-memory: what `schedule` is called with;\n"
       "with --ranks: which stages a rank has"},
      {"ranks", OptionSpec::Integer, "N",
       "with --stages: the stages of a rank in a V (rank 0 has\n"
       "the first and the last) are balanced together",
       false, 1},
      {"batch", OptionSpec::Integer, "ROWS",
       "with --micro-batches: stages for micro-batches of this\n"
       "batch, of a model whose inputs have a dynamic number of\n"
       "rows. Where M does not divide it the first ROWS % M have\n"
       "a row more (torch.tensor_split), and phases are compiled\n"
       "for both sizes. Default: the sizes of the export, or --sym",
       false, 1},
      {"micro-batches", OptionSpec::Integer, "M",
       "with --batch, and with --stage-memory, where the default\n"
       "is twice the ranks",
       false, 1},
  };
}

/// What a batch's tensors are to micro-batches, and what is written.
static std::vector<OptionSpec> stageOptions() {
  return {
      {"loss-output", OptionSpec::Text, "N|NAME|SPEC",
       "which output is the loss: a number, a name (output.1),\n"
       "or the model's outputs with True in its place:\n"
       "(False, True), {'loss': True, 'logits': False};\n"
       "default: the first, if it is a float of one element"},
      {"stage-devices", OptionSpec::Text, "D,...|D",
       "the devices that ops name (ones, arange), one a stage;\n"
       "of one for all, {stage} is its number: cuda:{stage}"},
      {"split-dim", OptionSpec::Text, "input.N=D|none,...",
       "the dimension along which an input is split into\n"
       "micro-batches; default 0; none: each has all of it"},
      {"merge", OptionSpec::Text, "output.N=RULE,...",
       "what an output of micro-batches becomes: cat:D (joined\n"
       "along dimension D), mean, sum or equal; default: joined\n"
       "along that of the batch, of a number mean, of integers\n"
       "equal"},
      {"emit", OptionSpec::Choice, "mlir|mlirbc",
       "the graphs of stages and phases: text (default), or\n"
       "MLIR's bytecode, joint.mlirbc, a third of its size"},
      {"target", OptionSpec::Choice, "cpu|cuda|cuda-host|reference",
       "machine code for this processor (default), kernels for\n"
       "a GPU, those of a GPU for this machine, or none: the\n"
       "interpreter"},
      {"arch", OptionSpec::Text, "sm_90,...",
       "with --target=cuda: for which GPUs; default sm_90.\n"
       "The first one is the device of the plan, if none is\n"
       "given"},
  };
}

std::vector<OptionSpec> splitOptions() {
  std::vector<OptionSpec> options = cutOptions();
  for (const OptionSpec &option : stageOptions())
    options.push_back(option);
  return options;
}

/// After an error: the next step.
static int wrongUsage(Session &session, const std::string &next) {
  session.note(next);
  return WrongUsage;
}

/// "replicate", "transmit", or names with one of them.
static int readMultiUse(Session &session, CutOptions &cut) {
  auto text = session.line.get("multi-use");
  if (!text)
    return Done;
  SmallVector<StringRef> entries;
  StringRef(text->data(), text->size()).split(entries, ',');
  for (StringRef entry : entries) {
    auto [name, word] =
        entry.contains('=') ? entry.rsplit('=') : std::pair(StringRef(), entry);
    if (word != "replicate" && word != "transmit") {
      session.error("--multi-use takes 'replicate' or 'transmit', not '" +
                    word.str() + "'");
      return wrongUsage(session, "for all parameters, or NAME=transmit,...");
    }
    MultiUse use =
        word == "transmit" ? MultiUse::Transmit : MultiUse::Replicate;
    name.consume_front("param.");
    if (name.empty())
      cut.multiUse = use;
    else
      cut.multiUseOf[name.str()] = use;
  }
  return Done;
}

static int readSplitDims(Session &session, SplitRequest &request) {
  auto text = session.line.get("split-dim");
  if (!text)
    return Done;
  SmallVector<StringRef> entries;
  StringRef(text->data(), text->size()).split(entries, ',');
  for (StringRef entry : entries) {
    auto [name, word] = entry.rsplit('=');
    int64_t dim = -1;
    if (!name.starts_with("input.") ||
        (word != "none" && (word.getAsInteger(10, dim) || dim < 0))) {
      session.error("--split-dim takes input.N=D or input.N=none, not '" +
                    entry.str() + "'");
      return wrongUsage(session, "D is a dimension of the input, from 0");
    }
    request.splitDims[name.str()] = dim;
  }
  return Done;
}

/// Options that mean something for one graph alone, or for one plan of a stage.
static int refuseOthers(Session &session, const SplitRequest &request) {
  static constexpr const char *kOfOneGraph[] = {
      "hook",         "grad-penalty",
      "sequence",     "collectives-first",
      "group-size",   "checkpoint-sequential",
      "dump-network", "keep-composites",
      "memory-limit", "effort",
      "bounds"};
  for (const char *name : kOfOneGraph)
    if (session.line.has(name)) {
      session.error("--" + std::string(name) +
                    " is for a model in one piece, not for stages");
      return wrongUsage(session,
                        "leave it out, or use `cutback compile` and `train`");
    }
  if (request.gradients.second.isAsked()) {
    session.error("--of is for a model in one piece, not for stages");
    return wrongUsage(session,
                      "a pipeline differentiates the loss, or all outputs "
                      "where there is none");
  }
  static constexpr const char *kOfHalves[] = {
      "strategy",        "cost-model",   "minimize", "rules",
      "free-parameters", "torch-config", "solver",   "activation-budget",
      "budget-solver",   "budget",       "split"};
  for (const char *name : kOfHalves)
    if (session.line.has(name) && !request.isWhole &&
        session.line.get(name) != "makespan") {
      session.error("--" + std::string(name) +
                    " has no effect on a plan of three phases");
      return wrongUsage(session, "give --backward=whole, or leave it out");
    }
  return Done;
}

/// The schedule that is planned for.
static int readSchedule(Session &session, SplitRequest &request) {
  const CommandLine &line = session.line;
  if (auto name = line.get("schedule")) {
    auto known = pipeline::findScheduleName(*name);
    if (!known) {
      session.error("there is no schedule '" + std::string(*name) + "'");
      return wrongUsage(session, "`cutback schedule --help` lists them");
    }
    request.schedule = std::string(*known);
  }
  if (auto ranks = line.integer("ranks"))
    request.ranks = static_cast<int>(*ranks);
  if (auto parts = line.integer("micro-batches"))
    request.microBatches = static_cast<int>(*parts);
  return Done;
}

/// The rows of a batch and into how many micro-batches they go.
static int readBatch(Session &session, SplitRequest &request) {
  request.batch = session.line.integer("batch");
  if (!request.batch)
    return Done;
  if (!request.microBatches) {
    session.error("--batch goes with --micro-batches");
    return wrongUsage(session, "say into how many it is divided");
  }
  if (splitBatch(*request.batch, *request.microBatches))
    return Done;
  session.error("--batch=" + std::to_string(*request.batch) +
                " has fewer rows than there are micro-batches, " +
                std::to_string(*request.microBatches));
  return wrongUsage(session, "give at most as many --micro-batches as rows");
}

/// Which stages share a rank, of --stages on fewer --ranks.
static int readMapping(Session &session, SplitRequest &request) {
  if (!request.choice.stages || !request.ranks)
    return Done;
  int stages = static_cast<int>(*request.choice.stages), ranks = *request.ranks;
  if (stages % ranks != 0) {
    session.error("--stages=" + std::to_string(stages) + " on --ranks=" +
                  std::to_string(ranks) + ": each rank has as many");
    return wrongUsage(session, "give a number of stages that ranks divide");
  }
  pipeline::Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = stages / ranks;
  shape.microBatches = request.microBatches.value_or(2 * ranks);
  pipeline::ScheduleError error;
  std::string name =
      request.schedule.value_or(stages == ranks ? "1F1B" : "ZBVZeroBubble");
  auto schedule = pipeline::generate(name, shape, error);
  if (!schedule) {
    session.error(error.message);
    return wrongUsage(session, error.note);
  }
  // In a loop a slow stage holds up all ranks: stages are balanced there.
  const std::vector<int> &rankOf = schedule->rankOfStage;
  if (stages > ranks && rankOf.front() == rankOf.back())
    request.choice.rankOf = rankOf;
  else if (stages > ranks && !session.line.has("stage-memory")) {
    session.error("--ranks has no effect on stages that ranks run in a loop, "
                  "as under " +
                  name);
    return wrongUsage(session, "leave it out, or give a schedule in a V");
  }
  return Done;
}

/// The memory of ranks, and what it is of.
static int readMemory(Session &session, SplitRequest &request) {
  const CommandLine &line = session.line;
  bool isShared = request.choice.stages && line.has("ranks") &&
                  *line.integer("ranks") < *request.choice.stages;
  for (const char *name : {"schedule", "ranks", "micro-batches"})
    if (line.has(name) && !line.has("stage-memory") &&
        line.get("minimize") != "makespan" &&
        (!isShared || std::string_view(name) == "micro-batches") &&
        (!line.has("batch") || std::string_view(name) != "micro-batches")) {
      session.error(
          "--" + std::string(name) + " goes with --stage-memory" +
          (std::string_view(name) == "micro-batches" ? " or --batch" : ""));
      return wrongUsage(session,
                        "a pipeline without a limit runs under any schedule");
    }
  if (int code = readSchedule(session, request))
    return code;
  if (int code = readBatch(session, request))
    return code;
  if (int code = readMapping(session, request))
    return code;
  if (line.get("minimize") == "makespan") {
    if (request.schedule) {
      session.error("--minimize=makespan chooses the schedule");
      return wrongUsage(session, "leave --schedule out");
    }
    request.memoryLimit = INT64_MAX;
  }
  if (!line.has("stage-memory"))
    return Done;
  int64_t limit = 0;
  if (int code = readMemoryLimit(session, limit, "stage-memory"))
    return code;
  request.memoryLimit = limit;
  return Done;
}

/// Where to cut: --stages and what the link costs, or --split-spec.
static int readPlaces(Session &session, SplitRequest &request) {
  const CommandLine &line = session.line;
  if (line.has("stages") && line.has("split-spec")) {
    session.error("--stages and --split-spec both say where to cut");
    return wrongUsage(session, "give one of them");
  }
  if (auto stages = line.integer("stages"))
    request.choice.stages = static_cast<unsigned>(*stages);
  if (auto bandwidth = line.number("bandwidth")) {
    if (!request.choice.stages || !(*bandwidth > 0)) {
      session.error("--bandwidth takes a positive number of GB/s, "
                    "with --stages");
      return wrongUsage(session, "it is what wide cuts are weighed by");
    }
    request.choice.bandwidth = *bandwidth;
  }
  std::string error;
  if (auto spec = line.get("split-spec");
      spec && !parseSplitSpec(StringRef(spec->data(), spec->size()),
                              request.choice.points, error)) {
    session.error(error);
    return wrongUsage(session, "see `cutback split --help`");
  }
  return Done;
}

/// What phases are compiled for, and the device of the plan.
static int readTarget(Session &session, SplitRequest &request) {
  const CommandLine &line = session.line;
  TargetChoice &target = request.target;
  target.target = std::string(line.get("target").value_or("cpu"));
  bool isGpu = target.target == "cuda";
  target.hasGroup = target.target == "cpu";
  if (line.has("arch") && !isGpu) {
    session.error("--arch goes with --target=cuda");
    return wrongUsage(session, "for this machine there is one architecture");
  }
  if (int code = isGpu ? readArchitectures(session, target.architectures) : 0)
    return code;
  // Once, and not for each phase.
  target.compiles = !isGpu || checkNvcc(session);
  if (!line.has("device") && target.target == "cpu")
    request.partition.device = "cpu";
  if (!line.has("device") && line.has("arch"))
    request.partition.device = deviceOf(target.architectures.front());
  return Done;
}

int readSplitRequest(Session &session, SplitRequest &request) {
  const CommandLine &line = session.line;
  if (!line.has("o")) {
    session.error("expected -o P");
    return wrongUsage(session, "the stages go into that folder");
  }
  std::string error;
  CommandLine ofStages = line; // the makespan is of all
  if (line.get("minimize") == "makespan")
    llvm::erase_if(ofStages.options, [](const CommandLine::Given &given) {
      return given.name == "minimize";
    });
  if (!readPlanOptions(ofStages, request.partition, error) ||
      !readGradientOptions(line, request.gradients, error)) {
    session.error(error);
    return wrongUsage(session, "see `cutback split --help`");
  }
  if (int code = readPlaces(session, request))
    return code;
  if (int code = readMultiUse(session, request.choice.cut))
    return code;
  if (int code = readSplitDims(session, request))
    return code;
  if (auto rules = line.get("merge"))
    if (error = parseMergeRules(StringRef(rules->data(), rules->size()),
                                request.merges);
        !error.empty()) {
      session.error(error);
      return wrongUsage(session, "see `cutback split --help`");
    }
  if (auto spec = line.get("loss-output"))
    request.lossOutput = std::string(*spec);
  if (auto devices = line.get("stage-devices")) {
    SmallVector<StringRef> names;
    StringRef(devices->data(), devices->size()).split(names, ',');
    for (StringRef name : names)
      request.devices.push_back(name.trim().str());
  }
  if (int code = readMemory(session, request))
    return code;
  request.optimizer = readOptimizer(line, error);
  if (!error.empty()) {
    session.error(error);
    return wrongUsage(session, "see `cutback split --help`");
  }
  request.isBytecode = line.get("emit") == "mlirbc";
  request.isWhole = line.get("backward") == "whole";
  if (int code = refuseOthers(session, request))
    return code;
  return readTarget(session, request);
}

} // namespace cutback
