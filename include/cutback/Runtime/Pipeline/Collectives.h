// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all ranks do together, with results whose bits do not depend on who
// comes first.
#ifndef CUTBACK_RUNTIME_PIPELINE_COLLECTIVES_H
#define CUTBACK_RUNTIME_PIPELINE_COLLECTIVES_H

#include "cutback/Runtime/Pipeline/Transport.h"

#include <string_view>
#include <vector>

namespace cutback::pipeline {

// All ranks call these, in one order. Each gives an empty string, or what went
// wrong and with which rank.

/// Until all ranks are here.
std::string barrier(Waiter &waiter);

/// The bytes of rank `root`, to all.
std::string broadcast(Waiter &waiter, int root, char *bytes, int64_t count);

/// The texts of all ranks, by rank, to rank `root`; the others get nothing.
std::string gather(Waiter &waiter, int root, const std::string &own,
                   std::vector<std::string> &all);

/// `count` bytes of each rank, by rank, to all: `all` has room for them.
std::string allGather(Waiter &waiter, const char *own, int64_t count,
                      char *all);

enum class Reduction {
  Sum, ///< of floats: ((rank 0 + rank 1) + rank 2) + ..., each sum rounded in
       ///< the type
  Max, ///< of floats; NaN where one is
  Or,  ///< of bytes
};

/// Each rank's `bytes` become the reduction over all of them. `dtype` as that
/// of addTo(); of Or any.
std::string allReduce(Waiter &waiter, Reduction reduction,
                      std::string_view dtype, char *bytes, int64_t count);

/// The reduction of part r of all ranks' bytes, to rank r; parts have `count`
/// bytes, and `own` has one for each rank.
std::string reduceScatter(Waiter &waiter, Reduction reduction,
                          std::string_view dtype, const char *own,
                          int64_t count, char *reduced);

/// Part r of `own`, of sends[r] bytes, to rank r; its part for this rank, of
/// takes[r], to part r of `all`.
std::string allToAll(Waiter &waiter, const char *own,
                     const std::vector<int64_t> &sends, char *all,
                     const std::vector<int64_t> &takes);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_COLLECTIVES_H
