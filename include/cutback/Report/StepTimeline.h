// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is live when in the step of a plan: the numbers behind every picture of
// memory, and behind the trace.
#ifndef CUTBACK_REPORT_STEPTIMELINE_H
#define CUTBACK_REPORT_STEPTIMELINE_H

#include "cutback/Planner/PartitionPipeline.h"

#include <array>

namespace cutback {

/// Why bytes are live.
enum class LiveKind : uint8_t {
  Saved,      ///< handed to the backward, dead after its last use there
  Result,     ///< of the forward: kept to the end of the step
  Gradient,   ///< kept to the end of the step
  Recomputed, ///< a temporary of the backward that the forward had, too
  Temporary,
};
constexpr unsigned kLiveKinds = 5;

/// "saved", "result", "gradient", "recomputed", "temporary".
llvm::StringRef spell(LiveKind kind);

/// A storage that is live while the steps begin … end-1 run.
struct LiveValue {
  uint32_t value = 0; ///< of the view: the one that the storage was made for
  uint32_t begin = 0, end = 0;
  int64_t bytes = 0; ///< rounded up to the alignment of the arena
  LiveKind kind = LiveKind::Temporary;
  int64_t offset = -1; ///< in the arena; -1 without a plan of bytes
};

/// A step is an op of a half; those of the forward come first.
struct StepTimeline {
  uint32_t forwardOps = 0, numOps = 0;
  std::vector<LiveValue> values;
  std::vector<uint32_t> valueOf; ///< by step: the value that names its op

  /// Of the memory plan where there is one, else of the simulation that gives
  /// the peak; sums are those of the report. `result` has its halves. Linear.
  static StepTimeline of(const PartitionResult &result);

  /// When each step begins, by the model of the kernels, and at the end when
  /// the last one ends, in picoseconds; steps of one kernel share its time
  /// evenly. Empty without kernels. Linear.
  std::vector<double> beginPs(const PartitionResult &result) const;

  /// By step: live bytes of each kind. Linear.
  std::vector<std::array<int64_t, kLiveKinds>> liveBytes() const;
};

} // namespace cutback

#endif // CUTBACK_REPORT_STEPTIMELINE_H
