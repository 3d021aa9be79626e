// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is a loop nest. An op in it stands at a *position*: the map from an
// iteration to the op's element that is computed there. Two positions suffice
// for nearly all: `kRoot`, the elements of the op that the kernel was made for,
// in their order, and `kInside`, the iterations of a reduction whose result is
// at kRoot. All others are a map over another position; equal ones have one
// number, and unequal numbers may be equal maps, which costs a kernel, never a
// wrong one.
//
//   mean = sum(x); y = x - broadcast(mean): y at kRoot, mean at
//   (kRoot, broadcast of the pattern), x at kRoot
//   mean = sum(x * x): mean at kRoot, x * x at kInside, "lowered"

#include "cutback/Kernels/Formation.h"

#include "KernelBytes.h"
#include "MergeLaunches.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;

const char *cutback::spell(KernelSchedule schedule) {
  switch (schedule) {
  case KernelSchedule::Call:
    return "call";
  case KernelSchedule::Pointwise:
    return "pointwise";
  case KernelSchedule::Row:
    return "row";
  case KernelSchedule::LongRow:
    return "long-row";
  case KernelSchedule::Partial:
    return "partial";
  case KernelSchedule::Concat:
    return "concat";
  }
  return "";
}

ListedLaunch cutback::listLaunch(const Kernel &kernel, const GraphView &view) {
  ListedLaunch launch{kernel.schedule,    {},
                      kernel.borderBytes, kernel.movedBytes,
                      kernel.flopsPs,     kernel.ps,
                      /*inside=*/nullptr};
  for (uint32_t op : kernel.ops)
    if (view.numResults(op))
      launch.ops.push_back(view.name(view.resultBegin[op]));
  return launch;
}

ListedSegment cutback::listLaunches(const std::string &name,
                                    const SegmentKernels &kernels,
                                    const KernelProblem &problem,
                                    const GraphView &view) {
  ListedSegment segment{name, {}};
  for (const Kernel &kernel : kernels.kernels) {
    ListedLaunch &launch =
        segment.launches.emplace_back(listLaunch(kernel, view));
    if (const NestedCall *call = problem.nestedOf(kernel.anchor()))
      launch.inside = std::make_shared<const NestedCall>(*call);
  }
  return segment;
}

double SegmentKernels::ps() const {
  double total = 0;
  for (const Kernel &kernel : kernels)
    total += kernel.ps;
  return total;
}

namespace {

constexpr uint32_t kNone = SegmentKernels::kNone;
constexpr uint32_t kNoPattern = IndexMaps::kNoPattern;
/// What a row has besides its elements (a mean, an index) is no reason to write
/// them: so many times fewer bytes than they are.
constexpr int64_t kFewBytes = 8;

using Read = KernelProblem::Read;

std::vector<uint32_t> mergeWith(const KernelProblem &problem,
                                const GraphView &view, const ValueSizes &sizes,
                                const SegmentOps &segment,
                                const KernelRates &rates,
                                const SegmentFacts &facts,
                                const MergeRoom &room, SegmentKernels &kernels,
                                const KernelLimits &limits) {
  size_t before = kernels.kernels.size();
  std::vector<uint32_t> places =
      mergeLaunches(problem, view, sizes, limits, facts, room, kernels);
  if (kernels.kernels.size() < before)
    countBytes(problem, view, sizes, segment, rates, facts, kernels);
  return places;
}

class Former {
public:
  Former(const KernelProblem &problem, const GraphView &view,
         const ValueSizes &sizes, const SegmentOps &segment,
         const KernelRates &rates, const KernelLimits &limits)
      : problem(problem), view(view), sizes(sizes), segment(segment),
        rates(rates), limits(limits), facts(problem, view, segment),
        places(facts.places), members(view.numOps()),
        lastUse(view.numValues(), 0), isKept(facts.isKept),
        isGiven(facts.isGiven) {
    positions.resize(2);
  }

  SegmentKernels run() {
    auto numPlaces = static_cast<uint32_t>(segment.order.size());
    for (uint32_t v = 0; v < view.numValues(); ++v)
      if (isKept[v] || view.isArg(v))
        lastUse[v] = numPlaces;
    for (uint32_t op : llvm::reverse(segment.order))
      place(op);
    return collect();
  }

private:
  enum : uint32_t { kRoot = 0, kInside = 1, kNoPosition = kNone };

  struct Position {
    bool isAligned = true;
    bool coversAll = true; ///< each element of the op is computed
    double repeats = 1;    ///< and so often
  };

  struct Member {
    uint32_t kernel = kNone, position = kRoot;
    bool isRowPick = false; ///< a pick that is taken for a reduction
  };

  struct Forming {
    KernelSchedule schedule = KernelSchedule::Pointwise;
    uint32_t anchor = 0; ///< place of its last op
    uint32_t pattern = kNoPattern;
    bool isLowered = false;
    bool writes = false; ///< an argument
    uint32_t ops = 0;
    int64_t iterations = 0;
    double flopsPs = 0;
  };

  bool inSegment(uint32_t op) const { return places[op] != kNone; }
  uint32_t definerOf(uint32_t root) const {
    uint32_t def = view.definer[root];
    bool isHere = def != GraphView::kNone && inSegment(def) && !isGiven[root];
    return isHere ? def : kNone;
  }

  /// Whether the root, as an op of the segment makes it, is what is read.
  bool isOfSegment(const Read &read) const {
    return inSegment(read.op) && !isGiven[read.value];
  }

  //===--- Positions ------------------------------------------------------===//

  uint32_t compose(const Forming &kernel, uint32_t position,
                   IndexMaps::Id map) {
    if (map == IndexMaps::kNone)
      return kNoPosition;
    if (map == IndexMaps::kIdentity)
      return position;
    if (position == kInside && kernel.schedule != KernelSchedule::Partial &&
        map == problem.maps.broadcastOf(kernel.pattern))
      return kRoot;
    uint64_t key = (uint64_t(position) << 32 | map) + 1;
    auto [it, isNew] = positionOf.try_emplace(key, positions.size());
    if (isNew) {
      const IndexMaps::Map &step = problem.maps.map(map);
      const Position from = positions[position];
      positions.push_back(
          {from.isAligned && step.broadcast != IndexMaps::kNoPattern,
           from.coversAll && step.coversAll,
           from.repeats * static_cast<double>(step.repeats)});
    }
    return it->second;
  }

  uint32_t fullPosition(const Forming &kernel) const {
    return kernel.isLowered ? kInside : kRoot;
  }
  uint32_t rowPosition(const Forming &kernel, uint32_t pattern) {
    return kernel.isLowered
               ? uint32_t(kRoot)
               : compose(kernel, kRoot, problem.maps.broadcastOf(pattern));
  }

  /// The position at which `read`, of an op in a kernel, wants its root.
  uint32_t positionOfRead(const Read &read) {
    const Member &reader = members[read.op];
    const Forming &kernel = forming[reader.kernel];
    LoopKind kind = problem.kind[read.op];
    if (kind == LoopKind::Pick && !reader.isRowPick)
      return compose(kernel, reader.position, read.mapOfResult);
    bool combines = kind == LoopKind::Reduction || kind == LoopKind::Pick;
    return compose(kernel, combines ? fullPosition(kernel) : reader.position,
                   read.map);
  }

  //===--- Joining --------------------------------------------------------===//

  void place(uint32_t op) {
    if (problem.kind[op] == LoopKind::None)
      return;
    if (!join(op))
      begin(op);
    Member &member = members[op];
    Forming &kernel = forming[member.kernel];
    ++kernel.ops;
    for (const Read &read : problem.readsOf(op))
      lastUse[read.root] = std::max(lastUse[read.root], kernel.anchor);
  }

  void begin(uint32_t op) {
    members[op].kernel = forming.size();
    members[op].position = kRoot;
    Forming &kernel = forming.emplace_back();
    kernel.anchor = places[op];
    kernel.iterations = problem.iterations[op];
    kernel.flopsPs = (*rates.flopsPs)[op];
    kernel.writes = problem.isWrite[op];
    switch (problem.kind[op]) {
    case LoopKind::Call:
    case LoopKind::None:
      kernel.schedule = KernelSchedule::Call;
      break;
    case LoopKind::Concat:
      kernel.schedule = KernelSchedule::Concat;
      break;
    case LoopKind::Pick:
      if (!wantsRow(op)) {
        kernel.iterations = problem.maps.pattern(problem.pattern[op]).kept;
        break;
      }
      members[op].isRowPick = true;
      [[fallthrough]];
    case LoopKind::Reduction:
      kernel.pattern = problem.pattern[op];
      kernel.isLowered = true;
      kernel.schedule = scheduleOf(kernel.pattern);
      break;
    case LoopKind::Elementwise:
      break;
    }
  }

  KernelSchedule scheduleOf(uint32_t pattern) const {
    const LoopPattern &loops = problem.maps.pattern(pattern);
    if (!loops.isRows() || loops.reduced > limits.rowOfBlock)
      return KernelSchedule::Partial;
    if (loops.reduced <= limits.rowOnChip)
      return KernelSchedule::Row;
    return loops.kept < limits.fewRows ? KernelSchedule::Partial
                                       : KernelSchedule::LongRow;
  }

  /// What the pick chooses from is computed in this segment, element by
  /// element: along the row it need not go through memory.
  bool wantsRow(uint32_t op) const {
    if (scheduleOf(problem.pattern[op]) == KernelSchedule::Partial)
      return false;
    const Read &chosenFrom = problem.readsOf(op).front();
    if (!isOfSegment(chosenFrom))
      return false;
    uint32_t def = definerOf(chosenFrom.root);
    return def != kNone && (problem.kind[def] == LoopKind::Elementwise ||
                            problem.kind[def] == LoopKind::Reduction);
  }

  /// The earliest kernel that reads a result of `op`; later ones have smaller
  /// numbers, as the walk is backwards.
  uint32_t earliestReader(uint32_t op) const {
    uint32_t earliest = kNone;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t index : problem.readersOf(r)) {
        const Read &read = problem.reads[index];
        uint32_t kernel = isOfSegment(read) ? members[read.op].kernel : kNone;
        if (kernel != kNone && (earliest == kNone || kernel > earliest))
          earliest = kernel;
      }
    return earliest;
  }

  bool join(uint32_t op) {
    LoopKind kind = problem.kind[op];
    if (kind == LoopKind::Call || kind == LoopKind::Concat)
      return false;
    uint32_t number = earliestReader(op);
    if (number == kNone)
      return false;
    Forming &kernel = forming[number];
    if (kernel.schedule == KernelSchedule::Call || kernel.ops >= limits.ops)
      return false;
    bool isRead = false; // by others
    uint32_t position = commonPosition(op, number, isRead);
    if (position == kNoPosition || (isRead && !positions[position].coversAll))
      return false;
    if (movesOverWrite(op, number, position) ||
        keepsMoreAlive(op, number, kernel.anchor))
      return false;
    bool isRow =
        kind == LoopKind::Reduction || (kind == LoopKind::Pick && wantsRow(op));
    if (isRow && !canReduce(op, kernel, position))
      return false;
    double flops = (*rates.flopsPs)[op];
    if (!isRow && !addRepeats(op, kernel, position, flops))
      return false;
    if (isRow)
      addReduction(op, kernel, position);
    kernel.flopsPs += flops;
    members[op] = {number, position, isRow && kind == LoopKind::Pick};
    return true;
  }

  /// The one position at which all readers in kernel `number` want `op`.
  uint32_t commonPosition(uint32_t op, uint32_t number, bool &isRead) {
    uint32_t position = kNoPosition;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      isRead |= isKept[r] != 0;
      for (uint32_t index : problem.readersOf(r)) {
        const Read &read = problem.reads[index];
        if (!isOfSegment(read))
          continue;
        if (members[read.op].kernel != number) {
          isRead = true;
          continue;
        }
        uint32_t wanted = positionOfRead(read);
        if (wanted == kNoPosition ||
            (position != kNoPosition && position != wanted))
          return kNoPosition;
        position = wanted;
      }
    }
    return position;
  }

  /// Whether the op, as a member of kernel `number`, would read an argument
  /// behind a write that it stands in front of. A write of the kernel itself
  /// may store each element where the op has read that one.
  bool movesOverWrite(uint32_t op, uint32_t number, uint32_t position) const {
    for (const Read &read : problem.readsOf(op)) {
      uint32_t written = problem.writeOf[read.root];
      if (written == kNone)
        continue;
      for (uint32_t write : problem.writes[written].second) {
        if (!inSegment(write) || places[write] < places[op] ||
            places[write] > forming[number].anchor)
          continue;
        const Member &writer = members[write];
        bool isInPlace = writer.kernel == number && problem.isWrite[write] &&
                         writer.position == position &&
                         problem.kind[op] == LoopKind::Elementwise &&
                         read.map == IndexMaps::kIdentity;
        if (!isInPlace)
          return true;
      }
    }
    return false;
  }

  /// Bytes that stay alive until `anchor` if `root` is read there. If the op
  /// that makes it may follow its only reader (`follows`), those of what that
  /// one reads: a mean stays, not its product with the momentum.
  int64_t growthOf(uint32_t root, uint32_t anchor, bool follows) const {
    if (lastUse[root] >= anchor)
      return 0;
    int64_t bytes = sizes.bytes[root];
    uint32_t def = definerOf(root);
    if (!follows || def == kNone || isKept[root] ||
        problem.kind[def] != LoopKind::Elementwise ||
        view.numResults(def) != 1 || problem.readersOf(root).size() != 1)
      return bytes;
    int64_t growth = 0;
    for (const Read &read : problem.readsOf(def))
      growth += growthOf(read.root, anchor, false);
    return std::min(bytes, growth);
  }

  /// Whether the op, run at `anchor` behind other kernels, keeps clearly more
  /// bytes of its operands alive until then than it takes itself.
  bool keepsMoreAlive(uint32_t op, uint32_t number, uint32_t anchor) const {
    if (!limits.sparesMemory || number + 1 == forming.size())
      return false; // no kernel is in between
    int64_t growth = 0, made = 0;
    llvm::ArrayRef<Read> reads = problem.readsOf(op);
    for (size_t i = 0; i < reads.size(); ++i) {
      uint32_t root = reads[i].root;
      bool isRepeated = llvm::any_of(
          reads.take_front(i), [&](const Read &r) { return r.root == root; });
      if (!isRepeated)
        growth += growthOf(root, anchor, forming[number].writes);
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      made += sizes.bytes[r];
    return growth - made > made / kFewBytes;
  }

  bool canReduce(uint32_t op, const Forming &kernel, uint32_t position) {
    uint32_t pattern = problem.pattern[op];
    if (kernel.schedule == KernelSchedule::Partial ||
        kernel.schedule == KernelSchedule::Concat ||
        scheduleOf(pattern) == KernelSchedule::Partial)
      return false;
    if (kernel.pattern != kNoPattern)
      return kernel.pattern == pattern &&
             position == rowPosition(kernel, pattern);
    return position == kRoot
               ? kernel.iterations == problem.maps.pattern(pattern).kept
               : position == rowPosition(kernel, pattern);
  }

  void addReduction(uint32_t op, Forming &kernel, uint32_t position) {
    if (kernel.pattern != kNoPattern)
      return;
    kernel.pattern = problem.pattern[op];
    kernel.schedule = scheduleOf(kernel.pattern);
    kernel.isLowered = position == kRoot;
    kernel.iterations = problem.iterations[op];
  }

  /// A value that several iterations read is computed in each of them. Adds the
  /// time of that to `flops`; false if it is too long.
  bool addRepeats(uint32_t op, const Forming &kernel, uint32_t position,
                  double &flops) {
    double repeats = positions[position].repeats;
    if (repeats == 1 || (kernel.pattern != kNoPattern &&
                         position == rowPosition(kernel, kernel.pattern)))
      return true;
    int64_t bytes = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      bytes += sizes.bytes[r];
    double more = flops * (repeats - 1);
    flops += more;
    return more <=
           rates.launchPs + 2 * static_cast<double>(bytes) / rates.bandwidth;
  }

  //===--- Results --------------------------------------------------------===//

  SegmentKernels collect() {
    SegmentKernels result;
    size_t count = forming.size();
    result.kernels.resize(count);
    result.kernelOf.assign(view.numOps(), kNone);
    std::vector<uint8_t> &atFull = result.atFull, &combines = result.combines;
    atFull.assign(view.numOps(), 0);
    combines.assign(view.numOps(), 0);
    for (uint32_t op : segment.order) {
      const Member &member = members[op];
      if (member.kernel == kNone)
        continue;
      const Forming &from = forming[member.kernel];
      uint32_t number = count - 1 - member.kernel;
      result.kernelOf[op] = number;
      result.kernels[number].isAligned &= positions[member.position].isAligned;
      result.kernels[number].ops.push_back(op);
      result.kernels[number].nestOf.push_back(0);
      combines[op] =
          problem.kind[op] == LoopKind::Reduction || member.isRowPick;
      atFull[op] = !combines[op] && member.position == fullPosition(from);
    }
    for (size_t i = 0; i < count; ++i) {
      Kernel &kernel = result.kernels[count - 1 - i];
      kernel.schedule = forming[i].schedule;
      kernel.nests.push_back({forming[i].pattern, forming[i].iterations});
      kernel.flopsPs = forming[i].flopsPs;
    }
    fuseKernels(problem, view, sizes, limits, facts, result);
    countBytes(problem, view, sizes, segment, rates, facts, result);
    result.apartPs = result.ps();
    if (limits.nests > 0)
      mergeWith(problem, view, sizes, segment, rates, facts, {}, result,
                limits);
    return result;
  }

  const KernelProblem &problem;
  const GraphView &view;
  const ValueSizes &sizes;
  const SegmentOps &segment;
  const KernelRates &rates;
  const KernelLimits &limits;
  SegmentFacts facts;
  const std::vector<uint32_t> &places;
  std::vector<Member> members;  ///< by op
  std::vector<Forming> forming; ///< from the last to the first
  /// By root: the place of the last kernel that reads it, as far as is known.
  std::vector<uint32_t> lastUse;
  const std::vector<uint8_t> &isKept;  ///< by root
  const std::vector<uint8_t> &isGiven; ///< by value
  std::vector<Position> positions;
  llvm::DenseMap<uint64_t, uint32_t> positionOf;
};

} // namespace

SegmentKernels
cutback::formKernels(const KernelProblem &problem, const GraphView &view,
                     const ValueSizes &sizes, const SegmentOps &segment,
                     const KernelRates &rates, const KernelLimits &limits) {
  return Former(problem, view, sizes, segment, rates, limits).run();
}

std::vector<uint32_t>
cutback::mergeKernels(const KernelProblem &problem, const GraphView &view,
                      const ValueSizes &sizes, const SegmentOps &segment,
                      const KernelRates &rates, const MergeRoom &room,
                      SegmentKernels &kernels, const KernelLimits &limits) {
  SegmentFacts facts(problem, view, segment);
  return mergeWith(problem, view, sizes, segment, rates, facts, room, kernels,
                   limits);
}
