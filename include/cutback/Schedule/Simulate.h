// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a schedule's actions run, and what memory its ranks need.
#ifndef CUTBACK_SCHEDULE_SIMULATE_H
#define CUTBACK_SCHEDULE_SIMULATE_H

#include "cutback/Schedule/Schedule.h"

#include <array>

namespace cutback::pipeline {

/// Values that a stage makes and a later one uses, of one micro-batch.
struct Crossing {
  int from = 0, to = 0;
  int64_t bytes = 0;         ///< of the values
  bool hasGradient = true;   ///< some value is of a floating type
  int64_t gradientBytes = 0; ///< of what comes back
};
/// Each stage to the next.
std::vector<Crossing> chainOf(int stages);

/// One time unit of a simulation without a model: a microsecond.
inline constexpr int64_t kUnitPicoseconds = 1000000;

/// A stage, for one micro-batch.
struct StageCosts {
  /// Picoseconds.
  int64_t forward = kUnitPicoseconds, inputGradients = kUnitPicoseconds,
          weightGradients = kUnitPicoseconds, backward = 2 * kUnitPicoseconds;
  /// Bytes kept from F to I (or B), from I to W, and of both the same: kept
  /// from F to W.
  int64_t untilInputs = 0, untilWeights = 0, throughout = 0;
  /// Bytes of the arena while F, B, I or W runs.
  std::array<int64_t, 4> arena{};
  /// And while the optimizer's step runs, after the last micro-batch.
  int64_t updateArena = 0;
  /// Bytes that stay: parameters, buffers, sums of gradients.
  int64_t kept = 0;

  /// Of a compute action that is no overlap.
  int64_t time(ActionKind kind) const;
};

/// What all ranks send over, each pair in its own direction.
struct Link {
  int64_t latency = 0;       ///< picoseconds
  double bytesPerSecond = 0; ///< 0: no limit
  /// Picoseconds that `bytes` occupy it.
  int64_t occupied(int64_t bytes) const;
};

struct Costs {
  std::vector<StageCosts> stages;  ///< by stage
  std::vector<Crossing> crossings; ///< from < to, each pair once
  Link link;
};
/// Equal times, no bytes, and a chain.
Costs equalCosts(int stages);

/// A compute action of a rank; the parts of an overlap run one after another.
struct Placed {
  int step = 0; ///< in the rank's row
  Action action;
  int64_t start = 0, end = 0; ///< picoseconds
};

struct MemoryPoint {
  int64_t time = 0, bytes = 0; ///< from that time on
};

struct RankResult {
  std::vector<Placed> actions;
  int64_t busy = 0;       ///< picoseconds
  int64_t bubble = 0;     ///< makespan - busy
  int64_t peakBytes = 0;  ///< of all that follows
  int64_t keptBytes = 0;  ///< parameters and such
  int64_t arenaBytes = 0; ///< the largest of its phases
  int64_t slotBytes = 0;  ///< most of slots and of what is sent, at a time
  int inFlight = 0;       ///< most micro-batches, counted by stage
  int stages = 0;         ///< that the rank has
  std::vector<MemoryPoint> memory; ///< ascending times

  /// In micro-batches of the whole rank.
  double inFlightOfRank() const {
    return stages == 0 ? 0 : static_cast<double>(inFlight) / stages;
  }
};

struct Simulation {
  int64_t makespan = 0; ///< picoseconds
  std::vector<RankResult> ranks;

  int64_t largestBubble() const;
  int64_t peakBytes() const;
  double inFlightOfRank() const; ///< the largest
};

/// Runs the compute actions of `schedule`, which must pass checkActions():
/// sends begin as soon as a value is made, receives wait from the beginning,
/// both beside compute. A link carries one message at a time.
///
/// Memory of a rank: the F→I slots of a stage from the start of F to the end of
/// I or B, the I→W slots from the start of I to the end of W; what is received
/// from the start of the transfer to the end of the action that takes it, what
/// is sent until the transfer ends; on top the largest arena of its phases and
/// what is kept. Evaluation keeps no slots.
///
/// Nothing, with `error` set, if the lists make no progress, or last for more
/// than 2^62 ps. Linear, but for sorting by time.
std::optional<Simulation> simulate(const Schedule &schedule, const Costs &costs,
                                   ScheduleError &error);

/// The same by repetition until no time changes, and a sum over all slots for
/// each moment: the reference of the fast one. Of lists that make progress.
Simulation simulateNaively(const Schedule &schedule, const Costs &costs);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_SIMULATE_H
