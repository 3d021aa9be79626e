// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem of three phases (ThreeWay/ThreeWayProblem.h) of a joint graph,
// with costs in time.
#ifndef CUTBACK_PARTITION_PHASEPROBLEM_H
#define CUTBACK_PARTITION_PHASEPROBLEM_H

#include "cutback/Analysis/Device.h"
#include "cutback/Partition/Phases.h"
#include "cutback/Partition/RooflineProblem.h"
#include "cutback/Partition/ThreeWay/ThreeWayProblem.h"

namespace cutback {

/// Time of each op and bytes of each value, in whatever phase.
struct PhaseCosts {
  /// By op: picoseconds. Of the forward's ops what running them again adds to
  /// kernels (`given`), of others what they take alone.
  std::vector<int64_t> opPs;
  /// By value: to keep it as long as the backward; RooflineCosts::kNever of
  /// views and of what is no tensor and no size.
  std::vector<int64_t> savePs;
  /// By value: to read it from memory.
  std::vector<int64_t> readPs;
  /// By value: what keeping it takes; 0 of what outlives the step.
  std::vector<int64_t> bytes;

  /// `given` are those of the network of two halves. Linear.
  static PhaseCosts compute(const GraphView &view, const GraphSets &sets,
                            const ValueSizes &sizes, const Device &device,
                            const RooflineCosts &given);
};

struct PhasePrices {
  /// A picosecond of the input phase, which is on the critical path, costs so
  /// much more than one of a bubble, which the weight phase fills.
  double critical = 1;
  /// Picoseconds a byte, over the time that it waits.
  double toInputBytePs = 0, toWeightBytePs = 0;
};

/// Vertices and costs:
///   * views and literals are no ops: whoever reads one reads what it shows;
///   * handing to the input phase costs saving and the price of the bytes, to
///     the weight phase reading and the price; nothing for what outlives the
///     step; a view, and what is no tensor and no size, is not handed over;
///   * running again in the input phase costs (1 + critical) × time, in the
///     weight phase the time. What is of neither half costs critical × time in
///     the input phase, for it runs once anyway;
///   * an op of the weight phase costs critical × time in the input phase; a
///     product, and what is pinned, stays;
///   * where no input has a gradient, the input phase runs nothing of this;
///   * policies: what must be saved does not run again, what must be recomputed
///     is not handed over by the forward (it may be by the input phase).
class PhaseProblem {
public:
  PhaseProblem(const GraphView &view, const GraphSets &sets,
               const PhaseKinds &kinds, const PhaseCosts &costs,
               const std::vector<OpPolicy> &policies,
               const PhasePrices &prices);

  const ThreeWayProblem &problem() const { return made; }
  PhasePlan plan(const ThreeWaySolution &solution) const;
  /// The solution that phases are, whoever planned them; without its cost.
  ThreeWaySolution solutionOf(const Phases &phases) const;

private:
  /// Costs before they are rounded to units; negative: never.
  struct OpCosts {
    double againInInput = -1, againInWeight = -1, early = -1;
  };
  struct ValueCosts {
    double toInput = -1, toWeight = -1;
  };

  bool hasInputPhase() const { return !kinds.inputGradients.empty(); }
  bool isFree(uint32_t op) const;
  void findWanted();
  void addArguments();
  void addOp(uint32_t op);
  void addResults();
  OpCosts priceOp(uint32_t op) const;
  ValueCosts priceValue(uint32_t value) const;
  void addValue(uint32_t value, uint32_t definer);
  std::vector<uint32_t> rootsOf(llvm::ArrayRef<uint32_t> values) const;
  void roundCosts();

  const GraphView &view;
  const GraphSets &sets;
  const PhaseKinds &kinds;
  const PhaseCosts &costs;
  const std::vector<OpPolicy> &policies;
  PhasePrices prices;
  std::vector<uint8_t> wanted; ///< by op: the backward can want it
  /// By value of the graph: what it reads in the problem; itself where it is no
  /// view. Numbers of the problem.
  std::vector<std::vector<uint32_t>> roots;
  std::vector<uint32_t> numberOfOp;  ///< of the problem, or kNone
  std::vector<uint32_t> graphValues; ///< by value of the problem, or kNone
  std::vector<OpCosts> opCosts;
  std::vector<ValueCosts> valueCosts;
  ThreeWayProblem made;
};

} // namespace cutback

#endif // CUTBACK_PARTITION_PHASEPROBLEM_H
