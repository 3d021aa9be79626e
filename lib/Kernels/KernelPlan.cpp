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

SegmentKernels KernelPlanner::form(ArrayRef<uint32_t> order,
                                   ArrayRef<ArrayRef<uint32_t>> kept,
                                   ArrayRef<uint32_t> given, bool isGiven,
                                   const KernelLimits &limits) const {
  SegmentOps segment{order, {}, given, isGiven};
  segment.kept.assign(kept.begin(), kept.end());
  return formKernels(problem, view, sizes, segment, rates, limits);
}

KernelPlan KernelPlanner::plan(const Halves &halves) const {
  return {form(halves.forwardOps, {view.forwardResults(), halves.savedTensors},
               {}, false),
          planBackward(halves), halves.forwardOps, halves.backwardOps};
}

SegmentKernels KernelPlanner::planBackward(const Halves &halves) const {
  return form(halves.backwardOps, {view.gradients()}, halves.savedTensors,
              false);
}

double KernelPlanner::extraPs(const Halves &halves,
                              const KernelPlan &plan) const {
  // X is where the plan has it, so it cancels out.
  std::vector<uint8_t> isCopy(view.numOps(), 0);
  for (uint32_t op : halves.recomputed)
    isCopy[op] = 1;
  std::vector<uint32_t> backward;
  llvm::copy_if(plan.backwardOrder, std::back_inserter(backward),
                [&](uint32_t op) { return !isCopy[op]; });
  KernelLimits apart;
  apart.nests = 0;
  return plan.apartPs() -
         form(plan.forwardOrder, {view.forwardResults()}, {}, false, apart)
             .ps() -
         form(backward, {view.gradients()}, {}, true, apart).ps();
}

std::optional<std::string> KernelPlanner::verify(const Halves &halves,
                                                 const KernelPlan &plan) const {
  if (auto fault = verify(halves.forwardOps, {}, plan.forward))
    return "kernels of the forward: " + *fault;
  if (auto fault =
          verify(halves.backwardOps, halves.savedTensors, plan.backward))
    return "kernels of the backward: " + *fault;
  return std::nullopt;
}

std::optional<std::string>
KernelPlanner::verify(ArrayRef<uint32_t> order, ArrayRef<uint32_t> given,
                      const SegmentKernels &segment) const {
  constexpr uint32_t kNone = SegmentKernels::kNone;
  std::vector<uint32_t> places(view.numOps(), kNone);
  std::vector<uint8_t> hasRun(view.numOps(), 0), isGiven(view.numValues(), 0);
  std::vector<uint8_t> nestOf(view.numOps(), 0);
  for (uint32_t value : given)
    isGiven[problem.root[value]] = 1;
  for (uint32_t place = 0; place < order.size(); ++place)
    places[order[place]] = place;
  auto nameOf = [&](uint32_t op) {
    return view.numResults(op) ? "'" + view.name(view.resultBegin[op]) + "'"
                               : "op " + std::to_string(op);
  };
  uint32_t lastEffect = 0;
  for (const auto &[number, kernel] : llvm::enumerate(segment.kernels)) {
    if (kernel.ops.empty())
      return "kernel " + std::to_string(number) + " is empty";
    bool isCall = kernel.schedule == KernelSchedule::Call;
    if (kernel.nestOf.size() != kernel.ops.size())
      return "kernel " + std::to_string(number) + " has ops without loops";
    uint32_t before = kNone;
    for (auto [op, nest] : llvm::zip_equal(kernel.ops, kernel.nestOf))
      nestOf[op] = nest;
    for (uint32_t op : kernel.ops) {
      if (places[op] == kNone || segment.kernelOf[op] != number ||
          (before != kNone && places[op] <= places[before]))
        return nameOf(op) + " stands in the wrong kernel or out of order";
      before = op;
      if (isCall != (problem.kind[op] == LoopKind::Call) ||
          (isCall && kernel.ops.size() != 1))
        return nameOf(op) + " has no loops and shares a kernel";
      for (const KernelProblem::Read &read : problem.readsOf(op)) {
        uint32_t def = view.definer[read.root];
        if (def != GraphView::kNone && places[def] != kNone && !hasRun[def] &&
            problem.kind[def] != LoopKind::None && !isGiven[read.root])
          return nameOf(op) + " reads '" + view.name(read.root) +
                 "' before it is written";
        if (def != GraphView::kNone && places[def] != kNone &&
            segment.kernelOf[def] == number && nestOf[def] != nestOf[op] &&
            !isGiven[read.root])
          return nameOf(op) + " reads '" + view.name(read.root) +
                 "', which other loops of its kernel make";
        uint32_t written = problem.writeOf[read.root];
        if (written == kNone)
          continue;
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
      }
      if (view.traits[op].ordered) {
        if (places[op] < lastEffect)
          return nameOf(op) + " has an effect out of its order";
        lastEffect = places[op];
      }
      hasRun[op] = 1;
    }
    double ps =
        std::max(kernel.flopsPs,
                 static_cast<double>(kernel.movedBytes) / rates.bandwidth) +
        rates.launchPs;
    if (kernel.movedBytes < kernel.borderBytes || kernel.ps != ps)
      return nameOf(kernel.anchor()) + " ends a kernel whose time is wrong";
  }
  for (uint32_t op : order)
    if (problem.kind[op] != LoopKind::None && !hasRun[op])
      return nameOf(op) + " stands in no kernel";
  return std::nullopt;
}
