// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training over ranks. A step is
//
//   1. its rows of --inputs: micro-batch i of step k of m (of all replicas) has
//      row k * m + i, and draws with the seed plus that number. Of a pipeline
//      for two sizes of a micro-batch a row is all of the batch of step k
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
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/SafeFile.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <unistd.h>

using namespace cutback;
using namespace cutback::pipeline;

static constexpr const char *kSteps = "training.steps";
static constexpr const char *kSeed = "training.seed";
static constexpr const char *kScale = "training.loss_scale";
static constexpr const char *kGood = "training.good_steps";
static constexpr const char *kSkipped = "training.skipped_steps";

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Checks the tensors of --inputs, which have a row a micro-batch of a step, or
/// a row a step.
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
  for (int number : schedule.stagesOf(row()))
    for (size_t i = 0; i < pipeline.stages[number].inputs.size(); ++i) {
      const PipelineInput &input = pipeline.stages[number].inputs[i];
      const TensorFiles::Tensor *given = inputs.find(input.name);
      bool isOfStep = !pipeline.smaller.empty();
      std::vector<int64_t> sizes =
          given ? given->entry.sizes : std::vector<int64_t>();
      if (given && input.splitDim < 0 && sizes == input.sizes)
        continue;
      bool hasRows =
          !sizes.empty() && sizes[0] > 0 &&
          std::vector<int64_t>(sizes.begin() + 1, sizes.end()) ==
              (isOfStep ? rank->sizesOfBatch(number, i) : input.sizes);
      if (hasRows && input.splitDim >= 0)
        continue;
      error = {"--inputs has no '" + input.name + "' for a training",
               input.splitDim < 0
                   ? "it is the same for each micro-batch: give it as one "
                     "micro-batch takes it"
               : isOfStep
                   ? "give the batch of a step, in micro-batches for which the "
                     "model was split, with one dimension more before the "
                     "others: a row each"
                   : "give it as one micro-batch takes it, with one dimension "
                     "more before the others: a row each"};
      return WrongInput;
    }
  return Done;
}

/// The inputs of a step, micro-batches side by side as a step takes them.
void RankRun::takeRows(int64_t step) {
  for (int number : schedule.stagesOf(row()))
    for (const PipelineInput &input : pipeline.stages[number].inputs) {
      const TensorFiles::Tensor &given = *inputs.find(input.name);
      GivenTensor &taken = rows[input.name];
      static_cast<ArtifactTensor &>(taken) = input;
      taken.bytes = given.bytes;
      if (input.splitDim < 0)
        continue;
      if (!pipeline.smaller.empty()) {
        taken.sizes.assign(given.entry.sizes.begin() + 1,
                           given.entry.sizes.end());
        taken.bytes += step % given.entry.sizes[0] * bytesOf(taken);
        continue;
      }
      int64_t count = schedule.microBatches, all = given.entry.sizes[0];
      int64_t first = step * microBatchesOfStep() + replica() * count;
      int64_t bytes = bytesOf(input), outer = 1;
      for (int64_t dim = 0; dim < input.splitDim; ++dim)
        outer *= input.sizes[dim];
      int64_t inner = outer ? bytes / outer : 0;
      std::string &joined = rowBytes[input.name];
      joined.resize(bytes * count);
      for (int64_t i = 0; i < count; ++i) {
        const char *row = given.bytes + (first + i) % all * bytes;
        for (int64_t o = 0; o < outer; ++o)
          std::memcpy(joined.data() + (o * count + i) * inner, row + o * inner,
                      inner);
      }
      taken.sizes[input.splitDim] *= count;
      taken.bytes = joined.data();
    }
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

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
std::string RankRun::trainStep(TrainedPoint &point, TrainLine &line) {
  double scale = point.scale ? point.scale->scale : 1;
  line.rate = options.train->rate.at(point.steps);
  rank->setNumbers(
      seedOfMicroBatch(point.seed, point.steps * microBatchesOfStep()), scale);
  takeRows(point.steps);
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
  if (point.scale) {
    double stored = 0;
    if (!readNumber(file, kScale, stored) ||
        !readNumber(file, kGood, point.scale->good) ||
        !readNumber(file, kSkipped, point.scale->skipped) || !(stored > 0))
      return refuse("it has no scale of the loss");
    if (point.scale->isDynamic)
      point.scale->scale = std::min(stored, point.scale->greatest);
  }
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
      return refuse("it has '" + name + "'");
  }
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
    point.scale->limit(greatest);
  }
  return restore(point, error);
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
    std::string error = trainStep(point, line);
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
    if (!error.empty()) {
      if (isFirst())
        options.complain("step " + std::to_string(point.steps) + ": " + error,
                         "the state, if one is written, is that of an earlier "
                         "step");
      (void)peers->finish();
      return NoPlan;
    }
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
