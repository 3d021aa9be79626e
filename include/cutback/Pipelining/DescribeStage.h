// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage as the manifest of a pipeline has it.
#ifndef CUTBACK_PIPELINING_DESCRIBESTAGE_H
#define CUTBACK_PIPELINING_DESCRIBESTAGE_H

#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Pipelining/MergeRules.h"
#include "cutback/Pipelining/PhaseGraphs.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

#include <functional>

namespace cutback {

/// What a manifest says that stages do not know.
struct StageFacts {
  std::string loss = "loss"; ///< the result that is the loss
  /// By input, where it is not 0; -1: each micro-batch has all of it.
  std::map<std::string, int64_t> splitDims;
  /// How outputs merge; of one that is not there numbers are means, or equal,
  /// and others joined along dimension 0.
  MergeRules merges;
  /// Other names of a parameter's tensor in the model ("wte.weight"); may be
  /// null.
  std::function<std::vector<std::string>(llvm::StringRef name)> tiedNames;
};

/// Stage `number` of `program`, which has been differentiated: what it
/// receives, sends, takes and makes. Without phases. Linear.
PipelineStage describeStage(const CutProgram &program, unsigned number,
                            const StageFacts &facts);

/// Adds to `stage` what its phases keep for each other.
void describeSaved(const std::vector<PhaseGraph> &phases, PipelineStage &stage);

/// Whether stage `number` makes the result called `name`.
bool makesResult(const CutProgram &program, unsigned number,
                 llvm::StringRef name);

} // namespace cutback

#endif // CUTBACK_PIPELINING_DESCRIBESTAGE_H
