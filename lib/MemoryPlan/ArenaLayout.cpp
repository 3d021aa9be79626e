// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets for intervals. A layout is the decoding of an order: each interval
// goes into a gap between those that are placed and live with it. Some order
// decodes to a smallest layout (take the intervals of one by offset: each can
// go no higher than it lies), so the search is over orders alone.
//
//   1. Pairs: for each interval those that are live with it, in one flat list.
//   2. Greedy orders: by size, size × length, length, begin, end; each with
//      the lowest gap and with the tightest.
//   3. Local search from the best: intervals that stick out above the lower
//      bound, or make the peak, move forward in the order; what got no larger
//      is kept. Steps come from a fixed pseudo-random sequence.
//   4. With too many pairs for a list (a hundred thousand intervals): sweeps
//      over time in both directions, live intervals by offset, free gaps by
//      size; O(n log n).
//
// All of it stops as soon as the lower bound is met.

#include "cutback/MemoryPlan/ArenaLayout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace cutback;

namespace {

using Intervals = std::vector<ArenaInterval>;

/// Entries of the list of pairs beyond which only sweeps are tried.
constexpr uint64_t kMaxPairs = 40'000'000;

int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::vector<uint32_t> identity(size_t count) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

//===----------------------------------------------------------------------===//
// Decoding an order with the list of pairs
//===----------------------------------------------------------------------===//

enum class Fit { Lowest, Tightest };

class PairDecoder {
public:
  PairDecoder(const Intervals &intervals, std::vector<int64_t> sizes)
      : intervals(intervals), sizes(std::move(sizes)),
        offsets(intervals.size(), -1) {}

  /// False if there are too many pairs.
  bool findPairs() {
    std::vector<uint32_t> byBegin = identity(intervals.size());
    std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
      return std::make_pair(intervals[a].begin, a) <
             std::make_pair(intervals[b].begin, b);
    });
    std::vector<uint32_t> count(intervals.size() + 1, 0);
    uint64_t total = 0;
    bool fits = forEachPair(byBegin, [&](uint32_t a, uint32_t b) {
      ++count[a];
      ++count[b];
      return (total += 2) <= kMaxPairs;
    });
    if (!fits)
      return false;
    pairBegin.assign(intervals.size() + 1, 0);
    for (size_t i = 0; i < intervals.size(); ++i)
      pairBegin[i + 1] = pairBegin[i] + count[i];
    pairs.resize(total);
    std::vector<uint32_t> next(pairBegin.begin(), pairBegin.end());
    forEachPair(byBegin, [&](uint32_t a, uint32_t b) {
      pairs[next[a]++] = b;
      pairs[next[b]++] = a;
      return true;
    });
    return true;
  }

  /// Places all intervals; returns the bytes of the arena. Gives up, and
  /// returns more than `limit`, once it is exceeded.
  int64_t decode(const std::vector<uint32_t> &order, Fit fit, int64_t limit) {
    std::fill(offsets.begin(), offsets.end(), -1);
    int64_t top = 0;
    for (uint32_t i = 0; i < intervals.size(); ++i)
      if (intervals[i].fixedOffset >= 0 && sizes[i]) {
        offsets[i] = intervals[i].fixedOffset;
        top = std::max(top, offsets[i] + sizes[i]);
      }
    for (uint32_t i : order) {
      if (offsets[i] >= 0)
        continue;
      offsets[i] = sizes[i] ? findGap(i, fit) : 0;
      top = std::max(top, offsets[i] + sizes[i]);
      if (top > limit)
        return top;
    }
    return top;
  }

  const std::vector<int64_t> &places() const { return offsets; }
  const std::vector<int64_t> &roundedSizes() const { return sizes; }
  uint64_t work() const { return looks; }

private:
  /// Calls `visit` on each pair that is live together, until it says false.
  template <typename Visit>
  bool forEachPair(const std::vector<uint32_t> &byBegin, Visit visit) const {
    std::vector<uint32_t> live;
    for (uint32_t i : byBegin) {
      if (!sizes[i])
        continue;
      size_t kept = 0;
      for (uint32_t other : live)
        if (intervals[other].end > intervals[i].begin)
          live[kept++] = other;
      live.resize(kept);
      for (uint32_t other : live)
        if (!visit(other, i))
          return false;
      live.push_back(i);
    }
    return true;
  }

  int64_t findGap(uint32_t i, Fit fit) {
    taken.clear();
    for (uint32_t p = pairBegin[i]; p < pairBegin[i + 1]; ++p)
      if (int64_t offset = offsets[pairs[p]]; offset >= 0)
        taken.push_back({offset, offset + sizes[pairs[p]]});
    looks += pairBegin[i + 1] - pairBegin[i] + 1;
    std::sort(taken.begin(), taken.end());
    int64_t top = 0, best = -1, bestGap = 0;
    for (auto [begin, end] : taken) {
      int64_t gap = begin - top;
      if (gap >= sizes[i] && (best < 0 || gap < bestGap)) {
        best = top;
        bestGap = gap;
        if (fit == Fit::Lowest)
          return best;
      }
      top = std::max(top, end);
    }
    return best < 0 ? top : best;
  }

  const Intervals &intervals;
  std::vector<int64_t> sizes;
  std::vector<uint32_t> pairBegin, pairs;
  std::vector<int64_t> offsets;
  std::vector<std::pair<int64_t, int64_t>> taken;
  uint64_t looks = 0;
};

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// The step at which most bytes are live.
uint32_t findFullestStep(const Intervals &intervals,
                         const std::vector<int64_t> &sizes) {
  std::vector<std::pair<uint32_t, int64_t>> events;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    events.push_back({intervals[i].begin, sizes[i]});
    events.push_back({intervals[i].end, -sizes[i]});
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = -1;
  uint32_t fullest = 0;
  for (auto [step, change] : events)
    if ((live += change) > most) {
      most = live;
      fullest = step;
    }
  return fullest;
}

/// Orders worth a try: descending keys, ties by number. The first four go by
/// one measure; the others first stack what is live at the fullest step, where
/// nothing may be wasted, and then fit the rest around it.
std::vector<std::vector<uint32_t>>
greedyOrders(const Intervals &intervals, const std::vector<int64_t> &sizes) {
  uint32_t fullest = findFullestStep(intervals, sizes);
  auto size = [&](uint32_t i) { return static_cast<double>(sizes[i]); };
  auto begin = [&](uint32_t i) { return double(intervals[i].begin); };
  auto end = [&](uint32_t i) { return double(intervals[i].end); };
  auto length = [&](uint32_t i) { return end(i) - begin(i); };
  auto area = [&](uint32_t i) { return size(i) * length(i); };
  auto sorted = [&](auto key) {
    std::vector<uint32_t> order = identity(intervals.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
    return order;
  };
  using Key = std::pair<double, double>;
  std::vector<std::vector<uint32_t>> orders = {
      sorted([&](uint32_t i) { return Key(size(i), length(i)); }),
      sorted([&](uint32_t i) { return Key(area(i), size(i)); }),
      sorted([&](uint32_t i) { return Key(length(i), size(i)); }),
      sorted([&](uint32_t i) { return Key(-begin(i), size(i)); }),
      sorted([&](uint32_t i) { return Key(end(i), size(i)); }),
  };
  auto addPeakFirst = [&](auto key, auto other) {
    orders.push_back(sorted([&](uint32_t i) {
      bool isAtPeak =
          intervals[i].begin <= fullest && fullest < intervals[i].end;
      return std::make_tuple(isAtPeak, isAtPeak ? key(i) : other(i), size(i));
    }));
  };
  auto addBoth = [&](auto other) {
    addPeakFirst([&](uint32_t i) { return -begin(i); }, other);
    addPeakFirst(end, other);
    addPeakFirst(length, other);
    addPeakFirst(size, other);
  };
  addBoth(size);
  addBoth(area);
  addBoth(length);
  return orders;
}

class Search {
public:
  Search(const Intervals &intervals, PairDecoder &decoder, uint64_t budget,
         ArenaLayout &layout)
      : intervals(intervals), decoder(decoder), budget(budget), layout(layout) {
  }

  void run() {
    std::vector<Start> starts;
    for (const std::vector<uint32_t> &candidate :
         greedyOrders(intervals, decoder.roundedSizes()))
      for (Fit way : {Fit::Lowest, Fit::Tightest})
        if (!isDone())
          starts.push_back({tryOrder(candidate, way), candidate, way});
    std::stable_sort(
        starts.begin(), starts.end(),
        [](const Start &a, const Start &b) { return a.bytes < b.bytes; });
    // The best order is not always the one from which the search gets on.
    uint64_t first = decoder.work();
    size_t count = std::min<size_t>(starts.size(), 6);
    for (size_t i = 0; i < count; ++i)
      if (first < budget)
        improve(std::move(starts[i]),
                first + (budget - first) * (i + 1) / count);
    layout.work = decoder.work();
  }

private:
  bool isDone() const {
    bool isOptimal =
        !layout.offsets.empty() && layout.bytes <= layout.lowerBound;
    bool isSpent = !layout.offsets.empty() && decoder.work() >= budget;
    return isOptimal || isSpent;
  }

  struct Start {
    int64_t bytes;
    std::vector<uint32_t> order;
    Fit fit;
  };

  /// Bytes of the order's layout, which is kept if it is the smallest so far.
  int64_t tryOrder(const std::vector<uint32_t> &order, Fit fit) {
    int64_t bytes = decoder.decode(order, fit, INT64_MAX);
    if (layout.offsets.empty() || bytes < layout.bytes)
      keep(bytes);
    return bytes;
  }

  void keep(int64_t bytes) {
    layout.bytes = bytes;
    layout.offsets = decoder.places();
  }

  /// A fixed sequence (xorshift), so that results never change.
  uint64_t random() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }

  void improve(Start start, uint64_t end) {
    std::vector<uint32_t> order = std::move(start.order);
    Fit fit = start.fit;
    int64_t currentBytes = decoder.decode(order, fit, INT64_MAX);
    std::vector<int64_t> current = decoder.places();
    while (!isDone() && decoder.work() < end) {
      ++layout.iterations;
      std::vector<uint32_t> next = moveCulprits(order, current, currentBytes);
      // Sideways steps, and now and then a step up of up to 1/64.
      int64_t slack = random() % 16 ? 0 : currentBytes / 64;
      Fit way = random() % 8
                    ? fit
                    : (fit == Fit::Lowest ? Fit::Tightest : Fit::Lowest);
      int64_t bytes = decoder.decode(next, way, currentBytes + slack);
      if (bytes > currentBytes + slack)
        continue;
      order = std::move(next);
      current = decoder.places();
      currentBytes = bytes;
      if (bytes < layout.bytes)
        keep(bytes);
    }
  }

  /// Moves forward, by a random part of the way, what makes the peak and some
  /// of what sticks out above the lower bound.
  std::vector<uint32_t> moveCulprits(const std::vector<uint32_t> &order,
                                     const std::vector<int64_t> &offsets,
                                     int64_t bytes) {
    const std::vector<int64_t> &sizes = decoder.roundedSizes();
    int64_t threshold = random() % 2 ? bytes : layout.lowerBound + 1;
    std::vector<std::pair<double, uint32_t>> ranked;
    ranked.reserve(order.size());
    for (uint32_t position = 0; position < order.size(); ++position) {
      uint32_t i = order[position];
      double rank = position;
      bool isCulprit = offsets[i] + sizes[i] >= threshold && sizes[i];
      if (isCulprit || random() % order.size() == 0)
        rank *= static_cast<double>(random() % 1024) / 1024;
      ranked.push_back({rank, i});
    }
    std::stable_sort(
        ranked.begin(), ranked.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<uint32_t> next;
    next.reserve(order.size());
    for (auto [rank, i] : ranked)
      next.push_back(i);
    return next;
  }

  const Intervals &intervals;
  PairDecoder &decoder;
  uint64_t budget;
  ArenaLayout &layout;
  uint64_t state = 0x9E3779B97F4A7C15u;
};

//===----------------------------------------------------------------------===//
// Sweeps over time
//===----------------------------------------------------------------------===//

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

/// Above everything that is fixed; only for instances beyond the pair list.
void sweepAll(const Intervals &intervals, const std::vector<int64_t> &sizes,
              ArenaLayout &layout) {
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

std::vector<int64_t> roundedSizes(const Intervals &intervals,
                                  int64_t alignment) {
  std::vector<int64_t> sizes;
  sizes.reserve(intervals.size());
  for (const ArenaInterval &interval : intervals)
    sizes.push_back(roundUp(interval.bytes, alignment));
  return sizes;
}

} // namespace

int64_t cutback::arenaLowerBound(const Intervals &intervals,
                                 int64_t alignment) {
  // Ends before begins at equal steps.
  std::vector<std::pair<uint32_t, int64_t>> events;
  events.reserve(2 * intervals.size());
  for (const ArenaInterval &interval : intervals) {
    int64_t size = roundUp(interval.bytes, alignment);
    events.push_back({interval.begin, size});
    events.push_back({interval.end, -size});
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (auto [step, change] : events) {
    live += change;
    most = std::max(most, live);
  }
  // A fixed place beyond that is a bound too.
  for (const ArenaInterval &interval : intervals)
    if (interval.fixedOffset >= 0 && interval.bytes)
      most = std::max(most, interval.fixedOffset +
                                roundUp(interval.bytes, alignment));
  return most;
}

ArenaLayout cutback::layoutArena(const Intervals &intervals,
                                 const ArenaOptions &options) {
  ArenaLayout layout;
  layout.lowerBound = arenaLowerBound(intervals, options.alignment);
  if (intervals.empty())
    return layout;
  std::vector<int64_t> sizes = roundedSizes(intervals, options.alignment);
  // The sweeps are cheap, and often all that is needed.
  sweepAll(intervals, sizes, layout);
  if (layout.bytes == layout.lowerBound)
    return layout;
  layout.offsets.clear();
  layout.bytes = 0;
  PairDecoder decoder(intervals, sizes);
  if (decoder.findPairs())
    Search(intervals, decoder, options.work, layout).run();
  else
    sweepAll(intervals, sizes, layout);
  return layout;
}
