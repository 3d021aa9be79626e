// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sweeps over time: what begins takes a free gap, what ends gives its bytes
// back, and gaps that touch become one. Live intervals are kept by offset,
// free gaps by offset and by size. Against the order of time the same works
// with ends for begins, and often better.

#include "ArenaSweep.h"

#include <algorithm>
#include <map>
#include <set>

using namespace cutback;

namespace {

/// An allocator as at run time: free gaps by offset and by size.
class FreeList {
public:
  explicit FreeList() { add(0, INT64_MAX / 2); }

  int64_t take(int64_t bytes, Fit fit) {
    auto gap = bySize.lower_bound({bytes, 0});
    int64_t begin = gap->second;
    if (fit == Fit::Lowest)
      for (auto &[offset, end] : gaps)
        if (end - offset >= bytes) {
          begin = offset;
          break;
        }
    int64_t end = gaps.find(begin)->second;
    remove(begin, end);
    if (begin + bytes < end)
      add(begin + bytes, end);
    return begin;
  }

  void give(int64_t begin, int64_t end) {
    auto after = gaps.lower_bound(begin);
    if (after != gaps.end() && after->first == end) {
      int64_t gapEnd = after->second;
      remove(end, gapEnd);
      end = gapEnd;
    }
    after = gaps.lower_bound(begin);
    if (after != gaps.begin()) {
      auto before = std::prev(after);
      if (before->second == begin) {
        int64_t gapBegin = before->first;
        remove(gapBegin, begin);
        begin = gapBegin;
      }
    }
    add(begin, end);
  }

private:
  void add(int64_t begin, int64_t end) {
    gaps[begin] = end;
    bySize.insert({end - begin, begin});
  }
  void remove(int64_t begin, int64_t end) {
    gaps.erase(begin);
    bySize.erase({end - begin, begin});
  }

  std::map<int64_t, int64_t> gaps;              ///< begin → end
  std::set<std::pair<int64_t, int64_t>> bySize; ///< size, begin
};

/// The greedy layout in the order of time, or against it. Knows no fixed
/// offsets.
void sweep(const Intervals &intervals, const std::vector<int64_t> &sizes,
           bool isReversed, Fit fit, ArenaLayout &layout) {
  auto start = [&](uint32_t i) {
    return isReversed ? -int64_t(intervals[i].end) : intervals[i].begin;
  };
  auto stop = [&](uint32_t i) {
    return isReversed ? -int64_t(intervals[i].begin) : intervals[i].end;
  };
  std::vector<uint32_t> order = identity(intervals.size()), ends = order;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_pair(start(a), -sizes[a]) <
           std::make_pair(start(b), -sizes[b]);
  });
  std::stable_sort(ends.begin(), ends.end(),
                   [&](uint32_t a, uint32_t b) { return stop(a) < stop(b); });
  std::vector<int64_t> offsets(intervals.size(), 0);
  FreeList free;
  int64_t top = 0;
  size_t nextEnd = 0;
  for (uint32_t i : order) {
    for (; nextEnd < ends.size() && stop(ends[nextEnd]) <= start(i); ++nextEnd)
      if (uint32_t dead = ends[nextEnd]; sizes[dead])
        free.give(offsets[dead], offsets[dead] + sizes[dead]);
    if (!sizes[i])
      continue;
    offsets[i] = free.take(sizes[i], fit);
    top = std::max(top, offsets[i] + sizes[i]);
  }
  if (!layout.offsets.empty() && top >= layout.bytes)
    return;
  layout.bytes = top;
  layout.offsets = std::move(offsets);
}

} // namespace

void cutback::sweepAll(const Intervals &intervals,
                       const std::vector<int64_t> &sizes, ArenaLayout &layout) {
  int64_t fixedTop = 0;
  std::vector<int64_t> moving = sizes;
  for (uint32_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].fixedOffset >= 0) {
      fixedTop = std::max(fixedTop, intervals[i].fixedOffset + sizes[i]);
      moving[i] = 0;
    }
  for (bool isReversed : {false, true})
    sweep(intervals, moving, isReversed, Fit::Tightest, layout);
  for (uint32_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].fixedOffset >= 0)
      layout.offsets[i] = sizes[i] ? intervals[i].fixedOffset : 0;
    else if (sizes[i])
      layout.offsets[i] += fixedTop;
  layout.bytes += fixedTop;
}
