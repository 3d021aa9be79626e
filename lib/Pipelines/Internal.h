// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of this folder: the step from a solved problem to the
// figures of a report.
#ifndef CUTBACK_LIB_PIPELINES_INTERNAL_H
#define CUTBACK_LIB_PIPELINES_INTERNAL_H

#include "cutback/Analysis/Roofline.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Partition/FxView.h"
#include "cutback/Partition/RooflineProblem.h"
#include "cutback/Partition/TorchProblem.h"
#include "cutback/Pipelines/WhatIf.h"

#include <chrono>

namespace cutback {

/// Adds the time until its end to a counter, in seconds.
class PhaseTimer {
public:
  explicit PhaseTimer(double &seconds)
      : seconds(seconds), start(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }

private:
  double &seconds;
  std::chrono::steady_clock::time_point start;
};

/// By argument: it outlives the step and costs nothing under the rules.
std::vector<uint8_t> freeArguments(joint::GraphOp graph,
                                   const FreeParameters &free);

TorchRulesOptions torchOptions(joint::GraphOp graph,
                               const PartitionOptions &options);

/// Writes the network that was solved to `options.dumpNetwork`, in the form of
/// the reference networks: names, and arcs [from, to, capacity], -1 infinite.
mlir::LogicalResult
dumpNetwork(joint::GraphOp graph, const PartitionOptions &options,
            const FlowNetwork &network,
            llvm::function_ref<std::string(uint32_t)> nodeName,
            uint32_t numNodes, bool isInOut);

/// Schedules the backward of `result.partition` and plans the memory of the
/// step into `result.memory`; the order of `result.halves` follows. Where a
/// size is not known nothing changes, and `result.memoryProblem` says why. A
/// plan that is not proved is an error.
mlir::LogicalResult planArena(joint::GraphOp graph, PartitionResult &result);

/// Bytes that the forward of `result.partition` needs at one moment, saved
/// values among them: no arena of the step is smaller. 0 where a size is not
/// known.
int64_t forwardBytes(joint::GraphOp graph, const PartitionResult &result);

/// PyTorch's decision under these options: its rules of 2.13.
PartitionOptions torchDecision(PartitionOptions options);

/// Prepares `graph`, as PyTorch does if `asTorch`, and plans it.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
prepareAndPlan(joint::GraphOp graph, const PartitionOptions &options,
               bool asTorch);

/// `planStep` for time.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planForTime(joint::GraphOp graph, const PartitionOptions &options);

/// Bytes that the step needs at one moment: its arena, or where there is no
/// `memory` the peak op by op.
int64_t peakBytes(const std::optional<MemoryPlan> &memory,
                  const GraphView &view, const ValueSizes &sizes,
                  const Halves &halves);

inline constexpr VertexId kNoVertex = ~VertexId(0);

/// Adds a forced choice to a finished network: `before` is the vertex of what
/// computes the value, `after` the vertex of the value; kNoVertex where the
/// network has none, which is an error at the graph.
mlir::LogicalResult forceChoice(joint::GraphOp graph, FlowNetwork &network,
                                const ForcedChoice &choice, VertexId before,
                                VertexId after);

/// partitionGraph(), with a forced choice or none.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
partitionWith(joint::GraphOp graph, const PartitionOptions &options,
              PreparedGraph prepared, const ForcedChoice *choice);

/// Fills the figures of a result from view, plan, halves and sizes.
void summarize(PartitionResult &result, const ValueSizes &sizes,
               const RooflineCosts *costs,
               const std::vector<OpPolicy> &policies, const TorchProblem *torch,
               const FxView *fx);

/// One remark for every saved value and every recomputed op.
void emitRemarks(const PartitionResult &result);

} // namespace cutback

#endif // CUTBACK_LIB_PIPELINES_INTERNAL_H
