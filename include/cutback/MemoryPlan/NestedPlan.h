// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches of the graphs that a call runs, and the scratch that they need.
#ifndef CUTBACK_MEMORYPLAN_NESTEDPLAN_H
#define CUTBACK_MEMORYPLAN_NESTEDPLAN_H

#include "cutback/Dialect/Joint/Nested.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// One graph of a call.
struct NestedGraphPlan {
  /// Numbers of its ops, as they run: those of a launch behind each other.
  std::vector<uint32_t> order;
  /// As in `joint.launches`.
  std::vector<int32_t> launchSizes;
  std::vector<std::string> schedules; ///< by launch, as it is spelled
  /// By op as it was given, by result: bytes from the beginning of the scratch;
  /// -1 of what has no place of its own.
  std::vector<llvm::SmallVector<int64_t, 1>> offsets;
  /// Calls of graphs among the ops: op as it was given, and where their scratch
  /// is in this one, begin and bytes.
  std::vector<std::pair<uint32_t, std::pair<int64_t, int64_t>>> scratch;
  int64_t bytes = 0;
};

struct NestedPlan {
  std::vector<NestedGraphPlan> graphs;
  /// Each graph has all of it when it runs.
  int64_t scratchBytes = 0;
};

/// Forms launches of the graphs of `op`, at the rates of the default device,
/// and lays out what they make, with the proof of each layout. Nothing for what
/// nobody runs op by op (attention with functions of the scores), or where a
/// size is not known. The same for equal ops. Emits nothing. As much as to form
/// kernels of, and to plan, a step of as many ops.
std::optional<NestedPlan> planNested(joint::NestedOp op);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_NESTEDPLAN_H
