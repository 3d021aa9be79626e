// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioning problem of cost models in time (`roofline`): which values
// to save, as a minimum cut on values and ops (20-partition §3).
#ifndef CUTBACK_PARTITION_ROOFLINEPROBLEM_H
#define CUTBACK_PARTITION_ROOFLINEPROBLEM_H

#include "cutback/Analysis/Roofline.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Partition/MaxFlow/MinCut.h"

#include <optional>

namespace cutback {

/// What a user or a checkpoint region asks, by op number.
enum class OpPolicy : uint8_t { None, MustSave, PreferSave, MustRecompute };

/// A network for a bound: its plans are all there are. Views that are copied
/// may be saved where the costs have a price for that, as other values, and an
/// op of X that runs in the backward costs its recomputePs.
struct Relaxation {
  /// Paid once if any of `ops` runs in the backward, and `value` is not
  /// computed there; whether it is or not, if that is kNone.
  struct SharedCost {
    uint32_t value = GraphView::kNone;
    int64_t ps = 0;
    std::vector<uint32_t> ops = {};
  };
  std::vector<SharedCost> shared;
};

/// Vertices: the source, the sink, one an op that the backward could want to
/// run again or wants the results of, one a result of those, and some that keep
/// ops which may run only once in one half. Capacities are picoseconds plus
/// `bytePricePs` × bytes.
class RooflineProblem {
public:
  /// Keeps references to all that it is given.
  RooflineProblem(const GraphView &view, const GraphSets &sets,
                  const RooflineCosts &costs,
                  const std::vector<OpPolicy> &policies,
                  const Relaxation *relaxation = nullptr);

  /// Builds the network for one price of a byte, in picoseconds. Values that
  /// are marked in `withoutPrice` (by value; may be empty) are saved for the
  /// time alone. Fails if the capacities do not fit 64 bits.
  FlowError build(double bytePricePs,
                  llvm::ArrayRef<uint8_t> withoutPrice = {});
  const FlowNetwork &network() const { return net; }

  /// The value that is saved if the arc is cut, else nothing.
  std::optional<uint32_t> savedBy(ArcId arc) const;
  /// The saved set of a minimum cut of the network.
  Plan plan(const MinCut &cut) const;

  /// Error that names one path of infinite arcs by values, with notes at the
  /// two ops whose demands contradict each other.
  mlir::LogicalResult reportUnbounded(llvm::ArrayRef<VertexId> path) const;

  /// Name of a vertex for `--dump-network`: value names, "+op" for op vertices,
  /// "+early" for "the forward runs the op".
  std::string vertexName(VertexId vertex) const;

private:
  void findCandidates();
  void addOpArcs(uint32_t op, double bytePricePs);
  void addValueArcs(uint32_t value);
  void addEarlyVertices();
  void addSharedCosts();
  int64_t saveCapacity(uint32_t value, double bytePricePs) const;

  const GraphView &view;
  const GraphSets &sets;
  const RooflineCosts &costs;
  const std::vector<OpPolicy> &policies;
  const Relaxation *relaxation;
  /// By op: no plan moves it into the forward.
  std::vector<uint8_t> inBackward;
  /// By op / value: it is an ancestor of what the backward reads.
  std::vector<uint8_t> wantedOp, wantedValue, isGradient;
  llvm::ArrayRef<uint8_t> withoutPrice; ///< of the network that is built
  std::vector<VertexId> opVertex, valueVertex;
  std::vector<uint32_t> ofVertex; ///< value number, or ~op for op vertices
  VertexId firstEarly = 0;        ///< the vertices from here on are early ones
  FlowNetwork net;
};

/// Price of any plan in the units of the network, whoever made it: a saved
/// view counts as its base, a recomputed op as its recompute cost; bytes of
/// values that are marked in `withoutPrice` (may be empty) do not count.
struct PlanPrice {
  int64_t ps = 0;
  int64_t bytes = 0;
};
PlanPrice pricePlan(const GraphView &view, const GraphSets &sets,
                    const ValueSizes &sizes, const RooflineCosts &costs,
                    const Halves &halves,
                    llvm::ArrayRef<uint8_t> withoutPrice = {});

} // namespace cutback

#endif // CUTBACK_PARTITION_ROOFLINEPROBLEM_H
