// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From tags to runs (docs/Rationale/Regions.md), without a look at the ops:
//
//   1. Level of an op: the last run in which it computes. That is d, or less if
//      an op outside of its inner regions reads it: it is an input of theirs,
//      and stays from the run of the region around both. 0 means saved.
//   2. In run j, an op reads of another one the run of the innermost region
//      that both are in, of the first j, or that one's last run.
//   3. The backward reads last runs. From there back, each op notes which runs
//      of it are read; those get copies. A region without early stop is read
//      whole by a `joint.rerun`, in front of the first op that reads it.
//   4. Where a region draws other numbers each time, its first run has copies
//      too: what they compute is not what the forward has computed.
//
// Linear in ops times levels.

#include "RegionRuns.h"

#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Transforms/ExpandRegions.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class RunFinder {
public:
  RunFinder(const GraphView &view, const GraphSets &sets,
            const Policies &policies)
      : view(view), sets(sets), policies(policies) {
    runs.regions.resize(view.numOps());
    runs.level.assign(view.numOps(), 0);
    runs.needed.assign(view.numOps(), 0);
  }

  RegionRuns run() {
    readWishes();
    findLevels();
    needLastRuns();
    needOperands();
    if (!wholeRegions.empty()) {
      needWholeRegions();
      needOperands();
    }
    return std::move(runs);
  }

private:
  void readWishes() {
    GraphOp graph = view.graph;
    auto all = graph->getAttrOfType<DictionaryAttr>(JointDialect::kRegions);
    if (!all)
      return;
    for (NamedAttribute entry : all) {
      auto wishes = dyn_cast<DictionaryAttr>(entry.getValue());
      if (!wishes)
        continue;
      auto isOff = [&](StringRef name) {
        auto value = wishes.getAs<BoolAttr>(name);
        return value && !value.getValue();
      };
      if (isOff(RegionWishes::kEarlyStop))
        wholeRegions.insert(entry.getName().getValue());
      if (isOff(RegionWishes::kPreserveRng))
        runs.freshRegions.insert(entry.getName().getValue());
    }
  }

  //===--- Levels ---------------------------------------------------------===//

  /// The regions of an op that runs in the forward and may run again.
  ArrayRef<int64_t> boundRegions(uint32_t op) const {
    const OpTraits &traits = view.traits[op];
    PolicyAttr policy = policies[op];
    if (!policy || !traits.recomputable || traits.ordered || traits.literal ||
        traits.copy || sets.ops[op] != GraphSet::Forward)
      return {};
    return policy.asksToRecompute() ? policy.getRegion() : ArrayRef<int64_t>();
  }

  bool isScalar(uint32_t op) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (isa<ShapedType>(view.types[r]))
        return false;
    return true;
  }

  void findLevels() {
    for (uint32_t op = view.numOps(); op-- > 0;) {
      runs.regions[op] = boundRegions(op);
      uint32_t &level = runs.level[op];
      level = runs.regions[op].size();
      // Sizes are computed once.
      if (level > 1 && isScalar(op))
        level = 1;
      for (uint32_t r = view.resultBegin[op];
           level > 0 && r < view.resultBegin[op + 1]; ++r)
        for (uint32_t user : view.users(r))
          if (user < view.numOps() && runs.level[user] > 0)
            keepFor(op, r, user);
    }
  }

  /// `user`, of the forward, reads result `r` of `op`.
  void keepFor(uint32_t op, uint32_t r, uint32_t user) {
    uint32_t &level = runs.level[op];
    uint32_t common = runs.commonDepth(op, user);
    if (common > 0)
      level = std::min(level, common);
    else if (runs.regions[user].front() > runs.regions[op].front())
      level = 0; // saved, on the boundary of two outermost regions
    // Where a view stays, so does what it looks at.
    if (view.traits[user].view && view.baseOf(user) == r)
      level = std::min(level, runs.level[user]);
  }

  //===--- Which runs are read --------------------------------------------===//

  /// The first run of an op that is a copy.
  uint32_t firstRun(uint32_t op) const {
    return runs.isFresh(runs.regions[op].take_front(1)) ? 1 : 2;
  }

  void need(uint32_t op, uint32_t run) {
    if (run >= firstRun(op))
      runs.needed[op] |= Runs(1) << run;
  }

  template <typename Visit> void forEachBackwardRead(Visit visit) {
    auto visitAll = [&](uint32_t reader, ArrayRef<uint32_t> values) {
      for (uint32_t value : values)
        if (uint32_t def = view.definer[value];
            def != GraphView::kNone && runs.level[def] > 0)
          visit(reader, def);
    };
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (readsLastRuns(view, sets, op))
        visitAll(op, view.operands(op));
    visitAll(view.numOps(), view.gradients());
  }

  void needLastRuns() {
    forEachBackwardRead([&](uint32_t reader, uint32_t def) {
      need(def, runs.level[def]);
      noteReader(reader, def);
    });
    if (!wholeRegions.empty())
      noteGradientOps();
  }

  /// A gradient of an op of a region runs the region again even if it reads
  /// nothing but what the region has read.
  void noteGradientOps() {
    llvm::StringMap<uint32_t> ops;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t r = view.resultBegin[op];
           runs.level[op] > 0 && r < view.resultBegin[op + 1]; ++r)
        ops.try_emplace(getValueName(view.values[r]), op);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto key = BackwardKey::read(view.ops[op]->getLoc());
      auto found = key ? ops.find(key->of) : ops.end();
      if (found != ops.end() && readsLastRuns(view, sets, op))
        noteReader(op, found->second);
    }
  }

  /// `reader` runs the regions around `def` that run whole, if nothing in front
  /// of it does.
  void noteReader(uint32_t reader, uint32_t def) {
    if (wholeRegions.empty())
      return;
    for (size_t depth = 1; depth <= runs.regions[def].size(); ++depth) {
      std::string path = regionText(runs.regions[def].take_front(depth));
      if (wholeRegions.contains(path)) {
        auto [first, isNew] = runs.firstReader.try_emplace(path, reader);
        first->second = std::min(first->second, reader);
      }
    }
  }

  void needOperands() {
    for (uint32_t op = view.numOps(); op-- > 0;)
      for (Runs left = runs.needed[op]; left; left &= left - 1) {
        uint32_t run = llvm::countr_zero(left);
        for (uint32_t value : view.operands(op))
          if (uint32_t def = view.definer[value];
              def != GraphView::kNone && runs.level[def] > 0)
            need(def, runs.runRead(op, run, def));
      }
  }

  void needWholeRegions() {
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t run = 1; run <= runs.level[op]; ++run)
        if (runs.firstReader.count(
                regionText(runs.regions[op].take_front(run))))
          need(op, run);
  }

  const GraphView &view;
  const GraphSets &sets;
  const Policies &policies;
  llvm::StringSet<> wholeRegions; ///< by path
  RegionRuns runs;
};

} // namespace

RegionRuns RegionRuns::find(const GraphView &view, const GraphSets &sets,
                            const Policies &policies) {
  return RunFinder(view, sets, policies).run();
}
