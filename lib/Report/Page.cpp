// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects what a page shows of each plan, and forgets the rest.
//
// Values and ops are items, known by name, so that plans of differently
// prepared copies of a graph share them. Only what some plan saves, recomputes,
// reads for that, or shows at a moment of the step or in the arena becomes an
// item: a page of a graph of 20,000 ops has some thousands.
//
// The memory over the step comes from the live ranges of StepTimeline.h. The
// step is divided into at most 360 stretches, and each is shown by its moment
// with most live bytes, so the peak is among them. What
// is saved at each moment is kept by value, since the groups into which it is
// divided are chosen when all plans are known.

#include "cutback/Report/Page.h"

#include "PageArena.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Support/Gzip.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using llvm::StringRef;

namespace cutback {

uint32_t Page::text(StringRef string) {
  auto [it, isNew] = textNumber.try_emplace(string, texts.size());
  if (isNew)
    texts.push_back(string.str());
  return it->second;
}

/// Adds one plan.
class Page::Collector {
public:
  Collector(Page &page, const PartitionResult &result,
            const ReportExtras &extras)
      : page(page), result(result), extras(extras), view(result.view),
        known(view.numValues(), GraphView::kNone),
        timeline(StepTimeline::of(result)), step{timeline.numOps} {
    if (extras.modules)
      modules = valueModules(view);
  }

  PagePlan run(PagePlanName name) {
    plan.name = std::move(name);
    copyFigures();
    listSaved();
    listRecomputed();
    listMoments();
    listArena();
    return std::move(plan);
  }

private:
  /// The item of a value.
  uint32_t item(uint32_t value) {
    if (known[value] != GraphView::kNone)
      return known[value];
    std::string name = view.name(value), key = name;
    // A value without a name has none in a copy of the graph either.
    if (StringRef(name).starts_with("%"))
      key += "/" + std::to_string(result.bytes[value]);
    auto [it, isNew] = page.itemNumber.try_emplace(key, page.items.size());
    uint32_t number = known[value] = it->second;
    if (!isNew)
      return number;
    page.items.emplace_back();
    describe(page.items.back(), value, std::move(name));
    page.items[number].first = number;
    if (!view.isArg(value)) {
      uint32_t first = view.resultBegin[view.definer[value]];
      if (first != value) {
        uint32_t firstItem = item(first);
        page.items[number].first = firstItem;
      }
    }
    return number;
  }

  void describe(PageItem &item, uint32_t value, std::string name) {
    item.name = std::move(name);
    item.order = value;
    item.bytes = result.bytes[value];
    item.argument = view.isArg(value);
    Value ir = view.values[value];
    item.type = page.text(typeText(ir.getType()));
    if (value < result.saveCost.size())
      item.savePs = result.saveCost[value];
    std::string module = extras.modules ? modules[value] : "";
    if (item.argument) {
      item.op = page.text("argument");
      item.module = page.text(module.empty() ? "(arguments)" : module);
      item.place = page.text("");
      return;
    }
    uint32_t number = view.definer[value];
    Operation *op = view.ops[number];
    if (number < result.recomputeCost.size())
      item.recomputePs = result.recomputeCost[number];
    item.op = page.text(shortOpName(op));
    item.place = page.text(wholePlaceText(op->getLoc()));
    if (!extras.modules)
      module = lineText(op->getLoc());
    item.module = page.text(module.empty() ? "(elsewhere)" : module);
  }

  void copyFigures() {
    plan.savedBytes = result.savedBytes;
    plan.peakBytes = result.peak.bytes;
    plan.lowerBound = result.peak.lowerBound;
    plan.peakAt = result.peak.at;
    plan.peakInBackward = result.peak.inBackward;
    plan.peakParts = {result.peak.savedBytes, result.peak.gradientBytes,
                      result.peak.temporaryBytes};
    plan.modelPs = result.modelPs;
    plan.pricedPs = result.pricedPs;
    plan.kernels = result.kernels;
    plan.verified = result.verified;
    plan.recomputedOps = result.recomputed.size();
    plan.forwardOps = timeline.forwardOps;
    plan.numOps = timeline.numOps;
  }

  void listSaved() {
    for (size_t i = 0; i < result.saved.size(); ++i)
      plan.saved.push_back({item(result.saved[i].value),
                            page.text(extras.items[i].reason),
                            extras.items[i].bytes});
    llvm::stable_sort(plan.saved, [](const PageSaved &a, const PageSaved &b) {
      return a.item < b.item;
    });
  }

  void listRecomputed() {
    for (uint32_t op : result.halves.recomputed) {
      if (view.numResults(op) == 0)
        continue;
      uint32_t number = item(view.resultBegin[op]);
      plan.recomputed.push_back(number);
      if (!page.items[number].needs.empty())
        continue;
      std::vector<uint32_t> needs;
      for (uint32_t operand : view.operands(op))
        if (uint32_t need = item(operand); !llvm::is_contained(needs, need))
          needs.push_back(need);
      page.items[number].needs = std::move(needs);
    }
    llvm::sort(plan.recomputed);
  }

  //===--------------------------------------------------------------------===//
  // Memory over the step
  //===--------------------------------------------------------------------===//

  /// The step with most live bytes of each stretch; the first of equals.
  void chooseMoments() {
    auto live = timeline.liveBytes();
    for (uint32_t i = 0; i < step.numStretches(); ++i) {
      PageMoment moment;
      int64_t most = -1;
      for (uint32_t at = step.beginOf(i); at < step.beginOf(i + 1); ++at) {
        int64_t sum =
            std::accumulate(live[at].begin(), live[at].end(), int64_t(0));
        if (sum <= most)
          continue;
        most = sum;
        moment.step = at;
        moment.bytes = live[at];
      }
      plan.moments.push_back(moment);
    }
  }

  uint32_t momentFrom(uint32_t step) const {
    return std::lower_bound(plan.moments.begin(), plan.moments.end(), step,
                            [](const PageMoment &moment, uint32_t at) {
                              return moment.step < at;
                            }) -
           plan.moments.begin();
  }

  void listMoments() {
    chooseMoments();
    if (std::vector<double> begins = timeline.beginPs(result); !begins.empty())
      for (uint32_t i = 0; i <= step.numStretches() && timeline.numOps; ++i)
        plan.timesPs.push_back(std::llround(begins[step.beginOf(i)]));
    for (PageMoment &moment : plan.moments)
      moment.item = item(timeline.valueOf[moment.step]);
    for (const LiveValue &live : timeline.values) {
      uint32_t begin = momentFrom(live.begin), end = momentFrom(live.end);
      if (live.kind == LiveKind::Saved && begin < end)
        plan.spans.push_back({item(live.value), begin, end, live.bytes});
    }
  }

  /// The largest values of each moment, where no arena tells them.
  void listLargest() {
    std::vector<std::vector<const LiveValue *>> largest(plan.moments.size());
    auto isLarger = [](const LiveValue *a, const LiveValue *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a->value < b->value;
    };
    for (const LiveValue &live : timeline.values) {
      uint32_t end = momentFrom(live.end);
      for (uint32_t i = momentFrom(live.begin); i < end; ++i) {
        auto &list = largest[i];
        list.insert(llvm::upper_bound(list, &live, isLarger), &live);
        if (list.size() > 4)
          list.pop_back();
      }
    }
    for (uint32_t i = 0; i < plan.moments.size(); ++i)
      for (const LiveValue *live : largest[i])
        plan.moments[i].largest.push_back(item(live->value));
  }

  void listArena() {
    plan.arena = collectArena(result, timeline, step,
                              [&](uint32_t value) { return item(value); });
    // What nobody has to make weighs nothing for the plan, but it has its
    // place in the arena.
    for (const PagePlaced &placed : plan.arena.placed)
      if (page.items[placed.item].bytes == 0)
        page.items[placed.item].bytes = placed.bytes;
    if (!result.memory)
      listLargest();
  }

  Page &page;
  const PartitionResult &result;
  const ReportExtras &extras;
  const GraphView &view;
  std::vector<std::string> modules;
  std::vector<uint32_t> known; ///< by value: its item
  StepTimeline timeline;
  StretchedStep step;
  PagePlan plan;
};

size_t Page::add(const PartitionResult &result, const ReportExtras &extras,
                 PagePlanName name) {
  plans.push_back(Collector(*this, result, extras).run(std::move(name)));
  return plans.size() - 1;
}

void Page::choose(size_t plan, const PartitionResult &result,
                  const ReportExtras &extras, std::string titleText) {
  chosen = plan;
  graph = result.graph;
  title = titleText.empty() ? graph : std::move(titleText);
  subtitle = reportHeadline(result, extras);
  modules = extras.modules;
  other = extras.other;
  eager = extras.eager;
  joint::GraphOp op = result.view.graph;
  for (uint32_t arg = 0; arg < result.view.numArgs; ++arg) {
    joint::RoleKind kind = op.getRole(arg).getKind();
    // What comes from behind the loss is a gradient.
    if (kind == joint::RoleKind::Tangent || kind == joint::RoleKind::GradSeed)
      continue;
    bool isParameter =
        kind == joint::RoleKind::Param || kind == joint::RoleKind::Buffer;
    (isParameter ? parameterBytes : inputBytes) += result.bytes[arg];
  }
}

void Page::addTrace(StringRef json) { plans.back().trace = gzip(json); }

const PagePlan *Page::find(PagePlanName::Kind kind, StringRef label) const {
  for (const PagePlan &plan : plans)
    if (plan.name.kind == kind && (label.empty() || plan.name.label == label))
      return &plan;
  return nullptr;
}

} // namespace cutback
