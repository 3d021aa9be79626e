// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instance and a layout must be, and the reference of the tests. The
// check of a layout shares nothing with the search: it sweeps over time with
// the live intervals in a map by offset, and looks at both neighbours of each
// one that enters; two live intervals on the same bytes are found when the
// later one enters. O(n log n).
//
// The reference tries all orders, each interval on top of all placed ones that
// are live with it. One of them is the order of a smallest layout by offset,
// so the result is a smallest one; n! of n² steps.

#include "cutback/MemoryPlan/ArenaLayout.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace cutback;

namespace {

int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

struct Event {
  uint32_t step;
  bool isBegin; ///< ends come before begins at a step
  uint32_t interval;

  bool operator<(const Event &other) const {
    return std::make_tuple(step, isBegin, interval) <
           std::make_tuple(other.step, other.isBegin, other.interval);
  }
};

/// Two intervals that share bytes and steps, of those that `isChosen`.
template <typename Choose, typename OffsetOf>
std::optional<ArenaFault>
findOverlap(const std::vector<ArenaInterval> &intervals, Choose isChosen,
            OffsetOf offsetOf, ArenaFault::Kind kind) {
  std::vector<Event> events;
  for (uint32_t i = 0; i < intervals.size(); ++i)
    if (isChosen(i) && intervals[i].bytes) {
      events.push_back({intervals[i].begin, true, i});
      events.push_back({intervals[i].end, false, i});
    }
  std::sort(events.begin(), events.end());
  std::map<int64_t, uint32_t> live; ///< offset → interval
  for (const Event &event : events) {
    uint32_t i = event.interval;
    int64_t offset = offsetOf(i);
    if (!event.isBegin) {
      live.erase(offset);
      continue;
    }
    auto after = live.lower_bound(offset);
    if (after != live.end() && after->first < offset + intervals[i].bytes)
      return ArenaFault{kind, after->second, i};
    if (after != live.begin())
      if (auto before = std::prev(after);
          before->first + intervals[before->second].bytes > offset)
        return ArenaFault{kind, before->second, i};
    live[offset] = i;
  }
  return std::nullopt;
}

} // namespace

std::optional<ArenaFault>
cutback::checkArena(const std::vector<ArenaInterval> &intervals,
                    int64_t alignment) {
  constexpr int64_t most = INT64_MAX / 4;
  int64_t total = 0;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const ArenaInterval &interval = intervals[i];
    if (interval.end <= interval.begin)
      return ArenaFault{ArenaFault::EmptyLifetime, i, i};
    if (interval.bytes < 0)
      return ArenaFault{ArenaFault::NegativeBytes, i, i};
    if (interval.bytes > most - alignment ||
        (total += roundUp(interval.bytes, alignment)) > most ||
        interval.fixedOffset > most - total)
      return ArenaFault{ArenaFault::TooLarge, i, i};
    if (interval.fixedOffset >= 0 && interval.fixedOffset % alignment)
      return ArenaFault{ArenaFault::FixedMisaligned, i, i};
  }
  return findOverlap(
      intervals, [&](uint32_t i) { return intervals[i].fixedOffset >= 0; },
      [&](uint32_t i) { return intervals[i].fixedOffset; },
      ArenaFault::FixedOverlap);
}

std::optional<ArenaFault>
cutback::verifyArena(const std::vector<ArenaInterval> &intervals,
                     const ArenaLayout &layout, int64_t alignment) {
  if (layout.offsets.size() != intervals.size())
    return ArenaFault{ArenaFault::WrongCount};
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const ArenaInterval &interval = intervals[i];
    int64_t offset = layout.offsets[i];
    if (!interval.bytes)
      continue;
    if (offset < 0 || interval.bytes > layout.bytes - offset)
      return ArenaFault{ArenaFault::OutsideArena, i, i};
    if (offset % alignment)
      return ArenaFault{ArenaFault::Misaligned, i, i};
    if (interval.fixedOffset >= 0 && offset != interval.fixedOffset)
      return ArenaFault{ArenaFault::NotAtFixed, i, i};
  }
  return findOverlap(
      intervals, [](uint32_t) { return true; },
      [&](uint32_t i) { return layout.offsets[i]; }, ArenaFault::Overlap);
}

ArenaLayout
cutback::layoutArenaExhaustively(const std::vector<ArenaInterval> &intervals,
                                 int64_t alignment) {
  ArenaLayout best;
  best.lowerBound = arenaLowerBound(intervals, alignment);
  best.bytes = INT64_MAX;
  std::vector<uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<int64_t> offsets(intervals.size(), 0);
    int64_t top = 0;
    for (uint32_t p = 0; p < order.size(); ++p) {
      const ArenaInterval &interval = intervals[order[p]];
      for (uint32_t q = 0; q < p && interval.bytes; ++q)
        if (const ArenaInterval &other = intervals[order[q]];
            other.begin < interval.end && interval.begin < other.end)
          offsets[order[p]] =
              std::max(offsets[order[p]],
                       offsets[order[q]] + roundUp(other.bytes, alignment));
      top =
          std::max(top, offsets[order[p]] + roundUp(interval.bytes, alignment));
    }
    if (top < best.bytes) {
      best.bytes = top;
      best.offsets = offsets;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}
