// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the first kernel to the last: each looks back at a few and moves to the
// place of one of them, or lets that one come to its own. Casts of parameters
// go up to the first of them, sums of a gradient meet at its last reader.
//
// What is live is known where the launches have an order and their memory. Else
// no result takes the place of an operand, an upper bound, and what is not
// small stays away from the peak.

#include "MergeLaunches.h"

#include "KernelMoves.h"

using namespace cutback;

namespace {

class Merger : KernelMoves {
public:
  using KernelMoves::KernelMoves;

  std::vector<uint32_t> run() {
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

  /// True if nothing else has to run between the places, which the caller knows
  /// of readers, and the step needs no more memory for it.
  bool mayMove(uint32_t from, uint32_t to) const {
    if (hasEffectBetween(from, to))
      return false;
    if (marks[from].seesWritten && !keepsWrites(from, to))
      return false;
    return staysLow(from, to);
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
};

} // namespace

std::vector<uint32_t>
cutback::mergeLaunches(const KernelProblem &problem, const GraphView &view,
                       const ValueSizes &sizes, const KernelLimits &limits,
                       const SegmentFacts &facts, const MergeRoom &room,
                       SegmentKernels &segment) {
  return Merger(problem, view, sizes, limits, facts, room, segment).run();
}
