// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects what a page shows of each plan, and forgets the rest.
//
// Values and ops are items, known by name, so that plans of differently
// prepared copies of a graph share them. Only what some plan saves, recomputes,
// reads for that, or shows at a moment of the step becomes an item: a page of a
// graph of 20,000 ops has a few thousand.
//
// The memory over the step comes from the simulation that gives the peak
// (Analysis/Peak.h). The step is divided into at most 360 stretches, and each
// is shown by its moment with most live bytes, so the peak is among them. What
// is saved at each moment is kept by value, since the groups into which it is
// divided are chosen when all plans are known.

#include "cutback/Report/Page.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Report/Names.h"

#include <algorithm>

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
        known(view.numValues(), GraphView::kNone) {
    if (extras.modules)
      modules = valueModules(view);
  }

  PagePlan run(PagePlanName name) {
    plan.name = std::move(name);
    copyFigures();
    listSaved();
    listRecomputed();
    listMoments();
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
    item.place = page.text(placeText(op->getLoc()));
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
    plan.forwardOps = result.halves.forwardOps.size();
    plan.numOps = plan.forwardOps + result.halves.backwardOps.size();
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

  /// What is live when, as numbers of the whole step.
  struct Life {
    uint32_t value, begin, end;
    int64_t bytes;
    enum Kind : uint8_t { Saved, Result, Gradient, Temporary } kind;
  };

  /// Of the memory plan where there is one: its numbers are those of the
  /// report.
  std::vector<Life> lives() {
    return result.memory ? plannedLives(*result.memory) : opByOpLives();
  }

  /// A step of the memory plan, whose halves end in a terminator each, as the
  /// number of an op: what lives at the end of a half lives at its last op.
  uint32_t stepOf(const StepProgram &program, uint32_t op) const {
    if (op <= program.forwardEnd)
      return std::min(op, std::max(plan.forwardOps, 1u) - 1);
    return std::min(plan.forwardOps + op - program.forwardEnd - 1,
                    plan.numOps - 1);
  }

  /// The value of the graph that a half calls so: a copy is NAME_recompute.
  uint32_t valueNamed(StringRef name) {
    if (named.empty())
      for (uint32_t value = 0; value < view.numValues(); ++value)
        named.try_emplace(view.name(value), value);
    auto found = named.find(name);
    if (found == named.end() && name.consume_back("_recompute"))
      found = named.find(name);
    return found == named.end() ? 0 : found->second;
  }

  std::vector<Life> plannedLives(const MemoryPlan &memory) {
    static constexpr Life::Kind kinds[] = {Life::Temporary, Life::Temporary,
                                           Life::Saved, Life::Result,
                                           Life::Gradient};
    const StepProgram &program = memory.program;
    std::vector<Life> out;
    for (uint32_t i = 0; i < memory.storages.size(); ++i) {
      const PlannedStorage &storage = memory.storages[i];
      if (storage.use == StorageUse::Outside || storage.begin >= storage.end)
        continue;
      int64_t bytes = llvm::alignTo(storage.bytes, memory.alignment);
      uint32_t value = valueNamed(program.name(program.storages[i].value));
      out.push_back({value, stepOf(program, storage.begin),
                     stepOf(program, storage.end - 1) + 1, bytes,
                     kinds[static_cast<int>(storage.use)]});
    }
    for (uint32_t op = 0; op < program.numOps(); ++op)
      if (program.resultBegin[op] < program.resultEnd[op])
        planned[stepOf(program, op)] = valueNamed(program.opName(op));
    return out;
  }

  std::vector<Life> opByOpLives() const {
    StepLives halves;
    simulateStep(view, result.halves, result.bytes, result.storage, &halves);
    std::vector<Life> out;
    auto add = [&](const std::vector<LiveRange> &ranges, uint32_t offset,
                   uint32_t steps, LiveOrigin saved, LiveOrigin gradient) {
      for (const LiveRange &range : ranges) {
        if (range.begin >= steps)
          continue;
        Life::Kind kind = range.origin == saved      ? Life::Saved
                          : range.origin == gradient ? Life::Gradient
                                                     : Life::Temporary;
        out.push_back({range.value, range.begin + offset,
                       std::min(range.end, steps) + offset, range.bytes, kind});
      }
    };
    add(halves.forward, 0, plan.forwardOps, LiveOrigin::Kept,
        LiveOrigin::Given);
    add(halves.backward, plan.forwardOps, plan.numOps - plan.forwardOps,
        LiveOrigin::HandedIn, LiveOrigin::Kept);
    return out;
  }

  /// The step with most live bytes of each stretch; the first of equals.
  void chooseMoments(const std::vector<Life> &all) {
    std::vector<int64_t> live(plan.numOps + 1, 0);
    for (const Life &life : all) {
      live[life.begin] += life.bytes;
      live[life.end] -= life.bytes;
    }
    uint32_t stretches = std::min(plan.numOps, kMoments);
    int64_t sum = 0;
    for (uint64_t i = 0; i < stretches; ++i) {
      PageMoment moment;
      int64_t most = -1;
      uint32_t end = (i + 1) * plan.numOps / stretches;
      for (uint32_t step = i * plan.numOps / stretches; step < end; ++step)
        if ((sum += live[step]) > most) {
          most = sum;
          moment.step = step;
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

  static int64_t &countIn(PageMoment &moment, Life::Kind kind) {
    switch (kind) {
    case Life::Saved:
      return moment.saved;
    case Life::Result:
      return moment.results;
    case Life::Gradient:
      return moment.gradients;
    case Life::Temporary:
      break;
    }
    return moment.temporaries;
  }

  void listMoments() {
    std::vector<Life> all = lives();
    chooseMoments(all);
    std::vector<std::vector<const Life *>> largest(plan.moments.size());
    auto isLarger = [](const Life *a, const Life *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a->value < b->value;
    };
    for (const Life &life : all) {
      uint32_t begin = momentFrom(life.begin), end = momentFrom(life.end);
      if (begin == end)
        continue;
      for (uint32_t i = begin; i < end; ++i) {
        PageMoment &moment = plan.moments[i];
        countIn(moment, life.kind) += life.bytes;
        auto &list = largest[i];
        list.insert(llvm::upper_bound(list, &life, isLarger), &life);
        if (list.size() > 4)
          list.pop_back();
      }
      if (life.kind == Life::Saved)
        plan.spans.push_back({item(life.value), begin, end, life.bytes});
    }
    for (uint32_t i = 0; i < plan.moments.size(); ++i) {
      plan.moments[i].item = itemOfStep(plan.moments[i].step);
      for (const Life *life : largest[i]) {
        uint32_t number = item(life->value);
        plan.moments[i].largest.push_back(number);
        // What nobody has to make weighs nothing for the plan, but it has its
        // place in the arena.
        if (page.items[number].bytes == 0)
          page.items[number].bytes = life->bytes;
      }
    }
  }

  uint32_t itemOfStep(uint32_t step) {
    if (auto it = planned.find(step); it != planned.end())
      return item(it->second);
    uint32_t op = step < plan.forwardOps
                      ? result.halves.forwardOps[step]
                      : result.halves.backwardOps[step - plan.forwardOps];
    if (view.numResults(op))
      return item(view.resultBegin[op]);
    // A write or an assertion: what it reads tells where it stands.
    return item(view.operands(op).empty() ? 0 : view.operands(op).front());
  }

  Page &page;
  const PartitionResult &result;
  const ReportExtras &extras;
  const GraphView &view;
  std::vector<std::string> modules;
  std::vector<uint32_t> known;                ///< by value: its item
  llvm::StringMap<uint32_t> named;            ///< values of the graph
  llvm::DenseMap<uint32_t, uint32_t> planned; ///< by step: value of its op
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

const PagePlan *Page::find(PagePlanName::Kind kind, StringRef label) const {
  for (const PagePlan &plan : plans)
    if (plan.name.kind == kind && (label.empty() || plan.name.label == label))
      return &plan;
  return nullptr;
}

} // namespace cutback
