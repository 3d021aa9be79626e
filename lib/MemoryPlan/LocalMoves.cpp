// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The moves, and the price of a stretch in another order: permuting a stretch
// changes nothing outside of it, because the same ops have run at both ends.
// Only positions within a window around the peak are tried. What cannot help
// is left early: an order that reaches the old height, a set of neighbours that
// was reached lower before.

#include "LocalMoves.h"

using namespace cutback;

/// True if the stretch that begins at `first` is lower than `old` when it
/// runs as `ops`; or, where neutral moves are looked for, as low.
bool LocalMoves::isLower(uint32_t first, const Order &ops, const Height &old) {
  prepare(first, ops);
  int64_t live = now.before[first];
  Height height;
  now.pay(ops.size());
  for (uint32_t op : ops) {
    height.look(now.simulation.run(op, left, live));
    if (isNeutral ? old.bytes < height.bytes : !(height < old))
      return false;
  }
  return true;
}

/// Sets `left` for a stretch: readers inside, and one for all behind it.
void LocalMoves::prepare(uint32_t first, const Order &ops) {
  auto end = static_cast<int64_t>(first + ops.size());
  auto reset = [&](uint32_t storage) {
    left[storage] =
        now.problem.isKept[storage] || now.lastReader[storage] >= end ? 1 : 0;
  };
  for (uint32_t op : ops) {
    for (uint32_t storage : now.problem.reads[op])
      reset(storage);
    for (uint32_t storage : now.problem.makes[op])
      reset(storage);
  }
  for (uint32_t op : ops)
    for (uint32_t storage : now.problem.reads[op])
      ++left[storage];
}

/// Takes the new order of a stretch if it is lower than the old one.
bool LocalMoves::take(uint32_t first, const Order &ops) {
  if (!isLower(first, ops, now.heightOf(first, ops.size())))
    return false;
  std::copy(ops.begin(), ops.end(), now.order.begin() + first);
  return true;
}

/// A move that changes nothing at the peak, and then one that helps.
bool LocalMoves::improveTwice() {
  const Order start = now.order;
  uint32_t at = now.peakAt;
  uint32_t begin = at > kWindow ? at - kWindow : 0;
  uint32_t end = std::min<uint32_t>(now.order.size(), at + kWindow + 1);
  Height high = now.peak;
  for (uint32_t p = begin; p < end && now.work > 0; ++p) {
    isNeutral = true;
    bool isMoved = p < at ? moveLater(p) : p > at && moveSooner(p);
    isNeutral = false;
    if (!isMoved)
      continue;
    now.simulate();
    if (!(high < now.peak) && (now.peak < high || improve()))
      return true;
    now.order = start;
    now.simulate();
  }
  return false;
}

bool LocalMoves::improve() {
  uint32_t begin = now.peakAt > kWindow ? now.peakAt - kWindow : 0;
  uint32_t end = std::min<uint32_t>(now.order.size(), now.peakAt + kWindow + 1);
  for (uint32_t at = now.peakAt; at-- > begin;)
    if (now.work && moveLater(at))
      return true;
  for (uint32_t at = now.peakAt + 1; at < end; ++at)
    if (now.work && moveSooner(at))
      return true;
  for (uint32_t size = 3; size <= kExact; ++size)
    for (uint32_t back = 0; back < size; ++back)
      if (now.work && now.peakAt >= back &&
          now.peakAt - back + size <= now.order.size() &&
          searchExactly(now.peakAt - back, size))
        return true;
  return false;
}

/// Moves the op at `at` behind the peak, with what depends on it; then also
/// with what is computed for those ops alone.
bool LocalMoves::moveLater(uint32_t at) {
  std::vector<uint8_t> &moves = marks;
  moves.assign(now.peakAt + 1 - at, 0);
  moves[0] = 1;
  for (uint32_t p = at + 1; p <= now.peakAt; ++p)
    for (uint32_t other : now.problem.depends[now.order[p]])
      if (now.position[other] >= at && moves[now.position[other] - at])
        moves[p - at] = 1;
  if (moves.back())
    return false;
  if (moveMarked(at))
    return true;
  uint32_t begin = at > kWindow ? at - kWindow : 0;
  moves.insert(moves.begin(), at - begin, 0);
  uint32_t first = at;
  for (uint32_t p = now.peakAt; p-- > begin;)
    if (!moves[p - begin] && servesMarked(now.order[p], begin)) {
      moves[p - begin] = 1;
      first = std::min(first, p);
    }
  moves.erase(moves.begin(), moves.begin() + (first - begin));
  return moveMarked(first);
}

/// All users of `op` are marked, or stand behind the peak; there are some.
bool LocalMoves::servesMarked(uint32_t op, uint32_t begin) const {
  bool isMarked = false;
  for (uint32_t user : users[op]) {
    if (now.position[user] > now.peakAt)
      continue;
    if (!marks[now.position[user] - begin])
      return false;
    isMarked = true;
  }
  return isMarked;
}

/// Moves what is marked, from position `first` on, behind the peak.
bool LocalMoves::moveMarked(uint32_t first) {
  Order stay, go;
  for (uint32_t p = first; p <= now.peakAt; ++p)
    (marks[p - first] ? go : stay).push_back(now.order[p]);
  stay.insert(stay.end(), go.begin(), go.end());
  return take(first, stay);
}

/// Moves the op at `at` in front of the peak, with what it needs.
bool LocalMoves::moveSooner(uint32_t at) {
  Order stay, go;
  std::vector<uint8_t> &moves = marks;
  moves.assign(at - now.peakAt + 1, 0);
  moves.back() = 1;
  for (uint32_t p = at + 1; p-- > now.peakAt;)
    if (moves[p - now.peakAt])
      for (uint32_t other : now.problem.depends[now.order[p]])
        if (now.position[other] >= now.peakAt)
          moves[now.position[other] - now.peakAt] = 1;
  if (moves.front())
    return false;
  for (uint32_t p = now.peakAt; p <= at; ++p)
    (moves[p - now.peakAt] ? go : stay).push_back(now.order[p]);
  go.insert(go.end(), stay.begin(), stay.end());
  return take(now.peakAt, go);
}

bool LocalMoves::searchExactly(uint32_t first, uint32_t size) {
  Neighbours near;
  near.count = size;
  near.best = now.heightOf(first, size);
  near.reached.fill({INT64_MAX, 0});
  for (uint32_t i = 0; i < size; ++i) {
    near.ops[i] = now.order[first + i];
    near.needs[i] = 0;
    for (uint32_t other : now.problem.depends[near.ops[i]])
      if (now.position[other] >= first && now.position[other] < first + size)
        near.needs[i] |= 1u << (now.position[other] - first);
  }
  prepare(first,
          Order(now.order.begin() + first, now.order.begin() + first + size));
  search(near, 0, 0, now.before[first], {});
  if (!near.isFound)
    return false;
  for (uint32_t i = 0; i < size; ++i)
    now.order[first + i] = near.ops[near.found[i]];
  return true;
}

/// Goes on behind the set `done` of `depth` neighbours.
void LocalMoves::search(Neighbours &near, uint32_t done, uint32_t depth,
                        int64_t live, Height height) {
  if (depth == near.count) {
    near.best = height;
    near.found = near.partial;
    near.isFound = true;
    return;
  }
  for (uint32_t i = 0; i < near.count; ++i) {
    if (!now.work || done >> i & 1 || (near.needs[i] & ~done))
      continue;
    --now.work;
    Height next = height;
    int64_t liveNext = live;
    next.look(now.simulation.run(near.ops[i], left, liveNext));
    Height &reached = near.reached[done | 1u << i];
    if (next < near.best && next < reached) {
      reached = next;
      near.partial[depth] = static_cast<uint8_t>(i);
      search(near, done | 1u << i, depth + 1, liveNext, next);
    }
    for (uint32_t storage : now.problem.reads[near.ops[i]])
      ++left[storage]; // as it was
  }
}
