// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The networks of the two cuts, and of the one cut.
#ifndef CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYNETWORKS_H
#define CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYNETWORKS_H

#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/ThreeWay/ThreeWayProblem.h"

namespace cutback::threeway {

/// What is assumed of values that the weight phase takes from the input phase.
enum class Presence : uint8_t { Open, Absent, Present };

/// By value, where not empty: what is demanded of the input phase, or what it
/// is rewarded for.
struct InputTerms {
  std::vector<uint8_t> demanded;
  std::vector<int64_t> reward;
  std::vector<Presence> presence;
};
/// By value: what the weight phase pays for a forward value's being there in
/// the input phase, kInfiniteCapacity where it cannot be. Empty: nothing.
struct WeightTerms {
  std::vector<int64_t> price;
};

/// A network whose cuts cost what solutions cost, less `constant`.
struct Network {
  FlowNetwork flow;
  int64_t constant = 0;
  /// By op and by value, kNoVertex where there is none. `there` says of a
  /// forward value that it is there in the input phase.
  std::vector<VertexId> input, weight, there;
  bool isFeasible = true; ///< false: whatever the cut
  std::string error;      ///< capacities do not fit
};
inline constexpr VertexId kNoVertex = ~VertexId(0);

/// Builds networks of one problem. Costs are multiplied by `scale`, which terms
/// are already.
class NetworkBuilder {
public:
  NetworkBuilder(const ThreeWayProblem &problem, int64_t scale);

  void buildInput(const InputTerms &terms, Network &network) const;
  void buildWeight(const WeightTerms &terms, Network &network) const;
  /// Both at once; what the weight phase reads or makes again of the forward's
  /// values is there in the input phase.
  void buildOne(Network &network) const;

  /// First crossings, 0 of what is marked in `there`.
  WeightTerms pricesOfAbsent(const std::vector<uint8_t> &there) const;

  /// By value: an op of kind Input reads it.
  const std::vector<uint8_t> &readByInput() const { return inputReads; }
  /// By value: the solution of the weight phase takes it from the input phase,
  /// or reads it there.
  std::vector<uint8_t> findTaken(const ThreeWaySolution &solution) const;

private:
  int64_t scaled(int64_t cost) const {
    return cost == ThreeWayProblem::kNever ? kInfiniteCapacity : cost * scale;
  }
  void addInput(const InputTerms &terms, Network &network) const;
  void addInputOps(Network &network) const;
  void addWeight(const WeightTerms &terms, Network &network) const;
  void addWeightValue(uint32_t value, int64_t price, VertexId wanted,
                      Network &network) const;
  void addWeightOperands(Network &network,
                         const std::vector<VertexId> &wanted) const;
  static void finish(Network &network);

  const ThreeWayProblem &problem;
  int64_t scale;
  std::vector<uint8_t> inputReads, weightReads;
  /// Users of kind Weight of value v: weightUserList[weightUserBegin[v]] …
  std::vector<uint32_t> weightUserBegin, weightUserList;
};

} // namespace cutback::threeway

#endif // CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYNETWORKS_H
