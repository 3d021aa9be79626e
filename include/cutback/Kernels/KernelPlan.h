// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a step: one object for its price, its order and its memory.
#ifndef CUTBACK_KERNELS_KERNELPLAN_H
#define CUTBACK_KERNELS_KERNELPLAN_H

#include "cutback/Analysis/Device.h"
#include "cutback/Kernels/Formation.h"
#include "cutback/Partition/Halves.h"

#include <optional>
#include <string>

namespace cutback {

/// A function of the step, as the launches that it runs.
struct PlannedSegment {
  std::string name; ///< "forward"
  SegmentKernels kernels;
  /// The ops as kernels were formed of them; those of the halves take the order
  /// of the launches later.
  std::vector<uint32_t> order;
};

struct KernelPlan {
  std::vector<PlannedSegment> segments; ///< as they run

  KernelPlan() : segments{{"forward", {}, {}}, {"backward", {}, {}}} {}

  SegmentKernels &forward() { return segments[0].kernels; }
  SegmentKernels &backward() { return segments[1].kernels; }
  const SegmentKernels &forward() const { return segments[0].kernels; }
  const SegmentKernels &backward() const { return segments[1].kernels; }

  double ps() const;
  double apartPs() const; ///< see SegmentKernels
  uint64_t numLaunches() const;
};

/// Forms kernels for plans of one graph on one device. Keeps references to all
/// that it is given.
class KernelPlanner {
public:
  /// `flopsPs`: by op, picoseconds of its FLOPs (RooflineCosts).
  KernelPlanner(const KernelProblem &problem, const GraphView &view,
                const ValueSizes &sizes, const Device &device,
                const std::vector<double> &flopsPs);

  /// The kernels of both halves. Near linear.
  KernelPlan plan(const Halves &halves) const;
  /// The same, each a launch of its own.
  KernelPlan planApart(const Halves &halves) const;
  /// Merges launches of a half of a plan of the latter, whose ops run as
  /// `halves` has them now: see mergeKernels().
  std::vector<uint32_t> mergeForward(const Halves &halves,
                                     const MergeRoom &room,
                                     SegmentKernels &kernels) const;
  std::vector<uint32_t> mergeBackward(const Halves &halves,
                                      const MergeRoom &room,
                                      SegmentKernels &kernels) const;

  /// planApart() of the ops of `plan` without copies, where saved values are
  /// neither written nor read. Near linear.
  KernelPlan planWithoutPrice(const Halves &halves,
                              const KernelPlan &plan) const;

  /// Picoseconds that saving and recomputing add: `plan` as if no launches were
  /// merged, less planWithoutPrice(). Near linear.
  double extraPs(const Halves &halves, const KernelPlan &plan) const;

  /// What is wrong with `plan`, if anything is: an op with loops or a call that
  /// stands in no kernel or out of order, a kernel that reads what no earlier
  /// one writes, a call with company, an effect or an argument's read out of
  /// its order, fewer bytes moved than cross the kernel's border, another time
  /// than follows from its bytes and FLOPs. Linear.
  std::optional<std::string> verify(const Halves &halves,
                                    const KernelPlan &plan) const;

private:
  SegmentOps forwardOf(const Halves &halves) const;
  SegmentOps backwardOf(const Halves &halves) const;
  KernelPlan plan(llvm::ArrayRef<SegmentOps> segments,
                  const KernelLimits &limits) const;
  SegmentKernels form(const SegmentOps &segment,
                      const KernelLimits &limits = {}) const;
  std::optional<std::string> verify(const SegmentOps &ops,
                                    const SegmentKernels &kernels) const;

  const KernelProblem &problem;
  const GraphView &view;
  const ValueSizes &sizes;
  KernelRates rates;
};

} // namespace cutback

#endif // CUTBACK_KERNELS_KERNELPLAN_H
