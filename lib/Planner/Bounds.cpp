// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bounds of a graph beside the figures of a plan of it. That of the time
// holds for an arena as large as the plan's: its gap says how much faster a
// plan could be that needs no more memory.
//
// Prices of moments that prove the bound are stored with it. They are put to
// the proof here too: the bound is what they give in one flow, not what the
// search for them says.

#include "Internal.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Kernels/PlanBound.h"
#include "cutback/Planner/PlanRecord.h"

using namespace mlir;
using namespace cutback;

/// Flows of the search: of a graph of so many ops one takes about as long as
/// planning it.
static constexpr uint64_t kFlows = 40, kLargeGraph = 20'000;
/// The search ends where the bound can rise by no more, of the step.
static constexpr double kTolerance = 1e-4;
static constexpr size_t kValuesAtPeak = 3;

static std::string nameOf(const StepMoment &moment, const GraphView &view) {
  switch (moment.kind) {
  case StepMoment::Between:
    return "between";
  case StepMoment::End:
    return "end";
  case StepMoment::Call:
    break;
  }
  return view.name(view.resultBegin[moment.op]);
}

/// The largest values that are live at the moment whatever the plan.
static std::vector<PlanBounds::Value> largestAt(const StepMoment &moment,
                                                const PartitionResult &result) {
  std::vector<uint32_t> values = moment.fixed;
  const std::vector<int64_t> &bytes = result.sizes->bytes;
  llvm::stable_sort(
      values, [&](uint32_t a, uint32_t b) { return bytes[a] > bytes[b]; });
  values.resize(std::min(values.size(), kValuesAtPeak));
  std::vector<PlanBounds::Value> largest;
  for (uint32_t value : values)
    largest.push_back(
        {result.view.name(value), bytes[value],
         describeLocation(
             result.view.ops[result.view.definer[value]]->getLoc())});
  return largest;
}

std::optional<PlanBounds> cutback::findBounds(const PartitionResult &result,
                                              int64_t limitBytes) {
  const GraphView &view = result.view;
  Device device;
  std::string error;
  auto isCopy = [](const OpTraits &traits) { return traits.copy; };
  // Moments and terms are of gradients that stay, and of ops that run once in a
  // half and whole.
  joint::GraphOp graph = view.graph;
  if (!result.costs || !result.kernelProblem || joint::hasInsideUpdate(graph) ||
      graph->hasAttr(kSplitRecord) || llvm::any_of(view.traits, isCopy) ||
      !Device::load(result.options.device, device, error))
    return std::nullopt;
  PlanBound bound(*result.costs, *result.kernelProblem, view, *result.sets,
                  *result.sizes, device);
  std::optional<PeakBound> peak = bound.peak();
  if (!peak)
    return std::nullopt;
  MomentSearch search;
  search.maxFlows = view.numOps() > kLargeGraph ? kFlows / 4 : kFlows;
  search.tolerance =
      static_cast<int64_t>(kTolerance * std::max(0.0, result.costs->stepPs));
  PlanBounds bounds;
  bounds.limitBytes = limitBytes;
  std::optional<TimeBound> time = bound.time(limitBytes, search);
  std::optional<int64_t> proved;
  if (time)
    proved = bound.timeOf(limitBytes, time->prices);
  if (!proved)
    return std::nullopt;
  bounds.timePs = std::max<int64_t>(0, *proved);
  for (const MomentPrice &price : time->prices)
    bounds.prices.push_back(
        {nameOf(bound.moments()[price.moment], view), price.ps});
  const StepMoment &atPeak = bound.moments()[peak->moment];
  bounds.peakBytes = peak->bytes;
  bounds.peakAt = nameOf(atPeak, view);
  bounds.atPeak = largestAt(atPeak, result);
  if (result.costs->stepPs > 0)
    bounds.gap = std::max<double>(
                     0, static_cast<double>(result.pricedPs - bounds.timePs)) /
                 result.costs->stepPs;
  return bounds;
}
