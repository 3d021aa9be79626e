// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of nested checkpoint regions as ops (docs/Rationale/Regions.md). Which
// runs an op has, and which one reads which, RegionRuns.cpp says in numbers.
// Here is one walk over the view, which grows the next one beside it: behind
// each op stand its copies, in order of runs, with operands that are numbered
// when their turn comes; and each op of the backward reads last runs. So the
// graph is never numbered again; only `joint.rerun`, which is rare, asks for
// it. The order of the backward is made later (ReorderBackward.cpp).
//
// A copy has the attributes of its op but for the policy, so that it costs MLIR
// no new one: its name follows from its run (getResultName). Ops are far apart
// in memory, so the next ones are fetched meanwhile. Linear in ops times
// levels.

#include "cutback/Transforms/ExpandRegions.h"

#include "RegionRuns.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/Builders.h"

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
  if (wishes.budget)
    entry.set(RegionWishes::kBudget, builder.getF64FloatAttr(*wishes.budget));
  if (entry.empty())
    return;
  NamedAttrList all;
  if (auto known = graph->getAttrOfType<DictionaryAttr>(JointDialect::kRegions))
    all = NamedAttrList(known);
  all.set(regionText(path), entry.getDictionary(graph.getContext()));
  graph->setAttr(JointDialect::kRegions, all.getDictionary(graph.getContext()));
}

bool cutback::hasRegionsToExpand(const GraphView &view,
                                 const Policies &policies) {
  GraphOp graph = view.graph;
  bool any = graph && graph->hasAttr(JointDialect::kRegions);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    const OpTraits &traits = view.traits[op];
    if (traits.copy || (traits.ordered && isa<RerunOp>(view.ops[op])))
      return false; // done before
    any |= policies[op] && policies[op].getRegion().size() > 1;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

class Expander {
public:
  Expander(GraphView &view, const GraphSets &sets, const Policies &policies)
      : view(view), sets(sets), runs(RegionRuns::find(view, sets, policies)),
        context(view.graph.getContext()),
        namesId(StringAttr::get(context, "names")),
        policyId(StringAttr::get(context, JointDialect::kPolicy)) {}

  ExpandedRegions run() {
    copyOps();
    addReruns();
    if (expanded.reruns)
      view = GraphView::build(view.graph, next.numOps() + expanded.reruns);
    else
      view = std::move(next);
    return expanded;
  }

private:
  //===--- Numbers --------------------------------------------------------===//

  /// The number in the next view of `value` as its run `run` has it.
  uint32_t inRun(uint32_t value, uint32_t run) const {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone)
      return value;
    uint32_t first = view.resultBegin[def];
    uint32_t number = firstResult[def] + (value - first);
    uint32_t copy = run ? runs.copyNumber(def, run) : 0;
    return copy ? number + copy * view.numResults(def) : number;
  }

  uint32_t lastRun(uint32_t value) const {
    uint32_t def = view.definer[value];
    return def == GraphView::kNone ? 0 : runs.level[def];
  }

  bool isCopy(uint32_t value, uint32_t run) const {
    return runs.copyNumber(view.definer[value], run) != 0;
  }

  //===--- Ops ------------------------------------------------------------===//

  void copyOps() {
    uint64_t copies = 0;
    for (Runs needed : runs.needed)
      copies += llvm::popcount(needed);
    next = view.withoutOps(view.numOps() + copies);
    firstResult.resize(view.numOps());
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (op + kAhead < view.numOps() && isTouched(op + kAhead))
        prefetchOp(view.ops[op + kAhead]);
      firstResult[op] = next.numValues();
      bool readsLast = readsLastRuns(view, sets, op), readsCopy = false;
      next.addOp(view, op, [&](uint32_t value) {
        uint32_t run = readsLast ? lastRun(value) : 0;
        readsCopy |= run != 0 && isCopy(value, run);
        return inRun(value, run);
      });
      if (readsCopy)
        readLastRuns(view.ops[op], view.operands(op),
                     next.operands(next.numOps() - 1));
      copyOp(op);
    }
    uint32_t forwardResults = view.forwardResults().size(), read = 0;
    next.finish(view, [&](uint32_t value) {
      return inRun(value, read++ < forwardResults ? 0 : lastRun(value));
    });
    readLastRuns(view.terminator, view.results(), next.results());
    expanded.copies = copies;
  }

  static constexpr uint32_t kAhead = 4;
  bool isTouched(uint32_t op) const {
    return runs.needed[op] || readsLastRuns(view, sets, op);
  }

  /// Lets `op`, which reads `read` of the view, read `now` of the next one.
  void readLastRuns(Operation *op, ArrayRef<uint32_t> read,
                    ArrayRef<uint32_t> now) {
    // Behind its own operands stand those of graphs in it.
    llvm::SmallDenseMap<Value, Value, 1> inside;
    for (size_t i = 0; i < read.size(); ++i) {
      Value last = next.values[now[i]];
      if (last == view.values[read[i]])
        continue;
      if (i < op->getNumOperands())
        op->setOperand(static_cast<unsigned>(i), last);
      else
        inside[view.values[read[i]]] = last;
    }
    if (!inside.empty())
      op->walk([&](Operation *nested) {
        for (OpOperand &use : nested->getOpOperands())
          if (Value last = inside.lookup(use.get()))
            use.set(last);
      });
  }

  /// The runs of an op that are copies.
  void copyOp(uint32_t op) {
    Operation *original = view.ops[op], *last = original;
    Draw draw;
    SmallVector<Value, 8> read, now;
    for (Runs left = runs.needed[op]; left; left &= left - 1) {
      uint32_t run = llvm::countr_zero(left), row = next.numOps();
      next.addOp(view, op, [&](uint32_t value) {
        uint32_t def = view.definer[value];
        return def == GraphView::kNone
                   ? value
                   : inRun(value, runs.runRead(op, run, def));
      });
      read.clear();
      now.clear();
      if (view.traits[op].hasRegions)
        for (uint32_t value : view.operands(op))
          read.push_back(view.values[value]);
      for (uint32_t value : next.operands(row))
        now.push_back(next.values[value]);
      Operation *copy = copyReading(original, read, now);
      mark(copy, op, run, draw);
      original->getBlock()->getOperations().insertAfter(last->getIterator(),
                                                        copy);
      next.ops[row] = copy;
      next.traits[row].copy = next.traits[row].annotated = true;
      llvm::copy(copy->getResults(),
                 next.values.begin() + next.resultBegin[row]);
      last = copy;
    }
  }

  /// The numbers of a random op in its runs.
  struct Draw {
    uint32_t times = 0; ///< drawn anew, up to the run at work
    int64_t stream = -1, replay = -1;
  };

  /// Ops of a region mostly have the same attributes, so their copies do.
  void setPolicy(Operation *copy, uint32_t op, uint32_t run) {
    Attribute &marked =
        markedAttrs[{copy->getDiscardableAttrDictionary(), run}];
    if (marked) {
      copy->setDiscardableAttrs(cast<DictionaryAttr>(marked));
      return;
    }
    copy->setDiscardableAttr(policyId,
                             PolicyAttr::get(context, PolicyKind::MustRecompute,
                                             runs.regions[op], run));
    marked = copy->getDiscardableAttrDictionary();
  }

  void mark(Operation *copy, uint32_t op, uint32_t run, Draw &draw) {
    setPolicy(copy, op, run);
    uint32_t times = 0;
    for (uint32_t j = 1; j <= run && !runs.freshRegions.empty(); ++j)
      times += runs.isFresh(runs.regions[op].take_front(j));
    if (times == 0)
      return;
    drawAgain(copy, draw, times);
    addNameSuffix(copy, namesId, (kFreshSuffix + Twine(times)).str());
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
    copy->setDiscardableAttr(kReplay,
                             Builder(context).getI64IntegerAttr(draw.replay));
  }

  //===--- Regions that run whole -----------------------------------------===//

  /// The end of a whole region's run.
  struct End {
    SmallVector<Value> values;
    SmallVector<int64_t> region;
  };

  void addReruns() {
    llvm::StringMap<End> ends;
    if (runs.firstReader.empty())
      return;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t run = 1; run <= runs.level[op]; ++run) {
        ArrayRef<int64_t> region = runs.regions[op].take_front(run);
        if (std::string path = regionText(region);
            runs.firstReader.count(path)) {
          End &end = ends[path];
          end.region.assign(region.begin(), region.end());
          addEnds(op, run, end.values);
        }
      }
    for (auto &[path, reader] : runs.firstReader)
      addRerun(ends[path],
               reader < view.numOps() ? view.ops[reader] : view.terminator);
  }

  /// The results of an op in a run of a whole region that nothing in this run
  /// reads.
  void addEnds(uint32_t op, uint32_t run, SmallVectorImpl<Value> &ends) {
    auto isInRun = [&](uint32_t user) {
      return user < view.numOps() && runs.level[user] >= run &&
             runs.commonDepth(user, op) >= run;
    };
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (llvm::none_of(view.users(r), isInRun))
        ends.push_back(next.values[inRun(r, run)]);
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

  GraphView &view, next;
  const GraphSets &sets;
  RegionRuns runs;
  MLIRContext *context;
  StringAttr namesId, policyId;
  std::vector<uint32_t> firstResult; ///< by op, in the next view
  /// By discardable attributes of an op, and the run: those of a copy.
  llvm::DenseMap<std::pair<Attribute, uint32_t>, Attribute> markedAttrs;
  int64_t nextStream = -1, nextDraw = -1;
  ExpandedRegions expanded;
};

} // namespace

ExpandedRegions cutback::expandRegions(GraphView &view, const GraphSets &sets,
                                       const Policies &policies) {
  return Expander(view, sets, policies).run();
}
