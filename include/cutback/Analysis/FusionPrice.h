// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a finished plan costs once ops are fused into kernels: the price that
// the flow network, whose terms must not depend on the plan, can only estimate.
#ifndef CUTBACK_ANALYSIS_FUSIONPRICE_H
#define CUTBACK_ANALYSIS_FUSIONPRICE_H

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Partition/Halves.h"

namespace cutback {

/// Times of a step in picoseconds, by kernels of fused ops.
struct FusedTime {
  double forwardPs = 0, backwardPs = 0;
  uint64_t forwardKernels = 0, backwardKernels = 0;
  /// What saving and recomputing add: both halves, less the same halves without
  /// writes and reads of saved values and without copies.
  double extraPs = 0;
};

/// Groups the ops of each half, in its order, into kernels: an op joins the
/// earliest kernel that reads its results, if it can fuse with its readers
/// there. A kernel takes max(FLOPs / rate, bytes read and written from
/// outside / bandwidth) + one launch; views take nothing. `flopsPs` is that of
/// RooflineCosts. Linear.
FusedTime priceFused(const GraphView &view, const ValueSizes &sizes,
                     const Device &device, const std::vector<double> &flopsPs,
                     const Halves &halves);

/// A kernel of fused ops.
struct FusedKernel {
  double ps = 0;
  std::vector<uint32_t> ops; ///< of the view, in the order of the half
};

/// The kernels of both halves that `priceFused` prices, as they run: their
/// times add up to its. Linear.
struct FusedKernels {
  std::vector<FusedKernel> forward, backward;
};
FusedKernels listKernels(const GraphView &view, const ValueSizes &sizes,
                         const Device &device,
                         const std::vector<double> &flopsPs,
                         const Halves &halves);

/// The backward's time alone. Linear, a fourth of the work.
double priceBackward(const GraphView &view, const ValueSizes &sizes,
                     const Device &device, const std::vector<double> &flopsPs,
                     const Halves &halves);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_FUSIONPRICE_H
