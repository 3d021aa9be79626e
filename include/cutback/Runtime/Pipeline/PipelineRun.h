// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of a pipeline over its ranks: what `cutback-run P` does.
#ifndef CUTBACK_RUNTIME_PIPELINE_PIPELINERUN_H
#define CUTBACK_RUNTIME_PIPELINE_PIPELINERUN_H

#include "cutback/Runtime/MicroBatches.h"
#include "cutback/Runtime/Pipeline/Rank.h"
#include "cutback/Runtime/TrainInputs.h"
#include "cutback/Support/LearningRate.h"
#include "cutback/Support/LossScale.h"

#include <functional>
#include <memory>
#include <string>

namespace cutback::pipeline {

/// A training in place of a step.
struct PipelineTrainOptions {
  TrainInputOptions batches; ///< besides PipelineRunOptions::inputs
  LearningRate rate;         ///< with the number of steps
  int64_t until = 0;         ///< step to stop after; 0: the last
  /// As asked for; the update decides whether there is one.
  std::optional<LossScale> scale;
  /// A safetensors file to go on from, if it is there, and to write; empty:
  /// none.
  std::string state;
  int64_t saveEvery = 0; ///< steps; 0: after the last one
};

struct PipelineRunOptions {
  std::string folder;
  std::string schedule = "1F1B"; ///< a name, or a path of a .csv file
  int microBatches = 1;
  bool isForwardOnly = false;
  std::string inputs, weights, outputs, trace, times; ///< paths; empty: none
  /// Steps, each from the same inputs; trace and times are those of
  /// chooseStep().
  int repeat = 1;
  double timeoutSeconds = 600;
  int64_t seed = 0;
  unsigned threads = 1; ///< of each rank
  /// What losses of micro-batches are means over; nothing: each is 1 / m.
  std::optional<ValidTokens> valid;
  std::optional<PipelineTrainOptions> train;
  /// Ranks of a pipeline as threads of this process; 0: as mpirun started it.
  int ranks = 0;
  /// Copies of the pipeline, each on ranks of its own. Of the batch, which has
  /// `replicas` times `microBatches` parts, each runs its part.
  int replicas = 1;
  /// The group of collectives in stages, and how many ranks run each row
  /// together in it: consecutive ones, which all have files of their own where
  /// a path has kMember in it.
  std::string group;
  int groupSize = 1;
  /// "openmpi", "mpich"; empty: what the environment says.
  std::string mpi;
  /// Values between stages go over NCCL, all else as without.
  bool usesNccl = false;
  /// Who opens a phase in its folder, for pipelines that are not for machine
  /// code; null: openPhase().
  std::function<std::unique_ptr<PhaseRunner>(
      const std::string &folder, const PipelinePhase &phase, StepError &error)>
      openFolder;
  /// Says a line to the user; of errors with the next step. One rank says it.
  std::function<void(const std::string &line)> print;
  std::function<void(const std::string &what, const std::string &next)>
      complain;
};

/// In paths of files: the number of a rank in its group.
inline constexpr const char *kMember = "%g";

/// Whether there is a pipeline in `folder`.
bool isPipelineFolder(const std::string &folder);

/// The schedule of `options` for a pipeline on `ranks`, checked. Nothing, with
/// `error` set, if there is none.
std::optional<Schedule> makeSchedule(const PipelineRunOptions &options,
                                     const Pipeline &pipeline, int ranks,
                                     StepError &error);

/// Runs a step on all ranks, prints the loss, writes results. Exit code.
int runPipeline(const PipelineRunOptions &options);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_PIPELINERUN_H
