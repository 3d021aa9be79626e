// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for people: one screen, the answer first. What a person asks, in
// this order: how much memory does the plan hold, and what would other plans
// cost; what is saved, where in the model, and why; what is computed twice;
// when is memory highest; can I trust it.
//
// Sections have a fixed budget of lines, so that a graph of a million ops
// still fits: the largest entries are shown in the order of the model, and one
// line counts the rest.

#include "cutback/Report/Report.h"

#include "cutback/Planner/PlanRecord.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/Reasons.h"
#include "cutback/Report/KernelReport.h"
#include "cutback/Report/MemoryReport.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace cutback {

static constexpr size_t kGroupLines = 12, kPartLines = 10, kTopValues = 10,
                        kKinds = 8;

static std::string quantity(int64_t bytes) { return formatBytes(bytes); }

/// Of a plan that a search found: how.
static std::string searchText(const PartitionResult &result) {
  if (!result.search)
    return "";
  std::string out =
      result.search->limitBytes
          ? ", the fastest of " + formatCount(result.search->plans, "plan") +
                " within " + formatBytes(*result.search->limitBytes)
          : ", chosen for the least peak of " +
                formatCount(result.search->plans, "plan");
  if (size_t count = result.choice.recompute.size())
    out += ", with " + formatCount(count, "value") + " recomputed on top";
  if (const RegionRequest &regions = result.choice.regions; !regions.empty()) {
    out += ", with checkpoint regions " + llvm::join(regions.modules, ", ");
    if (regions.segments > 0)
      out += " in " + formatCount(regions.segments, "segment");
  }
  return result.search->isWhole
             ? out
             : out + " (the graph is so large that some prices of a byte were "
                     "left out)";
}

std::string planText(const PartitionResult &result) {
  const PlanChoice &choice = result.choice;
  std::string out = result.isTorchDecision() ? "PyTorch's decision"
                                             : spell(choice.strategy).str();
  if (choice.strategy != Strategy::MinCut &&
      choice.costModel != CostModel::PyTorch)
    return out + searchText(result);
  if (result.isTorchDecision())
    out += ", rules " + spell(choice.rules).str() +
           ", priced by cost model roofline, device " +
           shortDeviceName(result.options.device);
  else if (choice.costModel == CostModel::PyTorch)
    out += ", cost model pytorch, rules " + spell(choice.rules).str();
  else
    out += ", cost model roofline, device " +
           shortDeviceName(result.options.device);
  if (result.budget)
    out += ", activation budget " +
           spellPrice(result.options.activationBudget->fraction);
  if (result.bytePricePs != 0)
    out += ", byte price " + spellPrice(result.bytePricePs);
  if (result.isOfTorchGraph && !result.isTorchDecision())
    out += ", on the graph as PyTorch prepares it";
  return out + searchText(result);
}

std::string reportHeadline(const PartitionResult &result,
                           const ReportExtras &extras) {
  std::string out = result.graph + ": " + formatCount(result.ops, "op") + ", " +
                    formatCount(result.forwardOps) + " run forward, " +
                    formatCount(result.backwardOps) + " backward\n";
  out += "plan: " + planText(result);
  for (size_t i = 0; i < extras.symbols.size() && i < 6; ++i)
    out += (i ? ", " : "; sizes for ") + extras.symbols[i].first + " = " +
           formatCount(extras.symbols[i].second);
  if (extras.symbols.size() > 6)
    out += ", …";
  out += "\n";
  if (!extras.unknownSymbols.empty())
    out += "sizes not known: " + extras.unknownSymbols[0] +
           (extras.unknownSymbols.size() > 1 ? ", …" : "") +
           "; a tensor that depends on one counts 4,096 elements (give --sym " +
           extras.unknownSymbols[0] + "=N)\n";
  return out;
}

static void addOther(TextTable &table, const ByteUnit &unit,
                     const OtherPartition &other) {
  table.add({"  " + other.origin + "'s", unit.format(other.savedBytes),
             other.peakBytes ? unit.format(*other.peakBytes) : "",
             formatCount(other.recomputed),
             other.pricedPs ? formatPicoseconds(*other.pricedPs) : "",
             other.accepted ? "log, verified" : "log, REFUSED"});
}

static void addLine(TextTable &table, const ByteUnit &unit,
                    const std::string &label, const StrategyLine &line) {
  if (!line.possible)
    return table.add({label, "-", "-", "-", "-", "no such plan"});
  table.add({label, unit.format(line.savedBytes), unit.format(line.peakBytes),
             formatCount(line.recomputed), formatPicoseconds(line.extraPs),
             line.chosen ? "this plan" : ""});
}

/// PyTorch itself, with its compiler and without.
static void addTorch(TextTable &table, const ByteUnit &unit,
                     const ReportExtras &extras) {
  if (extras.torch && !extras.torch->chosen)
    addLine(table, unit, "  torch.compile", *extras.torch);
  if (extras.eager)
    table.add(
        {"  eager PyTorch", unit.format(extras.eager->savedBytes),
         extras.eager->peakBytes ? unit.format(*extras.eager->peakBytes) : "",
         "", "", "op by op"});
}

static std::string torchNotes(const ReportExtras &extras) {
  std::string out;
  if (extras.torch && !extras.torch->chosen)
    out += wrapText("  torch.compile",
                    "what the partitioner of PyTorch 2.13 decides", 17);
  if (extras.eager)
    out += wrapText("  eager PyTorch",
                    "what autograd keeps of each op as it is written, where "
                    "nothing is compiled",
                    17);
  return out;
}

/// Of the row of the plan itself.
static std::string chosenLabel(const PartitionResult &result) {
  if (result.isTorchDecision())
    return "PyTorch's decision";
  bool isOther = result.choice.strategy != result.options.strategy;
  return isOther ? "least peak" : spell(result.choice.strategy).str();
}

static std::string comparison(const PartitionResult &result,
                              const ReportExtras &extras) {
  int64_t largest = 0;
  for (const StrategyLine &line : extras.strategies)
    largest = std::max({largest, line.savedBytes, line.peakBytes});
  if (extras.eager)
    largest = std::max({largest, extras.eager->savedBytes,
                        extras.eager->peakBytes.value_or(0)});
  ByteUnit unit = byteUnitFor(largest);
  using T = TextTable;
  T table({T::Left, T::Right, T::Right, T::Right, T::Right, T::Left});
  std::string name = unit.name;
  table.add({"  strategy", "saved " + name, "peak " + name, "recomputed",
             "extra time", ""});
  for (const StrategyLine &line : extras.strategies) {
    std::string label =
        (line.chosen ? "> " : "  ") +
        (line.chosen ? chosenLabel(result) : spell(line.strategy).str());
    addLine(table, unit, label, line);
  }
  addTorch(table, unit, extras);
  if (extras.other)
    addOther(table, unit, *extras.other);
  table.fit(kScreenWidth, {{5, 0}, {0, 12}});
  std::string out = table.str(0);
  for (const StrategyLine &line : extras.strategies)
    if (line.strategy != Strategy::MinCut &&
        (!line.chosen || line.strategy == result.options.strategy))
      out += wrapText("  " + spell(line.strategy).str(),
                      describe(line.strategy).str(), 17);
  out += torchNotes(extras);
  if (extras.other && !extras.other->accepted)
    out += wrapText(
        "  the certificate refuses",
        extras.other->origin + "'s partition: " + extras.other->verdict, 4);
  if (result.ops > kComparedOps)
    out += wrapText("  above " + formatCount(kComparedOps) + " ops",
                    "other strategies are not planned", 4);
  return out;
}

/// "3,343.0 MiB instead of 8,471.0 MiB (-61 %)".
static std::string insteadOf(int64_t bytes, int64_t than) {
  if (quantity(bytes) == quantity(than))
    return "the same " + quantity(bytes);
  std::string out = quantity(bytes) + " instead of " + quantity(than);
  if (than <= 0)
    return out;
  double percent = 100.0 * (static_cast<double>(bytes) / double(than) - 1);
  double size = percent < 0 ? -percent : percent;
  return out + (percent < 0 ? " (-" : " (+") +
         formatFixed(size, size < 10 ? 1 : 0) + " %)";
}

/// What the plan changes for whoever has `torch.compile`, and for whoever has
/// PyTorch alone.
static std::string againstTorch(const PartitionResult &result,
                                const ReportExtras &extras) {
  std::string out;
  auto add = [&](const std::string &what, int64_t saved,
                 std::optional<int64_t> peak) {
    out += wrapLine(
        "against " + what + ": saved " + insteadOf(result.savedBytes, saved) +
        (peak ? ", peak " + insteadOf(result.peak.bytes, *peak) : ""));
  };
  if (extras.torch && !extras.torch->chosen && extras.torch->possible)
    add("torch.compile", extras.torch->savedBytes, extras.torch->peakBytes);
  if (extras.eager)
    add(extras.isCheckpointed ? "eager PyTorch with its checkpoints"
                              : "eager PyTorch",
        extras.eager->savedBytes, extras.eager->peakBytes);
  return out;
}

/// "2 view, addmm, …": most frequent first.
static std::string kindsText(const FoldedGroup &group, size_t limit) {
  std::string out;
  for (size_t i = 0; i < group.kinds.size(); ++i) {
    if (i == limit)
      return out + ", …";
    std::string kind = shorten(group.kinds[i].first, 24);
    uint64_t count = group.kinds[i].second;
    out += i ? ", " : "";
    out += (count > 1 ? formatCount(count) + " " : "") + kind;
  }
  return out;
}

static void addGroup(TextTable &table, const ByteUnit &unit,
                     const FoldedGroup &group, const std::string &indent) {
  std::string values = formatCount(group.values);
  if (group.times > 1)
    values += " × " + formatCount(group.times);
  table.add({indent + shorten(group.label, 36), values,
             unit.format(group.bytes), kindsText(group, 3),
             labelOfReason(group.reason).str()});
}

/// The `limit` largest of `groups`, in their own order.
static std::vector<const FoldedGroup *>
largest(const std::vector<FoldedGroup> &groups, size_t limit) {
  std::vector<const FoldedGroup *> out;
  for (const FoldedGroup &group : groups)
    out.push_back(&group);
  std::stable_sort(out.begin(), out.end(),
                   [](auto *a, auto *b) { return a->bytes > b->bytes; });
  out.resize(std::min(out.size(), limit));
  std::sort(out.begin(), out.end()); // by address in one vector: its order
  return out;
}

static void addRest(TextTable &table, const ByteUnit &unit,
                    const std::vector<FoldedGroup> &all,
                    const std::vector<const FoldedGroup *> &shown,
                    const std::string &indent) {
  if (shown.size() == all.size())
    return;
  uint64_t values = 0;
  int64_t bytes = 0;
  for (const FoldedGroup &group : all) {
    values += group.values * group.times;
    bytes += group.bytes;
  }
  for (const FoldedGroup *group : shown) {
    values -= group->values * group->times;
    bytes -= group->bytes;
  }
  table.add({indent + "… " + formatCount(all.size() - shown.size()) + " more",
             formatCount(values), unit.format(bytes), "", ""});
}

namespace {
/// The values that take memory of their own: all but arguments.
struct SavedItems {
  std::vector<FoldItem> items;
  std::vector<size_t> index; ///< in `result.saved`
};
} // namespace

static SavedItems ownValues(const PartitionResult &result,
                            const ReportExtras &extras) {
  SavedItems out;
  for (size_t i = 0; i < extras.items.size(); ++i)
    if (!result.saved[i].argument)
      out.index.push_back(i);
  // Sizes come first in the list of saved values; here the model's order.
  std::stable_sort(out.index.begin(), out.index.end(), [&](size_t a, size_t b) {
    return result.saved[a].value < result.saved[b].value;
  });
  for (size_t i : out.index)
    out.items.push_back(extras.items[i]);
  return out;
}

/// Single values where nothing repeats: those of groups with several values,
/// as far as they are at least a hundredth of what is saved.
static std::string topValues(const PartitionResult &result,
                             const SavedItems &own,
                             const std::vector<FoldedGroup> &groups) {
  std::vector<size_t> members;
  for (const FoldedGroup &group : groups)
    for (size_t member : group.members)
      if (group.times == 1 && group.values > 1 &&
          own.items[member].bytes * 100 >= result.savedBytes &&
          own.items[member].bytes > 0)
        members.push_back(member);
  std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
    return own.items[a].bytes > own.items[b].bytes;
  });
  members.resize(std::min(members.size(), kTopValues));
  if (members.empty())
    return "";
  ByteUnit unit = byteUnitFor(own.items[members[0]].bytes);
  using T = TextTable;
  T table({T::Left, T::Right, T::Left, T::Left});
  table.add({"largest single values", unit.name, "where", "why"});
  for (size_t member : members) {
    const SavedValue &saved = result.saved[own.index[member]];
    table.add({"  %" + shorten(saved.name, 36),
               unit.format(own.items[member].bytes), saved.location,
               labelOfReason(own.items[member].reason).str()});
  }
  table.fit(kScreenWidth, {{0, 28}, {2, 18}, {0, 20}, {3, 12}, {2, 8}});
  return "\n" + table.str(0);
}

/// How many lines each of `shown` gets for its parts: the largest first, until
/// the budget of all is spent.
static std::vector<size_t>
partLines(const std::vector<const FoldedGroup *> &shown) {
  std::vector<size_t> order(shown.size()), lines(shown.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return shown[a]->bytes > shown[b]->bytes;
  });
  size_t left = kPartLines;
  for (size_t i : order) {
    size_t parts = shown[i]->parts.size();
    if (parts < 2 || left < 2)
      continue;
    lines[i] = std::min(parts, left);
    left -= lines[i];
  }
  return lines;
}

static std::string savedTable(const ReportExtras &extras,
                              const std::vector<FoldedGroup> &groups) {
  int64_t most = 0;
  for (const FoldedGroup &group : groups)
    most = std::max(most, group.bytes);
  ByteUnit unit = byteUnitFor(most);
  using T = TextTable;
  T table({T::Left, T::Right, T::Right, T::Left, T::Left});
  table.add({extras.modules ? "  module" : "  source line", "values", unit.name,
             "computed by", "why"});
  std::vector<const FoldedGroup *> shown = largest(groups, kGroupLines);
  std::vector<size_t> lines = partLines(shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    addGroup(table, unit, *shown[i], "  ");
    if (lines[i] == 0)
      continue;
    std::vector<const FoldedGroup *> parts = largest(shown[i]->parts, lines[i]);
    for (const FoldedGroup *part : parts)
      addGroup(table, unit, *part, "    ");
    addRest(table, unit, shown[i]->parts, parts, "    ");
  }
  addRest(table, unit, groups, shown, "  ");
  table.fit(kScreenWidth, {{3, 18}, {0, 22}, {3, 10}, {4, 12}, {0, 8}});
  return table.str(0);
}

static std::string savedSection(const PartitionResult &result,
                                const ReportExtras &extras) {
  SavedItems own = ownValues(result, extras);
  size_t arguments = result.saved.size() - own.items.size();
  std::string text = formatCount(own.items.size(), "value") + ", " +
                     quantity(result.savedBytes);
  if (arguments)
    text +=
        "; and " +
        formatCount(arguments, "parameter or input", "parameters and inputs") +
        " (" + quantity(result.argumentBytes) + "), in memory anyway";
  std::string out = wrapText("saved for the backward:", text, 6);
  if (own.items.empty())
    return out;
  std::vector<FoldedGroup> groups = foldByModule(own.items);
  return out + savedTable(extras, groups) + topValues(result, own, groups);
}

/// "12 mul, 3 add"; without namespaces if `shortNames`.
static std::string countsText(const std::vector<OpCount> &counts,
                              bool shortNames) {
  std::vector<OpCount> sorted;
  for (OpCount count : counts) {
    if (shortNames)
      count.op = count.op.substr(count.op.rfind('.') + 1);
    auto same = std::find_if(sorted.begin(), sorted.end(),
                             [&](auto &other) { return other.op == count.op; });
    if (same == sorted.end())
      sorted.push_back(count);
    else
      same->count += count.count;
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto &a, auto &b) { return a.count > b.count; });
  std::string out;
  uint64_t rest = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i >= kKinds && sorted.size() > kKinds + 1) {
      rest += sorted[i].count;
      continue;
    }
    out += (i ? ", " : "") + formatCount(sorted[i].count) + " " + sorted[i].op;
  }
  return rest ? out + ", " + formatCount(rest) + " others" : out;
}

static std::string peakText(const PartitionResult &result,
                            const ReportExtras &extras) {
  const PeakResult &peak = result.peak;
  std::string out = quantity(peak.bytes) + " in the " +
                    (peak.inBackward ? "backward" : "forward");
  if (!peak.at.empty())
    out += ", at %" + peak.at;
  if (!extras.peakModule.empty())
    out += " (" + extras.peakModule + ")";
  out += ": saved " + quantity(peak.savedBytes) + " + gradients " +
         quantity(peak.gradientBytes);
  if (peak.isPlanned)
    out += " + results " + quantity(peak.resultBytes);
  out += " + temporaries " + quantity(peak.temporaryBytes) +
         "; parameters and inputs apart; ";
  if (peak.isPlanned)
    return out + "planned; at least " + quantity(peak.lowerBound) +
           (peak.isLeastOrder ? " in any order of the backward"
                              : " in this order of the backward");
  out += "op by op; at least " + quantity(peak.lowerBound) + " in this order";
  return result.memoryProblem.empty()
             ? out
             : out + "; not planned: " + result.memoryProblem;
}

/// Of the plans that are compared.
static int64_t leastPeak(const ReportExtras &extras) {
  int64_t least = INT64_MAX;
  for (const StrategyLine &line : extras.strategies)
    if (line.possible)
      least = std::min(least, line.peakBytes);
  return least;
}

static std::string chosenText(const PassedOver &passed) {
  std::string takes =
      "(--byte-price=" + spellPrice(passed.bytePricePs) + " takes it)";
  std::string peaks = " is not above that of PyTorch's decision, " +
                      quantity(passed.torchPeakBytes) +
                      "; the minimum cut has " + quantity(passed.peakBytes);
  if (passed.isByOps)
    return "the peak, op by op," + peaks + " " + takes + "; above " +
           formatCount(kFullComparisonOps) + " ops no other plan is tried";
  return "the peak" + peaks + " and " + formatPicoseconds(passed.pricedPs) +
         " of saving and recomputing " + takes;
}

static std::string secondsText(const PhaseSeconds &seconds) {
  std::pair<const char *, double> phases[] = {
      {"import", seconds.import},   {"prepare", seconds.prepare},
      {"kernels", seconds.kernels}, {"network", seconds.network},
      {"solve", seconds.solve},     {"extract", seconds.extract},
      {"memory", seconds.memory},   {"verify", seconds.verify}};
  std::string out;
  for (auto [name, time] : phases)
    out += (out.empty() ? "" : ", ") + std::string(name) + " " +
           formatPicoseconds(time * 1e12);
  return out;
}

static std::string paragraph(const std::string &title,
                             const std::string &text) {
  return wrapText(title, text, 12);
}

static std::string headText(const PartitionResult &result,
                            const ReportExtras &extras) {
  std::string out;
  llvm::SmallVector<llvm::StringRef> lines;
  std::string headline = reportHeadline(result, extras);
  llvm::StringRef(headline).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    out += wrapLine(std::string_view(line.data(), line.size()));
  out += againstTorch(result, extras);
  if (extras.fit && !extras.fit->fits())
    out += wrapLine(fitText(*extras.fit, leastPeak(extras)));
  return out;
}

static std::string timeText(const PartitionResult &result) {
  return "saving and recomputing take " + formatPicoseconds(result.pricedPs) +
         " of a step, by a model of fused kernels (op by op, as the minimum "
         "cut weighs them: " +
         formatPicoseconds(result.modelPs) + ")";
}

/// Ops that are not those of the releases that are known.
static std::string declaredText(const std::vector<DeclaredOps> &ops) {
  uint64_t count = 0;
  for (const DeclaredOps &entry : ops)
    count += entry.count;
  std::string out = formatCount(count, "op") + " taken as the file declares " +
                    (count == 1 ? "it" : "them");
  for (size_t i = 0; i < ops.size() && i < kKinds; ++i) {
    const DeclaredOps &entry = ops[i];
    out += (i ? "; " : ": ") + formatCount(entry.count) + " " + entry.op;
    if (!entry.why.empty())
      out += " (" + entry.place + ": " + entry.why + ")";
  }
  return out + (ops.size() > kKinds ? "; …" : "");
}

static std::string solverText(const PartitionResult &result) {
  return "minimum cut of a network of " +
         formatCount(result.networkVertices, "vertex", "vertices") + " and " +
         formatCount(result.networkArcs, "arc") + ", by " + result.solver;
}

/// What the words of a report mean that it has.
static std::string wordsText(llvm::StringRef report) {
  static constexpr std::pair<const char *, const char *> kWords[] = {
      {"launch", "one start of a kernel on the device"},
      {"halves", "the forward and the backward, which the plan divides the "
                 "graph into"},
      {"certificate", "the check that two halves compute what the graph does"},
      {"arena", "the one block of memory in which the values of a step lie"}};
  std::string text;
  for (auto [word, meaning] : kWords)
    if (report.contains(word))
      text += (text.empty() ? "" : "; ") + std::string(word) + ": " + meaning;
  return text.empty() ? "" : paragraph("words", text);
}

std::string reportText(const PartitionResult &result,
                       const ReportExtras &extras) {
  std::string out = headText(result, extras) + "\n";
  if (!extras.strategies.empty())
    out += comparison(result, extras) + "\n";
  if (!extras.front.empty())
    out += frontText(result, extras) + "\n";
  out += savedSection(result, extras) + "\n";
  std::string recomputed = result.recomputed.empty()
                               ? "nothing"
                               : formatCount(result.recomputed.size(), "op") +
                                     ": " +
                                     countsText(result.recomputedByKind, true);
  out += paragraph("recomputed", recomputed);
  out += paragraph("peak", peakText(result, extras));
  if (extras.fit && extras.fit->isAtFloor())
    out += paragraph("", "gradients and results are the peak: they are all "
                         "there at the end of the step, and no plan changes "
                         "that");
  if (extras.fit && extras.fit->memoryBytes && extras.fit->fits())
    out += paragraph("memory", fitText(*extras.fit, leastPeak(extras)));
  if (std::optional<SplitRecord> split = splitRecordOf(result.view.graph))
    out += paragraph("split", "ops around %" + split->product + " run in " +
                                  formatCount(split->parts, "part") +
                                  " of its rows, one after the other; sums "
                                  "over rows are those of the parts");
  if (result.passedOver)
    out += paragraph("chosen", chosenText(*result.passedOver));
  if (result.budget)
    out += paragraph("budget", budgetText(result));
  if (!result.regionBudgets.empty())
    out += paragraph("budgets", regionBudgetsText(result));
  if (!result.refused.empty())
    out += paragraph(
        "refused",
        "a check refused " + formatCount(result.refused.size(), "other plan") +
            ", a defect of cutback: " + llvm::join(result.refused, "; "));
  out += paragraph("time", timeText(result));
  if (result.bounds)
    out += paragraph("bounds", boundText(*result.bounds));
  if (result.kernelPlan)
    out += paragraph("kernels", kernelsText(result));
  for (const auto &[name, text] : updateTexts(result))
    out += paragraph(name, text);
  if (result.networkVertices)
    out += paragraph("solver", solverText(result));
  if (!result.opaque.empty())
    out += paragraph("unknown ops",
                     countsText(result.opaque, false) +
                         ": saved where the backward reads them, never "
                         "recomputed");
  if (!result.asDeclared.empty())
    out += paragraph("as declared", declaredText(result.asDeclared));
  out += paragraph("took", secondsText(result.seconds));
  out += paragraph("verified",
                   result.verified
                       ? "yes: the two halves compute what the graph computes"
                       : "no: the certificate was not asked");
  return out + wordsText(out);
}

} // namespace cutback
