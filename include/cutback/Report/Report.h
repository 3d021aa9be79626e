// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan in one screen, and as JSON.
#ifndef CUTBACK_REPORT_REPORT_H
#define CUTBACK_REPORT_REPORT_H

#include "cutback/Planner/AutogradSaves.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Planner/PlanFront.h"
#include "cutback/Report/DeviceFit.h"
#include "cutback/Report/Folding.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cutback {

/// One strategy beside the others.
struct StrategyLine {
  Strategy strategy = Strategy::MinCut;
  bool chosen = false;
  bool possible = true; ///< false: there is no such plan for this graph
  int64_t savedBytes = 0, peakBytes = 0;
  uint64_t recomputed = 0;
  int64_t extraPs = 0;
  bool isPlanned = false; ///< the peak is that of an arena, not op by op
};

/// A partition that somebody else made of the same graph.
struct OtherPartition {
  std::string origin; ///< "PyTorch"
  uint64_t saved = 0; ///< values, arguments too
  int64_t savedBytes = 0, plainBytes = 0, argumentBytes = 0;
  uint64_t recomputed = 0;
  bool accepted = false;
  /// Peak and extra time, by the measures of our own plans.
  std::optional<int64_t> peakBytes, pricedPs;
  std::string verdict; ///< what the certificate said, if it refused
};

/// What a report shows beside a result.
struct ReportExtras {
  /// By index in `result.saved`: where and what the value is. Its bytes are
  /// those that it adds to `saved_bytes`: none for arguments, for results of
  /// the forward, and for a storage that an earlier value has counted.
  std::vector<FoldItem> items;
  /// The groups are modules (true) or source lines.
  bool modules = false;
  std::vector<StrategyLine> strategies;
  /// What the partitioner of PyTorch 2.13 decides on this graph, whatever the
  /// plan was asked for: what `torch.compile` has.
  std::optional<StrategyLine> torch;
  /// What PyTorch has that compiles nothing, of an input that is a forward
  /// program.
  std::optional<AutogradSaves> eager;
  std::vector<std::pair<std::string, int64_t>> symbols;
  std::vector<std::string> unknownSymbols; ///< nobody said their size
  std::string peakModule;                  ///< of the op at the peak
  std::optional<OtherPartition> other;
  std::optional<DeviceFit> fit;
  std::vector<FrontPoint> front; ///< if it is asked for
  /// The model checkpoints regions, which strategy `eager` and PyTorch respect.
  bool isCheckpointed = false;
};

/// Reads names, modules, places and symbols from the graph behind `result`,
/// and fills `result.saved[i].module` where it is empty.
ReportExtras collectExtras(PartitionResult &result);

/// By value: its module; empty if no parameter has a name.
std::vector<std::string> valueModules(const GraphView &view);

/// What was taken, and by which model its time is told.
std::string planText(const PartitionResult &result);

/// "12,345 ops, …" and what the plan was made for: the first lines of a report.
std::string reportHeadline(const PartitionResult &result,
                           const ReportExtras &extras);

/// The line of a result in the comparison.
StrategyLine strategyLine(const PartitionResult &result, bool chosen);

/// The report in text, at most about 55 lines of 80 columns, whatever the size
/// of the graph.
std::string reportText(const PartitionResult &result,
                       const ReportExtras &extras);

/// The report as one JSON object on one line, schema 1 (docs/ReportJson.md).
std::string reportJson(const PartitionResult &result,
                       const ReportExtras &extras);

/// What a strategy does, in a phrase.
llvm::StringRef describe(Strategy strategy);
llvm::StringRef spell(SavedValue::Kind kind);

} // namespace cutback

#endif // CUTBACK_REPORT_REPORT_H
