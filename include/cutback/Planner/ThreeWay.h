// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a joint graph to three phases: forward, input gradients, weight
// gradients. What `partitionGraph` is for two halves.
#ifndef CUTBACK_PLANNER_THREEWAY_H
#define CUTBACK_PLANNER_THREEWAY_H

#include "cutback/Partition/PhaseProblem.h"
#include "cutback/Partition/Phases.h"
#include "cutback/Partition/ThreeWay/ThreeWayCut.h"
#include "cutback/Planner/PartitionPipeline.h"

#include <algorithm>
#include <cstdint>

namespace cutback {

enum class ThreeWayRule {
  /// Two minimum cuts, each exact given the other, from several starts, with a
  /// bound (docs/Rationale/ThreeWayCut.md).
  Cuts,
  /// One minimum cut between forward and backward; then the input phase is what
  /// the gradients of inputs need, and the weight phase the rest, without a
  /// choice: what torch.distributed.pipelining and others do.
  Closure
};

/// What phases hand over, by names of values in the prepared graph.
struct HandedNames {
  std::vector<std::string> toInput, toWeight;
};

struct ThreeWayOptions {
  /// How the graph is prepared, on which device, under which sizes and
  /// policies; figures, memory and strategy are not looked at.
  PartitionOptions partition;
  ThreeWayRule rule = ThreeWayRule::Cuts;
  /// Phases of other micro-batches run between those of one: an argument that
  /// is written (running statistics) is then for one phase alone, and a graph
  /// for which that is impossible is refused.
  bool severalInFlight = true;
  /// A picosecond of the input phase costs so much more than one of a bubble;
  /// at least 0.
  double criticalPrice = 1;
  /// What keeping a byte is worth, from the forward to the input phase and from
  /// there to the weight phase.
  BytePrice toInputPrice = BytePrice::ownTimes(1),
            toWeightPrice = BytePrice::ownTimes(1);
  /// What a plan of the same graph in other sizes hands over: so does this one,
  /// without a search, unless the graph has other values in these sizes. May be
  /// null. Figures have no cost and bound then.
  const HandedNames *as = nullptr;
};

/// What a plan of three phases costs, in the model's units: bytes under size
/// hints, each storage once and without what outlives the step; picoseconds of
/// ops that run again, as if each stood alone.
struct ThreeWayFigures {
  uint64_t inputOps = 0, weightOps = 0;
  int64_t toInputBytes = 0, toWeightBytes = 0;
  /// Time of ops that the forward has run and the input phase runs again; of
  /// those that either has run and the weight phase runs again; of ops that the
  /// weight phase could have run and the input phase does.
  int64_t againInInputPs = 0, againInWeightPs = 0, movedToInputPs = 0;
  /// Of all ops of the two phases.
  int64_t inputPs = 0, weightPs = 0;
  /// Cost of the plan, by the problem (PhaseProblem.h), and what no plan costs
  /// less than; both in units of the problem.
  int64_t cost = 0, bound = 0;
  double gap() const {
    return static_cast<double>(cost - bound) /
           static_cast<double>(std::max<int64_t>(bound, 1));
  }
};

struct ThreeWayPartition {
  /// The three functions, after the graph; what they take and return is said
  /// at PhaseFunctions.
  PhaseFunctions functions;
  ThreeWayFigures figures;
  /// Prices that were used.
  PhasePrices prices;
  /// What proves figures.bound (checkBound).
  ThreeWayBound bound;
  /// The same as numbers, of the prepared graph.
  GraphView view;
  PhaseKinds kinds;
  Phases phases;

  HandedNames handedNames() const;
};

/// Prepares `graph` (as makeTrainingGraph gives it) in place, plans three
/// phases, writes them after it, and proves them (verifyPhases). Inputs are
/// arguments with role input: those of them that have a gradient decide what
/// the input phase is. Where none has one, as in the first stage of a pipeline,
/// the input phase runs nothing but hands over, and the weight phase is the
/// whole backward. Errors are emitted at the graph; then it has no phases.
mlir::FailureOr<ThreeWayPartition>
partitionThreeWay(joint::GraphOp graph, const ThreeWayOptions &options = {});

} // namespace cutback

#endif // CUTBACK_PLANNER_THREEWAY_H
