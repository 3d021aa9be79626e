// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to the folder of its stages.
#ifndef CUTBACK_TOOLS_CUTBACK_SPLITPROGRAM_H
#define CUTBACK_TOOLS_CUTBACK_SPLITPROGRAM_H

#include "TargetFiles.h"

#include "cutback/Pipelining/DescribeStage.h"
#include "cutback/Pipelining/StageChoice.h"
#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"
#include "cutback/Training/Optimizer.h"

namespace cutback {

/// What the command line of `split` asks for.
struct SplitRequest {
  PartitionOptions partition;
  TrainingGraphOptions gradients;
  StageChoice choice;
  /// By input, where it is not 0; -1: each micro-batch has all of it.
  std::map<std::string, int64_t> splitDims;
  MergeRules merges; ///< of outputs, where they are asked for
  /// One backward a stage, planned as such; else input and weight gradients
  /// can run apart too.
  bool isWhole = false;
  /// Bytes that no rank may be over, and under which schedule; without a
  /// schedule, the one with the shortest makespan.
  std::optional<int64_t> memoryLimit;
  std::optional<std::string> schedule;
  std::optional<int> ranks, microBatches;
  /// The rows of a batch, at least `microBatches`, which are its parts; without
  /// it a micro-batch has the sizes of the program.
  std::optional<int64_t> batch;
  std::optional<Optimizer> optimizer;    ///< stages get their updates
  std::optional<std::string> lossOutput; ///< as written
  /// Of ops that name one, by stage, or one for all; empty: as exported.
  std::vector<std::string> devices;
  bool isBytecode = false; ///< graphs of stages and phases, else text
  TargetChoice target;     ///< "reference": no machine code
};

/// The options of `split` that are no plan's.
std::vector<OptionSpec> splitOptions();
/// Reads them. Exit code.
int readSplitRequest(Session &session, SplitRequest &request);

/// A model that is split: what is written, and what is said of it.
struct SplitProgram {
  Pipeline pipeline;
  std::vector<TextFile> files;
  /// With a limit: the schedule that was planned for, peaks of its ranks, and
  /// by stage what a byte is worth, as a multiple.
  std::string schedule;
  std::vector<int64_t> peaks;
  std::vector<double> prices;
  double makespanPs = 0;
  /// Of the best of one price for all stages, if one is within the limit.
  std::optional<double> alikePs;
  /// With --batch.
  std::optional<BatchSplit> batch;
};

/// Cuts, differentiates, plans and compiles. Exit code.
int splitModel(Session &session, ImportedModule &imported,
               const SplitRequest &request, SplitProgram &program);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_SPLITPROGRAM_H
