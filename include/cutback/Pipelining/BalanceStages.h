// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where to cut a sequence of ops into stages whose slowest takes the least
// time. Numbers alone, no IR.
#ifndef CUTBACK_PIPELINING_BALANCESTAGES_H
#define CUTBACK_PIPELINING_BALANCESTAGES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// What stages cost. Op i is the i-th of the program; boundary b, from 1 to
/// numOps - 1, is between ops b - 1 and b.
struct StageCosts {
  static constexpr int64_t kNever = -1;
  /// By op: picoseconds of it and of its backward.
  std::vector<int64_t> ps;
  /// By boundary (entry 0 is not used): bytes that would cross it, or kNever.
  std::vector<int64_t> bytes;
  /// By op: bytes that it adds to the memory of its stage. May be empty.
  std::vector<int64_t> memory;

  size_t numOps() const { return ps.size(); }
  /// What is wrong with it, or empty.
  std::string check() const;
};

struct StageRequest {
  unsigned stages = 1;
  /// Picoseconds that a byte takes on the link between stages. Default: that of
  /// 50 GB/s.
  double bytePs = 20;
  /// Share of the time that a narrower cut may cost.
  double slack = 0.05;
  /// By stage: the rank that runs it, where ranks have several; then their
  /// times are balanced in the place of those of stages. Empty: one each.
  std::vector<int> rankOf;
  /// Bytes that a stage may have; needs StageCosts::memory.
  std::optional<int64_t> memoryLimit;
};

/// Boundaries, ascending.
struct StageCut {
  std::vector<unsigned> begins;
  int64_t largestPs = 0; ///< of a stage
  int64_t bytes = 0;     ///< that cross all boundaries
};

/// Of all cuts into contiguous stages, none empty:
///   1. T(w): the least time of the slowest stage of cuts through at most w
///      bytes a boundary. Of all widths the least of max(T(w), bytePs · w), for
///      sending goes on beside computing; w is the narrowest width at which
///      that is no more than `slack` longer
///   2. of cuts through at most w bytes, with no stage slower than T(w), one
///      through which the fewest bytes go in all; of equals the first one
///   3. where ranks have several stages: boundaries move one by one, among
///   those
///      of w bytes, as long as the slowest rank gets faster, or ranks more even
/// Nothing where there is no such cut. O(numOps · (stages + s · log² costs))
/// for s widths at which T falls.
std::optional<StageCut> balanceStages(const StageCosts &costs,
                                      const StageRequest &request);

} // namespace cutback

#endif // CUTBACK_PIPELINING_BALANCESTAGES_H
