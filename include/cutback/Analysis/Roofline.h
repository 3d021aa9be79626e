// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost model `roofline` (20-partition §4.2): what it costs, in time on a
// described device, to run an op again or to keep a value.
#ifndef CUTBACK_ANALYSIS_ROOFLINE_H
#define CUTBACK_ANALYSIS_ROOFLINE_H

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/ValueSizes.h"

namespace cutback {

/// Could `producer` and `consumer` become one kernel, by their kinds alone?
bool canFuse(const OpTraits &producer, const OpTraits &consumer);

/// True if value `v` is written to memory whatever the plan: an argument, a
/// forward result, or read by an op that cannot fuse with its producer.
/// By value.
std::vector<uint8_t> computeMaterialized(const GraphView &view,
                                         const GraphSets &sets);

struct RooflineCosts {
  static constexpr int64_t kNever = -1;
  /// By op: picoseconds of its FLOPs alone at the device's rate.
  std::vector<double> flopsPs;
  /// By op: picoseconds of running it again in the backward, kNever if it may
  /// not run twice, 0 for views.
  std::vector<int64_t> recomputePs;
  /// By value: picoseconds of keeping it, without a price on bytes: read it
  /// back, and write it unless that happens anyway. kNever for views (the base
  /// is kept) and for what is not a tensor or a size. 0 for arguments that
  /// outlive the step.
  std::vector<int64_t> savePs;
  /// By value: bytes that keeping it takes; 0 for what outlives the step.
  std::vector<int64_t> saveBytes;

  /// What the copy of `op` takes more if `value`, which it reads, is saved: a
  /// copy of that would be at hand.
  struct CopyRead {
    uint32_t value = 0, op = 0;
    int64_t ps = 0;
  };
  std::vector<CopyRead> copyReads;
  /// Of the step, where saving and recomputing cost nothing; launches alone;
  /// and bytes of all that its backward is given then, but for what outlives
  /// it.
  double stepPs = 0, launchesPs = 0, givenBytes = 0;

  /// Linear. Times are rounded up to whole picoseconds; sums of them fit 64
  /// bits for graphs up to 10⁹ ops of 10⁹ ps.
  static RooflineCosts compute(const GraphView &view, const GraphSets &sets,
                               const ValueSizes &sizes, const Device &device);
};

/// RooflineCosts::flopsPs alone. Linear.
std::vector<double> computeFlopsPs(const GraphView &view,
                                   const ValueSizes &sizes,
                                   const Device &device);

/// True for arguments that live longer than the step: parameters, buffers and
/// constants.
bool outlivesStep(joint::RoleAttr role);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_ROOFLINE_H
