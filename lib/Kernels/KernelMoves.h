// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of a segment on their way to the places of others: what stands
// between, and what is live there. Both who merges launches and who fuses
// kernels with their readers move them so.
#ifndef CUTBACK_LIB_KERNELS_KERNELMOVES_H
#define CUTBACK_LIB_KERNELS_KERNELMOVES_H

#include "KernelBytes.h"

#include "llvm/ADT/STLExtras.h"

namespace cutback {

/// A place is a number in the list of kernels as it was; one whose kernel went
/// away is empty until the end. Keeps references.
class KernelMoves {
public:
  KernelMoves(const KernelProblem &problem, const GraphView &view,
              const ValueSizes &sizes, const KernelLimits &limits,
              const SegmentFacts &facts, const MergeRoom &room,
              SegmentKernels &segment);

protected:
  static constexpr uint32_t kNone = SegmentKernels::kNone;
  /// Places that a kernel looks back.
  static constexpr uint32_t kWindow = 32;
  /// A value with fewer bytes than this part of the peak may move where it
  /// likes.
  static constexpr int64_t kSmall = 256;

  struct Mark {
    bool hasEffect = false;
    bool seesWritten = false; ///< reads or writes an argument that is written
    int64_t reads = 0;        ///< roots, at most so many
  };

  bool isMeasured() const { return !room.live.empty(); }

  /// By a kernel of the segment; a result that is given is not its own.
  bool isMade(uint32_t root) const {
    uint32_t def = view.definer[root];
    return def != GraphView::kNone && facts.places[def] != kNone &&
           !facts.isGiven[root] && kernelOf[def] != kNone;
  }

  bool isMade(const KernelProblem::Read &read) const {
    return !facts.isGiven[read.value] && isMade(read.root);
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

  /// Behind all that the kernel reads, but for what `maker` makes.
  uint32_t firstPlace(uint32_t number, uint32_t maker = kNone) const;

  /// The first kernel that reads what this one makes, but for `other`.
  uint32_t lastPlace(uint32_t number, uint32_t other = kNone) const;

  /// Kernels, one a read.
  llvm::SmallVector<uint32_t, 8> readersOf(uint32_t root) const;

  /// Whether something else with an effect stands between two places, for a
  /// kernel that has one.
  bool hasEffectBetween(uint32_t from, uint32_t to) const;
  /// Reads and writes of an argument stay on their sides, and apart, but for
  /// those of two kernels `inStep`, which become one element by element.
  bool keepsWrites(uint32_t from, uint32_t to, bool inStep = false) const;

  /// How many bytes more are live at each place between, both included.
  void changesOf(uint32_t from, uint32_t to,
                 llvm::SmallVectorImpl<int64_t> &change) const;

  /// The last kernel besides `number` that reads `root`, or makes it; `number`
  /// where that takes too long to find.
  uint32_t lastBut(uint32_t root, uint32_t number) const;

  /// The kernel at `from` becomes part of that at `to`.
  void move(uint32_t from, uint32_t to);
  void takeEmptyOut();

  /// Loops that can be one nest of `kernel`.
  static bool isSameNest(const Kernel &kernel, const KernelNest &a,
                         const KernelNest &b) {
    return kernel.schedule != KernelSchedule::Concat &&
           a.pattern == b.pattern && a.iterations == b.iterations;
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

private:
  void markKernels();
  /// Bytes that are live when each kernel runs.
  void countLive();
  void absorb(Kernel &into, const Kernel &from) const;
};

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_KERNELMOVES_H
