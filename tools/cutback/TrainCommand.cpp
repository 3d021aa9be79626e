// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback train`: steps one behind the other, each a forward, a backward and
// an update; a line of loss each.
//
//   1. the trainer: a model in this process, or a folder that was compiled with
//      an optimizer
//   2. a state, where there is one, takes the place of what the model brings
//   3. steps, of a micro-batch or several; now and then, and after the last
//      one, the state is written beside and renamed
//
// Micro-batch i of step k of N has row k * N + i, and draws with the seed plus
// that number: with N = 1 as ever.
//
// So a crash loses what --save-every says, or ten minutes, and a training that
// goes on has the bits of one that was never interrupted.

#include "ArtifactTrainer.h"
#include "PlanRun.h"
#include "RunChecks.h"
#include "StepKernels.h"
#include "StepSources.h"
#include "TrainInputs.h"
#include "TrainLines.h"

#include "cutback/Planner/StepHooks.h"
#include "cutback/Runtime/Arguments.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"
#include "cutback/Target/CPU/NativeStep.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

static std::vector<OptionSpec> trainOptions() {
  return {
      {"weights", OptionSpec::Text, "F",
       "parameters and buffers to begin with: a .pt2 or\n"
       "safetensors file; without it, those of IN or DIR"},
      {"steps", OptionSpec::Integer, "N",
       "of the whole training, where --schedule ends", false, 1},
      {"until", OptionSpec::Integer, "N",
       "stop after this step all the same; the state goes on", false, 1},
      {"lr", OptionSpec::Number, "X", "learning rate, the highest one"},
      {"schedule", OptionSpec::Choice, "constant|cosine",
       "of the learning rate; cosine goes down to --min-lr"},
      {"min-lr", OptionSpec::Number, "X",
       "where --schedule=cosine ends; default 0"},
      {"warmup", OptionSpec::Integer, "N", "steps in which it rises first"},
      {"state", OptionSpec::Text, "F",
       "go on from this safetensors file, if it is there, and\n"
       "write it: parameters, buffers, optimizer, step, seed"},
      {"save-every", OptionSpec::Integer, "N",
       "write it after every so many steps; default: after\n"
       "the last one, and every ten minutes",
       false, 1},
      {"log", OptionSpec::Text, "F",
       "append a line of JSON a step to this file: loss, lr,\n"
       "seconds, tokens a second (elements of input.0, if\n"
       "they are integers), seconds to the end, and the loss\n"
       "of an evaluation"},
      {"target", OptionSpec::Choice, "cpu|reference",
       "of IN: machine code (default), or op by op"},
      {"loss-scale", OptionSpec::Text, "dynamic|X",
       "of an update with --scale-loss, which it implies for\n"
       "IN: by GradScaler's rules from 65536 on (default), or\n"
       "always X"},
      {"seed", OptionSpec::Integer, "N", "of random ops; default 0", false, 0,
       "", INT64_MAX},
      {"threads", OptionSpec::Integer, "N",
       "of this machine that run a compiled step; default:\n"
       "one a processor. Results have the same bits",
       false, 1},
      anomalyOption(),
  };
}

CommandSpec trainSpec() {
  CommandSpec spec;
  spec.name = "train";
  spec.arguments = "IN | DIR --inputs=F | --tokens=F --steps=N --lr=X";
  spec.summary =
      "Train: N steps of forward, backward and update.\n\n"
      "IN is trained in this process, DIR is of `compile --optimizer` and "
      "brings the\nupdate. Tensors in --inputs have one dimension more than "
      "the step takes: step k\nhas row k, from the first again after the "
      "last; with --accumulate=N the next N\nrows. Each step prints its loss, "
      "the learning rate, the norm of the gradients\nwhere they are clipped, "
      "the scale of the loss and the steps that it skipped, the\ntime, and the "
      "most memory that the process had.";
  std::vector<OptionSpec> options = trainInputOptions();
  std::vector<OptionSpec> training = trainOptions();
  options.insert(options.end(), training.begin(), training.end());
  std::vector<OptionSpec> optimizer = optimizerOptions();
  options.insert(options.end(), optimizer.begin(), optimizer.end());
  spec.options = withPlanOptions(std::move(options));
  spec.examples = {
      ("train model.pt2 --inputs=batches.safetensors --steps=100 --lr=0.01 "
       "--optimizer=sgd --momentum=0.9"),
      ("train model.pt2 --inputs=batches.safetensors --steps=100 --lr=3e-4 "
       "--optimizer=adamw --schedule=cosine --warmup=10 --clip-norm=1 "
       "--state=run.safetensors"),
      "train out --inputs=batches.safetensors --steps=100 --lr=0.01",
      ("train model.pt2 --tokens=train.bin --steps=100 --lr=3e-4 "
       "--optimizer=adamw --accumulate=8"),
      "train out --inputs=batches.safetensors --steps=9 --lr=0.01 --anomaly",
  };
  return spec;
}

namespace {

/// Between states, unless --save-every says when.
constexpr std::chrono::minutes kSavePeriod(10);

constexpr const char *kEarlierState =
    "the state, if one is written, is that of an earlier step";

/// What a training is made of.
struct Training {
  explicit Training(const CommandLine &line) : checks(line) {}

  PlanRun run;
  HookTable hooks; ///< of IN
  RunChecks checks;
  StepFiles sources;
  TrainBatches batches, held;
  TrainInputOptions asked;
  std::optional<Optimizer> optimizer;
  LearningRate rate;
  std::optional<LossScale> scale; ///< as asked for
  MicroBatches micro;             ///< of a step
  std::unique_ptr<Trainer> trainer;
  TrainingPoint point;
};

int wrongUsage(Session &session, const std::string &what) {
  session.error(what);
  return WrongUsage;
}

int readOptions(Session &session, Training &training) {
  const CommandLine &line = session.line;
  for (const char *name : {"inputs", "steps", "lr"})
    if (!line.has(name) &&
        !(std::string_view(name) == "inputs" && line.has("tokens"))) {
      session.error("expected --" + std::string(name));
      session.note("a training takes --inputs=F or --tokens=F, --steps=N and "
                   "--lr=X");
      return WrongUsage;
    }
  std::string error;
  training.optimizer = readOptimizer(line, error);
  if (!error.empty())
    return wrongUsage(session, error);
  LearningRate &rate = training.rate;
  rate.peak = *line.number("lr");
  rate.warmup = line.integer("warmup").value_or(0);
  rate.steps = *line.integer("steps");
  if (line.get("schedule") == "cosine")
    rate.kind = LearningRate::Cosine;
  rate.least = line.number("min-lr").value_or(0);
  if (line.has("min-lr") && (rate.kind != LearningRate::Cosine ||
                             rate.least < 0 || rate.least > rate.peak))
    return wrongUsage(session, "--min-lr takes a number from 0 to --lr, and "
                               "goes with --schedule=cosine");
  training.point.seed = line.integer("seed").value_or(0);
  if (auto text = line.get("loss-scale")) {
    training.scale = LossScale::parse(StringRef(text->data(), text->size()));
    if (!training.scale)
      return wrongUsage(session,
                        "--loss-scale takes 'dynamic' or a positive number");
    if (training.optimizer)
      training.optimizer->scalesLoss = true;
  }
  if (line.has("save-every") && !line.has("state"))
    return wrongUsage(session, "--save-every goes with --state");
  if (int code = readMicroBatches(session, training.micro))
    return code;
  if (training.optimizer)
    training.optimizer->accumulates = training.micro.count > 1;
  return Done;
}

//===----------------------------------------------------------------------===//
// Trainers
//===----------------------------------------------------------------------===//

int openModel(Session &session, Training &training) {
  if (session.line.has("threads")) {
    session.error("--threads is of a compiled step; this one runs on one");
    session.note("give a folder of `compile --target=cpu --optimizer=...`");
    return WrongUsage;
  }
  if (!training.optimizer) {
    session.error("expected --optimizer=sgd or adamw");
    session.note("a folder of `compile --optimizer` has its own");
    return WrongUsage;
  }
  if (int code = training.run.load(session, importOptionsOf(session.line)))
    return code;
  ImportedModule &imported = training.run.imported;
  StepFiles &sources = training.sources;
  sources.weights = imported.weights;
  if (int code = openSources(session, sources))
    return code;
  if (int code = unpackWeights(session, sources))
    return code;
  ModelTrainerOptions options;
  options.partition = training.run.options;
  options.optimizer = *training.optimizer;
  options.reference = session.line.get("target") == "reference";
  options.observers = training.checks.observers();
  if (!options.reference)
    options.compileKernels = compileNativeStep;
  training.hooks = HookTable(hookPointsOf(imported.graph));
  if (int code = session.addHooks(training.hooks))
    return code;
  options.hook = runHooksOf(training.hooks);
  training.batches.rows = sources.inputs;
  if (int code = openTrainInputs(
          session, inputsOf(imported.graph, options.partition.symbols),
          training.batches, training.held, training.asked))
    return code;
  if (int code = checkMicroBatches(session, training.micro, training.batches))
    return code;
  session.progress.step("planning");
  training.trainer = makeModelTrainer(
      imported.graph,
      [&](StringRef name) -> std::optional<Tensor> {
        if (isInputName({name.data(), name.size()}))
          return training.batches.find(name, 0, 0);
        return sources.find(name);
      },
      options);
  if (!training.trainer)
    return WrongInput;
  if (std::string why = training.trainer->whyUpdateAfter();
      !why.empty() && session.line.has(kUpdate))
    session.note(std::string(kUpdatedAfter) + why);
  return Done;
}

int openFolder(Session &session, Training &training) {
  if (training.optimizer || session.line.has("target")) {
    session.error("--optimizer and --target are those of the folder");
    session.note("they were given to compile; leave them out");
    return WrongUsage;
  }
  if (int code = refusePlanOptions(session, session.line, {"hook"}))
    return code;
  if (int code = openSources(session, training.sources))
    return code;
  if (int code = unpackWeights(session, training.sources))
    return code;
  const std::string &folder = session.line.arguments[0];
  training.batches.rows = training.sources.inputs;
  std::vector<StepInput> inputs;
  if (session.line.has("tokens") || session.line.has("eval-tokens"))
    if (int code = inputsOf(session, folder, inputs))
      return code;
  if (int code = openTrainInputs(session, inputs, training.batches,
                                 training.held, training.asked))
    return code;
  if (int code = checkMicroBatches(session, training.micro, training.batches))
    return code;
  return openArtifactTrainer(
      session, folder, training.sources,
      [&](StringRef name) { return training.batches.find(name, 0, 0); },
      training.checks, training.trainer);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The scale to begin with, where the update takes one.
int chooseScale(Session &session, Training &training) {
  std::optional<double> greatest = training.trainer->greatestLossScale();
  if (!greatest && training.scale) {
    session.error("--loss-scale: the update takes no scale of the loss");
    session.note("compile it with --scale-loss");
    return WrongUsage;
  }
  if (!greatest)
    return Done;
  LossScale scale = training.scale.value_or(LossScale());
  if (scale.isDynamic || scale.scale <= *greatest) {
    scale.limit(*greatest);
    training.point.scale = scale;
    return Done;
  }
  session.error("--loss-scale: the loss has a type that holds no more than " +
                llvm::formatv("{0}", llvm::format("%.6g", *greatest)).str());
  return WrongUsage;
}

int restore(Session &session, Training &training) {
  auto path = session.line.get("state");
  if (!path || !llvm::sys::fs::exists(StringRef(path->data(), path->size())))
    return Done;
  TensorFile file;
  std::string error = TensorFile::open(std::string(*path), file);
  if (error.empty()) {
    error = restoreState(file, *training.trainer, training.point);
    if (!error.empty())
      error = "'" + std::string(*path) + "' " + error;
  }
  if (!error.empty()) {
    session.error(error);
    session.note("--state goes on with a file that train wrote for this model "
                 "and optimizer; give another name to begin anew");
    return WrongInput;
  }
  auto seed = session.line.integer("seed");
  if (seed && *seed != training.point.seed) {
    session.error("--seed=" + std::to_string(*seed) + ", and the state has " +
                  std::to_string(training.point.seed));
    session.note("leave --seed out: a training goes on with its own");
    return WrongInput;
  }
  return Done;
}

/// The last step of this run.
int64_t lastStep(const Session &session, const Training &training) {
  return std::min(training.rate.steps,
                  session.line.integer("until").value_or(training.rate.steps));
}

/// What is found behind the first step otherwise, and costs that step: a place
/// that cannot be written, and a state that has no step left.
int checkState(Session &session, const Training &training) {
  auto path = session.line.get("state");
  if (!path)
    return Done;
  std::string file(*path);
  llvm::SmallString<128> target;
  if (!llvm::sys::fs::real_path(file, target))
    file = target.str().str();
  if (!llvm::sys::fs::exists(file) || llvm::sys::fs::is_regular_file(file)) {
    llvm::SmallString<128> probe;
    std::error_code code =
        llvm::sys::fs::createUniqueFile(file + ".%%%%%%%%.tmp", probe);
    if (code)
      return session.failedWrite("cannot write '" + std::string(*path) +
                                 "': " + code.message());
    llvm::sys::fs::remove(probe);
  } else if (llvm::sys::fs::is_directory(file)) {
    return session.failedWrite("cannot write '" + std::string(*path) +
                               "': it is a directory");
  }
  int64_t steps = training.point.steps, last = lastStep(session, training);
  if (steps > training.rate.steps) {
    session.error("the state has " + formatCount(steps, "step") +
                  ", and --steps=" + std::to_string(training.rate.steps));
    session.note("give the steps of the whole training, or another --state to "
                 "begin anew");
    return WrongInput;
  }
  if (steps > 0 && steps >= last)
    session.note("the state has " + formatCount(steps, "step") + " of " +
                 std::to_string(training.rate.steps) +
                 ": there is nothing to do");
  return Done;
}

int save(Session &session, const Training &training) {
  auto path = session.line.get("state");
  if (!path)
    return Done;
  std::string error = training.trainer->fetchState();
  if (!error.empty()) {
    session.error(error);
    session.note(kEarlierState);
    return NoPlan;
  }
  error = writeFileSafely(std::string(*path),
                          encodeState(*training.trainer, training.point));
  return error.empty() ? Done : session.failedWrite(error);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The mean loss of what is held out, if this step is one behind which it is
/// asked for; and its line.
int evaluate(Session &session, Training &training, int64_t step,
             std::optional<double> &mean) {
  if (!training.asked.isDue(step, training.rate.steps))
    return Done;
  int64_t count = std::min(training.held.count(), training.asked.evalBatches);
  auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  for (int64_t batch = 0; batch < count; ++batch) {
    TrainingInputs inputs;
    inputs.tensors = training.held.at(batch, training.point.seed);
    inputs.seed = training.point.seed + batch;
    double loss = 0;
    if (std::string error = training.trainer->evaluate(inputs, loss);
        !error.empty()) {
      session.error("evaluation, batch " + std::to_string(batch + 1) + ": " +
                    error);
      session.note(kEarlierState);
      return NoPlan;
    }
    sum += loss;
  }
  mean = sum / static_cast<double>(count);
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  return session.write(std::nullopt,
                       llvm::formatv("eval {0}/{1}  loss {2}  {3}  {4} ms\n",
                                     step, training.rate.steps,
                                     llvm::format("%.9g", *mean),
                                     formatCount(count, "batch", "batches"),
                                     llvm::format("%.1f", time.count())));
}

/// The micro-batches of a step, and its update. An empty string, or what went
/// wrong.
std::string runMicroBatches(Training &training, TrainedStep &done) {
  int64_t step = training.point.steps, count = training.micro.count;
  std::vector<double> shares;
  if (std::string error = training.micro.findShares(
          step, training.batches, training.point.seed, shares);
      !error.empty())
    return error;
  int64_t last = count - 1;
  while (shares[last] == 0)
    --last;
  TrainingInputs inputs;
  inputs.learningRate = done.learningRate;
  inputs.number = training.point.updates();
  inputs.lossScale = done.lossScale;
  double loss = 0;
  for (int64_t i = 0; i <= last; ++i) {
    if (shares[i] == 0)
      continue;
    int64_t number = step * count + i;
    inputs.tensors = training.batches.at(number, training.point.seed);
    inputs.seed = training.point.seed + number;
    inputs.share = shares[i];
    inputs.isLast = i == last;
    std::string error = training.trainer->run(inputs, done.result);
    if (training.checks.hasStopped())
      error = "a gradient is not finite";
    if (!error.empty())
      return (count == 1 ? ""
                         : "micro-batch " + std::to_string(i + 1) + " of " +
                               std::to_string(count) + ": ") +
             error;
    ++inputs.microBatch;
    loss += shares[i] * done.result.loss;
    done.tokens += tokensOf(inputs);
  }
  done.result.loss = loss;
  return "";
}

/// One step and its line. Exit code.
int runStep(Session &session, Training &training, TrainedStep &done) {
  std::optional<LossScale> &scale = training.point.scale;
  done.number = training.point.steps + 1;
  done.steps = training.rate.steps;
  done.learningRate = training.rate.at(training.point.steps);
  done.lossScale = scale ? scale->scale : 1;
  auto begin = std::chrono::steady_clock::now();
  std::string error = runMicroBatches(training, done);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  done.seconds = time.count();
  if (error.empty() && scale)
    error = scale->count(done.result.isSkipped);
  done.skipped = scale ? scale->skipped : 0;
  if (error.empty() && !std::isfinite(done.result.loss) &&
      !done.result.isSkipped)
    error = "the loss is " + llvm::formatv("{0}", done.result.loss).str();
  if (error.empty())
    return session.write(std::nullopt, lineOf(done));
  session.error("step " + std::to_string(done.number) + ": " + error);
  session.note(kEarlierState);
  return NoPlan;
}

int runSteps(Session &session, Training &training) {
  int log = -1;
  if (int code = openLog(session, log))
    return code;
  int64_t last = lastStep(session, training);
  using Clock = std::chrono::steady_clock;
  auto every = session.line.integer("save-every");
  auto started = Clock::now(), saved = started;
  int64_t first = training.point.steps;
  for (int64_t &step = training.point.steps; step < last;) {
    TrainedStep done;
    if (int code = runStep(session, training, done))
      return code;
    if (int code = evaluate(session, training, step + 1, done.held))
      return code;
    auto now = Clock::now();
    std::chrono::duration<double> passed = now - started;
    done.secondsLeft = passed.count() / (step + 1 - first) * (last - step - 1);
    if (int code = writeLog(session, log, jsonOf(done)))
      return code;
    ++step;
    bool isDue = every ? step % *every == 0 : now - saved >= kSavePeriod;
    if (isDue || step == last) {
      if (int code = save(session, training))
        return code;
      saved = Clock::now();
    }
  }
  return Done;
}

} // namespace

int runTrain(const CommandLine &line) {
  Session session("train", line);
  Training training(line);
  if (int code = readOptions(session, training))
    return code;
  if (int code = isArtifact(line.arguments[0]) ? openFolder(session, training)
                                               : openModel(session, training))
    return code;
  if (training.micro.count > 1 && !training.trainer->accumulates()) {
    session.error("--accumulate: '" + line.arguments[0] +
                  "' keeps no sums of gradients");
    session.note("compile it with --accumulate");
    return WrongUsage;
  }
  if (int code = chooseScale(session, training))
    return code;
  if (int code = restore(session, training))
    return code;
  if (int code = checkState(session, training))
    return code;
  session.progress.step("training");
  return runSteps(session, training);
}

} // namespace cutback
