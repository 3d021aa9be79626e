// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plans of an HTML report: `cutback report --html`.
#ifndef CUTBACK_TOOLS_CUTBACK_PAGERUN_H
#define CUTBACK_TOOLS_CUTBACK_PAGERUN_H

#include "PlanRun.h"

#include "cutback/Report/Page.h"

namespace cutback {

/// What a page and a trace are called: the last two parts of the input's path,
/// as file names alone are often alike; the graph's name for standard input.
std::string titleOf(llvm::StringRef path, llvm::StringRef graph);

/// Plans beside the one that was asked for: over the price of a byte, by the
/// other strategies, and by PyTorch's rules.
class PageRun {
public:
  /// Keeps a copy of the graph as it was read. To be called before `run` plans
  /// it.
  PageRun(Session &session, PlanRun &run);

  /// The page; `run` has its plan, and `extras` belongs to it. A plan that
  /// cannot be made is named in a note on the page.
  std::string make(const ReportExtras &extras);

private:
  std::string title() const;
  size_t addToPage(const PartitionResult &result, const ReportExtras &extras,
                   PagePlanName name);
  void addAsked(const ReportExtras &extras);
  void addPrices(const ReportExtras &extras);
  void addStrategies(const ReportExtras &extras);
  void addRules(const ReportExtras &extras);
  std::vector<double> findPrices(const PartitionOptions &options);
  /// Plans, verifies, and adds the plan under a name, unless it is like the
  /// one before it. Returns what is wrong, or nothing.
  std::string add(const PartitionOptions &options, PagePlanName name);

  Session &session;
  PlanRun &run;
  mlir::OwningOpRef<joint::GraphOp> asRead;
  Page page;
  std::optional<size_t> asked;
};

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_PAGERUN_H
