// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no plan of a graph comes below: the peak of its step, and the extra time
// of a step that keeps a limit.
#ifndef CUTBACK_KERNELS_PLANBOUND_H
#define CUTBACK_KERNELS_PLANBOUND_H

#include "cutback/Kernels/LowerTerms.h"
#include "cutback/Partition/MaxFlow/MomentPrices.h"
#include "cutback/Partition/RooflineProblem.h"

namespace cutback {

/// A moment of the step that every order of every plan has, and what is in the
/// arena then at least.
struct StepMoment {
  enum Kind : uint8_t { Call, Between, End } kind = Call;
  uint32_t op = GraphView::kNone; ///< of a Call
  int64_t fixedBytes = 0;         ///< of `fixed`, and gradients or what makes
                                  ///< them
  std::vector<uint32_t> fixed;    ///< values, ascending: they are live
  std::vector<uint32_t> charged;  ///< values, ascending: live if saved
};

struct MomentPrice {
  uint32_t moment = 0;
  double ps = 0; ///< a byte
};

struct PeakBound {
  int64_t bytes = 0;
  uint32_t moment = 0; ///< at which it is reached
};

struct TimeBound {
  int64_t ps = 0; ///< of KernelPlanner::extraPs, of any plan within the limit
  std::vector<MomentPrice> prices; ///< that prove it; those above zero
  unsigned flows = 0;
};

/// The relaxation that both bounds are of: which values are saved and which ops
/// run again, in any order of launches. Holds for plans that keep gradients to
/// the end of the step and run an op once in a half, as one launch: ops that
/// are split have smaller working sets. Keeps references to all that it is
/// given.
class PlanBound {
public:
  /// `costs` are those of refineByKernels.
  PlanBound(const RooflineCosts &costs, const KernelProblem &problem,
            const GraphView &view, const GraphSets &sets,
            const ValueSizes &sizes, const Device &device);

  const std::vector<StepMoment> &moments() const { return found; }

  /// A few flows.
  std::optional<PeakBound> peak() const;

  /// For an arena of at most `limit` bytes. Calls `see` with plans that may be
  /// good ones: those of the cuts that were looked at.
  std::optional<TimeBound>
  time(int64_t limit, const MomentSearch &search,
       const std::function<void(const Plan &)> &see = {});

  /// What these prices prove, in one flow.
  std::optional<int64_t> timeOf(int64_t limit,
                                const std::vector<MomentPrice> &prices);

private:
  MomentPrices pricesFor(int64_t limit) const;
  std::optional<int64_t> leastAt(const StepMoment &moment) const;

  const GraphView &view;
  LowerTerms lower;
  std::vector<OpPolicy> policies;
  std::optional<RooflineProblem> network;
  std::vector<StepMoment> found;
  std::vector<int64_t> bytes; ///< by value: in the arena
  bool isSound = false;       ///< capacities fit 64 bits
};

} // namespace cutback

#endif // CUTBACK_KERNELS_PLANBOUND_H
