// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as one page for a browser: several plans of one graph, between
// which the reader switches.
#ifndef CUTBACK_REPORT_PAGE_H
#define CUTBACK_REPORT_PAGE_H

#include "cutback/Report/Report.h"
#include "cutback/Report/StepTimeline.h"

#include "llvm/ADT/StringMap.h"

#include <array>

namespace cutback {

/// A value of the graph, or the first result of an op.
struct PageItem {
  std::string name;
  uint32_t op = 0, module = 0, place = 0, type = 0; ///< texts of the page
  int64_t bytes = 0;
  int64_t savePs = -1, recomputePs = -1; ///< -1: never
  bool argument = false;
  uint32_t order = 0;          ///< in the graph that named it first
  std::vector<uint32_t> needs; ///< items that recomputing it reads
  /// The item of the op's first result; itself for a first result.
  uint32_t first = 0;
};

/// The moment of a stretch of the step at which most bytes are live.
struct PageMoment {
  uint32_t step = 0; ///< number of the op, the forward's first
  uint32_t item = 0; ///< its first result
  std::array<int64_t, kLiveKinds> bytes{}; ///< by LiveKind
  /// Items, at most four; none where there is an arena.
  std::vector<uint32_t> largest;
};

/// Saved bytes of one value, live from one moment to another.
struct PageSpan {
  uint32_t item = 0, begin = 0, end = 0; ///< moments begin … end-1
  int64_t bytes = 0;
};

/// A value in the arena, during the steps begin … end-1.
struct PagePlaced {
  uint32_t item = 0, begin = 0, end = 0;
  int64_t offset = 0, bytes = 0;
  LiveKind kind = LiveKind::Temporary;
};

/// Where small values lie: a row of the arena, from one moment to another.
struct PageSmall {
  uint32_t row = 0, begin = 0, end = 0; ///< moments begin … end-1
};

/// The arena of a plan over the step: the largest values one by one, and the
/// others by where they lie.
struct PageArena {
  int64_t bytes = 0, alignment = 1;
  std::vector<PagePlaced> placed; ///< by begin, then offset
  uint64_t numSmall = 0;
  int64_t largestSmall = 0;     ///< bytes
  std::vector<PageSmall> small; ///< by row, then begin
  std::string problem;          ///< why there is none, or empty
};

struct PageSaved {
  uint32_t item = 0, reason = 0; ///< reason: a text of the page
  int64_t ownBytes = 0;          ///< that it adds to the plan's saved bytes
};

/// How a plan was asked for.
struct PagePlanName {
  enum Kind { Price, Strategy, Rules } kind = Price;
  std::string label;   ///< "byte price 0.05"
  std::string options; ///< "--byte-price=0.05"; of a command line
};

struct PagePlan {
  PagePlanName name;
  int64_t savedBytes = 0, peakBytes = 0, lowerBound = 0, modelPs = 0,
          pricedPs = 0;
  uint64_t recomputedOps = 0, kernels = 0;
  std::string peakAt;
  bool peakInBackward = false, verified = false;
  std::array<int64_t, 3> peakParts{}; ///< saved, gradients, temporaries
  std::vector<PageSaved> saved;       ///< by item
  std::vector<uint32_t> recomputed;   ///< items
  uint32_t forwardOps = 0, numOps = 0;
  std::vector<PageMoment> moments;
  /// When each stretch of the step begins, and the last one ends, by the model;
  /// empty without kernels.
  std::vector<int64_t> timesPs;
  std::vector<PageSpan> spans;
  PageArena arena;
  std::string trace; ///< a gzip file, or empty
};

/// What a page shows. Plans are added one by one, so that nothing of a plan but
/// what is shown stays in memory.
class Page {
public:
  /// Stretches into which a step is divided at most.
  static constexpr uint32_t kMoments = 360;
  /// Values of an arena that are shown one by one at most, and the rows into
  /// which it is divided for the others.
  static constexpr uint32_t kPlaced = 4000, kRows = 400;
  /// Bytes of all traces, packed: those that take more stay out of the page.
  static constexpr size_t kTraceBytes = 3 << 18;

  /// Adds a plan and returns its number. Plans of one graph, or of copies of it
  /// with the same names, may differ in anything. `extras` belongs to `result`.
  /// O(n log n).
  size_t add(const PartitionResult &result, const ReportExtras &extras,
             PagePlanName name);

  /// The plan that the page opens with: the one that was asked for. Graph, text
  /// under the title and sizes are taken from its result; `title` may be empty.
  void choose(size_t plan, const PartitionResult &result,
              const ReportExtras &extras, std::string title);
  void dropLast() { plans.pop_back(); }
  /// Puts the trace of the last plan into the page, packed, so that its reader
  /// can save it.
  void addTrace(llvm::StringRef json);
  /// Says that a plan is missing, and why.
  void addNote(std::string text) { notes.push_back(std::move(text)); }

  /// The page: HTML with its style, script and data inside. It asks for nothing
  /// outside itself, and its content security policy forbids it to. Equal pages
  /// give equal bytes.
  std::string html() const;
  /// The data alone: one JSON object.
  std::string data() const;
  /// A plan in one sentence, beside strategy eager and PyTorch's rules.
  std::string headline(size_t plan) const;

  std::vector<PagePlan> plans;
  std::vector<PageItem> items;
  std::vector<std::string> texts;

private:
  friend class PageWriter;
  class Collector;

  uint32_t text(llvm::StringRef string);
  const PagePlan *find(PagePlanName::Kind kind, llvm::StringRef label) const;

  std::string graph, title, subtitle;
  size_t chosen = 0;
  bool modules = false;
  int64_t parameterBytes = 0, inputBytes = 0;
  std::optional<OtherPartition> other;
  std::optional<AutogradSaves> eager;
  std::vector<std::string> notes;
  llvm::StringMap<uint32_t> textNumber, itemNumber;
};

} // namespace cutback

#endif // CUTBACK_REPORT_PAGE_H
