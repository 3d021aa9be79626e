// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules by name.
#ifndef CUTBACK_SCHEDULE_GENERATE_H
#define CUTBACK_SCHEDULE_GENERATE_H

#include "cutback/Schedule/Schedule.h"

namespace cutback::pipeline {

/// Which stages a rank has.
enum class Mapping : uint8_t {
  Loop, ///< stage s on rank s mod p
  V,    ///< there and back: rank 0 has the first and, of two a rank, the last
};
/// By stage.
std::vector<int> rankOfStage(Mapping mapping, int ranks, int stagesPerRank);

struct Shape {
  int ranks = 1, stagesPerRank = 1, microBatches = 1;
  bool isForwardOnly = false; ///< for evaluation
};

/// GPipe, 1F1B, LoopedBFS, Interleaved1F1B, InterleavedZeroBubble,
/// ZBVZeroBubble, DualPipeV (as PyTorch 2.13 orders them), V-Half, V-Min (the
/// building blocks of arXiv 2405.15362, of which PyTorch has none).
const std::vector<std::string_view> &scheduleNames();
/// A name of these in any case, as spelled there.
std::optional<std::string_view> findScheduleName(std::string_view name);
/// How many stages a rank has unless told otherwise: 1 or 2.
int usualStagesPerRank(std::string_view name);

/// Compute actions only and no bubbles. Nothing, with `error` set, for an
/// unknown name and for sizes that the schedule does not have. Linear.
std::optional<Schedule> generate(std::string_view name, const Shape &shape,
                                 ScheduleError &error);

/// The forwards of `schedule`, in its order.
Schedule forwardOnly(const Schedule &schedule);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_GENERATE_H
