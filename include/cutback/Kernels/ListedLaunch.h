// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches as they are shown: with names for numbers, so that they outlive the
// graph that they are of.
#ifndef CUTBACK_KERNELS_LISTEDLAUNCH_H
#define CUTBACK_KERNELS_LISTEDLAUNCH_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cutback {

enum class KernelSchedule : uint8_t;

struct NestedCall;

/// One launch, run once.
struct ListedLaunch {
  KernelSchedule schedule{};
  std::vector<std::string> ops; ///< names of their first results
  int64_t borderBytes = 0, movedBytes = 0;
  double flopsPs = 0;
  double ps = 0;
  /// Of a call of graphs: what runs in it, else null.
  std::shared_ptr<const NestedCall> inside;
};

/// A launch of a graph of a call.
struct NestedLaunch : ListedLaunch {
  uint32_t graph = 0; ///< of the call's; of a call in a graph, of the outermost
  int64_t times = 1;  ///< a step: 0 of the cheaper branch
};

/// A call that runs graphs. Figures are sums over its launches, each as often
/// as it runs.
struct NestedCall {
  uint32_t op = 0;
  std::vector<NestedLaunch> launches; ///< graph by graph, as they run
  bool isCounted = true; ///< false: loops of unknown length, which count once
  int64_t borderBytes = 0, movedBytes = 0;
  double flopsPs = 0, ps = 0;
};

/// That of `op` in a list that ascends by op; null if there is none.
inline const NestedCall *findNested(const std::vector<NestedCall> &calls,
                                    uint32_t op) {
  auto found = std::lower_bound(
      calls.begin(), calls.end(), op,
      [](const NestedCall &call, uint32_t op) { return call.op < op; });
  return found != calls.end() && found->op == op ? &*found : nullptr;
}

/// The launches of one segment, in the order in which they run.
struct ListedSegment {
  std::string name; ///< "forward", "backward", "accumulate", "update"
  std::vector<ListedLaunch> launches;
};

} // namespace cutback

#endif // CUTBACK_KERNELS_LISTEDLAUNCH_H
