// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of both halves, and what a plan adds to the step.
//
// The extra time is the difference to the same step without the plan's price: a
// forward that hands nothing over, and a backward without copies to which every
// value of the forward is given.

#include "cutback/Kernels/KernelPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;
using llvm::ArrayRef;

KernelPlanner::KernelPlanner(const KernelProblem &problem,
                             const GraphView &view, const ValueSizes &sizes,
                             const Device &device,
                             const std::vector<double> &flopsPs)
    : problem(problem), view(view), sizes(sizes),
      rates{device.bandwidth, device.launchPs, &flopsPs} {}

static KernelLimits apart() {
  KernelLimits limits;
  limits.nests = 0;
  return limits;
}

SegmentKernels KernelPlanner::form(const SegmentOps &segment,
                                   const KernelLimits &limits) const {
  return formKernels(problem, view, sizes, segment, rates, limits);
}

SegmentOps KernelPlanner::forwardOf(const Halves &halves) const {
  return {halves.forwardOps,
          {view.forwardResults(), halves.savedTensors},
          {},
          false};
}

SegmentOps KernelPlanner::backwardOf(const Halves &halves) const {
  return {halves.backwardOps,
          {view.gradients()},
          {halves.savedTensors, halves.savedSizes},
          false};
}

double KernelPlan::ps() const {
  double total = 0;
  for (const PlannedSegment &segment : segments)
    total += segment.kernels.ps();
  return total;
}

double KernelPlan::apartPs() const {
  double total = 0;
  for (const PlannedSegment &segment : segments)
    total += segment.kernels.apartPs;
  return total;
}

uint64_t KernelPlan::numLaunches() const {
  uint64_t total = 0;
  for (const PlannedSegment &segment : segments)
    total += segment.kernels.kernels.size();
  return total;
}

KernelPlan KernelPlanner::plan(ArrayRef<SegmentOps> segments,
                               const KernelLimits &limits) const {
  KernelPlan plan;
  for (auto [segment, ops] : llvm::zip_equal(plan.segments, segments)) {
    segment.kernels = form(ops, limits);
    segment.order = ops.order.vec();
  }
  return plan;
}

KernelPlan KernelPlanner::plan(const Halves &halves) const {
  return plan({forwardOf(halves), backwardOf(halves)}, {});
}

KernelPlan KernelPlanner::planApart(const Halves &halves) const {
  return plan({forwardOf(halves), backwardOf(halves)}, apart());
}

std::vector<uint32_t>
KernelPlanner::mergeForward(const Halves &halves, const MergeRoom &room,
                            SegmentKernels &kernels) const {
  return mergeKernels(problem, view, sizes, forwardOf(halves), rates, room,
                      kernels);
}

std::vector<uint32_t>
KernelPlanner::mergeBackward(const Halves &halves, const MergeRoom &room,
                             SegmentKernels &kernels) const {
  return mergeKernels(problem, view, sizes, backwardOf(halves), rates, room,
                      kernels);
}

KernelPlan KernelPlanner::planWithoutPrice(const Halves &halves,
                                           const KernelPlan &plan) const {
  // X is where the plan has it, so it cancels out.
  std::vector<uint8_t> isCopy(view.numOps(), 0);
  for (uint32_t op : halves.recomputed)
    isCopy[op] = 1;
  std::vector<uint32_t> backward;
  llvm::copy_if(plan.segments[1].order, std::back_inserter(backward),
                [&](uint32_t op) { return !isCopy[op]; });
  SegmentOps withoutSaved{
      plan.segments[0].order, {view.forwardResults()}, {}, false};
  SegmentOps withoutCopies{backward, {view.gradients()}, {}, true};
  return this->plan({withoutSaved, withoutCopies}, apart());
}

double KernelPlanner::extraPs(const Halves &halves,
                              const KernelPlan &plan) const {
  return plan.apartPs() - planWithoutPrice(halves, plan).ps();
}

std::optional<std::string> KernelPlanner::verify(const Halves &halves,
                                                 const KernelPlan &plan) const {
  if (auto fault = verify(forwardOf(halves), plan.forward()))
    return "kernels of the forward: " + *fault;
  if (auto fault = verify(backwardOf(halves), plan.backward()))
    return "kernels of the backward: " + *fault;
  return std::nullopt;
}

namespace {

/// Walks the kernels of a segment in their order.
class SegmentCheck {
public:
  using Fault = std::optional<std::string>;

  SegmentCheck(const KernelProblem &problem, const GraphView &view,
               const KernelRates &rates, const SegmentKernels &segment,
               const SegmentOps &ops)
      : problem(problem), view(view), rates(rates), segment(segment),
        order(ops.order), places(view.numOps(), kNone),
        hasRun(view.numOps(), 0), isGiven(problem.findGiven(view, ops.given)),
        nestOf(view.numOps(), 0) {
    for (uint32_t place = 0; place < order.size(); ++place)
      places[order[place]] = place;
  }

  Fault run() {
    for (uint32_t number = 0; number < segment.kernels.size(); ++number)
      if (Fault fault = checkKernel(number))
        return fault;
    for (uint32_t op : order)
      if (problem.kind[op] != LoopKind::None && !hasRun[op])
        return nameOf(op) + " stands in no kernel";
    return std::nullopt;
  }

private:
  static constexpr uint32_t kNone = SegmentKernels::kNone;

  std::string nameOf(uint32_t op) const {
    return view.numResults(op) ? "'" + view.name(view.resultBegin[op]) + "'"
                               : "op " + std::to_string(op);
  }

  Fault checkKernel(uint32_t number) {
    const Kernel &kernel = segment.kernels[number];
    if (kernel.ops.empty())
      return "kernel " + std::to_string(number) + " is empty";
    if (kernel.nestOf.size() != kernel.ops.size())
      return "kernel " + std::to_string(number) + " has ops without loops";
    bool isCall = kernel.schedule == KernelSchedule::Call;
    for (auto [op, nest] : llvm::zip_equal(kernel.ops, kernel.nestOf))
      nestOf[op] = nest;
    uint32_t before = kNone;
    for (uint32_t op : kernel.ops) {
      if (places[op] == kNone || segment.kernelOf[op] != number ||
          (before != kNone && places[op] <= places[before]))
        return nameOf(op) + " stands in the wrong kernel or out of order";
      before = op;
      if (isCall != (problem.kind[op] == LoopKind::Call) ||
          (isCall && kernel.ops.size() != 1))
        return nameOf(op) + " has no loops and shares a kernel";
      if (Fault fault = checkOp(op, number))
        return fault;
    }
    const NestedCall *call = problem.nestedOf(kernel.anchor());
    double ps =
        call ? call->ps : rates.timeOf(kernel.flopsPs, kernel.movedBytes);
    if (kernel.movedBytes < kernel.borderBytes || kernel.ps != ps)
      return nameOf(kernel.anchor()) + " ends a kernel whose time is wrong";
    return std::nullopt;
  }

  Fault checkOp(uint32_t op, uint32_t number) {
    for (const KernelProblem::Read &read : problem.readsOf(op)) {
      if (Fault fault = checkRead(op, number, read))
        return fault;
      if (Fault fault = checkWrites(op, number, read))
        return fault;
    }
    if (view.traits[op].ordered) {
      if (places[op] < lastEffect)
        return nameOf(op) + " has an effect out of its order";
      lastEffect = places[op];
    }
    hasRun[op] = 1;
    return std::nullopt;
  }

  Fault checkRead(uint32_t op, uint32_t number,
                  const KernelProblem::Read &read) const {
    uint32_t def = view.definer[read.root];
    if (def == GraphView::kNone || places[def] == kNone || isGiven[read.value])
      return std::nullopt;
    if (!hasRun[def] && problem.kind[def] != LoopKind::None)
      return nameOf(op) + " reads '" + view.name(read.root) +
             "' before it is written";
    if (segment.kernelOf[def] == number && nestOf[def] != nestOf[op])
      return nameOf(op) + " reads '" + view.name(read.root) +
             "', which other loops of its kernel make";
    return std::nullopt;
  }

  /// Of an argument that the step writes.
  Fault checkWrites(uint32_t op, uint32_t number,
                    const KernelProblem::Read &read) const {
    uint32_t written = problem.writeOf[read.root];
    if (written == kNone)
      return std::nullopt;
    for (uint32_t write : problem.writes[written].second) {
      if (places[write] == kNone || write == op)
        continue;
      if ((hasRun[write] != 0) != (places[write] < places[op]))
        return nameOf(op) + " reads '" + view.name(read.root) +
               "' on the wrong side of a write";
      if (segment.kernelOf[write] == number &&
          (nestOf[write] != nestOf[op] || hasRun[write] ||
           problem.kind[op] != LoopKind::Elementwise ||
           read.map != IndexMaps::kIdentity))
        return nameOf(op) + " reads other elements of '" +
               view.name(read.root) + "' than its kernel writes then";
    }
    return std::nullopt;
  }

  const KernelProblem &problem;
  const GraphView &view;
  const KernelRates &rates;
  const SegmentKernels &segment;
  ArrayRef<uint32_t> order;
  std::vector<uint32_t> places; ///< by op: in `order`, or kNone
  std::vector<uint8_t> hasRun, isGiven, nestOf;
  uint32_t lastEffect = 0;
};

} // namespace

std::optional<std::string>
KernelPlanner::verify(const SegmentOps &ops,
                      const SegmentKernels &segment) const {
  return SegmentCheck(problem, view, rates, segment, ops).run();
}
