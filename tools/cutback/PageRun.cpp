// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the plans that an HTML report lets its reader switch between:
//
//   1. minimum cuts over the price of a byte, from the fastest step to the
//      smallest, the plan that was asked for among them
//   2. the other strategies
//   3. PyTorch's rules
//
// Each is planned and proved as if it had been asked for, from a copy of the
// graph as it was read, so that the page and the report of a plan have the same
// figures. Of a plan nothing but what the page shows is kept, so memory does
// not grow with the number of plans.

#include "PageRun.h"

#include "cutback/Planner/Planner.h"
#include "cutback/Planner/PriceSweep.h"
#include "cutback/Report/TraceExport.h"
#include "cutback/Support/MLIR/Silence.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace cutback {

std::string titleOf(StringRef path, StringRef graph) {
  if (path == "-")
    return graph.str();
  path = path.rtrim('/');
  size_t at = path.rfind('/');
  at = at == StringRef::npos || at == 0 ? at : path.rfind('/', at);
  return (at == StringRef::npos ? path : path.drop_front(at + 1)).str();
}

PageRun::PageRun(Session &session, PlanRun &run)
    : session(session), run(run),
      asRead(cast<joint::GraphOp>(run.imported.graph->clone())) {}

static PagePlanName priceName(double price) {
  return {PagePlanName::Price, "byte price " + spellPrice(price),
          price == 0 ? "--minimize=time" : "--byte-price=" + spellPrice(price)};
}

static PagePlanName strategyName(Strategy strategy) {
  std::string name = spell(strategy).str();
  return {PagePlanName::Strategy, name, "--strategy=" + name};
}

static PagePlanName rulesName(Rules rules) {
  std::string name = spell(rules).str();
  return {PagePlanName::Rules,
          "PyTorch " + name.substr(name.rfind('-') + 1) + "’s rules",
          "--cost-model=pytorch" +
              (rules == Rules::Torch2_13 ? "" : " --rules=" + name)};
}

/// What the plan was taken for, where its options alone do not say it.
static PagePlanName nameOf(const PartitionResult &result) {
  const PlanChoice &choice = result.choice;
  if (result.search && result.search->limitBytes)
    return {PagePlanName::Strategy,
            "within " + formatBytes(*result.search->limitBytes),
            "--memory-limit=" + std::to_string(*result.search->limitBytes)};
  if (result.search)
    return {PagePlanName::Strategy, "least peak", "--minimize=peak"};
  if (result.isTorchDecision())
    return {PagePlanName::Rules, "PyTorch’s decision", ""};
  if (result.isOfTorchGraph)
    return {PagePlanName::Strategy, "within PyTorch’s peak", ""};
  if (choice.strategy != Strategy::MinCut)
    return strategyName(choice.strategy);
  if (result.budget) {
    std::string fraction =
        spellPrice(result.options.activationBudget->fraction);
    return {PagePlanName::Rules, "PyTorch, budget " + fraction,
            "--cost-model=pytorch --activation-budget=" + fraction};
  }
  if (choice.costModel == CostModel::PyTorch)
    return rulesName(choice.rules);
  return priceName(result.bytePricePs);
}

static bool isAlike(const PagePlan &plan, const PartitionResult &result) {
  return plan.name.kind == PagePlanName::Price &&
         plan.savedBytes == result.savedBytes &&
         plan.peakBytes == result.peak.bytes &&
         plan.pricedPs == result.pricedPs &&
         plan.recomputedOps == result.recomputed.size() &&
         plan.saved.size() == result.saved.size();
}

std::string PageRun::title() const {
  return titleOf(session.line.arguments.front(), run.result->graph);
}

size_t PageRun::addToPage(const PartitionResult &result,
                          const ReportExtras &extras, PagePlanName name) {
  size_t index = page.add(result, extras, std::move(name));
  std::string error;
  if (auto trace = traceJson(result, extras, title(), error))
    page.addTrace(*trace);
  return index;
}

std::string PageRun::add(const PartitionOptions &options, PagePlanName name) {
  Silence silence(session.context);
  auto planned = planCopy(*asRead, options);
  if (failed(planned))
    return silence.firstError.empty() ? "unknown" : silence.firstError;
  PartitionResult &result = *planned->result;
  bool isPrice = name.kind == PagePlanName::Price;
  if (!isPrice || page.plans.empty() || !isAlike(page.plans.back(), result))
    addToPage(result, collectExtras(result), std::move(name));
  return "";
}

void PageRun::addAsked(const ReportExtras &extras) {
  asked = addToPage(*run.result, extras, nameOf(*run.result));
}

/// For a plan beside the one that was asked for: no files, and no objective
/// but what it is named after.
static PartitionOptions optionsBeside(const PartitionResult &result) {
  PartitionOptions options = result.options;
  options.minimize = Minimize::Time;
  options.memoryLimit.reset();
  options.dumpNetwork.clear();
  options.activationBudget.reset();
  options.keepsRegionBudgets = false;
  return options;
}

/// Prices at the corners of the front, of a copy that is prepared as we do it.
std::vector<double> PageRun::findPrices(const PartitionOptions &options) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(asRead->getLoc());
  joint::GraphOp copy = asRead->clone();
  scratch->push_back(copy);
  PhaseSeconds seconds;
  Silence silence(session.context);
  FailureOr<PriceFront> front = failure();
  if (succeeded(preparePartition(copy, options, seconds)))
    front = sweepBytePrice(copy, options);
  if (failed(front)) {
    page.addNote("No plans over the price of a byte: " + silence.firstError);
    return {};
  }
  std::vector<double> prices;
  for (const PricePoint &point : front->corners)
    prices.push_back(point.bytePricePs);
  if (!front->isWhole)
    page.addNote("The slider stops at " + std::to_string(prices.size()) +
                 " plans. Between them there may be more: --byte-price=PS "
                 "gives the one at any price of a byte.");
  return prices;
}

void PageRun::addPrices(const ReportExtras &extras) {
  session.progress.step("looking for the front of time and memory");
  PartitionOptions options = optionsBeside(*run.result);
  options.strategy = Strategy::MinCut;
  options.costModel = CostModel::Roofline;
  options.withinTorchPeak = false;
  const PlanChoice &own = run.result->choice;
  double ownPrice = run.result->bytePricePs;
  bool isPrice = own.strategy == Strategy::MinCut &&
                 own.costModel == CostModel::Roofline &&
                 !run.result->isOfTorchGraph && !run.result->search;
  std::vector<double> prices = findPrices(options);
  if (isPrice && !llvm::is_contained(prices, ownPrice)) {
    prices.push_back(ownPrice);
    llvm::sort(prices);
  }
  for (size_t i = 0; i < prices.size(); ++i) {
    if (isPrice && prices[i] == ownPrice) {
      if (!page.plans.empty() && isAlike(page.plans.back(), *run.result))
        page.dropLast();
      addAsked(extras);
      continue;
    }
    session.progress.step("planning for a byte price of " +
                          spellPrice(prices[i]) + " (" + std::to_string(i + 1) +
                          " of " + std::to_string(prices.size()) + ")");
    options.bytePrice = prices[i];
    std::string error = add(options, priceName(prices[i]));
    if (!error.empty())
      page.addNote("No plan for a byte price of " + spellPrice(prices[i]) +
                   ": " + error);
  }
}

void PageRun::addStrategies(const ReportExtras &extras) {
  for (Strategy strategy :
       {Strategy::Precompute, Strategy::Eager, Strategy::RecomputeAll}) {
    if (strategy == run.result->choice.strategy &&
        !run.result->isOfTorchGraph && !run.result->search) {
      addAsked(extras);
      continue;
    }
    session.progress.step("planning by " + spell(strategy).str());
    PartitionOptions options = optionsBeside(*run.result);
    options.strategy = strategy;
    std::string error = add(options, strategyName(strategy));
    if (!error.empty())
      page.addNote("No plan by " + spell(strategy).str() + ": " + error);
  }
}

void PageRun::addRules(const ReportExtras &extras) {
  const PlanChoice &own = run.result->choice;
  if (own.strategy == Strategy::MinCut && own.costModel == CostModel::PyTorch &&
      !run.result->search) {
    addAsked(extras);
    return;
  }
  session.progress.step("planning by PyTorch's rules");
  PartitionOptions options = optionsBeside(*run.result);
  options.strategy = Strategy::MinCut;
  options.costModel = CostModel::PyTorch;
  std::string error = add(options, rulesName(options.rules));
  if (!error.empty())
    page.addNote("No plan by PyTorch’s rules: " + error);
}

std::string PageRun::make(const ReportExtras &extras) {
  addPrices(extras);
  addStrategies(extras);
  addRules(extras);
  if (!asked)
    addAsked(extras);
  page.choose(*asked, *run.result, extras, title());
  session.progress.step("writing the page");
  return page.html();
}

} // namespace cutback
