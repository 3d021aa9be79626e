// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solutions from cuts, improved by alternation: what the solver and its bound
// share.
#ifndef CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYSEARCH_H
#define CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYSEARCH_H

#include "ThreeWayNetworks.h"

#include "cutback/Partition/ThreeWay/ThreeWayCut.h"

#include <optional>
#include <set>

namespace cutback::threeway {

/// Cuts of one problem, and the best solution of all that were seen.
class Search {
public:
  explicit Search(const ThreeWayProblem &problem);

  /// Units of costs in networks: multipliers are whole numbers of them.
  int64_t scale() const { return units; }
  uint32_t numArcs() const { return arcsSeen; }
  unsigned flows() const { return numFlows; }

  /// Value of a minimum cut, constant included; nothing where all are infinite.
  /// `runs` gets, by op, what the cut says of one phase; `there` of values.
  std::optional<int64_t> cutInput(const InputTerms &terms,
                                  std::vector<uint8_t> &inInput,
                                  std::vector<uint8_t> *there = nullptr);
  std::optional<int64_t> cutWeight(const WeightTerms &terms,
                                   ThreeWaySolution &solution);

  /// Finds the best input phase for the weight phase of `solution`, then the
  /// best weight phase for that, and so on, until nothing falls; keeps the
  /// result if it is the best so far. A weight phase that was here before is
  /// left out.
  void improve(ThreeWaySolution solution);
  /// The starts that need no multipliers.
  void tryStarts();
  /// The one cut.
  void tryOneCut();

  bool hasBest() const { return isAny; }
  const ThreeWaySolution &best() const { return bestSolution; }
  const NetworkBuilder &networks() const { return builder; }

private:
  std::optional<int64_t> solve();
  bool stepInput(ThreeWaySolution &solution, std::vector<uint8_t> &there);
  bool stepWeight(const std::vector<uint8_t> &there,
                  ThreeWaySolution &solution);
  void readInput(std::vector<uint8_t> &inInput) const;
  void readWeight(ThreeWaySolution &solution) const;
  void keep(ThreeWaySolution solution);
  void prune(ThreeWaySolution &solution) const;

  const ThreeWayProblem &problem;
  int64_t units;
  NetworkBuilder builder;
  Network network;
  MaxFlowSolver solver;
  MinCut cut;
  uint32_t arcsSeen = 0;
  unsigned numFlows = 0;
  bool isAny = false;
  ThreeWaySolution bestSolution;
  std::set<std::vector<uint8_t>> seen; ///< weight phases
};

/// 1/scale is the unit of multipliers: fine for small costs, and sums fit.
int64_t chooseScale(const ThreeWayProblem &problem);

/// Raises the bound, and looks for solutions on the way, until the cost of the
/// best is within `options.gap` of it or the steps are used up.
ThreeWayBound raiseBound(const ThreeWayProblem &problem, Search &search,
                         const ThreeWayCutOptions &options);

} // namespace cutback::threeway

#endif // CUTBACK_LIB_PARTITION_THREEWAY_THREEWAYSEARCH_H
