// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_PARTITION_THREEWAY_THREEWAYCUT_H
#define CUTBACK_PARTITION_THREEWAY_THREEWAYCUT_H

#include "cutback/Partition/ThreeWay/ThreeWayProblem.h"

#include <utility>

namespace cutback {

/// One minimum cut is enough, exactly, under these.
enum class OneCutReason : uint8_t {
  None,
  /// What the weight phase could make again of the forward's values, the input
  /// phase reads anyway; so it is where the weight phase makes nothing again.
  ReadByInput,
  /// The input phase makes nothing again: its demands are fixed, and the cut
  /// for the weight phase is all that is left.
  NothingAgainInInput
};
OneCutReason findOneCutReason(const ThreeWayProblem &problem);

/// A proof that no solution costs less than `value`, by Lagrangian relaxation:
/// that a value which the weight phase takes from the input phase is there is
/// no longer demanded but rewarded, and the two cuts fall apart. Where that
/// leaves a gap, the cases that one value is there, or is not, are proved one
/// by one.
///
/// Where one cut is exact, it is the proof itself.
struct ThreeWayBound {
  OneCutReason reason = OneCutReason::None;
  struct Node {
    /// A forward value, or kNone for a leaf.
    uint32_t branch = ThreeWayProblem::kNone;
    uint32_t ifAbsent = 0, ifPresent = 0; ///< numbers of nodes after this one
    /// Of a leaf: by value, in units of 1/scale; those that are not 0.
    std::vector<std::pair<uint32_t, int64_t>> multipliers;
  };
  std::vector<Node> nodes; ///< the first is the root; empty with a reason
  int64_t scale = 1;
  int64_t value = 0;
};

/// Proves `bound` with two flows a leaf (one or two with a reason), each of
/// which is checked. What is wrong as a text, or empty.
std::string checkBound(const ThreeWayProblem &problem,
                       const ThreeWayBound &bound);

struct ThreeWayCutOptions {
  /// Ends the search where the cost is so close to the bound.
  double gap = 0.001;
  /// Branches where it is not even so close.
  double branchGap = 0.01;
  /// Steps of the subgradient method, at the root and at a branch; a large
  /// network gets fewer.
  unsigned rootSteps = 120, branchSteps = 40;
  unsigned maxBranches = 24;
  /// False: alternation from three starts alone, no bound.
  bool bounds = true;
};

struct ThreeWayCut {
  ThreeWaySolution solution;
  ThreeWayBound bound;
  unsigned flows = 0; ///< maximum flows that were computed
};

/// Solves a problem that passes check(): one cut where that is exact, else two
/// cuts, each exact given the other, alternated from three starts (the input
/// phase first, the weight phase first, both alone), from the iterates of the
/// Lagrangian bound, and of branches of it. What is wrong as a text, or empty:
/// no solution has a finite cost. Deterministic. Not exact in general: the
/// problem contains vertex cover.
std::string solveThreeWay(const ThreeWayProblem &problem, ThreeWayCut &result,
                          const ThreeWayCutOptions &options = {});

/// The naive reference: all solutions, up to 2^24 of them. False where there
/// are more or none is finite.
bool solveByEnumeration(const ThreeWayProblem &problem,
                        ThreeWaySolution &solution);

} // namespace cutback

#endif // CUTBACK_PARTITION_THREEWAY_THREEWAYCUT_H
