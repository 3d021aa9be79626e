// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of a training over ranks: those of `cutback train`, where batch b is
// row b of each tensor, from the first again after the last, and of tokens the
// b-th windows. Each rank reads what its own stages take; files are mapped, so
// it loads no more than that.
//
// A step takes its micro-batches as one tensor, along the dimension that is
// split: they are copied there, which is linear in what a step reads.

#include "cutback/Runtime/Pipeline/TrainRows.h"

#include "Rows.h"

#include "cutback/Runtime/Arguments.h"
#include "cutback/Support/ExitCode.h"

#include <algorithm>
#include <set>

using namespace cutback;
using namespace cutback::pipeline;

const PipelineInput *pipeline::findInput(const Pipeline &pipeline,
                                         const std::string &name) {
  for (const PipelineStage &stage : pipeline.stages)
    for (const PipelineInput &input : stage.inputs)
      if (input.name == name)
        return &input;
  return nullptr;
}

/// Whether the file has the tensor as a training takes it, or it takes tokens.
bool TrainRows::hasRows(int stage, size_t number) const {
  const PipelineInput &input = pipeline.stages[stage].inputs[number];
  if (tokens && tokens->find(input.name))
    return true;
  const TensorFiles::Tensor *given = files.find(input.name);
  if (!given || typeOfFileType(given->entry.dtype) != input.dtype)
    return false;
  const std::vector<int64_t> &sizes = given->entry.sizes;
  if (input.splitDim < 0)
    return sizes == input.sizes;
  return !sizes.empty() && sizes[0] > 0 &&
         std::vector<int64_t>(sizes.begin() + 1, sizes.end()) ==
             (isOfStep() ? sizesOfBatch(stage, number) : input.sizes);
}

int TrainRows::open(const std::vector<int> &stages,
                    const TrainInputOptions &options, bool isHeld,
                    StepError &error) {
  std::vector<StepInput> inputs;
  std::set<std::string> seen;
  for (const PipelineStage &stage : pipeline.stages)
    for (const PipelineInput &input : stage.inputs)
      if (input.splitDim >= 0 && seen.insert(input.name).second)
        static_cast<ArtifactTensor &>(inputs.emplace_back()) = input;
  // As the model has them: that is how the options are told apart.
  std::sort(inputs.begin(), inputs.end(),
            [](const StepInput &a, const StepInput &b) {
              return std::pair(a.name.size(), a.name) <
                     std::pair(b.name.size(), b.name);
            });
  auto isInFile = [&](const std::string &name) {
    return files.find(name) != nullptr;
  };
  if (int code = openTokens(options, isHeld, inputs, isInFile, tokens, error))
    return code;
  for (int number : stages)
    for (size_t i = 0; i < pipeline.stages[number].inputs.size(); ++i) {
      const PipelineInput &input = pipeline.stages[number].inputs[i];
      if (hasRows(number, i))
        continue;
      error = {std::string(isHeld ? "--eval-inputs" : "--inputs") +
                   " has no '" + input.name + "' for a training",
               input.splitDim < 0
                   ? "it is the same for each micro-batch: give it as one "
                     "micro-batch takes it"
               : isOfStep()
                   ? "give the batch of a step, in micro-batches for which the "
                     "model was split, with one dimension more before the "
                     "others: a row each"
                   : "give it as one micro-batch takes it, with one dimension "
                     "more before the others: a row each"};
      return WrongInput;
    }
  std::vector<std::pair<std::string, int64_t>> rows;
  for (const StepInput &input : inputs)
    if (const TensorFiles::Tensor *given = files.find(input.name);
        given && !given->entry.sizes.empty())
      rows.emplace_back(input.name, given->entry.sizes[0]);
  return checkRowCounts(isHeld ? "--eval-inputs" : "--inputs", rows, error);
}

std::vector<std::string> TrainRows::names() const {
  std::set<std::string> sorted;
  for (const auto &[name, tensor] : files.all())
    if (isInputName(name))
      sorted.insert(name);
  if (tokens)
    for (const TokenInput &input : tokens->inputs())
      sorted.insert(input.name);
  return {sorted.begin(), sorted.end()};
}

int64_t TrainRows::count() const {
  int64_t least = tokens ? tokens->numBatches() : INT64_MAX;
  for (const std::string &name : names()) {
    const PipelineInput *input = findInput(pipeline, name);
    const TensorFiles::Tensor *given = files.find(name);
    if (given && !given->entry.sizes.empty() &&
        (!input || input->splitDim >= 0))
      least = std::min(least, given->entry.sizes[0]);
  }
  return least == INT64_MAX ? 0 : least;
}

const char *TrainRows::row(const PipelineInput &input, int64_t batch,
                           int64_t seed, std::string &own) {
  if (const TensorFiles::Tensor *given = files.find(input.name)) {
    int64_t number = input.splitDim < 0 ? 0 : batch % given->entry.sizes[0];
    return given->bytes + number * bytesOf(input);
  }
  own.resize(bytesOf(input));
  tokens->read(*tokens->find(input.name), batch, seed, own.data());
  return own.data();
}

/// The batch of a step, as the file has it.
void TrainRows::takeBatch(const PipelineInput &input, int64_t step) {
  const TensorFiles::Tensor &given = *files.find(input.name);
  GivenTensor &one = taken[input.name];
  one.sizes.assign(given.entry.sizes.begin() + 1, given.entry.sizes.end());
  one.bytes = given.bytes + step % given.entry.sizes[0] * bytesOf(one);
}

void TrainRows::take(const std::vector<int> &stages, int64_t first,
                     int64_t count, int64_t seed) {
  std::string own;
  for (int number : stages)
    for (const PipelineInput &input : pipeline.stages[number].inputs) {
      GivenTensor &one = taken[input.name];
      static_cast<ArtifactTensor &>(one) = input;
      if (input.splitDim < 0) {
        one.bytes = row(input, 0, seed, own);
        continue;
      }
      if (isOfStep()) {
        takeBatch(input, first / count);
        continue;
      }
      auto [outer, inner] = rowsOf(input.dtype, input.sizes, input.splitDim);
      std::string &joined = bytes[input.name];
      joined.resize(bytesOf(input) * count);
      for (int64_t i = 0; i < count; ++i)
        copyRows(outer, inner, row(input, first + i, seed, own), inner,
                 joined.data() + i * inner, count * inner);
      one.sizes[input.splitDim] *= count;
      one.bytes = joined.data();
    }
}

std::optional<GivenTensor> TrainRows::find(const std::string &name) const {
  auto found = taken.find(name);
  return found == taken.end() ? std::nullopt : std::optional(found->second);
}
