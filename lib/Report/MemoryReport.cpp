// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of limits, budgets and bounds.
//
// The front has its rows by memory, from the largest plan to the smallest;
// plans beside it (the one of the report, and PyTorch's decision) have theirs
// where their peak is.

#include "cutback/Report/MemoryReport.h"

#include "cutback/Support/Text.h"

namespace cutback {

std::string frontText(const PartitionResult &result,
                      const ReportExtras &extras) {
  struct Row {
    int64_t peakBytes, pricedPs;
    std::string limit, note;
  };
  std::vector<Row> rows;
  for (const FrontPoint &point : extras.front)
    rows.push_back(
        {point.peakBytes, point.pricedPs, formatBytes(point.limitBytes), ""});
  rows.push_back({result.peak.bytes, result.pricedPs, "", "this plan"});
  if (extras.torch && extras.torch->possible && !extras.torch->chosen)
    rows.push_back(
        {extras.torch->peakBytes, extras.torch->extraPs, "", "torch.compile"});
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.peakBytes > b.peakBytes;
  });
  TextTable table(
      {TextTable::Right, TextTable::Right, TextTable::Right, TextTable::Left});
  table.add({"--memory-limit", "peak", "extra time", ""});
  for (const Row &row : rows)
    table.add({row.limit, formatBytes(row.peakBytes),
               formatPicoseconds(row.pricedPs), row.note});
  return table.str();
}

std::string budgetText(const PartitionResult &result) {
  const BudgetDecision &budget = *result.budget;
  std::string out(textOf(budget.answer).sentence);
  if (budget.answer == BudgetAnswer::Knapsack)
    out += " by solver " +
           spell(result.options.activationBudget->solver).str() + ": " +
           formatCount(budget.released.size()) + " of " +
           formatCount(budget.candidates, "value") +
           " that PyTorch would keep may be recomputed";
  out += budget.hasEffect ? "" : "; the budget has no effect on this graph";
  if (std::optional<double> ratio = budget.ratio())
    out += "; saved is " + formatFixed(*ratio, 2) +
           " of the way from the inputs (" + formatBytes(budget.inputBytes) +
           ") to what it saves without a budget (" +
           formatBytes(budget.defaultBytes) + "), as PyTorch counts bytes";
  if (!result.drawnAlike.empty())
    out += "; " + formatCount(result.drawnAlike.size(), "random op") +
           " run twice with the same numbers; PyTorch's partitioner keeps no "
           "state for them, and the second run would draw others";
  return out;
}

std::string regionBudgetsText(const PartitionResult &result) {
  int64_t kept = 0, savable = 0;
  for (const RegionBudget &budget : result.regionBudgets) {
    kept += budget.keptBytes;
    savable += budget.savableBytes;
  }
  return formatCount(result.regionBudgets.size(), "checkpoint region") +
         " with a budget keep " + formatBytes(kept) + " of the " +
         formatBytes(savable) + " that the fastest plan saves of them";
}

std::string boundText(const PlanBounds &bounds) {
  std::string at = bounds.peakAt == "end"       ? "at the end of the step"
                   : bounds.peakAt == "between" ? "between the halves"
                                                : "at %" + bounds.peakAt;
  return "no plan of this graph has a peak below " +
         formatBytes(bounds.peakBytes) + " (" + at +
         "), and none with the peak of this one takes less than " +
         formatPicoseconds(bounds.timePs) + " more: this one " +
         llvm::formatv("{0:F2}%", 100 * bounds.gap).str() +
         " of the step above that";
}

} // namespace cutback
