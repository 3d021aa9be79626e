// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves by minimum cuts: what runs before the op at the peak so that fewest
// bytes are live while it runs (ScheduleBound), put in front of it at once.
#ifndef CUTBACK_LIB_MEMORYPLAN_CUTMOVES_H
#define CUTBACK_LIB_MEMORYPLAN_CUTMOVES_H

#include "LocalMoves.h"

namespace cutback {

/// Keeps references.
class CutMoves {
public:
  CutMoves(RunningOrder &now, LocalMoves &local) : now(now), local(local) {}

  /// True if the op at the peak needs as much in every order: the peak is the
  /// least. False also where the program is longer than a cut looks at.
  bool isLeast();
  bool improveByNestedCuts();
  bool improveByCuts();

private:
  /// Ops on each side of the peak that a cut looks at, and cuts in a row.
  static constexpr uint32_t kWindow = 2000, kCuts = 16;

  /// Positions [first, last).
  struct Stretch {
    uint32_t first, last;
  };
  Stretch window() const;
  ScheduleProblem problemOf(Stretch stretch);
  int64_t cutAtPeak(Stretch stretch, std::vector<uint8_t> &runsBefore);
  bool moveByCut(Stretch stretch);

  RunningOrder &now;
  LocalMoves &local;
  std::vector<uint32_t> numbers; ///< by storage, in a stretch
  std::vector<int64_t> least;    ///< by op: its bytes in the best order, or -1
};

} // namespace cutback

#endif // CUTBACK_LIB_MEMORYPLAN_CUTMOVES_H
