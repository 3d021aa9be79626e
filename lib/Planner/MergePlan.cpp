// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of a step, merged behind their order.
//
//   1. What is live when each launch runs, from the memory of the step as it is
//   2. Kernels that need nothing of each other meet where that leaves room
//      (mergeKernels), in both halves; numbers, functions and sizes of launches
//      follow
//   3. The memory of the step as it is then. A launch keeps all that it reads
//      until it ends, and fewer of its results may take the place of an
//      operand, so more can be live than was counted. Then what moved over the
//      launches where that is so stays alone, and all is merged anew.
//
// Where a size is not known room is estimated, once. Near linear.

#include "Internal.h"

#include "cutback/MemoryPlan/StepMemory.h"
#include "cutback/Support/LiveSweep.h"

#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace cutback;

namespace {

/// Tries with ever more kernels that stay alone; behind them all do.
constexpr unsigned kTries = 8;

/// One half, before any of its launches are merged.
struct Half {
  std::vector<uint32_t> ops;
  SegmentKernels kernels;
  MergeRoom room;
  std::vector<uint32_t> placeOf; ///< by kernel, of the last try
};

class StepMerger {
public:
  StepMerger(joint::GraphOp graph, PartitionResult &result,
             const MemoryPlanOptions &options)
      : graph(graph), result(result), options(options),
        planner(*kernelPlanner(result)),
        forward{result.halves.forwardOps, result.kernelPlan->forward(), {}, {}},
        backward{
            result.halves.backwardOps, result.kernelPlan->backward(), {}, {}} {}

  void runByEstimate() { merge(); }

  FailureOr<StepMemory> run(StepView &step) {
    std::vector<int64_t> live =
        liveBytes(step, StepMemory(step, options.memory));
    most = *llvm::max_element(live);
    setRoom(step, live);
    for (unsigned tries = 0;; ++tries) {
      if (tries == kTries)
        for (Half *half : {&forward, &backward})
          half->room.isApart.assign(half->kernels.kernels.size(), 1);
      Moved moved = merge();
      if (!follow(step, moved)) {
        step = StepView(); // as large as the graph
        FailureOr<StepView> merged = StepView::ofPartition(
            result.partition.link, graph, options.symbols);
        if (failed(merged))
          return failure();
        step = std::move(*merged);
      }
      StepMemory memory(step, options.memory);
      if (tries == kTries || !parts(step, memory))
        return memory;
    }
  }

private:
  /// By launch of the step.
  std::vector<int64_t> liveBytes(const StepView &step,
                                 const StepMemory &memory) const {
    LiveSweep<> sweep(step.numOps());
    for (const ArenaInterval &interval : memory.buffers())
      sweep.add(interval.begin, interval.end,
                llvm::alignTo(interval.bytes, options.arena.alignment));
    std::vector<LiveSweep<>::Bytes> byOp = std::move(sweep).run();
    // A range is one of whole launches.
    std::vector<int64_t> live;
    for (const StepLaunch &launch : step.launches)
      live.push_back(byOp[launch.begin][0]);
    return live;
  }

  uint32_t firstLaunch(const StepView &step, const Half &half) const {
    return &half == &forward ? 0 : step.launchOf[step.forwardEnd()] + 1;
  }

  void setRoom(const StepView &step, ArrayRef<int64_t> live) {
    for (Half *half : {&forward, &backward}) {
      size_t count = half->kernels.kernels.size();
      half->room.live = live.slice(firstLaunch(step, *half), count).vec();
      half->room.most = most;
      half->room.isApart.assign(count, 0);
    }
  }

  /// By half, forward first: which of its ops, by their places before, run now.
  using Moved = std::array<std::vector<uint32_t>, 2>;

  Moved merge() {
    KernelPlan &plan = *result.kernelPlan;
    Halves &halves = result.halves;
    std::vector<uint32_t> oldForward = std::move(halves.forwardOps);
    std::vector<uint32_t> oldBackward = std::move(halves.backwardOps);
    halves.forwardOps = forward.ops;
    halves.backwardOps = backward.ops;
    plan.forward() = forward.kernels;
    plan.backward() = backward.kernels;
    forward.placeOf =
        planner.mergeForward(halves, forward.room, plan.forward());
    backward.placeOf =
        planner.mergeBackward(halves, backward.room, plan.backward());
    result.forwardLaunches =
        orderByLaunches(result.view, halves.forwardOps, plan.forward());
    result.backwardLaunches =
        orderByLaunches(result.view, halves.backwardOps, plan.backward());
    halves.forwardOps = result.forwardLaunches.order;
    halves.backwardOps = result.backwardLaunches.order;
    Moved moved = {
        reorder(result.partition.forward, oldForward, halves.forwardOps),
        reorder(result.partition.backward, oldBackward, halves.backwardOps)};
    writeLaunches(result);
    return moved;
  }

  /// Lets the ops of a function, which stand as `from` has their numbers, stand
  /// as `to` has them. By their places.
  std::vector<uint32_t> reorder(func::FuncOp half, ArrayRef<uint32_t> from,
                                ArrayRef<uint32_t> to) const {
    std::vector<Operation *> ops;
    for (Operation &op : half.front().without_terminator())
      ops.push_back(&op);
    std::vector<uint32_t> placeOf(result.view.numOps());
    for (auto [place, number] : llvm::enumerate(from))
      placeOf[number] = place;
    std::vector<uint32_t> moved;
    for (uint32_t number : to) {
      moved.push_back(placeOf[number]);
      ops[placeOf[number]]->moveBefore(half.front().getTerminator());
    }
    return moved;
  }

  /// Lets the step follow its functions, if their order is all that it takes.
  bool follow(StepView &step, const Moved &moved) const {
    auto launchesOf = [](func::FuncOp half) {
      return half->getAttrOfType<DenseI32ArrayAttr>(kLaunches).asArrayRef();
    };
    return step.reorder({{moved[0], launchesOf(result.partition.forward)},
                         {moved[1], launchesOf(result.partition.backward)}});
  }

  /// Whether more is live now than before. What could be the cause stays alone
  /// from now on.
  bool parts(const StepView &step, const StepMemory &memory) {
    std::vector<int64_t> live = liveBytes(step, memory);
    bool isMore = false;
    for (Half *half : {&forward, &backward}) {
      uint32_t launch = firstLaunch(step, *half);
      for (uint32_t place = 0; place < half->placeOf.size(); ++place) {
        if (half->placeOf[place] != place)
          continue;
        if (live[launch++] <= most)
          continue;
        isMore = true;
        setApart(*half, place);
      }
    }
    return isMore;
  }

  /// What met there, and what moved over it.
  static void setApart(Half &half, uint32_t place) {
    for (uint32_t kernel = 0; kernel < half.placeOf.size(); ++kernel) {
      uint32_t to = half.placeOf[kernel];
      if (to == kernel || place < std::min(kernel, to) ||
          place > std::max(kernel, to))
        continue;
      half.room.isApart[kernel] = 1;
      if (to == place)
        half.room.isApart[place] = 1;
    }
  }

  joint::GraphOp graph;
  PartitionResult &result;
  const MemoryPlanOptions &options;
  KernelPlanner planner;
  Half forward, backward;
  int64_t most = 0; ///< bytes live at a time, before
};

} // namespace

void cutback::mergeByEstimate(joint::GraphOp graph, PartitionResult &result) {
  if (result.kernelPlan)
    StepMerger(graph, result, *result.options.memory).runByEstimate();
}

FailureOr<StepMemory> cutback::mergeWithin(StepView &step, joint::GraphOp graph,
                                           PartitionResult &result,
                                           const MemoryPlanOptions &options) {
  if (!result.kernelPlan)
    return StepMemory(step, options.memory);
  return StepMerger(graph, result, options).run(step);
}
