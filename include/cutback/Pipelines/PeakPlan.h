// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partition chosen by what it needs at its peak.
#ifndef CUTBACK_PIPELINES_PEAKPLAN_H
#define CUTBACK_PIPELINES_PEAKPLAN_H

#include "cutback/MemoryPlan/MemoryPlan.h"
#include "cutback/Pipelines/PartitionPipeline.h"

namespace cutback {

/// A partition with its backward scheduled and its memory planned.
struct PeakPlan {
  std::unique_ptr<PartitionResult> result;
  MemoryPlan memory;
  /// The options that the partition was made with: those that were asked for,
  /// or others that need less memory.
  PartitionOptions options;
};

/// Partitions a prepared graph, schedules the backward and plans the memory.
mlir::FailureOr<PeakPlan> planStep(joint::GraphOp graph,
                                   const PartitionOptions &options,
                                   const MemoryPlanOptions &memory = {});

/// Prepares a graph and does the same; but where the minimum cut of the
/// roofline needs a larger arena than PyTorch's decision (its rules of 2.13)
/// does, the price of a saved byte is raised step by step until it does not; if
/// no price does it, PyTorch's decision is taken. Other strategies, cost models
/// and prices are taken as asked for. Costs two plans more than planStep, at
/// most fourteen.
mlir::FailureOr<PeakPlan> planForPeak(joint::GraphOp graph,
                                      const PartitionOptions &options,
                                      const MemoryPlanOptions &memory = {});

} // namespace cutback

#endif // CUTBACK_PIPELINES_PEAKPLAN_H
