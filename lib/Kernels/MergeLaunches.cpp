// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the first kernel to the last: each looks back at a few and moves to the
// place of one of them, or lets that one come to its own. Casts of parameters
// go up to the first of them, sums of a gradient meet at its last reader.
//
// What is live is known where the launches have an order and their memory. Else
// no result takes the place of an operand, an upper bound, and what is not
// small stays away from the peak. A place is a number in the list as it was;
// one whose kernel went away is empty until the end.

#include "MergeLaunches.h"

#include "cutback/Support/LiveSweep.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cutback;

namespace {

constexpr uint32_t kNone = SegmentKernels::kNone;
/// Places that a kernel looks back.
constexpr uint32_t kWindow = 32;
/// A value with fewer bytes than this part of the peak may move where it likes.
constexpr int64_t kSmall = 256;
/// Readers of a value beyond which nobody looks for the last but one.
constexpr size_t kFewReaders = 16;

class Merger {
public:
  Merger(const KernelProblem &problem, const GraphView &view,
         const ValueSizes &sizes, const KernelLimits &limits,
         const SegmentFacts &facts, const MergeRoom &room,
         SegmentKernels &segment)
      : problem(problem), view(view), sizes(sizes), limits(limits),
        facts(facts), room(room), kernels(segment.kernels),
        kernelOf(segment.kernelOf), marks(kernels.size()),
        atFull(segment.atFull), combines(segment.combines),
        placeOf(kernels.size()), lastUse(view.numValues(), 0),
        during(kernels.size() + 1, 0) {
    std::iota(placeOf.begin(), placeOf.end(), 0);
  }

  void fuse() {
    markKernels();
    countLive();
    for (uint32_t number = 1; number < kernels.size(); ++number)
      while (canBeFused(number) && fuseWithMaker(number))
        ;
    takeEmptyOut();
  }

  std::vector<uint32_t> run() {
    markKernels();
    countLive();
    for (uint32_t number = 1; number < kernels.size(); ++number)
      if (canBeMerged(number))
        merge(number);
    takeEmptyOut();
    for (uint32_t &place : placeOf)
      while (placeOf[place] != place)
        place = placeOf[place];
    return std::move(placeOf);
  }

private:
  struct Mark {
    bool hasEffect = false;
    bool seesWritten = false; ///< reads or writes an argument that is written
    int64_t reads = 0;        ///< roots, at most so many
  };

  //===--- What is there --------------------------------------------------===//

  /// By a kernel of the segment; a result that is given is not its own.
  bool isMade(uint32_t root) const {
    uint32_t def = view.definer[root];
    return def != GraphView::kNone && facts.places[def] != kNone &&
           !facts.isGiven[root] && kernelOf[def] != kNone;
  }
  bool isMade(const KernelProblem::Read &read) const {
    return !facts.isGiven[read.value] && isMade(read.root);
  }

  void markKernels() {
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      Mark &mark = marks[number];
      for (uint32_t op : kernel.ops) {
        mark.hasEffect |= view.traits[op].ordered;
        mark.seesWritten |= problem.isWrite[op] != 0;
        for (const KernelProblem::Read &read : problem.readsOf(op)) {
          mark.seesWritten |= problem.writeOf[read.root] != kNone;
          mark.reads +=
              !isMade(read) || kernelOf[view.definer[read.root]] != number;
        }
      }
    }
  }

  /// Bytes that are live when each kernel runs.
  void countLive() {
    auto end = static_cast<uint32_t>(kernels.size());
    for (uint32_t number = 0; number < end; ++number)
      for (uint32_t op : kernels[number].ops)
        for (const KernelProblem::Read &read : problem.readsOf(op))
          lastUse[read.root] = std::max(lastUse[read.root], number);
    LiveSweep<> sweep(end + 1);
    for (uint32_t v = 0; v < view.numValues(); ++v) {
      if (view.isArg(v) || problem.root[v] != v || sizes.bytes[v] == 0)
        continue;
      bool isOwn = isMade(v);
      if (facts.isKept[v])
        lastUse[v] = end;
      if (!isOwn && lastUse[v] == 0)
        continue;
      uint32_t born = isOwn ? kernelOf[view.definer[v]] : 0;
      if (isOwn && lastUse[v] <= born)
        continue; // in registers
      sweep.add(born, lastUse[v] + 1, sizes.bytes[v]);
    }
    llvm::transform(std::move(sweep).run(), during.begin(),
                    [](const LiveSweep<>::Bytes &bytes) { return bytes[0]; });
    peak = during.empty() ? 0 : *llvm::max_element(during);
    if (isMeasured())
      llvm::copy(room.live, during.begin());
  }
  bool isMeasured() const { return !room.live.empty(); }

  //===--- One kernel -----------------------------------------------------===//

  bool canBeMerged(uint32_t number) const {
    KernelSchedule schedule = kernels[number].schedule;
    return !kernels[number].ops.empty() && schedule != KernelSchedule::Call &&
           schedule != KernelSchedule::LongRow &&
           (room.isApart.empty() || !room.isApart[number]);
  }

  void merge(uint32_t number) {
    uint32_t earliest = firstPlace(number);
    uint32_t begin = number > kWindow ? number - kWindow : 0;
    uint32_t best = kNone;
    bool isUp = false;
    for (uint32_t other = number; other-- > begin;) {
      if (!canBeMerged(other) || !fits(other, number))
        continue;
      bool shares = sharesNest(other, number);
      if (best != kNone && !shares)
        continue;
      bool up = other >= earliest && mayMove(number, other);
      if (!up && !(lastPlace(other) > number && mayMove(other, number)))
        continue;
      best = other;
      isUp = up;
      if (shares)
        break;
    }
    if (best != kNone)
      isUp ? move(number, best) : move(best, number);
  }

  /// Behind all that the kernel reads, but for what `maker` makes.
  uint32_t firstPlace(uint32_t number, uint32_t maker = kNone) const {
    uint32_t first = 0;
    for (uint32_t op : kernels[number].ops)
      for (const KernelProblem::Read &read : problem.readsOf(op))
        if (isMade(read))
          if (uint32_t def = kernelOf[view.definer[read.root]];
              def != number && def != maker)
            first = std::max(first, def + 1);
    return first;
  }

  /// The first kernel that reads what this one makes, but for `other`.
  uint32_t lastPlace(uint32_t number, uint32_t other = kNone) const {
    uint32_t last = kNone;
    for (uint32_t op : kernels[number].ops)
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        for (uint32_t reader : readersOf(r))
          if (reader != number && reader != other)
            last = std::min(last, reader);
    return last;
  }

  /// Kernels, one a read.
  llvm::SmallVector<uint32_t, 8> readersOf(uint32_t root) const {
    llvm::SmallVector<uint32_t, 8> list;
    for (uint32_t number : problem.readersOf(root)) {
      const KernelProblem::Read &read = problem.reads[number];
      bool isOther = facts.isGiven[read.value] && !view.isArg(root);
      if (!isOther && facts.places[read.op] != kNone &&
          kernelOf[read.op] != kNone)
        list.push_back(kernelOf[read.op]);
    }
    return list;
  }

  static bool isSameNest(const Kernel &kernel, const KernelNest &a,
                         const KernelNest &b) {
    return kernel.schedule != KernelSchedule::Concat &&
           a.pattern == b.pattern && a.iterations == b.iterations;
  }

  bool fits(uint32_t a, uint32_t b) const {
    const Kernel &one = kernels[a], &other = kernels[b];
    if (one.schedule != other.schedule || one.isAligned != other.isAligned ||
        static_cast<int64_t>(one.ops.size() + other.ops.size()) > limits.ops ||
        marks[a].reads + marks[b].reads > limits.reads)
      return false;
    size_t nests = one.nests.size();
    for (const KernelNest &nest : other.nests)
      nests += llvm::none_of(one.nests, [&](const KernelNest &mine) {
        return isSameNest(one, mine, nest);
      });
    return nests <= limits.nests;
  }

  /// One nest for both, which reads a tensor once.
  bool sharesNest(uint32_t a, uint32_t b) const {
    const Kernel &one = kernels[a], &other = kernels[b];
    bool isSame = llvm::any_of(one.nests, [&](const KernelNest &mine) {
      return llvm::any_of(other.nests, [&](const KernelNest &nest) {
        return isSameNest(one, mine, nest);
      });
    });
    if (!isSame)
      return false;
    auto reads = [&](uint32_t root) {
      return llvm::any_of(one.ops, [&](uint32_t op) {
        return llvm::any_of(
            problem.readsOf(op),
            [&](const KernelProblem::Read &read) { return read.root == root; });
      });
    };
    return llvm::any_of(other.ops, [&](uint32_t op) {
      return llvm::any_of(problem.readsOf(op),
                          [&](const KernelProblem::Read &read) {
                            return read.bytes > 0 && reads(read.root);
                          });
    });
  }

  //===--- A kernel and a reader ------------------------------------------===//

  bool canBeFused(uint32_t number) const {
    const Kernel &kernel = kernels[number];
    return !kernel.ops.empty() && kernel.nests.size() == 1 &&
           (kernel.schedule == KernelSchedule::Pointwise ||
            kernel.schedule == KernelSchedule::Row);
  }

  /// Into one kernel with one that makes what kernel `number` reads, the
  /// nearest one. False if there is none such.
  bool fuseWithMaker(uint32_t number) {
    llvm::SmallVector<uint32_t, 8> makers;
    for (uint32_t op : kernels[number].ops)
      for (const KernelProblem::Read &read : problem.readsOf(op))
        if (isMade(read))
          if (uint32_t def = kernelOf[view.definer[read.root]];
              def < number && number - def <= kWindow && canBeFused(def))
            makers.push_back(def);
    llvm::sort(makers, std::greater<>());
    makers.erase(llvm::unique(makers), makers.end());
    for (uint32_t maker : makers) {
      if (!hasSameLoops(maker, number) || !readsInStep(maker, number))
        continue;
      if (firstPlace(number, maker) <= maker && keepsLess(number, maker) &&
          keepsEffects(number, maker)) {
        fuse(number, maker);
        return false; // it is the maker's now
      }
      if (lastPlace(maker, number) > number && keepsLess(maker, number) &&
          keepsEffects(maker, number)) {
        fuse(maker, number);
        return true;
      }
    }
    return false;
  }

  bool hasSameLoops(uint32_t a, uint32_t b) const {
    const Kernel &one = kernels[a], &other = kernels[b];
    const KernelNest &mine = one.nests.front(), &nest = other.nests.front();
    return mine.iterations == nest.iterations &&
           (mine.pattern == nest.pattern ||
            mine.pattern == IndexMaps::kNoPattern ||
            nest.pattern == IndexMaps::kNoPattern) &&
           static_cast<int64_t>(one.ops.size() + other.ops.size()) <=
               limits.ops &&
           marks[a].reads + marks[b].reads <= limits.reads;
  }

  /// All that `number` reads of `maker` is read in the iteration that makes it,
  /// or in those of the row that was combined to it.
  bool readsInStep(uint32_t maker, uint32_t number) const {
    for (uint32_t op : kernels[number].ops)
      for (const KernelProblem::Read &read : problem.readsOf(op)) {
        if (!isMade(read))
          continue;
        uint32_t def = view.definer[read.root];
        if (kernelOf[def] != maker)
          continue;
        bool isPlain = problem.kind[op] == LoopKind::Elementwise ||
                       problem.kind[op] == LoopKind::Reduction;
        bool isElement = atFull[def] && (atFull[op] || combines[op]) &&
                         read.map == IndexMaps::kIdentity;
        // Equal patterns, or one kernel has none.
        bool isOfRow = combines[def] && atFull[op] &&
                       read.map == problem.maps.broadcastOf(
                                       kernels[maker].nests.front().pattern);
        if (!isPlain || !(isElement || isOfRow))
          return false;
      }
    return true;
  }

  /// True if at no place between more bytes are live for the move, or these are
  /// few or far from the peak.
  bool keepsLess(uint32_t from, uint32_t to) const {
    llvm::SmallVector<int64_t, kWindow + 1> change;
    changesOf(from, to, change);
    change[to > from ? change.size() - 1 : 0] -= sharedBytes(from, to);
    uint32_t first = std::min(from, to);
    for (auto [i, bytes] : llvm::enumerate(change))
      if (bytes > peak / kSmall && during[first + i] + bytes > peak / 2)
        return false;
    return true;
  }

  /// Of what one of two makes for the other alone.
  int64_t sharedBytes(uint32_t a, uint32_t b) const {
    uint32_t maker = std::min(a, b), reader = std::max(a, b);
    int64_t bytes = 0;
    forEachMade(maker, [&](uint32_t root) {
      if (lastUse[root] == reader && lastBut(root, reader) == maker)
        bytes += sizes.bytes[root];
    });
    return bytes;
  }

  void fuse(uint32_t from, uint32_t to) {
    int64_t shared = sharedBytes(from, to);
    Kernel &one = kernels[from], &other = kernels[to];
    uint32_t pattern =
        std::min(one.nests.front().pattern, other.nests.front().pattern);
    one.nests.front().pattern = other.nests.front().pattern = pattern;
    if (one.schedule == KernelSchedule::Row)
      other.schedule = one.schedule;
    move(from, to);
    during[to] -= shared;
  }

  //===--- Moving ---------------------------------------------------------===//

  /// True if nothing else has to run between the places, which the caller knows
  /// of readers, and the step needs no more memory for it.
  bool mayMove(uint32_t from, uint32_t to) const {
    if (hasEffectBetween(from, to))
      return false;
    if (marks[from].seesWritten && !keepsWrites(from, to))
      return false;
    return staysLow(from, to);
  }

  bool hasEffectBetween(uint32_t from, uint32_t to) const {
    if (marks[from].hasEffect)
      for (uint32_t k = std::min(from, to) + 1; k < std::max(from, to); ++k)
        if (marks[k].hasEffect)
          return true;
    return false;
  }

  /// The same of two kernels that become one, element by element.
  bool keepsEffects(uint32_t from, uint32_t to) const {
    return !hasEffectBetween(from, to) &&
           (!marks[from].seesWritten || keepsWrites(from, to, true)) &&
           (!marks[from].seesWritten || !marks[to].seesWritten ||
            writesInStep(std::min(from, to), std::max(from, to)));
  }

  /// What the later of two kernels writes, the earlier one reads nothing else
  /// of than the element that is written then; what the earlier one writes, the
  /// later one neither reads nor writes.
  bool writesInStep(uint32_t earlier, uint32_t later) const {
    auto readsElsewhere = [&](uint32_t argument, uint32_t write) {
      return llvm::any_of(kernels[earlier].ops, [&](uint32_t op) {
        return llvm::any_of(
            problem.readsOf(op), [&](const KernelProblem::Read &read) {
              return read.root == argument &&
                     (problem.kind[op] != LoopKind::Elementwise ||
                      read.map != IndexMaps::kIdentity || !atFull[op] ||
                      !atFull[write]);
            });
      });
    };
    for (uint32_t op : kernels[later].ops)
      if (problem.isWrite[op] && readsElsewhere(writtenBy(op), op))
        return false;
    for (uint32_t op : kernels[earlier].ops)
      if (problem.isWrite[op] && sees(later, writtenBy(op)))
        return false;
    return true;
  }

  uint32_t writtenBy(uint32_t write) const {
    return problem.root[view.resultBegin[write]];
  }

  bool sees(uint32_t number, uint32_t argument) const {
    return llvm::any_of(kernels[number].ops, [&](uint32_t op) {
      return (problem.isWrite[op] && writtenBy(op) == argument) ||
             llvm::any_of(problem.readsOf(op),
                          [&](const KernelProblem::Read &read) {
                            return read.root == argument;
                          });
    });
  }

  /// True if no more is live than may be. Where that is an estimate: if what
  /// moves is small, or if less than half of the peak is live wherever it is.
  bool staysLow(uint32_t from, uint32_t to) const {
    llvm::SmallVector<int64_t, kWindow + 1> change;
    changesOf(from, to, change);
    return (!isMeasured() && isSmall(from, to, change)) ||
           fitsInto(isMeasured() ? room.most : peak / 2, std::min(from, to),
                    change);
  }

  bool fitsInto(int64_t most, uint32_t first,
                llvm::ArrayRef<int64_t> change) const {
    for (auto [i, bytes] : llvm::enumerate(change))
      if (during[first + i] + std::max<int64_t>(bytes, 0) > most)
        return false;
    return true;
  }

  bool isSmall(uint32_t from, uint32_t to,
               llvm::ArrayRef<int64_t> change) const {
    int64_t most = *llvm::max_element(change);
    for (uint32_t number : {from, to}) {
      auto touch = [&](uint32_t root, bool isTemporary) {
        if (isTemporary)
          most = std::max(most, sizes.bytes[root]);
      };
      forEachMade(number,
                  [&](uint32_t root) { touch(root, !facts.isKept[root]); });
      forEachRead(number, [&](uint32_t root) {
        touch(root, lastUse[root] <= std::max(from, to));
      });
    }
    return most <= peak / kSmall;
  }

  /// Reads and writes of an argument stay on their sides, and apart, but for
  /// those of two kernels `inStep` (writesInStep()).
  bool keepsWrites(uint32_t from, uint32_t to, bool inStep = false) const {
    auto staysAside = [&](uint32_t other) {
      return other == from ||
             (other == to ? inStep : (other < from) == (other < to));
    };
    auto isAside = [&](uint32_t root) {
      uint32_t written = problem.writeOf[root];
      return written == kNone ||
             llvm::all_of(problem.writes[written].second, [&](uint32_t write) {
               return facts.places[write] == kNone ||
                      staysAside(kernelOf[write]);
             });
    };
    for (uint32_t op : kernels[from].ops) {
      for (const KernelProblem::Read &read : problem.readsOf(op))
        if (!isAside(read.root))
          return false;
      if (!problem.isWrite[op])
        continue;
      uint32_t argument = problem.root[view.resultBegin[op]];
      if (!isAside(argument) || !llvm::all_of(readersOf(argument), staysAside))
        return false;
    }
    return true;
  }

  /// How many bytes more are live at each place between, both included.
  void changesOf(uint32_t from, uint32_t to,
                 llvm::SmallVectorImpl<int64_t> &change) const {
    uint32_t first = std::min(from, to);
    change.assign(std::max(from, to) - first + 1, 0);
    auto add = [&](uint32_t begin, uint32_t end, int64_t bytes) {
      for (uint32_t k = begin; k < end; ++k)
        change[k - first] += bytes;
    };
    forEachMade(from, [&](uint32_t root) {
      if (to < from)
        add(to, from, sizes.bytes[root]);
      else
        add(from, to, -sizes.bytes[root]);
    });
    forEachRead(from, [&](uint32_t root) {
      uint32_t last = lastUse[root];
      if (to > from && last < to)
        add(last + 1, to + 1, sizes.bytes[root]);
      else if (to < from && last == from)
        add(std::max(lastBut(root, from), to) + 1, from + 1,
            -sizes.bytes[root]);
    });
  }

  /// Results that others read.
  template <typename Fn> void forEachMade(uint32_t number, Fn fn) const {
    for (uint32_t op : kernels[number].ops)
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        if (problem.root[r] == r && !facts.isGiven[r] && lastUse[r] > number)
          fn(r);
  }

  /// Tensors of the step that lie in memory, each once.
  template <typename Fn> void forEachRead(uint32_t number, Fn fn) const {
    llvm::SmallVector<uint32_t, 16> seen;
    for (uint32_t op : kernels[number].ops)
      for (const KernelProblem::Read &read : problem.readsOf(op)) {
        uint32_t root = read.root;
        if (view.isArg(root) || llvm::is_contained(seen, root) ||
            (isMade(read) && kernelOf[view.definer[root]] == number))
          continue;
        seen.push_back(root);
        fn(root);
      }
  }

  /// The last kernel besides `number` that reads `root`, or makes it; `number`
  /// where that takes too long to find.
  uint32_t lastBut(uint32_t root, uint32_t number) const {
    if (problem.readersOf(root).size() > kFewReaders)
      return number;
    uint32_t last = isMade(root) ? kernelOf[view.definer[root]] : 0;
    for (uint32_t read : problem.readersOf(root))
      if (uint32_t op = problem.reads[read].op; facts.places[op] != kNone &&
                                                kernelOf[op] != kNone &&
                                                kernelOf[op] != number)
        last = std::max(last, kernelOf[op]);
    return last;
  }

  void move(uint32_t from, uint32_t to) {
    llvm::SmallVector<int64_t, kWindow + 1> change;
    changesOf(from, to, change);
    uint32_t first = std::min(from, to);
    for (auto [i, bytes] : llvm::enumerate(change))
      during[first + i] += bytes;
    forEachRead(from, [&](uint32_t root) {
      if (to > from)
        lastUse[root] = std::max(lastUse[root], to);
      else if (lastUse[root] == from)
        lastUse[root] = std::max(lastBut(root, from), to);
    });
    absorb(kernels[to], kernels[from]);
    for (uint32_t op : kernels[from].ops)
      kernelOf[op] = to;
    kernels[from].ops.clear();
    placeOf[from] = to;
    marks[to].hasEffect |= marks[from].hasEffect;
    marks[to].seesWritten |= marks[from].seesWritten;
    marks[to].reads += marks[from].reads;
    marks[from] = Mark();
  }

  void absorb(Kernel &into, const Kernel &from) const {
    llvm::SmallVector<uint8_t> numberOf;
    for (const KernelNest &nest : from.nests) {
      auto same = llvm::find_if(into.nests, [&](const KernelNest &mine) {
        return isSameNest(into, mine, nest);
      });
      numberOf.push_back(same - into.nests.begin());
      if (same == into.nests.end())
        into.nests.push_back(nest);
    }
    std::vector<uint32_t> ops;
    std::vector<uint8_t> nestOf;
    size_t a = 0, b = 0;
    while (a < into.ops.size() || b < from.ops.size()) {
      bool isOwn = b == from.ops.size() ||
                   (a < into.ops.size() &&
                    facts.places[into.ops[a]] < facts.places[from.ops[b]]);
      ops.push_back(isOwn ? into.ops[a] : from.ops[b]);
      nestOf.push_back(isOwn ? into.nestOf[a] : numberOf[from.nestOf[b]]);
      ++(isOwn ? a : b);
    }
    into.ops = std::move(ops);
    into.nestOf = std::move(nestOf);
    into.isAligned &= from.isAligned;
    into.flopsPs += from.flopsPs;
  }

  void takeEmptyOut() {
    llvm::erase_if(kernels,
                   [](const Kernel &kernel) { return kernel.ops.empty(); });
    for (auto [number, kernel] : llvm::enumerate(kernels))
      for (uint32_t op : kernel.ops)
        kernelOf[op] = number;
  }

  const KernelProblem &problem;
  const GraphView &view;
  const ValueSizes &sizes;
  const KernelLimits &limits;
  const SegmentFacts &facts;
  const MergeRoom &room;
  std::vector<Kernel> &kernels;                  ///< by place
  std::vector<uint32_t> &kernelOf;               ///< by op: the place
  std::vector<Mark> marks;                       ///< by place
  const std::vector<uint8_t> &atFull, &combines; ///< by op
  std::vector<uint32_t> placeOf; ///< by kernel: to where it moved last
  std::vector<uint32_t> lastUse; ///< by root: place; their number if kept
  std::vector<int64_t> during;   ///< by place: live bytes
  int64_t peak = 0;
};

} // namespace

std::vector<uint32_t>
cutback::mergeLaunches(const KernelProblem &problem, const GraphView &view,
                       const ValueSizes &sizes, const KernelLimits &limits,
                       const SegmentFacts &facts, const MergeRoom &room,
                       SegmentKernels &segment) {
  return Merger(problem, view, sizes, limits, facts, room, segment).run();
}

void cutback::fuseKernels(const KernelProblem &problem, const GraphView &view,
                          const ValueSizes &sizes, const KernelLimits &limits,
                          const SegmentFacts &facts, SegmentKernels &segment) {
  Merger(problem, view, sizes, limits, facts, {}, segment).fuse();
}
