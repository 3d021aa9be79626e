// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that are live at each step, from live ranges: one sweep for peaks,
// timelines, and the room that launches have to move.
#ifndef CUTBACK_SUPPORT_LIVESWEEP_H
#define CUTBACK_SUPPORT_LIVESWEEP_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cutback {

/// Bytes of `kKinds` kinds over steps 0 … n-1: ops, launches, kernels. Linear
/// in steps and ranges. Sums must fit 64 bits.
template <size_t kKinds = 1> class LiveSweep {
public:
  using Bytes = std::array<int64_t, kKinds>; ///< by kind

  explicit LiveSweep(uint32_t numSteps) : live(numSteps + size_t(1)) {}

  /// `bytes` of a kind are live while steps begin … end-1 run;
  /// begin <= end <= n.
  void add(uint32_t begin, uint32_t end, int64_t bytes, size_t kind = 0) {
    live[begin][kind] += bytes;
    live[end][kind] -= bytes;
  }

  /// By step. Ends the sweep.
  std::vector<Bytes> run() && {
    for (size_t step = 1; step < live.size(); ++step)
      for (size_t kind = 0; kind < kKinds; ++kind)
        live[step][kind] += live[step - 1][kind];
    live.pop_back();
    return std::move(live);
  }

private:
  std::vector<Bytes> live; ///< until run(): what changes in front of a step
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_LIVESWEEP_H
