// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders to begin a search from.
#ifndef CUTBACK_LIB_SCHEDULE_ORDERS_H
#define CUTBACK_LIB_SCHEDULE_ORDERS_H

#include "Generators.h"

namespace cutback::pipeline {

/// A building block of two stages a rank, there and back: the next rank comes
/// so many units of time later, on both ways of the forward and both of the
/// backward.
struct BlockSlopes {
  int down, up, backUp, backDown;
};

/// F and B of all micro-batches by the times of a block, repeated every six
/// units. Where it turns, the block waits so that no two actions of a rank are
/// at one time; nothing if no wait of less than six units does.
std::optional<Schedule> blockOrder(const BlockSlopes &slopes,
                                   const Shape &shape);

/// The same every `interval` units, more than kBlockWork, without waits: there
/// is time left to make way for each other.
Schedule sparseOrder(const BlockSlopes &slopes, const Shape &shape,
                     double interval);

/// Of one stage a rank: 1F1B with `per` forwards more before the first backward
/// for each later rank, and `extra` on all, rounded up.
Schedule warmUpOrder(double per, double extra, const Shape &shape);

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_ORDERS_H
