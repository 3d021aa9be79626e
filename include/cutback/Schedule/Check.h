// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a schedule, before it runs.
#ifndef CUTBACK_SCHEDULE_CHECK_H
#define CUTBACK_SCHEDULE_CHECK_H

#include "cutback/Schedule/Simulate.h"

namespace cutback::pipeline {

enum class ListForm : uint8_t {
  Compute,       ///< F, I, W, B and overlaps: the others are added
  WithTransfers, ///< ready to run
};

/// How ranks exchange messages.
enum class Transfers : uint8_t {
  Posted,   ///< sends are buffered; what uses a message waits, not its receive
  Blocking, ///< a send and its receive wait for each other
};

/// Nothing, or the first fault: a rank without actions; a stage or micro-batch
/// that there is not; a stage on two ranks; an action twice or never (F of each
/// micro-batch once, then B, or I and later W; in a list without any backward F
/// alone); communication in a list of compute actions, or a send or receive
/// that is not of a crossing, misses its other end, or comes too early or late;
/// lists that make no progress. The message says rank and step, the note has
/// the grid with the place marked. Linear.
std::optional<ScheduleError>
checkActions(const Schedule &schedule, const std::vector<Crossing> &crossings,
             ListForm form, Transfers transfers = Transfers::Posted);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_CHECK_H
