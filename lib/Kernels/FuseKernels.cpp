// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the first kernel to the last: each looks for kernels among the few in
// front of it that make what it reads, the nearest first, and becomes one with
// it where every element is read in the iteration that makes it, or in those of
// the row that was combined to it.

#include "KernelMoves.h"
#include "MergeLaunches.h"

using namespace cutback;

namespace {

class Fuser : KernelMoves {
public:
  using KernelMoves::KernelMoves;

  void fuse() {
    for (uint32_t number = 1; number < kernels.size(); ++number)
      while (canBeFused(number) && fuseWithMaker(number))
        ;
    takeEmptyOut();
  }

private:
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
    if (!limits.sparesMemory)
      return true;
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
};

} // namespace

void cutback::fuseKernels(const KernelProblem &problem, const GraphView &view,
                          const ValueSizes &sizes, const KernelLimits &limits,
                          const SegmentFacts &facts, SegmentKernels &segment) {
  Fuser(problem, view, sizes, limits, facts, {}, segment).fuse();
}
