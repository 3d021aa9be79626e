// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages of a schedule one after the other.
#ifndef CUTBACK_SCHEDULE_TRANSFERORDER_H
#define CUTBACK_SCHEDULE_TRANSFERORDER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace cutback::pipeline {

/// What goes from one rank to another one, between two actions.
struct Transfer {
  int from = 0, to = 0; ///< ranks, two different ones
  /// Places in their rows: of the action that makes it, and of the first one
  /// that may use it.
  int made = 0, used = 0;
};

/// An order, numbers of `transfers`, for a transport without tags, on which
/// each rank begins its transfers one after the other, and one is over when
/// both ranks have begun it: where both begin theirs in this order, none waits
/// for ever. A rank can begin to send after the action that makes, and to
/// receive when the action before the one that uses begins; while what comes
/// next in its order cannot begin, nothing after it does.
///
/// `durations`: of the actions of each rank's row, in one unit; the order is
/// that in which transfers can begin if actions take so long, so that few of
/// them wait for others. One that is so long that their sum may be no time
/// counts less. The same input gives the same order. Nothing if the
/// actions wait for each other. (actions + transfers) times log ranks.
std::optional<std::vector<int>>
orderTransfers(const std::vector<std::vector<int64_t>> &durations,
               const std::vector<Transfer> &transfers);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_TRANSFERORDER_H
