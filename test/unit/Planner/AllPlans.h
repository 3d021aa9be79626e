// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every plan of a small graph, by the planner's own evaluation: what a search
// can be compared with.
#ifndef CUTBACK_TEST_UNIT_PLANNER_ALLPLANS_H
#define CUTBACK_TEST_UNIT_PLANNER_ALLPLANS_H

#include "cutback/Planner/PartitionPipeline.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback::test {

struct EvaluatedPlan {
  std::vector<std::string> saved; ///< see savedStorages()
  int64_t peakBytes = 0;          ///< the arena of the step
  double stepPs = 0;              ///< kernels of both halves
};

/// Saved values that are no arguments, of views what they look at.
std::vector<std::string> savedStorages(const PartitionResult &result);

/// All plans of a copy of `graph` that differ in what is saved: each set of
/// values that are not the backward's own, kernels, launches and arena as the
/// planner makes them under these options. Exponential in the number of those
/// values; nothing where there are more than `most` sets.
std::optional<std::vector<EvaluatedPlan>>
allPlans(joint::GraphOp graph, const PartitionOptions &options,
         unsigned most = 1u << 12);

/// Of equal ones the first. `plans` is not empty.
const EvaluatedPlan &leastPeak(const std::vector<EvaluatedPlan> &plans);
/// Null where none keeps to the limit.
const EvaluatedPlan *fastestWithin(const std::vector<EvaluatedPlan> &plans,
                                   int64_t limitBytes);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_ALLPLANS_H
