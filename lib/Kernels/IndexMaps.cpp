// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps in one form: loops of one iteration are left out, and neighbours that
// walk memory as one loop would are one.
//
// A pure broadcast (the elements in their order, some of them again and again)
// brings its pattern, and a pattern the broadcast that undoes it: both are made
// by whichever comes first, and found by the other.

#include "cutback/Kernels/IndexMaps.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace cutback;
using llvm::SmallVectorImpl;

IndexMaps::IndexMaps() {
  Map identity;
  identity.coversAll = true;
  maps.push_back(identity); // kIdentity
  maps.emplace_back();      // kNone
}

static void normalize(SmallVectorImpl<MapLoop> &loops) {
  size_t size = 0;
  for (MapLoop loop : loops) {
    if (loop.extent == 1)
      continue;
    if (size && loops[size - 1].stride == loop.stride * loop.extent)
      loops[size - 1] = {loops[size - 1].extent * loop.extent, loop.stride};
    else
      loops[size++] = loop;
  }
  loops.truncate(size);
}

/// True if the loops with a stride, in any order, visit each of `numElements`
/// elements once.
static bool coversAll(llvm::ArrayRef<MapLoop> loops, int64_t numElements) {
  llvm::SmallVector<MapLoop, 6> walking;
  for (const MapLoop &loop : loops)
    if (loop.stride != 0)
      walking.push_back(loop);
  llvm::sort(walking, [](const MapLoop &a, const MapLoop &b) {
    return a.stride < b.stride;
  });
  int64_t next = 1;
  for (const MapLoop &loop : walking) {
    if (loop.stride != next)
      return false;
    next *= loop.extent;
  }
  return next == numElements;
}

/// True if the loops with a stride visit the elements in their order.
static bool isInOrder(llvm::ArrayRef<MapLoop> loops) {
  int64_t next = 1;
  for (const MapLoop &loop : llvm::reverse(loops)) {
    if (loop.stride == 0)
      continue;
    if (loop.stride != next)
      return false;
    next *= loop.extent;
  }
  return true;
}

IndexMaps::Id IndexMaps::intern(SmallVectorImpl<MapLoop> &loops, int64_t offset,
                                int64_t numElements) {
  normalize(loops);
  bool isWhole = offset == 0 && coversAll(loops, numElements);
  bool hasBroadcast =
      llvm::any_of(loops, [](const MapLoop &loop) { return loop.stride == 0; });
  bool isOrdered = isWhole && isInOrder(loops);
  if (isOrdered && !hasBroadcast)
    return kIdentity;
  uint64_t hash = llvm::hash_combine(offset, numElements);
  for (const MapLoop &loop : loops)
    hash = llvm::hash_combine(hash, loop.extent, loop.stride);
  hash &= ~uint64_t(3) >> 1; // clear of the table's own keys
  for (uint32_t id : mapsByHash[hash])
    if (maps[id].offset == offset && maps[id].coversAll == isWhole &&
        llvm::ArrayRef<MapLoop>(maps[id].loops) ==
            llvm::ArrayRef<MapLoop>(loops))
      return id;
  Map map;
  map.loops.assign(loops.begin(), loops.end());
  map.offset = offset;
  map.coversAll = isWhole;
  for (const MapLoop &loop : loops)
    if (loop.stride == 0)
      map.repeats *= loop.extent;
  if (isOrdered) {
    llvm::SmallVector<LoopPattern::Loop, 6> pattern;
    for (const MapLoop &loop : loops)
      pattern.push_back({loop.extent, loop.stride == 0});
    // The pattern brings its broadcast with it.
    map.broadcast = internPattern(pattern);
    if (broadcasts[map.broadcast] != kNone)
      return broadcasts[map.broadcast];
  }
  mapsByHash[hash].push_back(maps.size());
  return add(std::move(map));
}

IndexMaps::Id IndexMaps::add(Map map) {
  Id id = maps.size();
  if (map.broadcast != kNoPattern)
    broadcasts[map.broadcast] = id;
  maps.push_back(std::move(map));
  return id;
}

IndexMaps::Id IndexMaps::internPart(uint32_t op, uint32_t part) {
  Map map;
  map.offset = -1 - static_cast<int64_t>(part);
  map.loops.push_back({-1 - static_cast<int64_t>(op), 0});
  map.coversAll = true;
  return add(std::move(map));
}

uint32_t IndexMaps::internPattern(SmallVectorImpl<LoopPattern::Loop> &loops) {
  LoopPattern pattern;
  uint64_t hash = 0;
  for (const LoopPattern::Loop &loop : loops) {
    if (loop.extent == 1)
      continue;
    (loop.isReduced ? pattern.reduced : pattern.kept) *= loop.extent;
    if (!pattern.loops.empty() &&
        pattern.loops.back().isReduced == loop.isReduced)
      pattern.loops.back().extent *= loop.extent;
    else
      pattern.loops.push_back(loop);
  }
  if (llvm::none_of(pattern.loops,
                    [](const auto &loop) { return loop.isReduced; }))
    return kNoPattern;
  for (const LoopPattern::Loop &loop : pattern.loops)
    hash = llvm::hash_combine(hash, loop.extent, loop.isReduced);
  hash &= ~uint64_t(3) >> 1;
  auto isSame = [&](uint32_t id) {
    return llvm::equal(
        patterns[id].loops, pattern.loops, [](const auto &a, const auto &b) {
          return a.extent == b.extent && a.isReduced == b.isReduced;
        });
  };
  for (uint32_t id : patternsByHash[hash])
    if (isSame(id))
      return id;
  uint32_t id = patterns.size();
  patternsByHash[hash].push_back(id);
  patterns.push_back(std::move(pattern));
  broadcasts.push_back(kNone);
  // The broadcast that undoes the reduction: strides of what is kept.
  llvm::SmallVector<MapLoop, 6> undo;
  int64_t stride = patterns[id].kept;
  for (const LoopPattern::Loop &loop : patterns[id].loops) {
    if (!loop.isReduced)
      stride /= loop.extent;
    undo.push_back({loop.extent, loop.isReduced ? 0 : stride});
  }
  Id map = intern(undo, 0, patterns[id].kept);
  broadcasts[id] = map;
  return id;
}
