// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which prices of a saved byte give which minimum cuts: the corners of the
// front of time and memory.
#ifndef CUTBACK_PLANNER_PRICESWEEP_H
#define CUTBACK_PLANNER_PRICESWEEP_H

#include "cutback/Planner/PartitionPipeline.h"

namespace cutback {

/// A minimum cut at one price, by the terms of the network.
struct PricePoint {
  double bytePricePs = 0;
  int64_t ps = 0;                   ///< time that saving and recomputing take
  int64_t bytes = 0;                ///< saved
  std::shared_ptr<const Plan> plan; ///< if it is asked for
};

/// Corners by rising price: bytes fall, time rises.
struct PriceFront {
  std::vector<PricePoint> corners;
  bool isWhole = true; ///< false: a limit was reached, there may be more
};

struct PriceSweepOptions {
  unsigned maxPoints = 16; ///< corners, at least 2
  unsigned maxSolves = 48; ///< minimum cuts
  /// By value: its bytes have no price, and do not count. May be empty.
  std::vector<uint8_t> withoutPrice = {};
  bool keepsPlans = false;
};

/// Corners of the lower convex hull of (bytes, ps) over all prices. The search
/// starts with the two ends and goes on where the hull may still lie farthest
/// below what is known, until the limits are reached (Eisner and Severance,
/// "Mathematical techniques for efficient record segmentation in large shared
/// databases", JACM 1976). Graph, costs and solver memory are shared by all
/// prices. Each price is the number with the fewest digits that gives a point
/// between its neighbours, so that it can be given to `--byte-price`.
///
/// `graph` is a prepared one. Strategy, cost model and price of `options` are
/// not looked at. Fails, with an error at the graph, as partitionGraph does.
mlir::FailureOr<PriceFront> sweepBytePrice(joint::GraphOp graph,
                                           const PartitionOptions &options,
                                           const PriceSweepOptions &sweep = {});

/// The number with the fewest digits in low … high, both positive.
double shortestBetween(double low, double high);

} // namespace cutback

#endif // CUTBACK_PLANNER_PRICESWEEP_H
