// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What searches for plans within memory share: candidates in columns, and what
// one of them needs.
#ifndef CUTBACK_LIB_PLANNER_PLANSPACE_H
#define CUTBACK_LIB_PLANNER_PLANSPACE_H

#include "Candidates.h"

#include "cutback/Transforms/ModuleLists.h"

#include <list>
#include <map>

namespace cutback {

/// A candidate whose live bytes are known.
struct Measured {
  Candidate candidate;
  int64_t peakBytes = 0; ///< at one moment, of all segments
  double ps = 0;         ///< that saving and recomputing add
};

/// Candidates of one way to cut, by falling saved bytes and rising time.
using PlanColumn = std::vector<Candidate>;

/// What is read of the numbered graph that the caller's becomes.
struct PlanFacts {
  std::vector<std::string> names;           ///< by value
  std::vector<uint32_t> definer;            ///< the same; op, or kNone
  std::vector<int64_t> savePs, recomputePs; ///< by value, by op; or kNever
  std::vector<uint8_t> mayBeSaved;          ///< by value: a give back may
  std::vector<uint8_t> mustBeSaved;         ///< by op: a policy says it
};

class PlanSpace {
public:
  PlanSpace(joint::GraphOp graph, const PartitionOptions &options);

  /// Plans once without a limit and reads the graph. Fails, with an error, if
  /// there is no plan, or if sizes are not known.
  mlir::LogicalResult open();
  /// Of the graph with these regions, of which a plan was measured.
  const PlanFacts &facts(const RegionRequest &regions = {}) const;
  CandidatePlanner &planner() { return candidates; }
  /// Whether options or tags say what happens to some values, or regions do.
  bool hasPolicies() const { return isBound; }

  /// Minimum cuts at the corners of the front; without a price for what is
  /// large in the launch at the peak of the plan that had the least.
  PlanColumn cuts();
  PlanColumn cutsBesidePeak();
  /// Strategies without a cut, and PyTorch's decision.
  PlanColumn others() const;
  /// Regions that modules suggest: of one level, and of several. None where the
  /// options or the graph have regions already.
  const std::vector<RegionRequest> &plainRegions() const { return plain; }
  const std::vector<RegionRequest> &nestedRegions() const { return nested; }
  PlanColumn cutsWithin(const RegionRequest &regions);
  /// The plan of the caller's graph that saves what another one does.
  Candidate ofNames(const std::vector<std::string> &saved) const;
  Candidate ofPlan(Plan plan, const RegionRequest &regions = {}) const;

  /// Nothing if there is no such plan. At `limit` bytes or above both figures
  /// may be less than those of the plan; it is one for a whole search. A plan
  /// that was measured before costs little.
  std::optional<Measured> measure(const Candidate &candidate,
                                  int64_t limit = kNoLimit);
  /// The candidate by the names of what it saves: one that is recorded.
  Candidate byNames(const Candidate &candidate) const;

  PlanSearch figures;
  /// Plans that may still be measured beyond those of columns: a bound on what
  /// a search costs, which depends on the graph alone.
  uint64_t tries = 0;
  bool spend() {
    if (tries == 0)
      return false;
    --tries;
    return true;
  }
  /// Plans of a column from one that is measured to the next.
  size_t columnStride() const { return stride; }

private:
  void readGraph(const PartitionResult &result);
  void markAtPeak(const MemoryPlan &memory, const PartitionResult &result);
  void suggestRegions(const ModuleLists &lists);

  joint::GraphOp graph;
  const PartitionOptions &options;
  PartitionOptions trial;
  bool isBound;      ///< by policies
  ModuleLists lists; ///< of the graph as it was read
  CandidatePlanner candidates;
  std::list<std::pair<RegionRequest, PlanFacts>> known;
  /// By graph, and by what the forward hands over.
  std::map<std::pair<mlir::Operation *, std::vector<uint32_t>>,
           std::optional<Evaluation>>
      seen;
  std::vector<uint8_t> withoutPrice; ///< by value
  std::vector<RegionRequest> plain, nested;
  size_t stride = 1;
};

/// Plans within `limit` bytes by live bytes that save what `start` recomputes,
/// the fastest first; `start` is one of them.
std::vector<Measured> plansWithin(PlanSpace &space, const Candidate &start,
                                  int64_t limit);

/// The first of `plans` whose arena is within the limit, of the first few.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
takeFirst(PlanSpace &space, const std::vector<Measured> &plans,
          const PartitionOptions &options, int64_t limit, bool &isMade);

/// The plan with the least peak that is found.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planForPeak(joint::GraphOp graph, const PartitionOptions &options,
            bool &isMade);

/// The fastest plan that is found within `options.memoryLimit`; fails with an
/// error where none is. `isMade` as of planCandidate().
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planWithinLimit(joint::GraphOp graph, const PartitionOptions &options,
                bool &isMade);

} // namespace cutback

#endif // CUTBACK_LIB_PLANNER_PLANSPACE_H
