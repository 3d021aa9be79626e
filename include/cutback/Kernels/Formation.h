// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of a segment (a half of a step) run as one kernel. Numbers alone,
// no IR.
#ifndef CUTBACK_KERNELS_FORMATION_H
#define CUTBACK_KERNELS_FORMATION_H

#include "cutback/Kernels/KernelProblem.h"

#include <algorithm>

namespace cutback {

/// How the loops of a kernel are laid over a device.
enum class KernelSchedule : uint8_t {
  Call,      ///< one op without loops: a library, a sort, an effect
  Pointwise, ///< an element from elements
  Row,       ///< rows that are combined and used again, each held on chip
  LongRow,   ///< the same with rows too long for that: read again each pass
  Partial,   ///< columns, or one long row: partial sums, then the sum of them
  Concat,    ///< pointwise, each part from its own operand
};
const char *spell(KernelSchedule schedule);

/// What one launch can take.
struct KernelLimits {
  int64_t rowOnChip = 16384; ///< elements of a row that registers hold
  /// Elements of a row beyond which partial sums are faster than one block.
  int64_t rowOfBlock = int64_t(1) << 20;
  int64_t ops = 256;   ///< of a kernel: what a compiler takes well
  int64_t reads = 128; ///< the same, of storages that merged kernels read
  size_t nests = 8;    ///< of a launch that several kernels became; 0: none do
  /// Rows below which partial sums keep more of the device busy.
  int64_t fewRows = 32;
  /// An op stays apart where running it later keeps more bytes alive.
  bool sparesMemory = true;
};

/// Loops that compute ops of a kernel, each element once.
struct KernelNest {
  /// Of its reductions, or kNoPattern.
  uint32_t pattern = IndexMaps::kNoPattern;
  int64_t iterations = 0; ///< of all loops together
};

struct Kernel {
  KernelSchedule schedule = KernelSchedule::Pointwise;
  std::vector<uint32_t> ops; ///< in the order of the segment
  /// Independent of each other; one, but where launches were merged.
  llvm::SmallVector<KernelNest, 1> nests;
  std::vector<uint8_t> nestOf; ///< by op of `ops`
  /// Times that a row is gone through; more than 1 for long rows only.
  uint32_t passes = 1;
  /// Each op computes its element i in iteration i, or in all iterations of row
  /// i, or one element for all: none at another place. Then a result may lie
  /// where an operand of as many elements lay.
  bool isAligned = true;
  /// Bytes of the storages that it reads from outside and of those that others
  /// read of it, each once; and what goes through memory: passes, partial sums.
  int64_t borderBytes = 0, movedBytes = 0;
  double flopsPs = 0;
  double ps = 0; ///< KernelRates::timeOf; of a call of graphs, theirs

  uint32_t anchor() const { return ops.back(); }
};

/// The ops of one segment, in their order, and what is around them.
struct SegmentOps {
  llvm::ArrayRef<uint32_t> order;
  /// Values that somebody reads after the segment: results, saved values.
  llvm::SmallVector<llvm::ArrayRef<uint32_t>, 2> kept;
  /// Values that come from outside although an op of the segment makes them,
  /// too: of one result that was saved, the op may run again for another.
  llvm::SmallVector<llvm::ArrayRef<uint32_t>, 2> given;
  /// What comes from outside costs nothing to read: see KernelPlan::extraPs.
  bool isGiven = false;
};

/// What a kernel reads of a storage that comes from outside of its segment.
struct GivenRead {
  uint32_t kernel = 0, root = 0;
  int64_t bytes = 0; ///< through memory
};

struct SegmentKernels {
  static constexpr uint32_t kNone = ~uint32_t(0);

  std::vector<Kernel> kernels;    ///< in the order in which they run
  std::vector<uint32_t> kernelOf; ///< by op of the graph; kNone if in none
  /// By op of the graph: it runs in each iteration of its kernel; it combines a
  /// row.
  std::vector<uint8_t> atFull, combines;

  double ps() const;
  /// The same if each kernel was a launch of its own. What of it can be merged
  /// depends on what else is near, so differences of plans are taken of this.
  double apartPs = 0;
  /// Where what comes from outside costs nothing (SegmentOps::isGiven): who
  /// reads it.
  std::vector<GivenRead> givenReads;
};

/// What a kernel costs on a device.
struct KernelRates {
  double bandwidth = 1; ///< bytes a picosecond
  double launchPs = 0;
  /// By op: picoseconds of its FLOPs.
  const std::vector<double> *flopsPs = nullptr;

  /// Picoseconds of a launch.
  double timeOf(double flopsPs, int64_t movedBytes) const {
    return std::max(flopsPs, static_cast<double>(movedBytes) / bandwidth) +
           launchPs;
  }
};

/// Where kernels of a segment may meet in one launch.
struct MergeRoom {
  /// By kernel: bytes that are live when it runs. Empty: what is live if no
  /// result takes the place of an operand.
  std::vector<int64_t> live;
  int64_t most = 0; ///< that may be live at a time, if `live` is known
  /// By kernel: it stays alone. May be empty.
  std::vector<uint8_t> isApart;
};

/// Forms kernels from the last op to the first: an op joins the earliest of the
/// kernels that read its results, where
///   * all its readers there want the same element at the same iteration, and
///     what others read of it is computed whole and once;
///   * one row structure serves all reductions, and what they combine is used
///     again only along rows that one block has (Partial has none);
///   * it moves over no write of what it reads, and no longer keeps more bytes
///     alive than it saves when it moves over other kernels;
///   * computing it again for each element that reads it, as a broadcast does,
///     costs less than a launch and the way through memory.
/// A kernel runs where its last op stands: values that leave it go to a later
/// one, so the order stays one that runs, whatever else is merged.
///
/// Kernels near each other that need nothing of each other become one launch
/// then (MergeLaunches.h). Near linear.
SegmentKernels formKernels(const KernelProblem &problem, const GraphView &view,
                           const ValueSizes &sizes, const SegmentOps &segment,
                           const KernelRates &rates,
                           const KernelLimits &limits = {});

/// `kernel`, of the graph that `view` is of, with names.
ListedLaunch listLaunch(const Kernel &kernel, const GraphView &view);
ListedSegment listLaunches(const std::string &name,
                           const SegmentKernels &kernels,
                           const KernelProblem &problem, const GraphView &view);

/// Merges kernels as formKernels() does at its end, for a segment whose kernels
/// were formed with `limits.nests` = 0 and may have another order since:
/// `segment` has their ops as they run now. Gives by kernel the number of that
/// at whose place it runs, all as they were numbered before. Near linear.
std::vector<uint32_t>
mergeKernels(const KernelProblem &problem, const GraphView &view,
             const ValueSizes &sizes, const SegmentOps &segment,
             const KernelRates &rates, const MergeRoom &room,
             SegmentKernels &kernels, const KernelLimits &limits = {});

} // namespace cutback

#endif // CUTBACK_KERNELS_FORMATION_H
