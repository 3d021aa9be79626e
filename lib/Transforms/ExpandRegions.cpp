// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of nested checkpoint regions (docs/Rationale/Regions.md). An op in
// regions r1 > r2 > … > rd may run once in the forward (run 0) and once for
// each of its regions: run j is the one for rj.
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
// Copies stand behind their op, in order of runs; the order of the backward is
// made later (ReorderBackward.cpp). Linear in ops times levels.

#include "cutback/Transforms/ExpandRegions.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// Wishes
//===----------------------------------------------------------------------===//

void cutback::setRegionWishes(GraphOp graph, ArrayRef<int64_t> path,
                              const RegionWishes &wishes) {
  Builder builder(graph.getContext());
  NamedAttrList entry;
  if (!wishes.earlyStop)
    entry.set(RegionWishes::kEarlyStop, builder.getBoolAttr(false));
  if (!wishes.preserveRng)
    entry.set(RegionWishes::kPreserveRng, builder.getBoolAttr(false));
  if (entry.empty())
    return;
  NamedAttrList all;
  if (auto known = graph->getAttrOfType<DictionaryAttr>(JointDialect::kRegions))
    all = NamedAttrList(known);
  all.set(regionText(path), entry.getDictionary(graph.getContext()));
  graph->setAttr(JointDialect::kRegions, all.getDictionary(graph.getContext()));
}

bool cutback::hasRegionsToExpand(const GraphView &view) {
  GraphOp graph = view.graph;
  bool any = graph && graph->hasAttr(JointDialect::kRegions);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    const OpTraits &traits = view.traits[op];
    if (traits.copy || (traits.ordered && isa<RerunOp>(view.ops[op])))
      return false; // done before
    if (!traits.annotated)
      continue;
    auto policy =
        view.ops[op]->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    any |= policy && policy.getRegion().size() > 1;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {

using Runs = uint32_t; ///< bit j: run j
static_assert(kMaxRegionDepth < 32);

class Expander {
public:
  Expander(GraphOp graph, const GraphView &view, const GraphSets &sets)
      : graph(graph), view(view), sets(sets), regions(view.numOps()),
        level(view.numOps(), 0), needed(view.numOps(), 0),
        firstCopy(view.numOps(), 0) {}

  ExpandedRegions run() {
    readWishes();
    findLevels();
    needLastRuns();
    needOperands();
    if (!wholeRegions.empty()) {
      needWholeRegions();
      needOperands();
    }
    makeCopies();
    readLastRuns();
    addReruns();
    return expanded;
  }

private:
  //===--- What is there --------------------------------------------------===//

  void readWishes() {
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
        freshRegions.insert(entry.getName().getValue());
    }
  }

  /// The regions of an op that runs in the forward and may run again.
  ArrayRef<int64_t> boundRegions(uint32_t op) const {
    const OpTraits &traits = view.traits[op];
    if (!traits.annotated || !traits.recomputable || traits.ordered ||
        traits.literal || traits.copy || sets.ops[op] != GraphSet::Forward)
      return {};
    auto policy =
        view.ops[op]->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    return policy && policy.asksToRecompute() ? policy.getRegion()
                                              : ArrayRef<int64_t>();
  }

  static uint32_t commonDepth(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()),
                         b.begin())
               .first -
           a.begin();
  }

  bool isFresh(ArrayRef<int64_t> path) const {
    return !freshRegions.empty() && freshRegions.contains(regionText(path));
  }

  /// The first run of an op that is a copy.
  uint32_t firstRun(uint32_t op) const {
    return isFresh(regions[op].take_front(1)) ? 1 : 2;
  }

  bool isScalar(uint32_t op) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (isa<ShapedType>(view.types[r]))
        return false;
    return true;
  }

  void findLevels() {
    for (uint32_t op = view.numOps(); op-- > 0;) {
      regions[op] = boundRegions(op);
      level[op] = regions[op].size();
      // Sizes are computed once.
      if (level[op] > 1 && isScalar(op))
        level[op] = 1;
      for (uint32_t r = view.resultBegin[op];
           level[op] > 0 && r < view.resultBegin[op + 1]; ++r)
        for (uint32_t user : view.users(r))
          if (user < view.numOps() && level[user] > 0)
            keepFor(op, r, user);
    }
  }

  /// `user`, of the forward, reads result `r` of `op`.
  void keepFor(uint32_t op, uint32_t r, uint32_t user) {
    uint32_t common = commonDepth(regions[op], regions[user]);
    if (common > 0)
      level[op] = std::min(level[op], common);
    else if (regions[user].front() > regions[op].front())
      level[op] = 0; // saved, on the boundary of two outermost regions
    // Where a view stays, so does what it looks at.
    if (view.traits[user].view && view.baseOf(user) == r)
      level[op] = std::min(level[op], level[user]);
  }

  //===--- Which runs are read --------------------------------------------===//

  /// The run of `value` that run `run` of `reader` reads.
  uint32_t runRead(uint32_t reader, uint32_t run, uint32_t def) const {
    return std::min(
        {run, commonDepth(regions[reader], regions[def]), level[def]});
  }

  void need(uint32_t op, uint32_t run) {
    if (run >= firstRun(op))
      needed[op] |= Runs(1) << run;
  }

  /// Whether an op belongs to the backward, or might.
  bool readsLastRuns(uint32_t op) const {
    return sets.ops[op] != GraphSet::Forward && !view.traits[op].copy;
  }

  template <typename Visit> void forEachBackwardRead(Visit visit) {
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (readsLastRuns(op))
        for (uint32_t value : view.operands(op))
          if (uint32_t def = view.definer[value];
              def != GraphView::kNone && level[def] > 0)
            visit(op, def);
    for (uint32_t value : view.gradients())
      if (uint32_t def = view.definer[value];
          def != GraphView::kNone && level[def] > 0)
        visit(view.numOps(), def);
  }

  void needLastRuns() {
    forEachBackwardRead([&](uint32_t reader, uint32_t def) {
      need(def, level[def]);
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
           level[op] > 0 && r < view.resultBegin[op + 1]; ++r)
        ops.try_emplace(getValueName(view.values[r]), op);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto key = BackwardKey::read(view.ops[op]->getLoc());
      auto found = key ? ops.find(key->of) : ops.end();
      if (found != ops.end() && readsLastRuns(op))
        noteReader(op, found->second);
    }
  }

  /// `reader` runs the regions around `def` that run whole, if nothing in front
  /// of it does.
  void noteReader(uint32_t reader, uint32_t def) {
    if (wholeRegions.empty())
      return;
    for (size_t depth = 1; depth <= regions[def].size(); ++depth) {
      std::string path = regionText(regions[def].take_front(depth));
      if (wholeRegions.contains(path)) {
        auto [first, isNew] = firstReader.try_emplace(path, reader);
        first->second = std::min(first->second, reader);
      }
    }
  }

  void needOperands() {
    for (uint32_t op = view.numOps(); op-- > 0;)
      for (Runs left = needed[op]; left; left &= left - 1) {
        uint32_t run = llvm::countr_zero(left);
        for (uint32_t value : view.operands(op))
          if (uint32_t def = view.definer[value];
              def != GraphView::kNone && level[def] > 0)
            need(def, runRead(op, run, def));
      }
  }

  void needWholeRegions() {
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t run = 1; run <= level[op]; ++run)
        if (firstReader.count(regionText(regions[op].take_front(run))))
          need(op, run);
  }

  //===--- Copies ---------------------------------------------------------===//

  Operation *copyOf(uint32_t op, uint32_t run) const {
    Runs before = needed[op] & ((Runs(1) << run) - 1);
    return copies[firstCopy[op] + llvm::popcount(before)];
  }

  /// `value` as its run `run` has it.
  Value inRun(uint32_t value, uint32_t run) const {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone || !(needed[def] >> run & 1))
      return view.values[value];
    return copyOf(def, run)->getResult(value - view.resultBegin[def]);
  }

  void makeCopies() {
    std::vector<Value> reads(view.numValues());
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      firstCopy[op] = copies.size();
      Operation *last = view.ops[op];
      Draw draw;
      for (Runs left = needed[op]; left; left &= left - 1) {
        uint32_t run = llvm::countr_zero(left);
        for (uint32_t value : view.operands(op)) {
          uint32_t def = view.definer[value];
          reads[value] = def == GraphView::kNone || level[def] == 0
                             ? view.values[value]
                             : inRun(value, runRead(op, run, def));
        }
        for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
             ++r)
          reads[r] = Value();
        Operation *copy = copyOp(view, op, reads);
        copy->setLoc(view.ops[op]->getLoc());
        mark(copy, op, run, draw);
        graph.getBlock().getOperations().insertAfter(last->getIterator(), copy);
        copies.push_back(copy);
        last = copy;
      }
    }
    expanded.copies = copies.size();
  }

  /// The numbers of a random op in its runs.
  struct Draw {
    uint32_t times = 0; ///< drawn anew, up to the run at work
    int64_t stream = -1, replay = -1;
  };

  void mark(Operation *copy, uint32_t op, uint32_t run, Draw &draw) {
    copy->setDiscardableAttr(JointDialect::kPolicy,
                             PolicyAttr::get(graph.getContext(),
                                             PolicyKind::MustRecompute,
                                             regions[op], run));
    uint32_t times = 0;
    for (uint32_t j = 1; j <= run; ++j)
      times += isFresh(regions[op].take_front(j));
    if (times)
      drawAgain(copy, draw, times);
    std::string suffix =
        times ? kFreshSuffix.str() + std::to_string(times) : "";
    addNameSuffix(copy, suffix + kRunSuffix.str() + std::to_string(run));
  }

  /// Other numbers than those of the forward, and of each run that has drawn
  /// less often.
  void drawAgain(Operation *copy, Draw &draw, uint32_t times) {
    bool isNew = times > draw.times;
    draw.times = times;
    if (auto random = dyn_cast<RandomOp>(copy)) {
      if (nextStream < 0)
        for (Operation *op : view.ops)
          if (auto other = dyn_cast<RandomOp>(op))
            nextStream = std::max<int64_t>(nextStream, other.getStream());
      if (isNew)
        draw.stream = ++nextStream;
      random.setStream(draw.stream);
    }
    if (!isReplayed(copy))
      return;
    if (nextDraw < 0)
      for (Operation *op : view.ops)
        if (auto number = op->getAttrOfType<IntegerAttr>(kReplay))
          nextDraw = std::max(nextDraw, number.getInt());
    if (isNew)
      draw.replay = ++nextDraw;
    copy->setDiscardableAttr(
        kReplay, Builder(graph.getContext()).getI64IntegerAttr(draw.replay));
  }

  void readLastRuns() {
    llvm::DenseSet<Operation *> readers;
    forEachBackwardRead([&](uint32_t reader, uint32_t def) {
      if (needed[def] && reader < view.numOps())
        readers.insert(view.ops[reader]);
    });
    unsigned forwardResults = graph.getNumForwardResults();
    Block &block = graph.getBlock();
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (!(needed[op] >> level[op] & 1))
        continue;
      Operation *copy = copyOf(op, level[op]);
      for (auto [from, to] :
           llvm::zip(view.ops[op]->getResults(), copy->getResults()))
        from.replaceUsesWithIf(to, [&](OpOperand &use) {
          Operation *user = block.findAncestorOpInBlock(*use.getOwner());
          return user == view.terminator
                     ? use.getOperandNumber() >= forwardResults
                     : readers.contains(user);
        });
    }
  }

  //===--- Regions that run whole -----------------------------------------===//

  /// The end of a whole region's run.
  struct End {
    SmallVector<Value> values;
    SmallVector<int64_t> region;
  };

  void addReruns() {
    llvm::StringMap<End> ends;
    if (firstReader.empty())
      return;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t run = 1; run <= level[op]; ++run) {
        ArrayRef<int64_t> region = regions[op].take_front(run);
        if (std::string path = regionText(region); firstReader.count(path)) {
          End &end = ends[path];
          end.region.assign(region.begin(), region.end());
          addEnds(op, run, end.values);
        }
      }
    for (auto &[path, reader] : firstReader)
      addRerun(ends[path],
               reader < view.numOps() ? view.ops[reader] : view.terminator);
  }

  /// The results of an op in a run of a whole region that nothing in this run
  /// reads.
  void addEnds(uint32_t op, uint32_t run, SmallVectorImpl<Value> &ends) {
    auto isInRun = [&](uint32_t user) {
      return user < view.numOps() && level[user] >= run &&
             commonDepth(regions[user], regions[op]) >= run;
    };
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (llvm::none_of(view.users(r), isInRun))
        ends.push_back(inRun(r, run));
  }

  /// In front of `reader`, or behind what it ends with, if that comes later.
  void addRerun(const End &end, Operation *reader) {
    Operation *place = reader;
    for (Value value : end.values)
      if (Operation *def = value.getDefiningOp();
          def && !def->isBeforeInBlock(place))
        place = def->getNextNode();
    OpBuilder builder(place);
    RerunOp::create(builder, place->getLoc(), end.values,
                    builder.getDenseI64ArrayAttr(end.region));
    ++expanded.reruns;
  }

  GraphOp graph;
  const GraphView &view;
  const GraphSets &sets;
  llvm::StringSet<> wholeRegions, freshRegions; ///< by path
  std::map<std::string, uint32_t> firstReader;  ///< of whole regions, by path
  std::vector<ArrayRef<int64_t>> regions; ///< by op, of what may run again
  std::vector<uint32_t> level;            ///< by op: its last run
  std::vector<Runs> needed;               ///< by op: the copies
  std::vector<uint32_t> firstCopy;        ///< by op, in `copies`
  std::vector<Operation *> copies;
  int64_t nextStream = -1, nextDraw = -1;
  ExpandedRegions expanded;
};

} // namespace

ExpandedRegions cutback::expandRegions(GraphOp graph, const GraphView &view,
                                       const GraphSets &sets) {
  return Expander(graph, view, sets).run();
}
