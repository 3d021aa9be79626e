// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front of time and memory, plan by plan: each point is the plan that the
// planner gives for its limit. Searches are heuristics, so a plan may need more
// and take longer than that of another limit; it is left out, since the other
// one can be asked for in its place.

#include "cutback/Planner/PlanFront.h"

#include "cutback/Planner/Planner.h"

using namespace mlir;
using namespace cutback;

static FailureOr<FrontPoint> planPoint(joint::GraphOp graph,
                                       const PartitionOptions &options,
                                       int64_t limit) {
  FailureOr<CopiedPlan> plan = planCopy(graph, options);
  if (failed(plan))
    return failure();
  const PartitionResult &result = *plan->result;
  return FrontPoint{limit, result.peak.bytes, result.pricedPs};
}

/// Those that no other one is better than.
static std::vector<FrontPoint> bestOf(const std::vector<FrontPoint> &points) {
  std::vector<FrontPoint> front;
  for (const FrontPoint &point : points) {
    while (!front.empty() && front.back().peakBytes >= point.peakBytes &&
           front.back().pricedPs >= point.pricedPs)
      front.pop_back();
    if (front.empty() || front.back().pricedPs > point.pricedPs)
      front.push_back(point);
  }
  return front;
}

FailureOr<std::vector<FrontPoint>>
cutback::planFront(joint::GraphOp graph, const PartitionOptions &options,
                   unsigned count, llvm::function_ref<void(unsigned)> before) {
  PartitionOptions asked = options;
  asked.dumpNetwork.clear();
  if (!asked.memory)
    asked.memory.emplace();
  asked.figures = true;
  // The fastest that is found where all may be saved.
  asked.memoryLimit = MemoryLimit{0, 1};
  FailureOr<FrontPoint> most = planPoint(graph, asked, 0);
  if (failed(most))
    return failure();
  asked.memoryLimit.reset();
  asked.minimize = Minimize::Peak;
  FailureOr<FrontPoint> least = planPoint(graph, asked, 0);
  if (failed(least))
    return failure();
  asked.minimize = Minimize::Time;
  std::vector<FrontPoint> points;
  int64_t low = least->peakBytes, high = std::max(low, most->peakBytes);
  for (unsigned number = 0; number < count; ++number) {
    before(number);
    double part = count > 1 ? static_cast<double>(number) / (count - 1) : 1;
    int64_t limit =
        low + static_cast<int64_t>(part * static_cast<double>(high - low));
    asked.memoryLimit = MemoryLimit{limit, std::nullopt};
    FailureOr<FrontPoint> point = planPoint(graph, asked, limit);
    if (failed(point))
      return failure();
    points.push_back(*point);
  }
  return bestOf(points);
}
