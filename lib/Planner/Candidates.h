// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates for the plan of one graph, and how they are evaluated.
#ifndef CUTBACK_LIB_PLANNER_CANDIDATES_H
#define CUTBACK_LIB_PLANNER_CANDIDATES_H

#include "Internal.h"

#include <list>
#include <set>

namespace cutback {

/// How a graph is prepared in front of a plan.
enum class Preparation { Own, Torch2_13, Torch2_3 };

/// The one that a cost model asks for.
Preparation preparationFor(const PartitionOptions &options);

/// One plan among several, of one graph and under the same other options.
struct Candidate {
  PlanChoice choice;
  Preparation preparation = Preparation::Own;
  /// What is saved, by value of the graph as it is prepared; null: solved for.
  std::shared_ptr<const Plan> plan = nullptr;
};

/// What objectives look at.
struct Evaluation {
  int64_t peakBytes = 0; ///< of the step: its arena, or op by op
  /// Of the kernels of both halves, each on its own, or what of it the plan
  /// adds, which is what reports show (PlanFigures::pricedPs).
  double timePs = 0;
};

/// Options of a plan that is thrown away.
PartitionOptions trialOptions(const PartitionOptions &asked);

/// Options of a plan that may be taken in the place of another one.
PartitionOptions takenOptions(PartitionOptions asked);

/// A strategy on a graph that is prepared so, under the cost model that asks
/// for that preparation, without a price of a byte.
Candidate candidateOf(Preparation preparation, Strategy strategy,
                      const PartitionOptions &options);

/// PyTorch's decision by its rules of 2.13.
Candidate referenceDecision(const PartitionOptions &options);

/// Plans of one graph. What is known of the graph goes from plan to plan.
class CandidatePlanner {
public:
  /// `graph` is prepared as the options ask for; for the `others` copies of it
  /// are made, of the graph as it is now.
  /// Candidates may have `regions` of their own if `withRegions`.
  CandidatePlanner(joint::GraphOp graph, const PartitionOptions &asked,
                   llvm::ArrayRef<Preparation> others,
                   bool withRegions = false);

  /// Cut and halves. `candidate` is of a preparation that was given above;
  /// `options` are those asked for but for figures, checks and files. The
  /// drafts of one preparation share what is known of the graph: one that is
  /// not needed any more is given to `drop`, one that stays to `share`.
  mlir::FailureOr<DraftPlan> cut(const Candidate &candidate,
                                 const PartitionOptions &options);
  void drop(DraftPlan draft);
  void share(DraftPlan &draft);

  /// No other candidate follows: the draft is of the caller's graph from now
  /// on, and all else that was made for candidates is freed.
  void settle(DraftPlan &draft);

  /// Whether no plan with these saved values was asked about before.
  bool isNew(DraftPlan &draft);

  /// By live bytes, without an arena, and the time that the plan adds, of a
  /// draft that has its cut and is dropped then. At `limit` or above both may
  /// be less than those of the plan. Nothing where sizes are not known.
  std::optional<Evaluation> estimate(DraftPlan &draft,
                                     int64_t limit = kNoLimit);
  /// Kernels, functions and arena of a draft that has its cut. Nothing if the
  /// arena cannot be planned, or is not smaller than `limit` bytes.
  std::optional<Evaluation> evaluate(DraftPlan &draft,
                                     int64_t limit = kNoLimit);
  /// Kernels alone, and their time.
  double timeOf(DraftPlan &draft);

  /// Adds the minimum cuts at the corners of the front of time and bytes, at
  /// most `limit`; returns whether those are all.
  bool addCorners(Preparation preparation, unsigned limit,
                  std::vector<Candidate> &candidates);
  /// The same with what they save, on our own preparation with these regions;
  /// bytes of values that are marked (by value) have no price.
  bool addPlans(const RegionRequest &regions,
                const std::vector<uint8_t> &withoutPrice, unsigned limit,
                std::vector<Candidate> &candidates);

  /// Proofs and figures of a draft that is laid out, on the caller's graph.
  mlir::FailureOr<std::unique_ptr<PartitionResult>> take(DraftPlan draft);

private:
  struct Prepared {
    Preparation preparation = Preparation::Own;
    RegionRequest regions; ///< that the caller did not ask for
    /// In core ops for our own cuts: PyTorch's rules are for what it prepared.
    bool isCore = false;
    joint::GraphOp graph;
    bool isDone = false;
    PreparedGraph known;
    double seconds = 0;
    std::set<std::vector<uint32_t>> seen; ///< saved values of plans
  };
  /// The graph that candidates of these options are planned on; made at need.
  mlir::FailureOr<Prepared *> prepare(Preparation preparation,
                                      CostModel costModel,
                                      const RegionRequest &regions = {});
  /// Options of that preparation.
  PartitionOptions optionsFor(Preparation preparation,
                              const RegionRequest &regions) const;
  Prepared &of(DraftPlan &draft);

  const PartitionOptions &asked;
  mlir::OwningOpRef<mlir::ModuleOp> scratch; ///< holds the copies
  std::list<Prepared> graphs;                ///< the caller's is the first
  joint::GraphOp asRead; ///< for regions; null where there are none
};

/// Draft, arena, proofs and figures of a candidate. `isMade`: there is a plan,
/// and what fails is a check of it.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
planCandidate(CandidatePlanner &planner, const Candidate &candidate,
              const PartitionOptions &options, bool &isMade);

} // namespace cutback

#endif // CUTBACK_LIB_PLANNER_CANDIDATES_H
