// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory plan of a step: where in one arena each value of the forward and
// the backward lies, and from when to when.
#ifndef CUTBACK_MEMORYPLAN_MEMORYPLAN_H
#define CUTBACK_MEMORYPLAN_MEMORYPLAN_H

#include "cutback/MemoryPlan/StepMemory.h"

#include "llvm/Support/JSON.h"

namespace cutback {

struct MemoryPlanOptions {
  ArenaOptions arena;
  StepMemoryOptions memory;
  /// Bound of the search for an order, in ops looked at. `planMemory` takes the
  /// order as it is; who schedules looks at this.
  uint64_t scheduleWork = 20'000'000;
  llvm::StringMap<int64_t> symbols; ///< sizes, over the hints of the graph
};

/// A storage in the arena.
struct PlannedStorage {
  StorageUse use = StorageUse::Outside;
  int64_t offset = 0, bytes = 0;
  uint32_t begin = 0, end = 0;          ///< ops begin … end-1
  uint32_t inPlaceOf = StepView::kNone; ///< storage
};

/// The op at which most bytes are live, and what they are.
struct PlannedPeak {
  /// Live bytes, each storage rounded up to the alignment: the lower bound of
  /// the arena.
  int64_t bytes = 0;
  uint32_t op = 0;
  bool inBackward = false;
  std::string at; ///< name of the op's first result
  int64_t saved = 0, results = 0, gradients = 0, temporaries = 0;
};

struct MemoryPlan {
  StepView program;
  int64_t alignment = 64;
  std::vector<PlannedStorage> storages; ///< by storage of the program
  ArenaLayout layout;                   ///< by buffer
  std::vector<StorageRange> liveRanges; ///< by storage of the program
  PlannedPeak peak;
  /// Proved: the lower bound holds for every order of the backward.
  bool isLeastOrder = false;

  int64_t arenaBytes() const { return layout.bytes; }
  int64_t lowerBound() const { return layout.lowerBound; }

  /// The object "memory" of plan.json: arena, lower bound, peak, and each
  /// storage with name, place and live range. Deterministic.
  void writeJson(llvm::json::OStream &json) const;
};

/// Plans a step, and proves the plan. Fails with an error at an op if the step
/// cannot be planned. O(n log n) plus `options.arena.work`.
mlir::FailureOr<MemoryPlan> planMemory(StepView program,
                                       const MemoryPlanOptions &options = {});

/// The two halves of `planMemory`: a plan that nobody may run yet, and the
/// proof that makes it one. `options` are the same, and `memory` is of
/// `program` with them.
mlir::FailureOr<MemoryPlan> layoutMemory(StepView &&program,
                                         const StepMemory &memory,
                                         const MemoryPlanOptions &options);
mlir::LogicalResult proveMemory(const MemoryPlan &plan,
                                const MemoryPlanOptions &options);

/// Plans the step of a partition. `graph` may be null. `unknown`: as in
/// StepView::ofPartition.
mlir::FailureOr<MemoryPlan>
planMemory(joint::PartitionOp partition, joint::GraphOp graph,
           const MemoryPlanOptions &options = {},
           UnknownSizes unknown = UnknownSizes::AreErrors);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_MEMORYPLAN_H
