// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets for intervals. A layout is the decoding of an order: each interval
// goes into a gap between those that are placed and live with it. Some order
// decodes to a smallest layout (take the intervals of one by offset: each can
// go no higher than it lies), so the search is over orders alone.
//
//   1. Which intervals are live together.
//   2. Greedy orders: by size, size × length, length, begin, end; each with
//      the lowest gap and with the tightest.
//   3. From the best of them, "squeaky wheel" search (Joslin and Clements,
//      JAIR 1999): decode until an interval reaches the smallest arena so far,
//      move that one forward in the order, a few places or far, and go on from
//      there: what lies in front of it stays. After a hundred moves in vain,
//      again from the best order. Moves come from a fixed pseudo-random
//      sequence.
//   4. With too many pairs for a list (a hundred thousand intervals): sweeps
//      over time in both directions, live intervals by offset, free gaps by
//      size; O(n log n).
//
// All of it stops as soon as the lower bound is met.

#include "ArenaSweep.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace cutback;

namespace {

/// Entries of the list of pairs beyond which only sweeps are tried.
constexpr uint64_t kMaxPairs = 40'000'000;

int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

//===----------------------------------------------------------------------===//
// Decoding an order
//===----------------------------------------------------------------------===//

/// The intervals that are live with one, by offset. Where few pairs are live
/// together they are listed and sorted anew each time; where many are, it is
/// cheaper to walk over everything that is placed, kept in order.
class Decoder {
public:
  Decoder(const Intervals &intervals, std::vector<int64_t> sizes)
      : intervals(intervals), sizes(std::move(sizes)),
        offsets(intervals.size(), -1) {}

  /// False if there are too many pairs.
  bool findPairs() {
    uint64_t total = countPairs();
    if (total > kMaxPairs)
      return false;
    isDense = total * kDense >= intervals.size() * intervals.size();
    if (!isDense)
      listPairs(total);
    return true;
  }

  /// Places all intervals; returns the bytes of the arena. Gives up, and
  /// returns more than `limit`, at the first one that exceeds it. The first
  /// `kept` intervals of the order lie as the call before placed them.
  int64_t decode(const std::vector<uint32_t> &order, Fit fit, int64_t limit,
                 size_t kept = 0) {
    ++looks;
    tops.resize(order.size() + 1);
    if (kept)
      forgetFrom(order, kept);
    else
      tops[0] = placeFixed();
    for (decoded = kept; decoded < order.size();) {
      uint32_t i = order[decoded];
      int64_t top = tops[decoded];
      if (offsets[i] < 0) {
        place(i, sizes[i] ? findGap(i, fit) : 0);
        top = std::max(top, offsets[i] + sizes[i]);
      }
      tops[++decoded] = top;
      if (top > limit)
        break;
    }
    return tops[decoded];
  }

  /// Place in the order of the interval that made the last decoding as large
  /// as it is.
  size_t highest() const {
    auto first = tops.begin() + 1, last = tops.begin() + decoded;
    return std::lower_bound(first, last, tops[decoded]) - first;
  }

  const std::vector<int64_t> &places() const { return offsets; }
  const std::vector<int64_t> &roundedSizes() const { return sizes; }
  uint64_t work() const { return looks; }

private:
  /// A sort costs about as much as a walk over so many times what it sorts.
  static constexpr uint64_t kDense = 32;

  /// Twice the number of pairs that are live together; sets `degree`.
  uint64_t countPairs() {
    std::vector<uint32_t> begins, ends;
    for (uint32_t i = 0; i < intervals.size(); ++i)
      if (sizes[i]) {
        begins.push_back(intervals[i].begin);
        ends.push_back(intervals[i].end);
      }
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());
    degree.assign(intervals.size(), 0);
    uint64_t total = 0;
    for (uint32_t i = 0; i < intervals.size(); ++i) {
      if (!sizes[i])
        continue;
      auto begun =
          std::lower_bound(begins.begin(), begins.end(), intervals[i].end);
      auto ended =
          std::upper_bound(ends.begin(), ends.end(), intervals[i].begin);
      degree[i] = static_cast<uint32_t>((begun - begins.begin()) -
                                        (ended - ends.begin()) - 1);
      total += degree[i];
    }
    return total;
  }

  void listPairs(uint64_t total) {
    pairBegin.assign(intervals.size() + 1, 0);
    for (size_t i = 0; i < intervals.size(); ++i)
      pairBegin[i + 1] = pairBegin[i] + degree[i];
    pairs.resize(total);
    std::vector<uint32_t> byBegin = identity(intervals.size());
    std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
      return std::make_pair(intervals[a].begin, a) <
             std::make_pair(intervals[b].begin, b);
    });
    std::vector<uint32_t> next(pairBegin.begin(), pairBegin.end());
    std::vector<uint32_t> live;
    for (uint32_t i : byBegin) {
      if (!sizes[i])
        continue;
      live.erase(std::remove_if(live.begin(), live.end(),
                                [&](uint32_t other) {
                                  return intervals[other].end <=
                                         intervals[i].begin;
                                }),
                 live.end());
      for (uint32_t other : live) {
        pairs[next[other]++] = i;
        pairs[next[i]++] = other;
      }
      live.push_back(i);
    }
  }

  /// Returns the bytes up to the highest fixed place.
  int64_t placeFixed() {
    std::fill(offsets.begin(), offsets.end(), -1);
    placed.clear();
    int64_t top = 0;
    for (uint32_t i = 0; i < intervals.size(); ++i)
      if (isFixed(i)) {
        place(i, intervals[i].fixedOffset);
        top = std::max(top, offsets[i] + sizes[i]);
      }
    return top;
  }

  bool isFixed(uint32_t i) const {
    return intervals[i].fixedOffset >= 0 && sizes[i];
  }

  void forgetFrom(const std::vector<uint32_t> &order, size_t from) {
    for (size_t at = from; at < order.size(); ++at)
      if (!isFixed(order[at]))
        offsets[order[at]] = -1;
    placed.erase(std::remove_if(placed.begin(), placed.end(),
                                [&](const Placed &other) {
                                  return offsets[other.interval] < 0;
                                }),
                 placed.end());
  }

  void place(uint32_t i, int64_t offset) {
    offsets[i] = offset;
    if (!isDense || !sizes[i])
      return;
    Placed now{offset, offset + sizes[i], intervals[i].begin, intervals[i].end,
               i};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), now), now);
  }

  /// The places of what is live with `i`, by offset.
  template <typename Visit> void forEachTaken(uint32_t i, Visit visit) {
    looks += degree[i] + 1;
    if (isDense) {
      const ArenaInterval &interval = intervals[i];
      for (const Placed &other : placed)
        if (other.begin < interval.end && interval.begin < other.end)
          if (!visit(other.offset, other.top))
            return;
      return;
    }
    taken.clear();
    for (uint32_t p = pairBegin[i]; p < pairBegin[i + 1]; ++p)
      if (int64_t offset = offsets[pairs[p]]; offset >= 0)
        taken.push_back({offset, offset + sizes[pairs[p]]});
    std::sort(taken.begin(), taken.end());
    for (auto [offset, top] : taken)
      if (!visit(offset, top))
        return;
  }

  int64_t findGap(uint32_t i, Fit fit) {
    int64_t top = 0, best = -1, bestGap = 0;
    forEachTaken(i, [&](int64_t offset, int64_t end) {
      int64_t gap = offset - top;
      if (gap >= sizes[i] && (best < 0 || gap < bestGap)) {
        best = top;
        bestGap = gap;
        if (fit == Fit::Lowest)
          return false;
      }
      top = std::max(top, end);
      return true;
    });
    return best < 0 ? top : best;
  }

  struct Placed {
    int64_t offset, top;
    uint32_t begin, end, interval;
    bool operator<(const Placed &other) const { return offset < other.offset; }
  };

  const Intervals &intervals;
  std::vector<int64_t> sizes;
  std::vector<uint32_t> degree; ///< how many are live with an interval
  bool isDense = false;
  std::vector<Placed> placed; ///< by offset; where it is dense
  std::vector<uint32_t> pairBegin, pairs;
  std::vector<int64_t> offsets;
  std::vector<int64_t> tops; ///< by place in the order: the arena in front
  size_t decoded = 0;        ///< places in the order that are done
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

/// Orders worth a try: descending keys, ties by number. The first five go by
/// one measure; the others first stack what is live at the fullest step, where
/// nothing may be wasted, and then fit the rest around it. Made one at a time:
/// the first one is often good enough.
class GreedyOrders {
public:
  GreedyOrders(const Intervals &intervals, const std::vector<int64_t> &sizes)
      : intervals(intervals), sizes(sizes),
        fullest(findFullestStep(intervals, sizes)) {}

  static constexpr unsigned kCount = 17;

  std::vector<uint32_t> make(unsigned number) const {
    constexpr std::array<Measure, 2> byOne[] = {{Size, Length},
                                                {Area, Size},
                                                {Length, Size},
                                                {Sooner, Size},
                                                {End, Size}};
    constexpr Measure atPeak[] = {Sooner, End, Length, Size};
    constexpr Measure around[] = {Size, Area, Length};
    constexpr unsigned numByOne = std::size(byOne);
    std::vector<std::array<double, 3>> keys(intervals.size());
    for (uint32_t i = 0; i < intervals.size(); ++i) {
      if (number < numByOne) {
        auto [first, second] = byOne[number];
        keys[i] = {measure(first, i), measure(second, i), 0};
        continue;
      }
      bool isAtPeak =
          intervals[i].begin <= fullest && fullest < intervals[i].end;
      unsigned pair = number - numByOne;
      keys[i] = {double(isAtPeak),
                 measure(isAtPeak ? atPeak[pair % 4] : around[pair / 4], i),
                 measure(Size, i)};
    }
    std::vector<uint32_t> order = identity(intervals.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
    return order;
  }

private:
  enum Measure { Size, Length, Area, Sooner, End };

  double measure(Measure which, uint32_t i) const {
    double begin = intervals[i].begin, end = intervals[i].end;
    auto size = static_cast<double>(sizes[i]);
    switch (which) {
    case Size:
      return size;
    case Length:
      return end - begin;
    case Area:
      return size * (end - begin);
    case Sooner:
      return -begin;
    case End:
      return end;
    }
    return 0;
  }

  const Intervals &intervals;
  const std::vector<int64_t> &sizes;
  uint32_t fullest;
};

class Search {
public:
  Search(const Intervals &intervals, Decoder &decoder, uint64_t budget,
         ArenaLayout &layout)
      : intervals(intervals), decoder(decoder), budget(budget), layout(layout) {
  }

  void run() {
    std::vector<Start> starts;
    GreedyOrders greedy(intervals, decoder.roundedSizes());
    for (unsigned number = 0; number < GreedyOrders::kCount && !isDone();
         ++number) {
      std::vector<uint32_t> candidate = greedy.make(number);
      for (Fit fit : {Fit::Lowest, Fit::Tightest})
        if (!isDone() && (starts.empty() || decoder.work() < budget / 4 * 3))
          starts.push_back({tryOrder(candidate, fit), candidate, fit});
    }
    std::stable_sort(
        starts.begin(), starts.end(),
        [](const Start &a, const Start &b) { return a.bytes < b.bytes; });
    // The best order is not always the one from which the search gets on; but
    // a hundred decodings from one are better than ten from each of ten.
    uint64_t first = decoder.work();
    uint64_t left = budget - std::min(first, budget);
    size_t count =
        std::clamp<uint64_t>(left * starts.size() / (100 * first + 1), 1,
                             std::min<size_t>(starts.size(), 12));
    for (size_t i = 0; i < count; ++i)
      if (first < budget && !isDone())
        improve(std::move(starts[i]),
                first + (budget - first) * (i + 1) / count);
    layout.work = decoder.work();
  }

private:
  /// Places by which an interval moves forward two times of three, at most.
  static constexpr size_t kNear = 16;
  /// Moves without a smaller arena, after which the best order is taken again.
  static constexpr unsigned kPatience = 100;

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
    std::vector<uint32_t> best = start.order, &order = start.order;
    size_t kept = 0;
    for (unsigned inVain = 0; !isDone() && decoder.work() < end; ++inVain) {
      ++layout.iterations;
      if (inVain > kPatience) {
        order = best;
        kept = inVain = 0;
      }
      int64_t bytes = decoder.decode(order, start.fit, layout.bytes - 1, kept);
      if (bytes < layout.bytes) {
        keep(bytes);
        best = order;
        inVain = 0;
      }
      size_t at = decoder.highest();
      size_t reach = random() % 3 ? std::min<size_t>(at, kNear) : at;
      kept = at - (reach ? 1 + random() % reach : 0);
      std::rotate(order.begin() + kept, order.begin() + at,
                  order.begin() + at + 1);
    }
  }

  const Intervals &intervals;
  Decoder &decoder;
  uint64_t budget;
  ArenaLayout &layout;
  uint64_t state = 0x9E3779B97F4A7C15u;
};

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
  Decoder decoder(intervals, sizes);
  if (!decoder.findPairs())
    return layout;
  layout.offsets.clear();
  layout.bytes = 0;
  Search(intervals, decoder, options.work, layout).run();
  return layout;
}
