// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The minimum cut minimizes time, and time is what saved bytes cost; a peak is
// something else: what is recomputed has to lie somewhere too, and what is
// saved may lie where it is in nobody's way. So for the smallest peak several
// plans are made and their arenas compared:
//
//   1. the minimum cut as it is, then with dearer bytes, in steps of three
//   2. the same on the graph as PyTorch prepares it (it merges other ops)
//   3. PyTorch's decision
//
// What is tried out is made on copies, without figures and proofs; the best is
// then made again on the graph, with both. Each is a partition, a schedule and
// a memory plan.

#include "cutback/Pipelines/PeakPlan.h"

#include "Internal.h"

using namespace mlir;
using namespace cutback;

namespace {

/// One way to a plan.
struct Way {
  PartitionOptions options;
  bool asTorch = false; ///< the graph is prepared as PyTorch does
};

/// The peak of a plan that is thrown away, made on a copy of the graph.
FailureOr<int64_t> tryOut(joint::GraphOp graph, Way way) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(graph.getLoc());
  Operation *copy = graph->clone();
  scratch->push_back(copy);
  way.options.figures = false;
  way.options.verify = false;
  way.options.dumpNetwork.clear();
  FailureOr<DraftPlan> plan =
      prepareAndDraft(cast<joint::GraphOp>(copy), way.options, way.asTorch);
  if (failed(plan))
    return failure();
  const PartitionResult &result = plan->result();
  return peakBytes(result.memory, result.view, *result.sizes, result.halves);
}

std::vector<Way> waysFor(PartitionOptions options) {
  options.strategy = Strategy::MinCut;
  options.costModel = CostModel::Roofline;
  if (!options.memory)
    options.memory.emplace();
  std::vector<Way> ways;
  for (double price : {0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0})
    for (bool asTorch : {false, true}) {
      ways.push_back({options, asTorch});
      ways.back().options.bytePricePs = price;
    }
  ways.push_back({torchDecision(options), true});
  return ways;
}

} // namespace

FailureOr<std::unique_ptr<PartitionResult>>
cutback::planForPeak(joint::GraphOp graph, const PartitionOptions &options) {
  std::vector<Way> ways = waysFor(options);
  const Way *best = &ways.front();
  int64_t least = std::numeric_limits<int64_t>::max();
  {
    // A way that is not possible is passed over; the first one says why.
    ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
    for (const Way &way : ways)
      if (FailureOr<int64_t> peak = tryOut(graph, way);
          succeeded(peak) && *peak < least) {
        least = *peak;
        best = &way;
      }
  }
  return prepareAndPlan(graph, best->options, best->asTorch);
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::planStep(joint::GraphOp graph, const PartitionOptions &options) {
  return options.minimize == Minimize::Peak ? planForPeak(graph, options)
                                            : planForTime(graph, options);
}
