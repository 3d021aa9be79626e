// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rank keeps of one of its stages.
#ifndef CUTBACK_LIB_RUNTIME_PIPELINE_RANKSTAGE_H
#define CUTBACK_LIB_RUNTIME_PIPELINE_RANKSTAGE_H

#include "Rows.h"

#include "cutback/Runtime/Pipeline/Rank.h"

namespace cutback::pipeline {

/// Whether a stage makes a gradient of a parameter that it has.
inline bool hasGradient(const PipelineStage &stage, const std::string &name) {
  for (const PipelineParameter &one : stage.parameters)
    if (one.name == name)
      return !one.gradient.empty();
  return false;
}

struct Rank::MicroBatch {
  std::vector<BlockRef> slots; ///< by slot; null where nothing is kept
  bool hasTangents = false;
};

/// What a stage has for micro-batches of one size.
struct Rank::SizedStage {
  const PipelineStage *of = nullptr;
  StagePhases runners;
  StagePlan plan;
};

/// What it is for the larger size holds of both where no size is in it.
struct Rank::Stage : SizedStage {
  int number = 0;
  std::unique_ptr<SizedStage> smaller; ///< where a micro-batch is smaller
  bool isWhole = false;                ///< its backward is not split
  /// By micro-batch; its mode is known from the schedule.
  std::vector<Mode> modes;
  std::map<int, MicroBatch> open;
  std::vector<char *> kept;      ///< as StagePlan::kept
  std::vector<BlockRef> sums;    ///< by parameter; null until there is one
  std::vector<BlockRef> outputs; ///< merged; null until there is one
  std::vector<std::vector<int64_t>> outputSizes; ///< of all micro-batches
};

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_RUNTIME_PIPELINE_RANKSTAGE_H
