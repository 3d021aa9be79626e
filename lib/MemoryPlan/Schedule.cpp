// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fewer live bytes by moving ops around the peak.
//
//   1. Simulate; find the op at which most bytes are live.
//   2. Try, within a window around it:
//      later    an op that the peak does not need moves behind it, with what
//               depends on it, alone or with what is computed for these only;
//      sooner   an op moves in front of the peak, with what it depends on;
//      exactly  all orders of a few neighbours, by branch and bound.
//      What makes the stretch's own peak smaller, or rarer, is kept.
//   3. Where none of these helps: the least bytes at the peak's op over all
//      orders, by a minimum cut (ScheduleBound). If they are the peak, no order
//      is lower, and the search ends. Else run what the cut puts before the op
//      before it and the rest behind, and go on from there for a few moves;
//      then a move that does no harm with a second one behind it.
//   4. Again, until nothing helps or the work is spent.
//
// Permuting a stretch of the order changes nothing outside of it: the same ops
// have run at both ends. So a try costs the length of the stretch alone: a
// storage of the stretch dies inside exactly if nobody behind it reads it.

#include "cutback/MemoryPlan/Schedule.h"

#include "cutback/MemoryPlan/ScheduleBound.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace cutback;

namespace {

using Order = std::vector<uint32_t>;

/// Peak of a stretch and at how many ops it is reached.
struct Height {
  int64_t bytes = 0;
  uint32_t count = 0;

  bool operator<(const Height &other) const {
    return bytes != other.bytes ? bytes < other.bytes : count < other.count;
  }
  void look(int64_t live) {
    if (live > bytes) {
      bytes = live;
      count = 0;
    }
    count += live == bytes;
  }
};

/// Runs ops one by one. `left` counts, by storage, the readers to come, and
/// one more if it is kept.
class Simulation {
public:
  explicit Simulation(const ScheduleProblem &problem) : problem(problem) {}

  /// Bytes while `op` runs; afterwards `live` is what is live behind it.
  int64_t run(uint32_t op, std::vector<uint32_t> &left, int64_t &live) const {
    for (uint32_t storage : problem.makes[op])
      live += problem.bytes[storage];
    for (uint32_t storage : problem.reads[op])
      --left[storage];
    int64_t during = live;
    for (uint32_t storage : problem.replaces[op])
      if (left[storage] == 0) {
        during -= problem.bytes[storage];
        break;
      }
    for (uint32_t storage : problem.reads[op])
      if (left[storage] == 0)
        live -= problem.bytes[storage];
    for (uint32_t storage : problem.makes[op])
      if (left[storage] == 0)
        live -= problem.bytes[storage];
    return during;
  }

  std::vector<uint32_t> countReaders() const {
    std::vector<uint32_t> left(problem.isKept.begin(), problem.isKept.end());
    for (uint32_t storage : problem.reads.list)
      ++left[storage];
    return left;
  }

  int64_t liveAtStart(const std::vector<uint32_t> &left) const {
    int64_t live = 0;
    for (uint32_t storage = 0; storage < left.size(); ++storage)
      if (problem.isGiven[storage] && left[storage])
        live += problem.bytes[storage];
    return live;
  }

private:
  const ScheduleProblem &problem;
};

class Improver {
public:
  Improver(const ScheduleProblem &problem, uint64_t work)
      : problem(problem), simulation(problem), work(work),
        position(problem.numOps()), lastReader(problem.bytes.size()),
        left(problem.bytes.size(), 0), users(problem.numOps()) {
    for (uint32_t op = 0; op < problem.numOps(); ++op)
      for (uint32_t other : problem.depends[op])
        users[other].push_back(op);
  }

  Schedule run() {
    Schedule result;
    order.resize(problem.numOps());
    std::iota(order.begin(), order.end(), 0);
    simulate();
    result.peakBefore = peak.bytes;
    while (!order.empty() && work > 0 && !(result.isLeast = isLeast()) &&
           (improve() || improveByCut() || improveTwice())) {
      ++result.moves;
      simulate();
    }
    result.peakAfter = peak.bytes;
    result.order = std::move(order);
    return result;
  }

private:
  static constexpr uint32_t kWindow = 96, kExact = 7;
  /// Ops on each side of the peak that a cut looks at, and cuts in a row.
  static constexpr uint32_t kCutWindow = 2000, kCuts = 4;

  /// Positions, last readers, live bytes in front of each op, and the peak.
  void simulate() {
    std::vector<uint32_t> readers = simulation.countReaders();
    int64_t live = simulation.liveAtStart(readers);
    before.resize(order.size());
    during.resize(order.size());
    std::fill(lastReader.begin(), lastReader.end(), -1);
    peak = {};
    for (uint32_t at = 0; at < order.size(); ++at) {
      uint32_t op = order[at];
      position[op] = at;
      before[at] = live;
      for (uint32_t storage : problem.reads[op])
        lastReader[storage] = at;
      during[at] = simulation.run(op, readers, live);
      if (during[at] > peak.bytes)
        peakAt = at;
      peak.look(during[at]);
    }
    work -= std::min<uint64_t>(work, order.size());
  }

  /// Height of `size` ops of the present order.
  Height heightOf(uint32_t first, uint32_t size) const {
    Height height;
    for (uint32_t at = first; at < first + size; ++at)
      height.look(during[at]);
    return height;
  }

  /// True if the stretch that begins at `first` is lower than `old` when it
  /// runs as `ops`; or, where neutral moves are looked for, as low.
  bool isLower(uint32_t first, const Order &ops, const Height &old) {
    prepare(first, ops);
    int64_t live = before[first];
    Height height;
    work -= std::min<uint64_t>(work, ops.size());
    for (uint32_t op : ops) {
      height.look(simulation.run(op, left, live));
      if (isNeutral ? old.bytes < height.bytes : !(height < old))
        return false;
    }
    return true;
  }

  /// Sets `left` for a stretch: readers inside, and one for all behind it.
  void prepare(uint32_t first, const Order &ops) {
    auto end = static_cast<int64_t>(first + ops.size());
    auto reset = [&](uint32_t storage) {
      left[storage] =
          problem.isKept[storage] || lastReader[storage] >= end ? 1 : 0;
    };
    for (uint32_t op : ops) {
      for (uint32_t storage : problem.reads[op])
        reset(storage);
      for (uint32_t storage : problem.makes[op])
        reset(storage);
    }
    for (uint32_t op : ops)
      for (uint32_t storage : problem.reads[op])
        ++left[storage];
  }

  Order stretch(uint32_t first, uint32_t last) const {
    return Order(order.begin() + first, order.begin() + last + 1);
  }

  /// Takes the new order of a stretch if it is lower than the old one.
  bool take(uint32_t first, const Order &ops) {
    if (!isLower(first, ops, heightOf(first, ops.size())))
      return false;
    std::copy(ops.begin(), ops.end(), order.begin() + first);
    return true;
  }

  /// Ops [first, last) of the present order as a program of their own: what is
  /// made in front of them is given, what is read behind them is kept. What is
  /// live all along is left out.
  ScheduleProblem stretchProblem(uint32_t first, uint32_t last) {
    constexpr uint32_t none = ~uint32_t(0);
    ScheduleProblem part;
    numbers.assign(problem.bytes.size(), none);
    auto number = [&](uint32_t storage, bool isGiven) {
      if (numbers[storage] == none) {
        numbers[storage] = part.bytes.size();
        part.bytes.push_back(problem.bytes[storage]);
        part.isGiven.push_back(isGiven);
        part.isKept.push_back(problem.isKept[storage] ||
                              lastReader[storage] >= last);
      }
      return numbers[storage];
    };
    for (uint32_t at = first; at < last; ++at) {
      uint32_t op = order[at];
      for (uint32_t other : problem.depends[op])
        if (position[other] >= first)
          part.depends.add(position[other] - first);
      for (uint32_t storage : problem.makes[op])
        part.makes.add(number(storage, /*isGiven=*/false));
      for (uint32_t storage : problem.reads[op])
        part.reads.add(number(storage, /*isGiven=*/true));
      for (uint32_t storage : problem.replaces[op])
        part.replaces.add(number(storage, /*isGiven=*/true));
      part.depends.endRow();
      part.makes.endRow();
      part.reads.endRow();
      part.replaces.endRow();
    }
    return part;
  }

  /// The stretch that a cut at the peak looks at.
  std::pair<uint32_t, uint32_t> cutWindow() const {
    return {peakAt > kCutWindow ? peakAt - kCutWindow : 0,
            std::min<uint32_t>(order.size(), peakAt + kCutWindow + 1)};
  }

  /// The least bytes of the op at the peak; `runsBefore` gets by place in the
  /// window what then runs before it.
  int64_t cutAtPeak(std::vector<uint8_t> &runsBefore) {
    auto [first, last] = cutWindow();
    ScheduleProblem part = stretchProblem(first, last);
    // What is live all along is what is live in front of the stretch, but for
    // what the stretch knows.
    int64_t passing = before[first];
    for (uint32_t storage = 0; storage < part.bytes.size(); ++storage)
      passing -= part.isGiven[storage] ? part.bytes[storage] : 0;
    ScheduleBound bound(part);
    int64_t bytes = bound.leastBytes(peakAt - first, runsBefore);
    work -= std::min<uint64_t>(work, bound.arcScans());
    return passing + bytes;
  }

  /// True if the op at the peak needs as much in every order.
  bool isLeast() {
    auto [first, last] = cutWindow();
    if (first > 0 || last < order.size())
      return false;
    if (least.empty())
      least.assign(order.size(), -1);
    int64_t &known = least[order[peakAt]];
    std::vector<uint8_t> runsBefore;
    if (known < 0)
      known = cutAtPeak(runsBefore);
    return known >= peak.bytes;
  }

  /// Puts what the cut at the peak says in front of it, the rest behind it.
  /// False if that is as it is, or leaves the bytes there as they are.
  bool moveByCut() {
    std::vector<uint8_t> runsBefore;
    if (cutAtPeak(runsBefore) >= peak.bytes)
      return false;
    auto [first, last] = cutWindow();
    Order now, later;
    for (uint32_t at = first; at < last; ++at)
      if (at != peakAt)
        (runsBefore[at - first] ? now : later).push_back(order[at]);
    now.push_back(order[peakAt]);
    now.insert(now.end(), later.begin(), later.end());
    bool isMoved = !std::equal(now.begin(), now.end(), order.begin() + first);
    std::copy(now.begin(), now.end(), order.begin() + first);
    return isMoved;
  }

  /// A cut at the peak, and what more it takes for a lower peak.
  bool improveByCut() {
    const Order start = order;
    const Height high = peak;
    for (uint32_t cuts = 0; cuts < kCuts && work > 0 && moveByCut(); ++cuts) {
      do {
        simulate();
        if (peak < high)
          return true;
      } while (improve());
    }
    order = start;
    simulate();
    return false;
  }

  /// A move that changes nothing at the peak, and then one that helps.
  bool improveTwice() {
    const Order start = order;
    uint32_t at = peakAt;
    uint32_t begin = at > kWindow ? at - kWindow : 0;
    uint32_t end = std::min<uint32_t>(order.size(), at + kWindow + 1);
    Height before = peak;
    for (uint32_t p = begin; p < end && work > 0; ++p) {
      isNeutral = true;
      bool isMoved = p < at ? moveLater(p) : p > at && moveSooner(p);
      isNeutral = false;
      if (!isMoved)
        continue;
      simulate();
      if (!(before < peak) && (peak < before || improve()))
        return true;
      order = start;
      simulate();
    }
    return false;
  }

  bool improve() {
    uint32_t begin = peakAt > kWindow ? peakAt - kWindow : 0;
    uint32_t end = std::min<uint32_t>(order.size(), peakAt + kWindow + 1);
    for (uint32_t at = peakAt; at-- > begin;)
      if (work && moveLater(at))
        return true;
    for (uint32_t at = peakAt + 1; at < end; ++at)
      if (work && moveSooner(at))
        return true;
    for (uint32_t size = 3; size <= kExact; ++size)
      for (uint32_t back = 0; back < size; ++back)
        if (work && peakAt >= back && peakAt - back + size <= order.size() &&
            searchExactly(peakAt - back, size))
          return true;
    return false;
  }

  /// Moves the op at `at` behind the peak, with what depends on it; then also
  /// with what is computed for those ops alone.
  bool moveLater(uint32_t at) {
    std::vector<uint8_t> &moves = marks;
    moves.assign(peakAt + 1 - at, 0);
    moves[0] = 1;
    for (uint32_t p = at + 1; p <= peakAt; ++p)
      for (uint32_t other : problem.depends[order[p]])
        if (position[other] >= at && moves[position[other] - at])
          moves[p - at] = 1;
    if (moves.back())
      return false;
    if (moveMarked(at))
      return true;
    uint32_t begin = at > kWindow ? at - kWindow : 0;
    moves.insert(moves.begin(), at - begin, 0);
    uint32_t first = at;
    for (uint32_t p = peakAt; p-- > begin;)
      if (!moves[p - begin] && servesMarked(order[p], begin)) {
        moves[p - begin] = 1;
        first = std::min(first, p);
      }
    moves.erase(moves.begin(), moves.begin() + (first - begin));
    return moveMarked(first);
  }

  /// All users of `op` are marked, or stand behind the peak; there are some.
  bool servesMarked(uint32_t op, uint32_t begin) const {
    bool isMarked = false;
    for (uint32_t user : users[op]) {
      if (position[user] > peakAt)
        continue;
      if (!marks[position[user] - begin])
        return false;
      isMarked = true;
    }
    return isMarked;
  }

  /// Moves what is marked, from position `first` on, behind the peak.
  bool moveMarked(uint32_t first) {
    Order stay, go;
    for (uint32_t p = first; p <= peakAt; ++p)
      (marks[p - first] ? go : stay).push_back(order[p]);
    stay.insert(stay.end(), go.begin(), go.end());
    return take(first, stay);
  }

  /// Moves the op at `at` in front of the peak, with what it needs.
  bool moveSooner(uint32_t at) {
    Order stay, go;
    std::vector<uint8_t> &moves = marks;
    moves.assign(at - peakAt + 1, 0);
    moves.back() = 1;
    for (uint32_t p = at + 1; p-- > peakAt;)
      if (moves[p - peakAt])
        for (uint32_t other : problem.depends[order[p]])
          if (position[other] >= peakAt)
            moves[position[other] - peakAt] = 1;
    if (moves.front())
      return false;
    for (uint32_t p = peakAt; p <= at; ++p)
      (moves[p - peakAt] ? go : stay).push_back(order[p]);
    go.insert(go.end(), stay.begin(), stay.end());
    return take(peakAt, go);
  }

  /// A few neighbours, all orders of which are tried. What is live behind a
  /// set of them does not depend on their order, so a set is left the second
  /// time unless it is reached lower.
  struct Neighbours {
    uint32_t count = 0;
    std::array<uint32_t, kExact> ops;
    std::array<uint32_t, kExact> needs; ///< sets: what must run before
    std::array<Height, 1u << kExact> reached;
    Height best;
    std::array<uint8_t, kExact> partial, found;
    bool isFound = false;
  };

  bool searchExactly(uint32_t first, uint32_t size) {
    Neighbours near;
    near.count = size;
    near.best = heightOf(first, size);
    near.reached.fill({INT64_MAX, 0});
    for (uint32_t i = 0; i < size; ++i) {
      near.ops[i] = order[first + i];
      near.needs[i] = 0;
      for (uint32_t other : problem.depends[near.ops[i]])
        if (position[other] >= first && position[other] < first + size)
          near.needs[i] |= 1u << (position[other] - first);
    }
    prepare(first, stretch(first, first + size - 1));
    search(near, 0, 0, before[first], {});
    if (!near.isFound)
      return false;
    for (uint32_t i = 0; i < size; ++i)
      order[first + i] = near.ops[near.found[i]];
    return true;
  }

  /// Goes on behind the set `done` of `depth` neighbours.
  void search(Neighbours &near, uint32_t done, uint32_t depth, int64_t live,
              Height height) {
    if (depth == near.count) {
      near.best = height;
      near.found = near.partial;
      near.isFound = true;
      return;
    }
    for (uint32_t i = 0; i < near.count; ++i) {
      if (!work || done >> i & 1 || (near.needs[i] & ~done))
        continue;
      --work;
      Height next = height;
      int64_t liveNext = live;
      next.look(simulation.run(near.ops[i], left, liveNext));
      Height &reached = near.reached[done | 1u << i];
      if (next < near.best && next < reached) {
        reached = next;
        near.partial[depth] = static_cast<uint8_t>(i);
        search(near, done | 1u << i, depth + 1, liveNext, next);
      }
      for (uint32_t storage : problem.reads[near.ops[i]])
        ++left[storage]; // as it was
    }
  }

  const ScheduleProblem &problem;
  Simulation simulation;
  uint64_t work;
  Order order;
  std::vector<uint32_t> position;  ///< by op
  std::vector<int64_t> lastReader; ///< by storage: position, or -1
  std::vector<int64_t> before;     ///< by position: live bytes in front
  std::vector<int64_t> during;     ///< by position: live bytes while it runs
  std::vector<uint32_t> left;      ///< by storage, for a stretch
  std::vector<uint8_t> marks;      ///< of a stretch that ends at the peak
  std::vector<Order> users;        ///< by op
  std::vector<uint32_t> numbers;   ///< by storage, in a stretch
  std::vector<int64_t> least;      ///< by op: isLeast's bytes, or -1
  Height peak;
  uint32_t peakAt = 0;
  bool isNeutral = false; ///< take what is no higher
};

} // namespace

int64_t cutback::schedulePeak(const ScheduleProblem &problem,
                              const Order &order) {
  Simulation simulation(problem);
  std::vector<uint32_t> left = simulation.countReaders();
  int64_t live = simulation.liveAtStart(left), most = live;
  for (uint32_t op : order)
    most = std::max(most, simulation.run(op, left, live));
  return most;
}

bool cutback::isTopological(const ScheduleProblem &problem,
                            const Order &order) {
  std::vector<uint8_t> done(problem.numOps(), 0);
  for (uint32_t op : order) {
    if (op >= done.size() || done[op])
      return false;
    for (uint32_t other : problem.depends[op])
      if (!done[other])
        return false;
    done[op] = 1;
  }
  return order.size() == problem.numOps();
}

Schedule cutback::improveSchedule(const ScheduleProblem &problem,
                                  uint64_t work) {
  Schedule schedule = Improver(problem, work).run();
  Order identity(problem.numOps());
  std::iota(identity.begin(), identity.end(), 0);
  schedule.peakBefore = schedulePeak(problem, identity);
  schedule.peakAfter = schedulePeak(problem, schedule.order);
  if (schedule.peakAfter > schedule.peakBefore ||
      !isTopological(problem, schedule.order)) {
    schedule.order = identity;
    schedule.peakAfter = schedule.peakBefore;
    schedule.isLeast = false;
  }
  return schedule;
}

int64_t cutback::leastPeak(const ScheduleProblem &problem) {
  Order order(problem.numOps());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = schedulePeak(problem, order);
  do {
    if (isTopological(problem, order))
      least = std::min(least, schedulePeak(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}
