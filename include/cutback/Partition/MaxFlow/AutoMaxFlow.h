// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_MAXFLOW_AUTOMAXFLOW_H
#define CUTBACK_PARTITION_MAXFLOW_AUTOMAXFLOW_H

#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"
#include "cutback/Partition/MaxFlow/PushRelabel.h"

namespace cutback {

/// Boost's Boykov-Kolmogorov while it is cheap, our push-relabel from there on.
class AutoMaxFlow {
public:
  /// Continues from the flow in `graph` to a maximum flow.
  void run(ResidualGraph &graph);
  /// Whether the last run ended in push-relabel.
  bool hasSwitched() const { return switched; }
  uint64_t arcScans() const {
    return boykovKolmogorov.arcScans() +
           (switched ? pushRelabel.arcScans() : 0);
  }

  /// Marks with 1 the vertices of `graph` that still reach the sink. `queue` is
  /// scratch.
  void markSinkSide(const ResidualGraph &graph,
                    std::vector<uint8_t> &onSinkSide,
                    std::vector<uint32_t> &queue) const;

private:
  BoostBoykovKolmogorov boykovKolmogorov;
  PushRelabel pushRelabel;
  bool switched = false;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_MAXFLOW_AUTOMAXFLOW_H
