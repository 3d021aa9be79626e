// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fewer live bytes by moving ops around the peak.
//
//   1. Simulate; find the op at which most bytes are live.
//   2. If it needs as much in every order, which a minimum cut says, no order
//      is lower, and the search ends.
//   3. Moves of an op or a few (LocalMoves); where none helps, minimum cuts as
//      moves (CutMoves); then a local move that does no harm with a second one
//      behind it.
//   4. Again, until nothing helps or the work is spent.

#include "cutback/MemoryPlan/Schedule.h"

#include "CutMoves.h"

using namespace cutback;

std::string ScheduleProblem::check() const {
  if (depends.size() != numOps())
    return "has other numbers of ops";
  for (uint32_t op = 0; op < numOps(); ++op)
    for (uint32_t other : depends[op])
      if (other >= op)
        return "depends on an op that comes later";
  return LiveProblem::check();
}

static Schedule search(const ScheduleProblem &problem, uint64_t work) {
  Schedule result;
  RunningOrder now(problem, work);
  LocalMoves local(now);
  CutMoves cuts(now, local);
  while (!now.order.empty() && now.work > 0 &&
         !(result.isLeast = cuts.isLeast()) &&
         (local.improve() || cuts.improveByNestedCuts() ||
          cuts.improveByCuts() || local.improveTwice())) {
    ++result.moves;
    now.simulate();
  }
  result.order = std::move(now.order);
  return result;
}

int64_t cutback::schedulePeak(const ScheduleProblem &problem,
                              const Order &order) {
  LiveSimulation simulation(problem);
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
  Schedule schedule = search(problem, work);
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
