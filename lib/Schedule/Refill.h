// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of F and B in which weights find their places.
#ifndef CUTBACK_LIB_SCHEDULE_REFILL_H
#define CUTBACK_LIB_SCHEDULE_REFILL_H

#include "cutback/Schedule/Bound.h"

namespace cutback::pipeline {

/// `schedule` with its I as B and without its W: only the order.
Schedule orderOf(const Schedule &schedule);

/// When F and B (or I) start, by stage and micro-batch.
struct Starts {
  std::vector<int64_t> forward, backward;
};

struct RefillOptions {
  /// Bytes of slots that a rank may have at a time.
  std::vector<int64_t> slotLimit; ///< by rank
  bool splitsBackwards = true;
  /// Backwards that can run pass forwards that cannot.
  bool backwardsPass = false;
  /// When actions of an earlier round started, or null: rather than begin a W,
  /// wait for an action that is less than `patience` of it away.
  const Starts *before = nullptr;
  double patience = 0;
};

struct Refilled {
  Schedule schedule;
  Starts starts;
  int64_t makespan = 0; ///< if no message waits for another one
};

/// Runs `order` in time: each rank takes its next action as soon as it can;
/// while it would wait, or has no slot left, weights of earlier micro-batches;
/// with neither, forwards let backwards pass. A B is split unless there is no
/// room for what is kept from I to W. Nothing if ranks cannot go on within the
/// limit. Linear, up to a queue of ranks.
std::optional<Refilled> refill(const Schedule &order, const Costs &costs,
                               const RefillOptions &options);

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_REFILL_H
