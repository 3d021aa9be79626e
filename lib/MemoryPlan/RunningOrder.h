// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of ops as it stands in a search, and what is live along it. A search
// permutes stretches of it; what lies outside of one does not notice.
#ifndef CUTBACK_LIB_MEMORYPLAN_RUNNINGORDER_H
#define CUTBACK_LIB_MEMORYPLAN_RUNNINGORDER_H

#include "cutback/MemoryPlan/Schedule.h"

#include <algorithm>
#include <numeric>

namespace cutback {

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

/// Keeps a reference to the problem.
struct RunningOrder {
  RunningOrder(const ScheduleProblem &problem, uint64_t work)
      : problem(problem), simulation(problem), work(work),
        order(problem.numOps()), simulated(problem.numOps(), ~uint32_t(0)),
        position(problem.numOps()), lastReader(problem.bytes.size(), -1),
        before(problem.numOps()), during(problem.numOps()),
        left(problem.bytes.size()),
        atStart(simulation.liveAtStart(simulation.countReaders())) {
    std::iota(order.begin(), order.end(), 0);
    simulate();
  }

  /// Positions, last readers, live bytes in front of each op, and the peak.
  /// What has not moved is as it was: only the stretch that has is run.
  void simulate() {
    uint32_t first = 0, last = order.size();
    while (first < last && order[first] == simulated[first])
      ++first;
    while (last > first && order[last - 1] == simulated[last - 1])
      --last;
    runStretch(first, last);
    peak = {};
    for (uint32_t at = 0; at < order.size(); ++at) {
      if (during[at] > peak.bytes)
        peakAt = at;
      peak.look(during[at]);
    }
    pay(order.size());
  }

  /// Height of `size` ops of the present order.
  Height heightOf(uint32_t first, uint32_t size) const {
    Height height;
    for (uint32_t at = first; at < first + size; ++at)
      height.look(during[at]);
    return height;
  }

  /// Pays for `looks` at ops, as far as there is something left.
  void pay(uint64_t looks) { work -= std::min(work, looks); }

  const ScheduleProblem &problem;
  LiveSimulation simulation;
  uint64_t work; ///< looks at ops that are left
  Order order;
  Order simulated;                 ///< the order that the numbers below are of
  std::vector<uint32_t> position;  ///< by op
  std::vector<int64_t> lastReader; ///< by storage: position, or -1
  std::vector<int64_t> before;     ///< by position: live bytes in front
  std::vector<int64_t> during;     ///< by position: live bytes while it runs
  Height peak;
  uint32_t peakAt = 0; ///< position of the first op at the peak

private:
  /// Runs the ops in [first, last), which the last simulation had there too. A
  /// storage of theirs dies there exactly if nobody behind reads it.
  void runStretch(uint32_t first, uint32_t last) {
    auto reset = [&](uint32_t storage) {
      left[storage] =
          problem.isKept[storage] || lastReader[storage] >= last ? 1 : 0;
    };
    for (uint32_t at = first; at < last; ++at) {
      for (uint32_t storage : problem.reads[order[at]])
        reset(storage);
      for (uint32_t storage : problem.makes[order[at]])
        reset(storage);
    }
    for (uint32_t at = first; at < last; ++at)
      for (uint32_t storage : problem.reads[order[at]])
        ++left[storage];
    int64_t live = first < last && first > 0 ? before[first] : atStart;
    for (uint32_t at = first; at < last; ++at) {
      uint32_t op = order[at];
      simulated[at] = op;
      position[op] = at;
      before[at] = live;
      for (uint32_t storage : problem.reads[op])
        if (lastReader[storage] < last)
          lastReader[storage] = at;
      during[at] = simulation.run(op, left, live);
    }
  }

  std::vector<uint32_t> left; ///< by storage: readers to come, in a stretch
  int64_t atStart;            ///< live bytes in front of the first op
};

} // namespace cutback

#endif // CUTBACK_LIB_MEMORYPLAN_RUNNINGORDER_H
