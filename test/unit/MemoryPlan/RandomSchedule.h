// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs for the tests of schedules.
#ifndef CUTBACK_TEST_UNIT_MEMORYPLAN_RANDOMSCHEDULE_H
#define CUTBACK_TEST_UNIT_MEMORYPLAN_RANDOMSCHEDULE_H

#include "cutback/MemoryPlan/Schedule.h"

#include <random>

namespace cutback {

/// Op i makes storage i and reads some of the earlier ones; `given` storages
/// behind those are live at the start.
inline ScheduleProblem randomProblem(std::mt19937_64 &random, uint32_t numOps,
                                     uint32_t given) {
  ScheduleProblem problem;
  uint32_t count = numOps + given;
  for (uint32_t storage = 0; storage < count; ++storage) {
    problem.bytes.push_back(64 * (1 + random() % 8));
    problem.isGiven.push_back(storage >= numOps);
    problem.isKept.push_back(random() % 5 == 0);
  }
  for (uint32_t op = 0; op < numOps; ++op) {
    std::vector<uint8_t> isRead(count, 0);
    for (unsigned i = 0; i < random() % 3; ++i)
      isRead[op && random() % 3 ? random() % op : numOps + random() % given] =
          1;
    for (uint32_t storage = 0; storage < count; ++storage) {
      if (!isRead[storage])
        continue;
      problem.reads.add(storage);
      if (storage < op)
        problem.depends.add(storage);
      if (!problem.isKept[storage] &&
          problem.bytes[storage] == problem.bytes[op])
        problem.replaces.add(storage);
    }
    problem.makes.add(op);
    problem.depends.endRow();
    problem.reads.endRow();
    problem.makes.endRow();
    problem.replaces.endRow();
  }
  return problem;
}

} // namespace cutback

#endif // CUTBACK_TEST_UNIT_MEMORYPLAN_RANDOMSCHEDULE_H
