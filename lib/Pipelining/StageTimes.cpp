// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of ops for the choice of stages:
//
//   1. a copy of the program, where the place of op i is line i of a file that
//      is none: rules of gradients and of core ops keep the place of what they
//      take apart, so that all that becomes of op i is found again
//   2. its training graph, and a plan that saves everything
//   3. the time of each kernel, divided among its ops by their FLOPs, goes to
//      the ops of the program that they came from
//   4. bytes: a value crosses the boundaries between its op and its last reader
//
// Linear, but for the plan.

#include "cutback/Pipelining/StageTimes.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Pipelining/CutGraph.h"
#include "cutback/Support/MLIR/Silence.h"
#include "cutback/Support/MLIR/TensorBytes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static constexpr const char *kProgram = "program";

/// The number of the op that one at `location` came from, or -1.
static int64_t numberAt(Location location) {
  if (auto key = BackwardKey::read(location); key && key->forward)
    return numberAt(*key->forward);
  int64_t number = -1;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file || file.getFilename() != kProgram)
      return WalkResult::advance();
    number = file.getLine();
    return WalkResult::interrupt();
  });
  return number;
}

/// Adds the time of `kernels` to `ps`, by op of the program.
static void addTimes(const PartitionResult &plan, const SegmentKernels &kernels,
                     std::vector<int64_t> &ps) {
  for (const Kernel &kernel : kernels.kernels) {
    double all = 0;
    auto weightOf = [&](uint32_t op) { return plan.flopsPs[op] + 1; };
    for (uint32_t op : kernel.ops)
      all += weightOf(op);
    int64_t last = 0;
    for (uint32_t op : kernel.ops) {
      int64_t number = numberAt(plan.view.ops[op]->getLoc());
      if (number >= 0)
        last = std::min<int64_t>(number, static_cast<int64_t>(ps.size()) - 1);
      ps[last] += static_cast<int64_t>(kernel.ps * weightOf(op) / all);
    }
  }
}

static LogicalResult computeTimes(GraphOp graph,
                                  const TrainingGraphOptions &gradients,
                                  const PartitionOptions &options,
                                  std::vector<int64_t> &ps) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph.getLoc());
  GraphOp copy = copyGraph(graph);
  module->push_back(copy);
  unsigned number = 0;
  for (Operation &op : copy.getBlock().without_terminator()) {
    auto place = FileLineColLoc::get(copy.getContext(), kProgram, number++, 0);
    op.walk([&](Operation *inner) { inner->setLoc(place); });
  }
  ps.assign(number, 0);
  {
    Silence silence(*copy.getContext());
    if (failed(makeTrainingGraph(copy, gradients)))
      return failure();
  }
  PartitionOptions eager = options;
  eager.strategy = Strategy::Eager;
  eager.withinTorchPeak = false;
  eager.mayLackGradients = true;
  // What they ask of values of the stages says nothing about where to cut.
  eager.policies.clear();
  eager.checkpoint.clear();
  eager.checkpointPolicies.clear();
  eager.memory.reset();
  eager.figures = true;
  auto plan = partitionGraph(copy, eager);
  if (failed(plan) || !(*plan)->kernelPlan)
    return failure();
  for (const PlannedSegment &segment : (*plan)->kernelPlan->segments)
    addTimes(**plan, segment.kernels, ps);
  return success();
}

/// Bytes of a value that may cross, or kNever.
static int64_t crossingBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return StageCosts::kNever;
  return tensorBytes(tensor).value_or(StageCosts::kNever);
}

/// Ranges of boundaries, for sums of what is added to them.
namespace {
class Ranges {
public:
  explicit Ranges(size_t count) : steps(count + 1, 0) {}
  /// To boundaries after op `from` up to that before op `to`.
  void add(uint32_t from, uint32_t to, int64_t value) {
    if (from < to) {
      steps[from + 1] += value;
      steps[to + 1] -= value;
    }
  }
  std::vector<int64_t> sums(size_t count) const {
    std::vector<int64_t> all(count, 0);
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
      all[i] = sum += steps[i];
    return all;
  }

private:
  std::vector<int64_t> steps;
};
} // namespace

static std::vector<int64_t> computeBytes(const GraphView &view) {
  size_t count = view.numOps();
  Ranges bytes(count), never(count);
  std::vector<uint8_t> isConstant = markConstants(view);
  for (uint32_t value = view.numArgs; value < view.numValues(); ++value) {
    uint32_t maker = view.definer[value], last = maker;
    for (uint32_t user : view.users(value))
      if (user < count && !isa<WriteOp>(view.ops[user]))
        last = std::max(last, user);
    if (isConstant[maker] || last == maker)
      continue;
    int64_t size = crossingBytes(view.types[value]);
    if (size == StageCosts::kNever)
      never.add(maker, last, 1);
    else
      bytes.add(maker, last, size);
  }
  for (uint32_t op = 0; op < count; ++op) {
    if (!isa<WriteOp>(view.ops[op]))
      continue;
    // Who reads a written argument first must make its new value.
    uint32_t maker = view.definer[view.operands(op)[1]], first = op;
    for (uint32_t user : view.users(view.operands(op)[0]))
      first = std::min(first, user);
    if (maker != GraphView::kNone)
      never.add(first, maker, 1);
  }
  std::vector<int64_t> all = bytes.sums(count), closed = never.sums(count);
  for (size_t b = 0; b < count; ++b)
    if (closed[b])
      all[b] = StageCosts::kNever;
  return all;
}

FailureOr<StageCosts>
cutback::computeStageCosts(GraphOp graph, const TrainingGraphOptions &gradients,
                           const PartitionOptions &options) {
  StageCosts costs;
  if (failed(computeTimes(graph, gradients, options, costs.ps))) {
    // Again, for errors at the places of the model.
    OwningOpRef<ModuleOp> module = ModuleOp::create(graph.getLoc());
    GraphOp copy = copyGraph(graph);
    module->push_back(copy);
    (void)makeTrainingGraph(copy, gradients);
    return failure();
  }
  costs.bytes = computeBytes(GraphView::build(graph));
  return costs;
}
