// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for buffers with known lifetimes in one arena: dynamic storage
// allocation. Numbers alone, no IR.
#ifndef CUTBACK_MEMORYPLAN_ARENALAYOUT_H
#define CUTBACK_MEMORYPLAN_ARENALAYOUT_H

#include <cstdint>
#include <optional>
#include <vector>

namespace cutback {

/// A buffer that is live during the steps begin … end-1.
struct ArenaInterval {
  uint32_t begin = 0, end = 0;
  int64_t bytes = 0;
  int64_t fixedOffset = -1; ///< where it must lie; -1: anywhere
};

struct ArenaOptions {
  int64_t alignment = 64; ///< of offsets, a power of two; 256 for CUDA
  /// Bound of the search, in looks at a pair of buffers that are live
  /// together: a few ns each. The result depends on nothing else.
  uint64_t work = 80'000'000;
};

struct ArenaLayout {
  std::vector<int64_t> offsets; ///< by interval
  int64_t bytes = 0;            ///< of the arena
  /// Largest sum of live bytes, each rounded up to the alignment: no layout
  /// is smaller.
  int64_t lowerBound = 0;
  uint64_t work = 0;       ///< looks at pairs that it took
  uint32_t iterations = 0; ///< of the local search

  double ratio() const {
    return lowerBound
               ? static_cast<double>(bytes) / static_cast<double>(lowerBound)
               : 1.0;
  }
};

/// What is wrong with intervals or with a layout of them.
struct ArenaFault {
  enum Kind {
    EmptyLifetime, ///< end <= begin
    NegativeBytes,
    FixedMisaligned, ///< a fixed offset that the alignment does not divide
    FixedOverlap,    ///< two fixed intervals on the same bytes
    TooLarge,        ///< all sizes together do not fit 62 bits
    Misaligned,      ///< an offset that the alignment does not divide
    NotAtFixed,      ///< not at its fixed offset
    OutsideArena,
    Overlap,    ///< two intervals on the same bytes at the same time
    WrongCount, ///< not one offset an interval
  };
  Kind kind;
  uint32_t first = 0, second = 0; ///< intervals; equal if it is one
};

/// What makes `intervals` no instance, if anything does. O(n log n).
std::optional<ArenaFault>
checkArena(const std::vector<ArenaInterval> &intervals, int64_t alignment);

/// Places intervals that `checkArena` accepts. Several greedy orders, then a
/// local search on the order, until the lower bound is met or the work is
/// spent. Instances with very many pairs get the greedy sweeps over time
/// alone. Deterministic. O(n log n) plus the work.
ArenaLayout layoutArena(const std::vector<ArenaInterval> &intervals,
                        const ArenaOptions &options = {});

/// What makes `layout` wrong, if anything does: sweeps over time with the live
/// intervals ordered by offset. O(n log n). Trusts nothing of the above.
std::optional<ArenaFault>
verifyArena(const std::vector<ArenaInterval> &intervals,
            const ArenaLayout &layout, int64_t alignment);

/// The largest sum of live bytes, each rounded up. O(n log n).
int64_t arenaLowerBound(const std::vector<ArenaInterval> &intervals,
                        int64_t alignment);

/// A smallest layout, by trying all orders: the reference for tests, for up
/// to 8 intervals without fixed offsets.
ArenaLayout layoutArenaExhaustively(const std::vector<ArenaInterval> &intervals,
                                    int64_t alignment);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_ARENALAYOUT_H
