// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fewer live bytes by moving ops around the peak.
//
//   1. Simulate; find the op at which most bytes are live.
//   2. Try, within a window around it:
//      later    an op in front of the peak that the peak does not need moves
//               behind it, with what depends on it in between, alone or with
//               what is computed for these ops only;
//      sooner   an op behind the peak moves in front of it, with what it
//               depends on in between;
//      exactly  all orders of a few neighbours, by branch and bound.
//      What makes the stretch's own peak smaller (or as large, at fewer ops)
//      is kept.
//   3. Again, until nothing helps or the work is spent. Where no move helps,
//      try a move that does no harm with a second one behind it.
//
// Permuting a stretch of the order changes nothing outside of it: the same ops
// have run at both ends. So a try costs the length of the stretch alone: a
// storage of the stretch dies inside exactly if nobody behind it reads it.

#include "cutback/MemoryPlan/Schedule.h"

#include <algorithm>
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
    while (!order.empty() && work > 0 && (improve() || improveTwice())) {
      ++result.moves;
      simulate();
    }
    result.peakAfter = peak.bytes;
    result.order = std::move(order);
    return result;
  }

private:
  static constexpr uint32_t kWindow = 96, kExact = 7;

  /// Positions, last readers, live bytes in front of each op, and the peak.
  void simulate() {
    std::vector<uint32_t> readers = simulation.countReaders();
    int64_t live = simulation.liveAtStart(readers);
    before.resize(order.size());
    std::fill(lastReader.begin(), lastReader.end(), -1);
    peak = {};
    for (uint32_t at = 0; at < order.size(); ++at) {
      uint32_t op = order[at];
      position[op] = at;
      before[at] = live;
      for (uint32_t storage : problem.reads[op])
        lastReader[storage] = at;
      int64_t during = simulation.run(op, readers, live);
      if (during > peak.bytes)
        peakAt = at;
      peak.look(during);
    }
    work -= std::min<uint64_t>(work, order.size());
  }

  /// Height of the stretch that begins at `first` if it runs as `ops`.
  Height measure(uint32_t first, const Order &ops) {
    prepare(first, ops);
    int64_t live = before[first];
    Height height;
    for (uint32_t op : ops)
      height.look(simulation.run(op, left, live));
    work -= std::min<uint64_t>(work, ops.size());
    return height;
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
    Height old =
        measure(first, stretch(first, first + uint32_t(ops.size()) - 1));
    Height now = measure(first, ops);
    if (isNeutral ? old.bytes < now.bytes : !(now < old))
      return false;
    std::copy(ops.begin(), ops.end(), order.begin() + first);
    return true;
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

  /// All orders of a few neighbours.
  bool searchExactly(uint32_t first, uint32_t size) {
    Order ops = stretch(first, first + size - 1);
    Height best = measure(first, ops);
    Order found, partial;
    prepare(first, ops);
    search(first, ops, partial, before[first], {}, best, found);
    if (found.empty())
      return false;
    std::copy(found.begin(), found.end(), order.begin() + first);
    return true;
  }

  void search(uint32_t first, const Order &ops, Order &partial, int64_t live,
              Height height, Height &best, Order &found) {
    if (partial.size() == ops.size()) {
      best = height;
      found = partial;
      return;
    }
    for (uint32_t op : ops) {
      if (!work || isIn(partial, op) || !isReady(first, ops, partial, op))
        continue;
      --work;
      Height next = height;
      int64_t liveNext = live;
      next.look(simulation.run(op, left, liveNext));
      if (next < best) {
        partial.push_back(op);
        search(first, ops, partial, liveNext, next, best, found);
        partial.pop_back();
      }
      for (uint32_t storage : problem.reads[op])
        ++left[storage]; // as it was
    }
  }

  static bool isIn(const Order &ops, uint32_t op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  }

  bool isReady(uint32_t first, const Order &ops, const Order &partial,
               uint32_t op) const {
    for (uint32_t other : problem.depends[op])
      if (position[other] >= first && position[other] < first + ops.size() &&
          !isIn(partial, other))
        return false;
    return true;
  }

  const ScheduleProblem &problem;
  Simulation simulation;
  uint64_t work;
  Order order;
  std::vector<uint32_t> position;  ///< by op
  std::vector<int64_t> lastReader; ///< by storage: position, or -1
  std::vector<int64_t> before;     ///< by position: live bytes in front
  std::vector<uint32_t> left;      ///< by storage, for a stretch
  std::vector<uint8_t> marks;      ///< of a stretch that ends at the peak
  std::vector<Order> users;        ///< by op
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
