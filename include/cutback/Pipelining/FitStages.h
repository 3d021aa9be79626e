// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much each stage recomputes, so that no rank of a schedule is over its
// memory. Numbers alone, no IR.
#ifndef CUTBACK_PIPELINING_FITSTAGES_H
#define CUTBACK_PIPELINING_FITSTAGES_H

#include "cutback/Schedule/Simulate.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// The plans that stages can have: `levels` of them each, from the one that
/// keeps the most on.
struct StageLevels {
  unsigned stages = 0, levels = 0;
  /// What a stage costs at a level; null if it has no such plan. Asked for only
  /// where it matters, maybe several times.
  llvm::function_ref<const pipeline::StageCosts *(unsigned stage,
                                                  unsigned level)>
      costsOf;
  std::vector<pipeline::Crossing> crossings;
  pipeline::Link link;
};

struct FittedStages {
  std::vector<unsigned> levels; ///< by stage
  pipeline::Simulation simulation;
};

/// Levels under which no rank of `schedule` has a peak over `limit` bytes:
///   1. while a rank is over it, the stage of that rank whose next level frees
///      the most there goes one level up
///   2. each stage goes back as far as all ranks still fit and the makespan is
///      no longer
///   3. fitAlike(), if its makespan is shorter
/// So the makespan is never longer than with one level for all. Nothing, with
/// why in `error`, where ranks are over the limit at all levels; then `error`
/// has the least peak that was found. About stages · levels simulations.
std::optional<FittedStages> fitStages(const StageLevels &stages,
                                      const pipeline::Schedule &schedule,
                                      int64_t limit, std::string &error);

/// Of equal levels for all stages those with the shortest makespan whose ranks
/// are within `limit` bytes; nothing where none is.
std::optional<FittedStages> fitAlike(const StageLevels &stages,
                                     const pipeline::Schedule &schedule,
                                     int64_t limit);

} // namespace cutback

#endif // CUTBACK_PIPELINING_FITSTAGES_H
