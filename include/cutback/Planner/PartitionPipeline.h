// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioner as one function: prepare, analyse, solve, split, emit,
// verify. The driver, `cutback-opt` and the embedding interfaces call it.
#ifndef CUTBACK_PLANNER_PARTITIONPIPELINE_H
#define CUTBACK_PLANNER_PARTITIONPIPELINE_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Kernels/KernelPlan.h"
#include "cutback/Kernels/LaunchOrder.h"
#include "cutback/MemoryPlan/MemoryPlan.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/TorchRules/Budget.h"
#include "cutback/TorchRules/FxView.h"
#include "cutback/Transforms/ChooseRegions.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

enum class Strategy { MinCut, Eager, Precompute, RecomputeAll };
enum class CostModel { Roofline, PyTorch };
enum class Rules { Torch2_3, Torch2_13 };
/// What computes the minimum cut; the plan does not depend on it.
using Solver = MaxFlowAlgorithm;
/// What a plan is best at: see `planStep`.
enum class Minimize { Time, Peak };

/// Which arguments cost nothing to save under the `pytorch` cost model.
struct FreeParameters {
  enum Kind { Auto, None, List } kind = Auto;
  std::vector<unsigned> indices; ///< argument positions, for List
};

/// What a byte costs that is saved for the backward: picoseconds, or a multiple
/// of what the planner says of the graph (ownBytePrice()).
class BytePrice {
public:
  BytePrice(double ps = 0) : number(ps) {}
  static BytePrice ownTimes(double multiple) {
    BytePrice price(multiple);
    price.isOfOwn = true;
    return price;
  }
  /// Picoseconds, where the graph's own price is `own`.
  double of(double own) const { return isOfOwn ? number * own : number; }
  bool isZero() const { return number == 0; }
  BytePrice times(double factor) const {
    BytePrice price = *this;
    price.number *= factor;
    return price;
  }

private:
  double number;
  bool isOfOwn = false;
};

/// The most bytes that the arena of a step may have: a number, or a share of
/// what the plan needs that saves everything.
struct MemoryLimit {
  int64_t bytes = 0;
  std::optional<double> ofEager; ///< above 0, at most 1
};

/// Ops around a large product in parts along its rows (Transforms/SplitOps.h).
struct PartsRequest {
  /// Loss: the largest product with a reduction of its result. Auto: the same
  /// where the peak falls.
  enum Kind { Off, Loss, Auto } kind = Off;
  unsigned parts = 0; ///< 0: as many as the objective chooses
};

struct PartitionResult;

/// Everything that decides a plan. Two equal options on equal graphs give
/// equal bytes.
struct PartitionOptions {
  Strategy strategy = Strategy::MinCut;
  CostModel costModel = CostModel::Roofline;
  Rules rules = Rules::Torch2_13;
  Solver solver = Solver::Auto;
  FreeParameters freeParameters;
  /// Flags of PyTorch's partitioner, and the user's own ops; what it has of
  /// rules and free parameters is not looked at.
  TorchRulesOptions torch;
  /// PyTorch's activation budget, under rules torch-2.13.
  std::optional<TorchBudget> activationBudget;
  llvm::StringMap<int64_t> symbols; ///< `--sym s0=24`, over file hints
  /// Roofline. Where there is none, the objective of `planStep` chooses, and
  /// what weighs saved bytes by itself does so for time alone.
  std::optional<BytePrice> bytePrice;
  std::string device = "h100";           ///< name or path of a .json file
  llvm::StringMap<std::string> policies; ///< VALUE or VALUE#i → "must-save" …
  /// Modules that become checkpoint regions: patterns over their paths.
  std::vector<std::string> checkpoint;
  /// Segments of the model's sequence of modules, of which all but the last
  /// become checkpoint regions; 0 for none.
  unsigned checkpointSegments = 0;
  /// Checkpoint regions keep to their budgets, if they have some.
  bool keepsRegionBudgets = true;
  /// What ops of checkpoint regions do instead: "save:matmul", in order.
  std::vector<std::string> checkpointPolicies;
  std::optional<PartsRequest> split;      ///< none: not
  std::string dumpNetwork;                ///< file for the network, or empty
  Minimize minimize = Minimize::Time;     ///< `planStep` looks at it alone
  std::optional<MemoryLimit> memoryLimit; ///< the same
  unsigned effort = 1; ///< of searches for memory, 1 … 3: four times each
  /// `planStep` for time: no larger planned peak than PyTorch's decision has.
  bool withinTorchPeak = true;
  /// Schedule the backward against the planned peak, and plan the memory of the
  /// step; symbols are those above. Needs `emit`.
  std::optional<MemoryPlanOptions> memory;
  /// Composite ops are decomposed to core ops: before the cut, and behind
  /// PyTorch's decision, which is made on the graph as it is given. Not where
  /// somebody else runs the ops that the graph has.
  bool decompose = true;
  /// A graph without gradients is a forward with an empty backward, no mistake.
  bool mayLackGradients = false;
  bool reorderBackward = true;
  bool verify = true;
  bool emit = true;    ///< write the two functions
  bool figures = true; ///< fill in what reports show
  bool bounds = false; ///< of them, PlanBounds too
  /// What the caller finds wrong with a plan, besides what is always looked
  /// at: `planStep` takes another one then.
  std::function<std::optional<std::string>(const PartitionResult &)> alsoCheck;
  /// The options as texts of the command line, which need no file: what a
  /// stored plan says about itself. `readPlanOptions` fills it.
  std::vector<std::string> asked;
};

/// What an objective decides: by which options of those that were asked for, or
/// others in their place, a plan is made.
struct PlanChoice {
  Strategy strategy = Strategy::MinCut;
  CostModel costModel = CostModel::Roofline;
  Rules rules = Rules::Torch2_13;
  BytePrice bytePrice;
  /// Values that are recomputed, whatever the options' policies say; sorted.
  std::vector<std::string> recompute;
  /// The saved values, in the order of the graph, where a search has found
  /// them: nothing is solved then.
  std::optional<std::vector<std::string>> saved;
  /// Checkpoint regions that a search has found, besides those asked for.
  RegionRequest regions;

  /// As the options say.
  static PlanChoice of(const PartitionOptions &options);
};

/// One decision, for reports; all sizes in bytes.
struct SavedValue {
  std::string name;
  enum Kind { Tensor, Size, Seed } kind = Tensor;
  int64_t bytes = 0;
  bool argument = false;
  std::string reason;
  std::string location; ///< "models.py:117 in forward", or empty
  std::string module;   ///< "blocks.0.attn", or empty where it is not known
  uint32_t value = 0;   ///< number in the view
};

struct PhaseSeconds {
  double import = 0, prepare = 0, network = 0, solve = 0, extract = 0,
         memory = 0, verify = 0;
  double kernels = 0; ///< forming them: for prices, and to order launches
  double compare = 0; ///< plans that were made to compare peaks
};

/// An op of the forward, or an input, that may not be recomputed.
struct BannedOp {
  uint32_t value = 0; ///< in the view; kNone for a call with several results
  uint32_t op = 0;    ///< kNone for an input
  /// Bits of all rules that apply: of PyTorch's, by BanReason, the lowest
  /// decides; of those without PyTorch's rules one of the following.
  uint32_t rules = 0;
  enum : uint32_t {
    ByPolicy = 1u << 16, ///< the user or a tag asks to save it
    Random = 1u << 17,   ///< a second run gives other numbers
    OnlyOnce = 1u << 18, ///< it has an effect, or may have one
  };
};

/// Ops of a prepared graph above which one of the minimum cut and PyTorch's
/// decision gets an arena, the one that needs less op by op; no other plan is
/// tried.
inline constexpr uint64_t kFullComparisonOps = 300'000;

/// Ops above which reports show no figures of other strategies: those of asking
/// for them take several plans.
inline constexpr uint64_t kComparedOps = 100'000;

/// The minimum cut that was not taken, because its step has a larger peak than
/// that of PyTorch's decision, or as large a one and takes more time.
struct PassedOver {
  int64_t peakBytes = 0, torchPeakBytes = 0;
  /// As PartitionResult::pricedPs; unless `isByOps`.
  int64_t pricedPs = 0;
  /// The graph is so large that both peaks are op by op, no kernels were formed
  /// for the minimum cut, and PyTorch's decision was taken at once.
  bool isByOps = false;
  double bytePricePs = 0; ///< that gives it
};

/// The search for the least peak, or for the least time under a limit.
struct PlanSearch {
  uint64_t plans = 0; ///< that were looked at
  std::optional<int64_t> limitBytes = std::nullopt;
  /// False if the graph is so large that corners of the front were left out.
  bool isWhole = true;
};

/// Calls of one op that are taken as declared (Declared.h), and of the first of
/// them what the file says where.
struct DeclaredOps {
  std::string op, place, why;
  uint64_t count = 0;
};

struct OpCount {
  std::string op;
  uint64_t count = 0;
};

/// The most bytes that a step needs, and the moment at which most are live.
struct PeakResult {
  /// Planned: of the arena, and its lower bound. Op by op: live bytes where no
  /// result takes the place of an operand, and where all do.
  int64_t bytes = 0, lowerBound = 0;
  std::string at; ///< name of the op's first result
  bool inBackward = false;
  /// What is live then; results of the forward count as temporaries op by op.
  int64_t savedBytes = 0, gradientBytes = 0, temporaryBytes = 0,
          resultBytes = 0;
  bool isPlanned = false;
  bool isLeastOrder = false; ///< the bound holds for any order of the backward
};

/// A prepared graph before its ops were split into parts, which stands in no
/// module; null where none were.
using WholeGraph = std::shared_ptr<mlir::OwningOpRef<joint::GraphOp>>;

/// What is known of a graph before it is planned; empty where nothing is.
struct PreparedGraph {
  std::optional<GraphView> view;
  std::optional<ValueSizes> sizes;
  std::optional<FxView> fx;
  std::optional<GraphSets> sets;
  std::optional<RooflineCosts> costs; ///< on the options' device
  std::shared_ptr<const KernelProblem> kernelProblem;
  WholeGraph whole;
};

/// A graph that was decided on before its composite ops were decomposed.
struct GivenGraph {
  GraphView view;
  /// By value of PartitionResult::view: its number in `view`, or kNone.
  std::vector<uint32_t> numberOf;
  mlir::OwningOpRef<joint::GraphOp>
      core; ///< what PartitionResult::view numbers
};

/// What is known of a prepared graph, whatever its plan; by number of the view.
struct GraphAnalyses {
  GraphView view;
  std::optional<GraphSets> sets;
  std::optional<ValueSizes> sizes;
  std::optional<RooflineCosts> costs; ///< where the plan or figures asked
  std::vector<double> flopsPs;        ///< by op, see computeFlopsPs; else empty
  WholeGraph whole;
  std::shared_ptr<const KernelProblem> kernelProblem; ///< the same
  std::vector<int64_t> bytes;    ///< by value, under size hints
  std::vector<uint32_t> storage; ///< by value: equal numbers share storage
  std::vector<double> distance;  ///< to the backward, in ops, by value
  std::vector<int64_t> saveCost,
      recomputeCost; ///< by value / by op; -1 = never
};

/// What no plan of the graph comes below (Kernels/PlanBound.h). Plans whose
/// launches run ops in pieces, or that drop gradients within the step, are none
/// of those that it is about.
struct PlanBounds {
  /// Of a value that is in the way of a smaller peak.
  struct Value {
    std::string name;
    int64_t bytes = 0;
    std::string location; ///< as SavedValue::location
  };
  int64_t peakBytes = 0;
  std::string peakAt;        ///< as MomentPrice::at
  std::vector<Value> atPeak; ///< the three largest
  /// Extra time of any plan whose arena has at most `limitBytes`; as
  /// PlanFigures::pricedPs.
  int64_t timePs = 0, limitBytes = 0;
  double gap = 0; ///< pricedPs above timePs, as a part of the step
  struct MomentPrice {
    std::string at; ///< "between", "end", or the first result of a call
    double ps = 0;  ///< a byte
  };
  std::vector<MomentPrice> prices; ///< that prove the bound of the time
};

/// What a report shows of a plan; its fields are those of `report --json`.
/// Filled in if the options ask for figures.
struct PlanFigures {
  uint64_t ops = 0, forwardOps = 0, backwardOps = 0;
  std::vector<SavedValue> saved;
  int64_t savedBytes = 0, savedPlainBytes = 0, savedStorageBytes = 0,
          argumentBytes = 0;
  std::vector<std::string> recomputed;
  /// Random calls that PyTorch runs again with a saved generator state, under
  /// its rules; not in `recomputed`.
  std::vector<std::string> replayedRandom;
  std::vector<OpCount> recomputedByKind;
  std::vector<OpCount> opaque; ///< without those that are taken as declared
  std::vector<DeclaredOps> asDeclared;
  std::vector<BannedOp> banned; ///< in program order, inputs first
  PeakResult peak;
  int64_t modelPs = 0;  ///< extra time by the network's capacities
  int64_t pricedPs = 0; ///< extra time by the fusion-aware price of the plan
  uint64_t kernels = 0; ///< of both halves, by the same model
  /// If the options ask for it, and the step has an arena.
  std::optional<PlanBounds> bounds;
};

/// What updates parameters behind a step.
struct PlannedUpdate {
  std::vector<std::string> options; ///< as on the command line
  /// The last one is the update; one before it accumulates gradients.
  std::vector<ListedSegment> segments;
};

/// A checkpoint region that keeps a fraction of the bytes that the fastest plan
/// saves of it.
struct RegionBudget {
  std::string region; ///< its path in graph attribute `joint.regions`
  double fraction = 1;
  int64_t savableBytes = 0, keptBytes = 0;
};

/// The cut that was solved.
struct CutFigures {
  /// Of the last cut, where a budget took several.
  int64_t cutValue = 0;
  uint64_t networkVertices = 0, networkArcs = 0;
  std::string solver; ///< the solver that ran
  double bytePricePs = 0;
  /// What PyTorch decides within its activation budget.
  std::optional<BudgetDecision> budget;
  /// Random calls that run twice with the same numbers, where PyTorch would
  /// draw others: a budget recomputes them without a state.
  std::vector<std::string> drawnAlike;
  std::vector<RegionBudget> regionBudgets;
};

/// How a plan came about; `planStep` fills all but the first two.
struct PlanOrigin {
  PartitionOptions options; ///< that were asked for
  PlanChoice choice;        ///< that it was made by
  std::optional<PassedOver> passedOver;
  std::optional<PlanSearch> search; ///< for the least peak
  /// What a check found in plans that were not taken therefore.
  std::vector<std::string> refused;
  /// The plan is of the graph as PyTorch prepares it.
  bool isOfTorchGraph = false;
  /// PyTorch's decision, taken where another cost model was asked for.
  bool isTorchDecision() const {
    return isOfTorchGraph && choice.costModel == CostModel::PyTorch &&
           choice.strategy == Strategy::MinCut;
  }
};

/// From the decision to the arena.
struct PlannedStep {
  Plan plan;
  Halves halves;
  std::optional<KernelPlan> kernelPlan; ///< with a memory plan or figures
  LaunchOrder forwardLaunches, backwardLaunches; ///< with a memory plan
  Partition partition; ///< null functions if options.emit is off
  /// Of the step, if it was asked for and all sizes are known.
  std::optional<MemoryPlan> memory;
  std::string memoryProblem; ///< why it could not be planned, or empty
  /// Added behind the plan, where an optimizer is asked for.
  std::optional<PlannedUpdate> update;
  bool verified = false;
};

/// A plan, how it came about, and what it was read from.
struct PartitionResult : PlanOrigin,
                         GraphAnalyses,
                         CutFigures,
                         PlannedStep,
                         PlanFigures {
  std::string graph;
  /// Under PyTorch's rules, if they decided on composite ops: `banned` is of
  /// `given->view`, all else of `view`, a decomposed copy.
  std::optional<GivenGraph> given;
  /// What `banned` numbers.
  const GraphView &decidedView() const { return given ? given->view : view; }
  PhaseSeconds seconds;
};

/// Cleans the graph in place as far as all plans share it (dead code, common
/// subexpressions, tags). Counts as `prepare`.
mlir::FailureOr<PreparedGraph> preparePartition(joint::GraphOp graph,
                                                const PartitionOptions &options,
                                                PhaseSeconds &seconds);

/// Plans, splits, emits and verifies a prepared graph. Errors are emitted at
/// the graph; the result of a plan that the certificate refuses is failure.
/// `prepared` is of the same graph, which has not been changed since, under
/// the same cost model, device, rules, free parameters and symbols.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
partitionGraph(joint::GraphOp graph, const PartitionOptions &options,
               PreparedGraph prepared = {});
/// The same by another choice.
mlir::FailureOr<std::unique_ptr<PartitionResult>>
partitionGraph(joint::GraphOp graph, const PartitionOptions &options,
               const PlanChoice &choice, PreparedGraph prepared = {});

/// What `result` knows of its graph besides its plan, for the next plan of the
/// same graph: taken out of it, or copied. Nothing where the graph that it
/// knows is a decomposed copy.
PreparedGraph takePrepared(PartitionResult &result);
PreparedGraph copyPrepared(const PartitionResult &result);

} // namespace cutback

#endif // CUTBACK_PLANNER_PARTITIONPIPELINE_H
