// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of this folder: the step from a solved problem to the
// figures of a report.
#ifndef CUTBACK_LIB_PLANNER_INTERNAL_H
#define CUTBACK_LIB_PLANNER_INTERNAL_H

#include "cutback/Analysis/Roofline.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Partition/RooflineProblem.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/TorchRules/FxView.h"
#include "cutback/TorchRules/TorchProblem.h"

#include <chrono>
#include <limits>

namespace cutback {

/// Adds the time until its end to a counter, in seconds.
class PhaseTimer {
public:
  explicit PhaseTimer(double &seconds)
      : seconds(seconds), start(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }

private:
  double &seconds;
  std::chrono::steady_clock::time_point start;
};

/// By argument: it outlives the step and costs nothing under the rules.
std::vector<uint8_t> freeArguments(joint::GraphOp graph,
                                   const FreeParameters &free);

TorchRulesOptions torchOptions(joint::GraphOp graph,
                               const PartitionOptions &options, Rules rules);

/// Splits ops of the prepared graph of `view` into parts, as the options say,
/// and gives what it was before; null where nothing was split, and a remark
/// says what is in the way. The proof of it is a part. `view` follows.
WholeGraph splitForPlan(GraphView &view, const PartitionOptions &options);

/// The options with a number of parts, where they let the objective choose:
/// that of the least peak for `Minimize::Peak`; that of the fastest plan within
/// a memory limit; else, if the peak falls, the
/// fewest parts with which it is nearly as low as it gets. Makes a plan of a
/// copy for each number that is tried. Nothing where there is nothing to
/// choose.
std::optional<PartitionOptions> chooseParts(joint::GraphOp graph,
                                            const PartitionOptions &options);

/// Writes the network that was solved to `options.dumpNetwork`, in the form of
/// the reference networks: names, and arcs [from, to, capacity], -1 infinite.
mlir::LogicalResult
dumpNetwork(joint::GraphOp graph, const PartitionOptions &options,
            const FlowNetwork &network,
            llvm::function_ref<std::string(uint32_t)> nodeName,
            uint32_t numNodes, bool isInOut);

/// The terms of the network, by the kernels of the backward; makes `problem`
/// where it is missing.
RooflineCosts networkCosts(const GraphView &view, const GraphSets &sets,
                           const ValueSizes &sizes, const Device &device,
                           const llvm::StringMap<int64_t> &symbols,
                           std::shared_ptr<const KernelProblem> &problem);

/// Picoseconds that a byte is worth where nobody says: a part of the step's
/// time for all that its backward is given. Where sizes are not known both are
/// of those that are assumed.
double ownBytePrice(const RooflineCosts &costs);

/// Forms kernels for halves of the graph of `result`; makes the costs and the
/// problem that it needs where they are missing, and refers to them. Nothing
/// for a device that is not known.
std::optional<KernelPlanner> kernelPlanner(PartitionResult &result);

/// Forms the kernels of `result.halves` and orders both halves by them, into
/// `result.kernelPlan`; nothing for a device that is not known.
void orderByKernels(PartitionResult &result);
/// Says on the functions which ops run as one.
void writeLaunches(PartitionResult &result);

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

/// Schedules the backward of `result.partition` and plans the memory of the
/// step into `result.memory`, without the proof; the order of `result.halves`
/// follows. Where a size is not known nothing changes, and
/// `result.memoryProblem` says why; and nothing where the step needs `limit`
/// bytes at one moment, for then no arena is smaller.
mlir::LogicalResult planArena(joint::GraphOp graph, PartitionResult &result,
                              int64_t limit = kNoLimit);
/// The same without a layout: bytes that are live at one moment at most, below
/// which no arena is; nothing where a size is not known. At `limit` or above
/// it may be less than that.
mlir::FailureOr<std::optional<int64_t>> planLiveBytes(joint::GraphOp graph,
                                                      PartitionResult &result,
                                                      int64_t limit = kNoLimit);

/// Merges launches of both halves, where `step` is of them: its peak stays as
/// it is at most. Numbers and functions of `result` follow, and `step`, whose
/// memory it gives.
mlir::FailureOr<StepMemory> mergeWithin(StepView &step, joint::GraphOp graph,
                                        PartitionResult &result,
                                        const MemoryPlanOptions &options);
/// Within what formation can know of memory.
void mergeByEstimate(joint::GraphOp graph, PartitionResult &result);

/// Names of saved values, without arguments, that lie in the arena when most
/// bytes are live, the largest first.
std::vector<std::string> savedAtPeak(const MemoryPlan &memory);

/// The proof of `result.memory`, if there is one: a plan that it refuses is an
/// error.
mlir::LogicalResult proveArena(PartitionResult &result);

/// A plan as far as it is needed to compare it with others; without proofs of
/// arena and halves, and without figures. Its steps in order:
///   make         the cut, proved (if `options.verify`), and halves
///   formKernels  kernels, and both halves in their order
///   layOut       functions, behind the graph, the order of the backward, arena
class DraftPlan {
public:
  /// With `given` its saved values are taken, and nothing is solved. What is
  /// `prepared` is empty then; where there is no plan it is given back.
  static mlir::FailureOr<DraftPlan> make(joint::GraphOp graph,
                                         const PartitionOptions &options,
                                         const PlanChoice &choice,
                                         PreparedGraph &prepared,
                                         const Plan *given = nullptr);
  DraftPlan(DraftPlan &&) noexcept;
  DraftPlan &operator=(DraftPlan &&) noexcept;
  ~DraftPlan();

  PartitionResult &result();
  /// What was decided on.
  joint::GraphOp getGraph() const;
  /// If a memory plan is asked for; else nothing.
  void formKernels();
  /// What the options ask for of both. Where the step needs `arenaLimit` bytes
  /// at one moment there is no arena.
  mlir::LogicalResult layOut(int64_t arenaLimit = kNoLimit);
  /// In the place of layOut(), for a draft that is thrown away: see
  /// planLiveBytes().
  mlir::FailureOr<std::optional<int64_t>> liveBytes(int64_t limit = kNoLimit);
  /// Gives `graph` the body and attributes of the graph that was planned, and
  /// puts the functions behind it.
  void moveTo(joint::GraphOp graph);
  /// Proofs and figures; ends the draft.
  mlir::FailureOr<std::unique_ptr<PartitionResult>> finish();
  /// Erases the functions; ends the draft. What is known of the graph is left.
  PreparedGraph discard();

private:
  struct State;
  explicit DraftPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Bytes that the step needs at one moment: its arena, or where there is no
/// `memory` the peak op by op.
int64_t peakBytes(const std::optional<MemoryPlan> &memory,
                  const GraphView &view, const ValueSizes &sizes,
                  const Halves &halves);

/// Fills the figures of a result from view, plan, halves and sizes.
void summarize(PartitionResult &result, const ValueSizes &sizes,
               const RooflineCosts *costs,
               const std::vector<OpPolicy> &policies, const TorchProblem *torch,
               const FxView *fx);

/// "models.py:117 in forward", from the outermost file location.
std::string describeLocation(mlir::Location loc);

/// Bounds for plans of the graph of `result`, which has costs and a kernel
/// problem: of the time for arenas of at most `limitBytes`. The gap is that of
/// its `pricedPs`. Nothing where the graph is too large for the numbers, or
/// copies of checkpoint regions are a part of it. Some flows.
std::optional<PlanBounds> findBounds(const PartitionResult &result,
                                     int64_t limitBytes);

/// One remark for every saved value and every recomputed op.
void emitRemarks(const PartitionResult &result);

} // namespace cutback

#endif // CUTBACK_LIB_PLANNER_INTERNAL_H
