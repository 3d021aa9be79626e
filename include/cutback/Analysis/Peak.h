// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The peak of a training step before lowering: op by op, in the final order,
// without fusion and without workspace.
#ifndef CUTBACK_ANALYSIS_PEAK_H
#define CUTBACK_ANALYSIS_PEAK_H

#include "cutback/Analysis/GraphView.h"
#include "cutback/Partition/Halves.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cutback {

/// One run over a part of a view's ops.
struct PeakRun {
  llvm::ArrayRef<uint32_t> order; ///< ops, as they run
  /// Values whose storages somebody else owns: arguments. They count nothing,
  /// and neither do views of them.
  llvm::ArrayRef<uint32_t> given;
  /// Values whose storages are there at the start and are freed after their
  /// last use: what the forward saved.
  llvm::ArrayRef<uint32_t> handedIn;
  /// Values that must be there at the end.
  llvm::ArrayRef<uint32_t> kept;
  /// The same, but counted among the temporaries: results that belong to the
  /// caller.
  llvm::ArrayRef<uint32_t> returned;
};

/// The moment at which most bytes are live.
struct PeakMoment {
  /// Operands, results and everything else live while the op runs: a result
  /// never takes the place of an operand.
  int64_t bytes = 0;
  uint32_t op = GraphView::kNone; ///< kNone: before the first op
  /// The largest sum of live bytes between two ops: no assignment of places
  /// and no reuse in this order can go below it.
  int64_t lowerBound = 0;
  /// `bytes` by origin: handed in; results to be kept; all others.
  int64_t handedIn = 0, kept = 0, temporary = 0;
};

/// Why bytes are live, seen from the run of one half.
enum class LiveOrigin : uint8_t { Given, HandedIn, Kept, Temporary };

/// A storage that is live while steps begin … end-1 of a run run.
struct LiveRange {
  uint32_t value = 0; ///< the value that it was made for
  int64_t bytes = 0;
  uint32_t begin = 0, end = 0;
  LiveOrigin origin = LiveOrigin::Temporary;
};

/// Runs `run` op by op. A storage is live from the op that makes it to the last
/// op that uses a value in it. `bytes` are by value, those of a storage are the
/// bytes of the value that it is called after; `storage`, by value, the value
/// in whose storage it lies. `ranges` gets the storages in the order in which
/// they come alive: at step t, the bytes of those with begin <= t < end are
/// what is counted while op `run.order[t]` runs. Linear.
PeakMoment simulatePeak(const GraphView &view, llvm::ArrayRef<int64_t> bytes,
                        llvm::ArrayRef<uint32_t> storage, const PeakRun &run,
                        std::vector<LiveRange> *ranges = nullptr);

/// The peak of both halves of a step. Parameters and all other arguments
/// stand apart: they count nothing.
struct StepPeak {
  PeakMoment forward, backward;
  bool inBackward = false; ///< the larger one
  int64_t bytes = 0, lowerBound = 0;
  /// `bytes` by origin. In the forward, saved = live values that are handed to
  /// the backward; forward results count as temporaries that live to its end.
  int64_t saved = 0, gradients = 0, temporary = 0;
  /// Index of the op at the peak in the view, kNone before the first op.
  uint32_t op = GraphView::kNone;
};

/// Simulates the backward alone, in the order of `halves.backwardOps`. Linear.
PeakMoment simulateBackward(const GraphView &view, const Halves &halves,
                            llvm::ArrayRef<int64_t> bytes,
                            llvm::ArrayRef<uint32_t> storage);

/// In the forward, `Kept` are values that are handed to the backward; in the
/// backward those are `HandedIn`, and `Kept` are gradients.
struct StepLiveRanges {
  std::vector<LiveRange> forward, backward;
};

/// Simulates the forward, then the backward in the order of
/// `halves.backwardOps`. `bytes` and `storage` are by value, as `ValueSizes`
/// has them; `ranges` gets what is live when. Linear.
StepPeak simulateStep(const GraphView &view, const Halves &halves,
                      llvm::ArrayRef<int64_t> bytes,
                      llvm::ArrayRef<uint32_t> storage,
                      StepLiveRanges *ranges = nullptr);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_PEAK_H
