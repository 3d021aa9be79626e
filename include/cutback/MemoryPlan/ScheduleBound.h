// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no order of a backward can do without.
#ifndef CUTBACK_MEMORYPLAN_SCHEDULEBOUND_H
#define CUTBACK_MEMORYPLAN_SCHEDULEBOUND_H

#include "cutback/MemoryPlan/Schedule.h"
#include "cutback/Partition/MaxFlow/MinCut.h"

namespace cutback {

/// The least bytes that are live while an op runs, over all orders, by one
/// minimum cut: the ops on the source side run before it, and an arc is cut for
/// each storage that one side makes and the other reads (a closure problem:
/// Picard, "Maximal closure of a graph", Management Science 1976). The largest
/// of these bounds over all ops is a bound of the peak. Keeps its memory, and a
/// reference to the problem.
class ScheduleBound {
public:
  explicit ScheduleBound(const ScheduleProblem &problem);

  /// Bytes while `op` runs in the order that has fewest of them then. `before`
  /// gets by op whether that order runs it before `op`: `op`, with what is
  /// marked before and the rest behind it, each in a possible order, is one.
  /// Costs one minimum cut, and one more for each storage that `op` could
  /// replace. 0, the bound that is always true, where the bytes of all storages
  /// do not add up in 64 bits.
  int64_t leastBytes(uint32_t op, std::vector<uint8_t> &before);

  /// Arcs that the last call looked at.
  uint64_t arcScans() const { return scans; }

private:
  void addOrder(uint32_t op);
  void addStorages(uint32_t op);
  int64_t solve();

  const ScheduleProblem &problem;
  Rows readers;                 ///< by storage
  std::vector<uint32_t> makers; ///< by storage
  FlowNetwork network;
  MaxFlowSolver solver;
  MinCut cut;
  int64_t always = 0; ///< bytes that are live in each order
  uint64_t scans = 0;
  bool isTooLarge = false; ///< the sum of all bytes leaves 64 bits
};

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_SCHEDULEBOUND_H
