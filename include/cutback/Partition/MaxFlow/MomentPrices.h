// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum cuts under limits: a price for each moment at which bytes are live,
// and the bound that prices prove.
#ifndef CUTBACK_PARTITION_MAXFLOW_MOMENTPRICES_H
#define CUTBACK_PARTITION_MAXFLOW_MOMENTPRICES_H

#include "cutback/Partition/MaxFlow/MinCut.h"

#include <functional>

namespace cutback {

/// A moment: what cut arcs keep alive then must fit the room.
struct LimitedMoment {
  /// Bytes that there are for the charges; below zero, no cut fits.
  int64_t room = 0;
  struct Charge {
    ArcId arc = 0;
    int64_t bytes = 0;
  };
  std::vector<Charge> charges; ///< one an arc
};

/// A cut under prices of moments.
struct PricedCut {
  /// No cut that fits all moments has less capacity.
  int64_t bound = 0;
  MinCut cut;
  int64_t capacity = 0;      ///< of the cut, without prices
  std::vector<int64_t> over; ///< by moment: bytes above the room
};

struct MomentSearch {
  unsigned maxFlows = 40;
  /// The search ends where the bound can rise by no more than this; in the
  /// unit of capacities.
  int64_t tolerance = 0;
};

/// Lagrangian relaxation of the minimum cut that fits all moments: each charge
/// costs its bytes at the price of its moment, and the room of each moment is
/// paid back. For all prices ≥ 0 the value of a minimum cut is a lower bound.
class MomentPrices {
public:
  /// `network` is finished and has a finite cut.
  MomentPrices(FlowNetwork network, std::vector<LimitedMoment> moments);

  /// One flow. `prices`, by moment, are finite and ≥ 0, in the unit of
  /// capacities a byte. Rounded down, so the bound is one. Fails if capacities
  /// do not fit 64 bits.
  FlowError evaluate(const std::vector<double> &prices, PricedCut &result);

  struct Result {
    std::vector<double> prices; ///< that give the largest bound found
    int64_t bound = 0;          ///< 0 at least: capacities are no less
    unsigned flows = 0;
  };
  /// Raises the bound: a line search along the moment with least room, then a
  /// proximal bundle method over all moments. Calls `see` with each cut.
  /// Deterministic.
  Result maximize(const MomentSearch &search,
                  const std::function<void(const PricedCut &)> &see = {});

  size_t numMoments() const { return moments.size(); }

private:
  FlowNetwork network;
  std::vector<LimitedMoment> moments;
  std::vector<int64_t> capacity; ///< by arc, without prices
  std::vector<double> priceOf;   ///< by arc, scratch
  MaxFlowSolver solver;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_MOMENTPRICES_H
