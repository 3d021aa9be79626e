// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every plan is a cut of the network: what the backward reads is on the sink
// side, as are the ops that run in it again. Its terms under-estimate
// (LowerTerms), and what each moment has in the arena does too (StepMoments).
// So of all plans that keep a limit no one takes less time than the least sum
// of terms and of prices × (bytes − limit), which is a cut of the network with
// these capacities, whatever the prices are: the bound of the time.
// MomentPrices finds good ones.
//
// With terms of 0 and the price 1 for one moment that is the least that can be
// live then: the bound of the peak is the largest of these.

#include "cutback/Kernels/PlanBound.h"

#include "StepMoments.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;

/// Moments at which the least peak is computed.
static constexpr size_t kPeakMoments = 4;

PlanBound::PlanBound(const RooflineCosts &costs, const KernelProblem &problem,
                     const GraphView &view, const GraphSets &sets,
                     const ValueSizes &sizes, const Device &device)
    : view(view), lower(lowerTerms(costs, problem, view, sets, sizes, device)),
      policies(view.numOps(), OpPolicy::None),
      bytes(arenaBytes(problem, view, sizes)) {
  found = findMoments(problem, view, sets, bytes);
  network.emplace(view, sets, lower.costs, policies, &lower.relaxation);
  isSound = !network->build(0);
}

MomentPrices PlanBound::pricesFor(int64_t limit) const {
  const FlowNetwork &arcs = network->network();
  std::vector<ArcId> arcOf(view.numValues(), arcs.numArcs());
  for (ArcId arc = 0; arc < arcs.numArcs(); ++arc)
    if (std::optional<uint32_t> value = network->savedBy(arc);
        value && !arcs.arc(arc).isInfinite())
      arcOf[*value] = arc;
  std::vector<LimitedMoment> limited;
  for (const StepMoment &moment : found) {
    LimitedMoment &next = limited.emplace_back();
    next.room = limit - moment.fixedBytes;
    for (uint32_t value : moment.charged)
      if (arcOf[value] < arcs.numArcs())
        next.charges.push_back({arcOf[value], bytes[value]});
  }
  return MomentPrices(arcs, std::move(limited));
}

std::optional<int64_t> PlanBound::leastAt(const StepMoment &moment) const {
  FlowNetwork arcs = network->network();
  for (ArcId arc = 0; arc < arcs.numArcs(); ++arc) {
    if (arcs.arc(arc).isInfinite())
      continue;
    std::optional<uint32_t> value = network->savedBy(arc);
    bool isCharged = value && std::binary_search(moment.charged.begin(),
                                                 moment.charged.end(), *value);
    if (arcs.setCapacity(arc, isCharged ? bytes[*value] : 0))
      return std::nullopt;
  }
  MinCut cut;
  if (MaxFlowSolver().solve(arcs, cut) != MinCutStatus::Solved)
    return std::nullopt;
  return moment.fixedBytes + cut.value;
}

std::optional<PeakBound> PlanBound::peak() const {
  if (!isSound)
    return std::nullopt;
  std::vector<uint32_t> order(found.size());
  for (auto [i, at] : llvm::enumerate(order))
    at = i;
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return found[a].fixedBytes > found[b].fixedBytes;
  });
  order.resize(std::min(order.size(), kPeakMoments));
  if (auto between = uint32_t(found.size() - 2);
      !llvm::is_contained(order, between))
    order.push_back(between);
  PeakBound best;
  for (uint32_t i : order) {
    std::optional<int64_t> least = leastAt(found[i]);
    if (!least)
      return std::nullopt;
    if (*least > best.bytes)
      best = {*least, i};
  }
  return best;
}

std::optional<TimeBound>
PlanBound::time(int64_t limit, const MomentSearch &search,
                const std::function<void(const Plan &)> &see) {
  if (!isSound)
    return std::nullopt;
  MomentPrices::Result result =
      pricesFor(limit).maximize(search, [&](const PricedCut &priced) {
        if (see)
          see(network->plan(priced.cut));
      });
  if (result.flows == 0)
    return std::nullopt;
  TimeBound bound{lower.everyPlanPs + result.bound, {}, result.flows};
  for (auto [i, ps] : llvm::enumerate(result.prices))
    if (ps > 0)
      bound.prices.push_back({static_cast<uint32_t>(i), ps});
  return bound;
}

std::optional<int64_t>
PlanBound::timeOf(int64_t limit, const std::vector<MomentPrice> &given) {
  std::vector<double> prices(found.size(), 0);
  for (const MomentPrice &price : given) {
    if (price.moment >= prices.size() || !(price.ps >= 0) || price.ps > 1e12)
      return std::nullopt;
    prices[price.moment] = price.ps;
  }
  PricedCut priced;
  if (!isSound || pricesFor(limit).evaluate(prices, priced))
    return std::nullopt;
  return lower.everyPlanPs + std::max<int64_t>(0, priced.bound);
}
