// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of a training over ranks: rows of a file of tensors, and windows of a
// file of tokens.
#ifndef CUTBACK_RUNTIME_PIPELINE_TRAINROWS_H
#define CUTBACK_RUNTIME_PIPELINE_TRAINROWS_H

#include "cutback/Runtime/Pipeline/Rank.h"
#include "cutback/Runtime/TensorFiles.h"
#include "cutback/Runtime/TrainInputs.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cutback::pipeline {

/// The input of that name, of whichever stage takes it; null for none.
const PipelineInput *findInput(const Pipeline &pipeline,
                               const std::string &name);

class TrainRows {
public:
  /// Both outlive it. Of a pipeline for two sizes of a micro-batch a row is the
  /// batch of a step, and `sizesOfBatch` says its sizes.
  using SizesOfBatch =
      std::function<std::vector<int64_t>(int stage, size_t input)>;
  TrainRows(const Pipeline &pipeline, const TensorFiles &files,
            SizesOfBatch sizesOfBatch = nullptr)
      : pipeline(pipeline), files(files),
        sizesOfBatch(std::move(sizesOfBatch)) {}

  /// Opens the tokens, and checks that there is what `stages` take: tensors
  /// with one dimension more, but for inputs that are the same for each
  /// micro-batch. Exit code; `error` is set.
  int open(const std::vector<int> &stages, const TrainInputOptions &options,
           bool isHeld, StepError &error);

  /// Inputs that it has, sorted.
  std::vector<std::string> names() const;
  /// Batches until one is seen for the second time.
  int64_t count() const;

  /// The elements of an input in batch number `batch`, from 0 on; in `own`
  /// where the file does not have them.
  const char *row(const PipelineInput &input, int64_t batch, int64_t seed,
                  std::string &own);
  /// Puts batches from number `first` on side by side, `count` of them, as a
  /// step of so many micro-batches takes them: for find(). The inputs of
  /// `stages` alone.
  void take(const std::vector<int> &stages, int64_t first, int64_t count,
            int64_t seed);
  std::optional<GivenTensor> find(const std::string &name) const;

  /// Of the file of tokens; empty without one.
  std::string_view tokenBytes() const {
    return tokens ? tokens->bytes() : std::string_view();
  }

private:
  bool hasRows(int stage, size_t input) const;
  bool isOfStep() const { return !pipeline.smaller.empty(); }
  void takeBatch(const PipelineInput &input, int64_t step);

  const Pipeline &pipeline;
  const TensorFiles &files;
  SizesOfBatch sizesOfBatch;
  std::optional<TokenBatches> tokens;
  std::map<std::string, GivenTensor> taken; ///< by name
  std::map<std::string, std::string> bytes;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_TRAINROWS_H
