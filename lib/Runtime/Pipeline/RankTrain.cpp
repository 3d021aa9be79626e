// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training over ranks. A step is
//
//   1. its batches: micro-batch i of step k of m (of all replicas) has number
//      k * m + i, and draws with the seed plus that number. Of a pipeline for
//      two sizes of a micro-batch a row is all of the batch of step k
//   2. the row of the schedule, which leaves sums of gradients
//   3. what the norm of all gradients is made of, to rank 0, which adds it in
//      the order of the model's parameters and tells all
//   4. the update of each stage
//
// So parameters have the bits of one process that adds micro-batches in their
// order (`cutback train --accumulate`), but where a parameter of several stages
// adds its gradients in another order. Every rank counts steps, rates and the
// scale of the loss by itself, from numbers that all were told.
//
// The state is one file of the whole model: it can be split anew.

#include "RankRun.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/GradientNorm.h"
#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Runtime/StateNames.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <unistd.h>

using namespace cutback;
using namespace cutback::pipeline;
using namespace cutback::state;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Opens the batches, and those that are held out.
int RankRun::openTraining(StepError &error) {
  bool hasUpdate = false;
  for (const PipelineStage &stage : pipeline.stages)
    hasUpdate |= bool(stage.phases[PipelineStage::Update]);
  if (!hasUpdate) {
    error = {"'" + options.folder + "' has no optimizer",
             "split the model again with --optimizer=sgd or adamw"};
    return WrongUsage;
  }
  if (pipeline.lossStage < 0) {
    error = {"'" + options.folder + "' has no loss",
             "export a model whose first output is the loss"};
    return WrongInput;
  }
  std::vector<int> own = schedule.stagesOf(row());
  const TrainInputOptions &asked = options.train->batches;
  bool isOfStep = !pipeline.smaller.empty();
  if (isOfStep && (!asked.tokens.empty() || asked.evalEvery)) {
    error = {std::string(asked.evalEvery ? "--eval-every" : "--tokens") +
                 " is of micro-batches of one size, and '" + options.folder +
                 "' is for two",
             "split the model again without --batch"};
    return WrongUsage;
  }
  rows = std::make_unique<TrainRows>(pipeline, inputs,
                                     [this](int stage, size_t input) {
                                       return rank->sizesOfBatch(stage, input);
                                     });
  if (int code = rows->open(own, asked, /*isHeld=*/false, error))
    return code;
  if (int code = isOfStep
                     ? Done
                     : checkBatchCount("--micro-batches", microBatchesOfStep(),
                                       rows->count(), error))
    return code;
  rows->take(own, firstMicroBatch(), schedule.microBatches, options.seed);
  findInput = [this](const std::string &name) { return rows->find(name); };
  if (!asked.evalEvery)
    return Done;
  if (!asked.heldInputs.empty()) {
    error = {heldInputs.add(pathOf(asked.heldInputs)),
             "--eval-inputs takes a safetensors file"};
    if (!error.what.empty())
      return WrongInput;
  }
  held = std::make_unique<TrainRows>(pipeline, heldInputs);
  if (int code = held->open(own, asked, /*isHeld=*/true, error))
    return code;
  return checkHeld(rows->names(), held->names(), held->count(), error);
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// Each rank counts rates and batches by itself.
void RankRun::addTraining(Fields &fields) const {
  const PipelineTrainOptions &train = *options.train;
  const TrainInputOptions &asked = train.batches;
  auto add = [&](const char *name, const std::string &value) {
    fields.emplace_back(name, value);
  };
  auto addNumber = [&](const char *name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", value);
    add(name, text);
  };
  auto addFiles = [&](const char *name, const TrainRows &files) {
    std::string_view tokens = files.tokenBytes();
    add(name, std::to_string(tokens.size()) + " " +
                  checksumOf(tokens.substr(0, 4096)));
  };
  addNumber("--lr", train.rate.peak);
  addNumber("--min-lr", train.rate.least);
  addNumber("--lr-schedule", train.rate.kind);
  add("--warmup", std::to_string(train.rate.warmup));
  add("--steps", std::to_string(train.rate.steps));
  add("--until", std::to_string(train.until));
  add("--save-every", std::to_string(train.saveEvery));
  addNumber("--loss-scale", !train.scale             ? 0
                            : train.scale->isDynamic ? -1
                                                     : train.scale->scale);
  addFiles("--tokens", *rows);
  add("--token-type", std::to_string(static_cast<int>(asked.width)));
  add("--token-inputs", asked.tokenInputs);
  add("--token-order", asked.isShuffled ? "shuffled" : "file");
  add("--eval-every", std::to_string(asked.evalEvery));
  add("--eval-batches", std::to_string(asked.evalBatches));
  if (!held)
    return;
  add("number of held-out batches", std::to_string(held->count()));
  addFiles("--eval-tokens", *held);
}

/// The loss of all micro-batches, from the rank that has it to all.
std::string RankRun::shareLoss(double &loss) {
  loss = rank->losses().empty() ? 0 : meanLoss();
  int root = schedule.rankOfStage[pipeline.lossStage];
  auto *bytes = reinterpret_cast<char *>(&loss);
  std::string error = broadcast(*peers, root, bytes, sizeof loss);
  // Of a group the first rank's: all go on, or none.
  return error.empty() ? broadcast(*memberWaiter, 0, bytes, sizeof loss)
                       : error;
}

/// "NAME HEX-FLOAT" a line.
static std::string textOf(const GradientNorms &norms) {
  std::string text;
  char number[64];
  for (const auto &[name, square] : norms.squares) {
    std::snprintf(number, sizeof number, "%a", square);
    text += name + " " + number + "\n";
  }
  return text;
}

/// The norm of all gradients, and the greatest of their magnitudes.
std::string RankRun::reduceNorms(const GradientNorms &own, double &norm,
                                 double &greatest) {
  greatest = own.greatest;
  double isDouble = own.isDouble;
  for (double *value : {&greatest, &isDouble})
    if (std::string error =
            allReduce(*peers, Reduction::Max, "f64",
                      reinterpret_cast<char *>(value), sizeof *value);
        !error.empty())
      return error;
  if (std::string error =
          allReduce(*memberWaiter, Reduction::Max, "f64",
                    reinterpret_cast<char *>(&greatest), sizeof greatest);
      !error.empty())
    return error;
  std::vector<std::string> texts;
  if (std::string error = gather(*peers, 0, textOf(own), texts); !error.empty())
    return error;
  std::map<std::string, double> squares;
  for (const std::string &text : texts) {
    std::istringstream lines(text);
    std::string name, number;
    while (lines >> name >> number)
      squares[name] = std::strtod(number.c_str(), nullptr);
  }
  std::vector<double> inOrder;
  for (const std::string &name : pipeline.parameters)
    if (auto found = squares.find(name); found != squares.end())
      inOrder.push_back(found->second);
  norm = isDouble != 0
             ? combineSquares<double>(inOrder)
             : combineSquares<float>({inOrder.begin(), inOrder.end()});
  return broadcast(*peers, 0, reinterpret_cast<char *>(&norm), sizeof norm);
}

/// An empty string, or what went wrong, which all ranks know.
std::string RankRun::trainStep(StepNumbers next, TrainLine &line) {
  double scale = point.scale ? point.scale->scale : 1;
  line.rate = options.train->rate.at(point.steps);
  int64_t first = point.steps * microBatchesOfStep();
  next.seed = seedOfMicroBatch(point.seed, first);
  next.lossScale = scale;
  rank->setNumbers(next);
  rows->take(schedule.stagesOf(row()), first + firstMicroBatch(),
             schedule.microBatches, point.seed);
  std::string error = rank->step(findInput);
  if (error.empty())
    error = shareLoss(line.loss);
  GradientNorms norms;
  double greatest = 0;
  if (error.empty())
    error = rank->findNorms(scale, norms);
  if (error.empty())
    error = reduceNorms(norms, line.norm, greatest);
  lastGreatest = greatest;
  UpdateNumbers numbers;
  numbers.learningRate = line.rate;
  numbers.step = static_cast<double>(point.updates() + 1);
  numbers.lossScale = scale;
  if (error.empty())
    error = rank->update(numbers, line.norm, greatest);
  ++updates;
  ++point.steps;
  return error;
}

/// What is printed of a step.
static std::string textOf(const TrainLine &line, const TrainedPoint &point,
                          int64_t steps, double scale, bool clips) {
  char text[256];
  std::snprintf(text, sizeof text, "step %lld/%lld  loss %.9g  lr %.6g",
                static_cast<long long>(point.steps),
                static_cast<long long>(steps), line.loss, line.rate);
  std::string all = text;
  auto add = [&](const char *format, double value) {
    std::snprintf(text, sizeof text, format, value);
    all += text;
  };
  if (clips)
    add("  norm %.6g", line.norm);
  if (scale != 1)
    add("  scale %.6g", scale);
  if (point.scale && point.scale->skipped)
    all += "  skipped " + std::to_string(point.scale->skipped);
  add("  %.1f ms", line.seconds * 1000);
  return all;
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

static ArtifactTensor numberCalled(const char *name, const char *dtype) {
  ArtifactTensor tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  return tensor;
}

/// Parameters without weight decay, as the state has them.
static std::string undecayedText(const Pipeline &pipeline) {
  std::string text;
  for (const std::string &name : pipeline.undecayed)
    text += (text.empty() ? "" : "\n") + name;
  return text;
}

/// The state of all ranks to a file. Exit code; all ranks have the same.
int RankRun::save(const TrainedPoint &point) {
  if (options.train->state.empty())
    return Done;
  std::vector<std::pair<ArtifactTensor, std::string_view>> tensors;
  // All replicas have the same.
  for (const RankTensor &one :
       replica() == 0 ? rank->state() : std::vector<RankTensor>())
    tensors.emplace_back(one, std::string_view(one.bytes, bytesOf(one)));
  auto add = [&](const char *name, const char *dtype, const void *value) {
    if (transport.rank() == member()) // the first of its pipeline
      tensors.emplace_back(
          numberCalled(name, dtype),
          std::string_view(static_cast<const char *>(value), 8));
  };
  add(kSteps, "i64", &point.steps);
  add(kSeed, "i64", &point.seed);
  if (point.scale) {
    add(kScale, "f64", &point.scale->scale);
    add(kGood, "i64", &point.scale->good);
    add(kSkipped, "i64", &point.scale->skipped);
  }
  std::string undecayed = undecayedText(pipeline);
  if (isFirst() && !undecayed.empty()) {
    tensors.emplace_back(numberCalled(kUndecayedNames, "ui8"), undecayed);
    tensors.back().first.sizes = {static_cast<int64_t>(undecayed.size())};
  }
  std::vector<std::string> files;
  std::string merged,
      what = gather(waiter, 0, encodeTensorFile(tensors), files);
  for (int one = 0; one < grid.width && isFirst(); ++one) {
    if (what.empty())
      what = mergeFiles(files, one, merged);
    if (what.empty())
      what = writeFileSafely(pathOf(options.train->state, one), merged);
  }
  Verdict verdict = agree(waiter, what.empty() ? Done : WrongInput,
                          {what, "--state takes a place to write to"}, {});
  if (verdict.code && isFirst())
    options.complain(verdict.why.what, verdict.why.next);
  return verdict.code;
}

/// A number of a file; false if it has none of that name.
template <typename Number>
static bool readNumber(const TensorFiles &file, const char *name,
                       Number &number) {
  const TensorFiles::Tensor *found = file.find(name);
  if (!found || !found->entry.sizes.empty() || found->entry.bytes != 8)
    return false;
  std::memcpy(&number, found->bytes, 8);
  return true;
}

/// What a file has that is of no state of this pipeline; empty for nothing.
static std::string findOther(const Pipeline &pipeline,
                             const TensorFiles &file) {
  std::set<std::string> names;
  for (const PipelineStage &stage : pipeline.stages) {
    for (const PipelineParameter &one : stage.parameters)
      names.insert(one.name);
    for (const PipelineBuffer &one : stage.buffers)
      names.insert(one.name);
  }
  for (const auto &[name, tensor] : file.all()) {
    size_t dot = name.find('.', sizeof("optimizer"));
    bool isState = name.rfind("optimizer.", 0) == 0 &&
                   dot != std::string::npos &&
                   names.count("param." + name.substr(dot + 1));
    if (!names.count(name) && !isState && name.rfind("training.", 0) != 0)
      return name;
  }
  return "";
}

/// Takes over the state of a file that is there. Exit code.
int RankRun::restore(TrainedPoint &point, StepError &error) {
  const std::string path = pathOf(options.train->state);
  if (path.empty() || ::access(path.c_str(), F_OK) != 0)
    return Done;
  TensorFiles file;
  error = {file.add(path), "give the state of a training of this model, or "
                           "another place"};
  if (!error.what.empty())
    return WrongInput;
  auto refuse = [&](const std::string &what) {
    error.what = path + ": is the state of another training: " + what;
    return WrongInput;
  };
  for (const RankTensor &wanted : rank->state(/*isAll=*/true)) {
    const TensorFiles::Tensor *found = file.find(wanted.name);
    if (!found)
      return refuse("it lacks '" + wanted.name + "'");
    if (typeOfFileType(found->entry.dtype) != wanted.dtype ||
        found->entry.sizes != wanted.sizes)
      return refuse("'" + wanted.name + "' has another type or size there");
  }
  if (!readNumber(file, kSteps, point.steps) ||
      !readNumber(file, kSeed, point.seed) || point.steps < 0)
    return refuse("it lacks 'training.steps' or 'training.seed'");
  if (point.steps > options.train->rate.steps) {
    error = {"the state has " + formatCount(point.steps, "step") +
                 ", and --steps=" + std::to_string(options.train->rate.steps),
             "give the steps of the whole training, or another --state to "
             "begin anew"};
    return WrongInput;
  }
  const TensorFiles::Tensor *undecayed = file.find(kUndecayedNames);
  if (undecayedText(pipeline) !=
      (undecayed ? std::string_view(undecayed->bytes, undecayed->entry.bytes)
                 : std::string_view()))
    return refuse("other parameters have no weight decay there (--no-decay)");
  if (point.scale) {
    double stored = 0;
    if (!readNumber(file, kScale, stored) ||
        !readNumber(file, kGood, point.scale->good) ||
        !readNumber(file, kSkipped, point.scale->skipped) || !(stored > 0))
      return refuse("it has no scale of the loss");
    if (point.scale->isDynamic)
      point.scale->scale = std::min(stored, point.scale->greatest);
  }
  if (std::string other = findOther(pipeline, file); !other.empty())
    return refuse("it has '" + other + "'");
  for (const RankTensor &wanted : rank->state(/*isAll=*/true))
    std::memcpy(const_cast<char *>(wanted.bytes), file.find(wanted.name)->bytes,
                bytesOf(wanted));
  return Done;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// The scale of the loss, where the update has one. Exit code.
int RankRun::checkTraining(StepError &error) {
  uint8_t scales = rank->scalesLoss(), clips = rank->clips();
  for (uint8_t *value : {&scales, &clips})
    if (std::string what = allReduce(waiter, Reduction::Or, "u8",
                                     reinterpret_cast<char *>(value), 1);
        !what.empty()) {
      error = {what, "all ranks must be there"};
      return NoPlan;
    }
  isClipped = clips != 0;
  if (isClipped && options.groupSize > 1) {
    error = {"the update clips the norm of all gradients, and of those of a "
             "group it is not known which are parts of one",
             "split the model again without --clip-norm"};
    return WrongUsage;
  }
  point.seed = options.seed;
  if (options.train->scale && !scales) {
    error = {"--loss-scale: the update of '" + options.folder +
                 "' does not scale the loss",
             "split the model again with --scale-loss"};
    return WrongUsage;
  }
  if (scales) {
    // The gradient of the loss is of its type, which one rank alone knows.
    const std::string &type = rank->lossTensor().dtype;
    double greatest = type.empty() ? 0 : greatestLossScale(type);
    if (std::string what =
            allReduce(waiter, Reduction::Max, "f64",
                      reinterpret_cast<char *>(&greatest), sizeof greatest);
        !what.empty()) {
      error = {what, "all ranks must be there"};
      return NoPlan;
    }
    point.scale = options.train->scale.value_or(LossScale());
    if (!point.scale->isDynamic && point.scale->scale > greatest) {
      char text[32];
      std::snprintf(text, sizeof text, "%.6g", greatest);
      error = {"--loss-scale: the loss has a type that holds no more than " +
                   std::string(text),
               "give a smaller number, or dynamic"};
      return WrongUsage;
    }
    point.scale->limit(greatest);
  }
  return restore(point, error);
}

/// After an error in step number `step` that all ranks know.
int RankRun::endAt(int64_t step, const std::string &error) {
  if (isFirst())
    options.complain("step " + std::to_string(step) + ": " + error,
                     "the state, if one is written, is that of an earlier "
                     "step");
  (void)peers->finish();
  return NoPlan;
}

int RankRun::runTraining() {
  int64_t last = options.train->rate.steps;
  if (options.train->until > 0)
    last = std::min(last, options.train->until);
  using Clock = std::chrono::steady_clock;
  while (point.steps < last) {
    TrainLine line;
    double scale = point.scale ? point.scale->scale : 1;
    auto begin = Clock::now();
    StepNumbers next;
    if (std::string error = findShares(point.steps, next); !error.empty())
      return endAt(point.steps + 1, error);
    std::string error = trainStep(next, line);
    if (!error.empty())
      return stop(error, rank->isOwnError());
    line.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    bool isSkipped = point.scale && !std::isfinite(lastGreatest);
    if (point.scale)
      error = point.scale->count(isSkipped);
    if (error.empty() && !std::isfinite(line.loss) && !isSkipped)
      error = "the loss is " + std::to_string(line.loss);
    if (error.empty() && isFirst())
      options.print(
          textOf(line, point, options.train->rate.steps, scale, isClipped));
    if (error.empty())
      if (std::string wrong = evaluate(); !wrong.empty())
        return stop(wrong, rank->isOwnError());
    if (!error.empty())
      return endAt(point.steps, error);
    int64_t every = options.train->saveEvery;
    if (every > 0 && point.steps % every == 0 && point.steps < last)
      if (int code = save(point))
        return code;
  }
  if (std::string error = peers->finish(); !error.empty())
    return stop(error, false);
  return save(point);
}

int RankRun::train() {
  StepError error;
  int code = prepare(error);
  Verdict verdict = agree(waiter, code, error, code ? Fields() : fields(),
                          code ? Fields() : fieldsOfMember(), grid.width);
  if (!verdict.code) {
    code = checkTraining(error);
    verdict = agree(waiter, code, error,
                    {{"steps of the state", std::to_string(point.steps)}});
  }
  if (!verdict.code)
    return runTraining();
  if (isFirst())
    options.complain(verdict.why.what, verdict.why.next);
  return verdict.code;
}
