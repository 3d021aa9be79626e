// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checkpoint region with a budget keeps a fraction of the bytes that the plan
// without budgets saves of the values computed in it. In the network that is a
// price of a byte for the values of each region, which all are searched for at
// once:
//
//  1. cut without prices: what the regions are a fraction of
//  2. cut at a price at which no byte is worth saving: what they must keep
//  3. bisect all prices together, each by whether its region keeps to its
//     budget; neighbours change each other's little
//  4. where a region is still above its budget, raise its price
//
// What is found are corners of each region's front, as for the price of all
// bytes: a region may keep less than its budget by a value or two. Some 40 cuts
// of the network.

#include "RegionBudgets.h"

#include "cutback/Planner/OptionText.h"
#include "cutback/Transforms/ExpandRegions.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// In picoseconds a byte: next to nothing, and more than any op takes.
static constexpr double kLowest = 1e-5, kHighest = 1e6;
static constexpr unsigned kSteps = 24, kRaises = 12;

std::vector<RegionBudget> cutback::regionBudgetsOf(const GraphView &view) {
  std::vector<RegionBudget> budgets;
  GraphOp graph = view.graph;
  auto all = graph->getAttrOfType<DictionaryAttr>(JointDialect::kRegions);
  if (!all)
    return budgets;
  for (NamedAttribute entry : all) {
    auto wishes = dyn_cast<DictionaryAttr>(entry.getValue());
    if (auto budget =
            wishes ? wishes.getAs<FloatAttr>(RegionWishes::kBudget) : nullptr)
      budgets.push_back({entry.getName().str(), budget.getValueAsDouble()});
  }
  return budgets;
}

bool cutback::hasRegionBudgets(GraphOp graph, const PartitionOptions &options) {
  if (!options.keepsRegionBudgets)
    return false;
  for (StringRef region : options.checkpoint)
    if (region.contains(",budget="))
      return true;
  bool any = false;
  graph->walk([&](CheckpointOp region) {
    any |= region->hasAttr(RegionWishes::kBudget);
  });
  if (auto all = graph->getAttrOfType<DictionaryAttr>(JointDialect::kRegions))
    for (NamedAttribute entry : all)
      if (auto wishes = dyn_cast<DictionaryAttr>(entry.getValue()))
        any |= wishes.contains(RegionWishes::kBudget);
  return any;
}

namespace {

class RegionSearch {
public:
  using Cut = llvm::function_ref<FailureOr<Plan>(const RooflineCosts &)>;

  RegionSearch(const GraphView &view, const RooflineCosts &costs, Cut cut,
               std::vector<RegionBudget> &budgets)
      : view(view), costs(costs), cut(cut), budgets(budgets) {
    findRegions();
  }

  FailureOr<Plan> run() {
    std::vector<double> low(budgets.size(), 0), high(budgets.size(), kHighest);
    FailureOr<Plan> plan = planAt(low);
    if (failed(plan))
      return failure();
    for (auto [region, bytes] : llvm::enumerate(keptBytes(*plan)))
      budgets[region].savableBytes = bytes;
    if (isWithin(keptBytes(*plan)))
      return reportNoEffect();
    plan = planAt(high);
    if (failed(plan) || failed(checkLeast(keptBytes(*plan))))
      return failure();
    bisect(high);
    plan = raise(high);
    if (failed(plan))
      return failure();
    for (auto [region, bytes] : llvm::enumerate(keptBytes(*plan)))
      budgets[region].keptBytes = bytes;
    return plan;
  }

private:
  /// By value: the innermost region around its op that has a budget, or none.
  void findRegions() {
    llvm::StringMap<unsigned> numbers;
    for (auto [region, budget] : llvm::enumerate(budgets))
      numbers[budget.region] = static_cast<unsigned>(region);
    regionOf.assign(view.numValues(), kNone);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto policy =
          view.ops[op]->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
      if (!policy)
        continue;
      for (ArrayRef<int64_t> path = policy.getRegion(); !path.empty();
           path = path.drop_back()) {
        auto found = numbers.find(regionText(path));
        if (found == numbers.end())
          continue;
        for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
             ++r)
          regionOf[r] = found->second;
        break;
      }
    }
  }

  FailureOr<Plan> planAt(const std::vector<double> &prices) {
    RooflineCosts priced = costs;
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      if (regionOf[value] == kNone ||
          priced.savePs[value] == RooflineCosts::kNever)
        continue;
      double ps = prices[regionOf[value]] *
                  static_cast<double>(priced.saveBytes[value]);
      priced.savePs[value] += static_cast<int64_t>(std::min(ps, 1e15));
    }
    return cut(priced);
  }

  std::vector<int64_t> keptBytes(const Plan &plan) const {
    std::vector<int64_t> bytes(budgets.size(), 0);
    for (uint32_t value = 0; value < view.numValues(); ++value)
      if (plan.saved[value] && regionOf[value] != kNone)
        bytes[regionOf[value]] += costs.saveBytes[value];
    return bytes;
  }

  int64_t limitOf(size_t region) const {
    return static_cast<int64_t>(
        budgets[region].fraction *
        static_cast<double>(budgets[region].savableBytes));
  }
  bool isWithin(const std::vector<int64_t> &bytes) const {
    for (size_t region = 0; region < bytes.size(); ++region)
      if (bytes[region] > limitOf(region))
        return false;
    return true;
  }

  LogicalResult reportNoEffect() const {
    GraphOp graph = view.graph;
    auto diag = graph.emitError(
        "no budget of a checkpoint region has an effect: the fastest plan "
        "saves no more of any region");
    diag.attachNote() << "region " << budgets.front().region << " of "
                      << budgets.size() << " may keep "
                      << spellPrice(budgets.front().fraction) << " of "
                      << budgets.front().savableBytes
                      << " bytes; give a smaller budget, or another region";
    return failure();
  }

  LogicalResult checkLeast(const std::vector<int64_t> &bytes) const {
    for (size_t region = 0; region < bytes.size(); ++region) {
      if (bytes[region] <= limitOf(region))
        continue;
      GraphOp graph = view.graph;
      auto diag = graph.emitError("checkpoint region ")
                  << budgets[region].region << " keeps at least "
                  << bytes[region] << " bytes, more than its budget of "
                  << spellPrice(budgets[region].fraction) << " of "
                  << budgets[region].savableBytes;
      diag.attachNote() << "some values of it must be saved; give it a budget "
                           "from "
                        << spellPrice(static_cast<double>(bytes[region]) /
                                      static_cast<double>(
                                          budgets[region].savableBytes))
                        << " on";
      return failure();
    }
    return success();
  }

  /// `high`: prices at which the regions keep to their budgets.
  void bisect(std::vector<double> &high) {
    std::vector<double> low(high.size(), kLowest), middle(high.size());
    for (unsigned step = 0; step < kSteps; ++step) {
      for (size_t region = 0; region < high.size(); ++region)
        middle[region] = std::sqrt(low[region] * high[region]);
      FailureOr<Plan> plan = planAt(middle);
      if (failed(plan))
        return;
      std::vector<int64_t> bytes = keptBytes(*plan);
      for (size_t region = 0; region < high.size(); ++region)
        (bytes[region] <= limitOf(region) ? high : low)[region] =
            middle[region];
    }
  }

  /// Until all keep to their budgets; at the highest price they do.
  FailureOr<Plan> raise(std::vector<double> prices) {
    for (unsigned step = 0;; ++step) {
      FailureOr<Plan> plan = planAt(prices);
      if (failed(plan))
        return failure();
      std::vector<int64_t> bytes = keptBytes(*plan);
      if (isWithin(bytes))
        return plan;
      for (size_t region = 0; region < prices.size(); ++region)
        if (step >= kRaises)
          prices[region] = kHighest;
        else if (bytes[region] > limitOf(region))
          prices[region] = std::min(2 * prices[region], kHighest);
    }
  }

  static constexpr unsigned kNone = ~0u;
  const GraphView &view;
  const RooflineCosts &costs;
  Cut cut;
  std::vector<RegionBudget> &budgets;
  std::vector<unsigned> regionOf;
};

} // namespace

FailureOr<Plan> cutback::planWithinRegions(
    const GraphView &view, const RooflineCosts &costs,
    llvm::function_ref<FailureOr<Plan>(const RooflineCosts &costs)> cut,
    std::vector<RegionBudget> &budgets) {
  return RegionSearch(view, costs, cut, budgets).run();
}
