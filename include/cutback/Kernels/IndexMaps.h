// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the loops of a reader walk a tensor: numbers alone, no IR. Two ops become
// one kernel only if the kernel computes each element where it is read, so maps
// are compared often; equal ones have one number.
#ifndef CUTBACK_KERNELS_INDEXMAPS_H
#define CUTBACK_KERNELS_INDEXMAPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace cutback {

/// A loop of `extent` iterations, each `stride` elements further on.
struct MapLoop {
  int64_t extent = 1, stride = 0;

  bool operator==(const MapLoop &other) const {
    return extent == other.extent && stride == other.stride;
  }
};

/// Which of the nested loops combine their elements, neighbours of one kind
/// merged and loops of one iteration left out: [(rows), (columns, reduced)] of
/// a sum along rows. A reduction, and the broadcast that undoes it, have the
/// same pattern.
struct LoopPattern {
  struct Loop {
    int64_t extent = 1;
    bool isReduced = false;
  };
  llvm::SmallVector<Loop, 4> loops; ///< outermost first
  int64_t kept = 1, reduced = 1;    ///< iterations of either kind

  /// Each result element is combined from neighbours in memory.
  bool isRows() const {
    return !loops.empty() && loops.back().isReduced && loops.size() <= 2;
  }
};

class IndexMaps {
public:
  using Id = uint32_t;
  /// Element i at iteration i; nothing that loops could describe.
  static constexpr Id kIdentity = 0, kNone = 1;
  static constexpr uint32_t kNoPattern = ~uint32_t(0);

  struct Map {
    llvm::SmallVector<MapLoop, 4> loops; ///< outermost first
    int64_t offset = 0;
    /// All elements are read; each of those that are, by so many iterations.
    bool coversAll = false;
    int64_t repeats = 1;
    /// Of a pure broadcast of the whole tensor, else kNoPattern.
    uint32_t broadcast = kNoPattern;
  };

  IndexMaps();

  /// The number of a map: the loops, which it may change, over a contiguous
  /// tensor of `numElements` elements from `offset` on. O(loops).
  Id intern(llvm::SmallVectorImpl<MapLoop> &loops, int64_t offset,
            int64_t numElements);
  /// A part of a larger iteration space, one behind the other along a loop:
  /// operand number `part` of a concatenation that `op` is. All elements of the
  /// part are visited, in their order, by other iterations than those of the
  /// other parts.
  Id internPart(uint32_t op, uint32_t part);

  /// The number of the pattern of these loops, which it may change; kNoPattern
  /// if none is reduced.
  uint32_t internPattern(llvm::SmallVectorImpl<LoopPattern::Loop> &loops);

  const Map &map(Id id) const { return maps[id]; }
  const LoopPattern &pattern(uint32_t id) const { return patterns[id]; }
  /// The map of the broadcast that has pattern `id`.
  Id broadcastOf(uint32_t id) const { return broadcasts[id]; }

private:
  Id add(Map map);

  std::vector<Map> maps;
  std::vector<LoopPattern> patterns;
  std::vector<Id> broadcasts; ///< by pattern
  /// From hash to numbers with that hash.
  llvm::DenseMap<uint64_t, llvm::SmallVector<uint32_t, 1>> mapsByHash,
      patternsByHash;
};

} // namespace cutback

#endif // CUTBACK_KERNELS_INDEXMAPS_H
