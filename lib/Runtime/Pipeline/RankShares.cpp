// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What micro-batches are of the loss of their step, where that is a mean over
// valid tokens (Runtime/MicroBatches.h); and the loss of what is held out.
//
// One without a valid token has no mean. In a training no rank runs it, as
// `cutback train` does not; in one step its forward runs for its outputs, and
// no gradient. Every rank counts the tokens of all micro-batches itself, so
// all leave out the same ones.
//
// An evaluation is the row of the training's schedule without its backwards, m
// batches at a time, of the last ones as many as are left. Both are over the
// micro-batches of all replicas.

#include "RankRun.h"
#include "Rows.h"

#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace cutback;
using namespace cutback::pipeline;

int RankRun::checkValidTokens(StepError &error) {
  if (!options.valid)
    return Done;
  const std::string &name = options.valid->input;
  const PipelineInput *labels = pipeline::findInput(pipeline, name);
  if (pipeline.lossStage < 0) {
    error = {"'" + options.folder + "' has no loss",
             "--valid-tokens is of a model whose first output is the loss"};
    return WrongInput;
  }
  if (options.groupSize > 1) {
    error = {"--valid-tokens with --group: each rank of a group has a loss of "
             "its own, and tokens of its own",
             "leave it out: each micro-batch counts the same"};
    return WrongUsage;
  }
  if (microBatchesOfStep() == 1) {
    error = {"--valid-tokens has no effect on a step of one micro-batch",
             "give --micro-batches=N, or leave it out"};
    return WrongUsage;
  }
  if (labels && ValidTokens::isCountable(labels->dtype))
    return Done;
  std::string all;
  for (const PipelineStage &stage : pipeline.stages)
    for (const PipelineInput &input : stage.inputs)
      if (ValidTokens::isCountable(input.dtype) &&
          all.find(input.name) == std::string::npos)
        all += (all.empty() ? "" : ", ") + input.name;
  error = {"--valid-tokens: '" + name + "' is " +
               (labels ? "of " + labels->dtype : "no input of the pipeline"),
           all.empty() ? "valid are elements of integers, and no input has any"
                       : "valid are elements of integers: " + all};
  return WrongInput;
}

/// The valid tokens of each micro-batch in a batch of all of them.
std::vector<int64_t> RankRun::countInBatch(const PipelineInput &labels,
                                           int64_t step) const {
  const TensorFiles::Tensor &given = *inputs.find(labels.name);
  ArtifactTensor whole = labels, part = labels;
  whole.sizes = given.entry.sizes;
  const char *bytes = given.bytes;
  if (options.train) {
    whole.sizes.erase(whole.sizes.begin());
    bytes += step % given.entry.sizes[0] * bytesOf(whole);
  }
  int64_t parts = microBatchesOfStep(), dim = labels.splitDim;
  if (dim < 0)
    return std::vector<int64_t>(parts, options.valid->count(whole, bytes));
  int64_t larger = labels.sizes[dim], smaller = larger;
  for (const PipelineStage &stage : pipeline.smaller)
    for (const PipelineInput &input : stage.inputs)
      if (input.name == labels.name)
        smaller = input.sizes[dim];
  auto [outer, slice] = rowsOf(whole.dtype, whole.sizes, dim);
  int64_t rowBytes = whole.sizes[dim] ? slice / whole.sizes[dim] : 0;
  int64_t count = findFirstSmaller();
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < parts; ++i) {
    int64_t begin = elementsBefore(i, count, larger, smaller);
    part.sizes[dim] = elementsBefore(i + 1, count, larger, smaller) - begin;
    std::string own(bytesOf(part), '\0');
    int64_t inner = part.sizes[dim] * rowBytes;
    copyRows(outer, inner, bytes + begin * rowBytes, slice, own.data(), inner);
    counts.push_back(options.valid->count(part, own.data()));
  }
  return counts;
}

std::string RankRun::findShares(int64_t step, StepNumbers &next) {
  if (!options.valid)
    return "";
  const PipelineInput &labels =
      *pipeline::findInput(pipeline, options.valid->input);
  std::vector<int64_t> counts;
  if (!options.train || !pipeline.smaller.empty())
    counts = countInBatch(labels, step);
  std::string own;
  int64_t parts = microBatchesOfStep();
  for (auto i = static_cast<int64_t>(counts.size()); i < parts; ++i)
    counts.push_back(options.valid->count(
        labels, rows->row(labels, step * parts + i, point.seed, own)));
  std::string error = cutback::findShares(*options.valid, counts, next.shares);
  next.extents.clear();
  for (int64_t count : counts)
    next.extents.push_back(count           ? Extent::All
                           : options.train ? Extent::None
                                           : Extent::Forward);
  return error;
}

std::string RankRun::evaluate() {
  const TrainInputOptions &asked = options.train->batches;
  int64_t steps = options.train->rate.steps;
  if (!asked.isDue(point.steps, steps))
    return "";
  auto begin = std::chrono::steady_clock::now();
  int64_t count = std::min(held->count(), asked.evalBatches);
  int64_t parts = microBatchesOfStep();
  std::vector<int> own = schedule.stagesOf(row());
  auto find = [this](const std::string &name) { return held->find(name); };
  double sum = 0;
  for (int64_t first = 0; first < count; first += parts) {
    StepNumbers next;
    next.seed = seedOfMicroBatch(point.seed, first);
    next.keepsBuffers = true;
    for (int64_t i = 0; i < parts; ++i)
      next.extents.push_back(first + i < count ? Extent::Forward
                                               : Extent::None);
    rank->setNumbers(next);
    held->take(own, first + firstMicroBatch(), schedule.microBatches,
               point.seed);
    if (std::string error = rank->step(find); !error.empty())
      return error;
    for (int64_t i = 0; i < parts && first + i < count; ++i)
      if (!rank->losses().empty())
        sum += lossOf(i);
  }
  double mean = sum / static_cast<double>(count);
  int root = schedule.rankOfStage[pipeline.lossStage];
  std::string error =
      broadcast(*peers, root, reinterpret_cast<char *>(&mean), sizeof mean);
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  char text[96], last[48];
  std::snprintf(text, sizeof text, "eval %lld/%lld  loss %.9g  ",
                static_cast<long long>(point.steps),
                static_cast<long long>(steps), mean);
  std::snprintf(last, sizeof last, "  %.1f ms", time.count());
  if (error.empty() && isFirst())
    options.print(text + formatCount(count, "batch", "batches") + last);
  return error;
}
