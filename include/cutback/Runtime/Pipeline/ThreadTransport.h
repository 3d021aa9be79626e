// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads of one process.
#ifndef CUTBACK_RUNTIME_PIPELINE_THREADTRANSPORT_H
#define CUTBACK_RUNTIME_PIPELINE_THREADTRANSPORT_H

#include "cutback/Runtime/Pipeline/Transport.h"

#include <functional>
#include <memory>

namespace cutback::pipeline {

/// What the ranks of one process share.
class ThreadRanks {
public:
  struct Options {
    /// A send is done when it was received, as a large message of an MPI; else
    /// at once.
    bool isSynchronous = false;
    /// Messages arrive up to so many microseconds late, by chance of `seed`.
    unsigned delayMicroseconds = 0;
    uint64_t seed = 0;
  };

  ThreadRanks(int size, const Options &options);
  explicit ThreadRanks(int size) : ThreadRanks(size, Options()) {}
  ~ThreadRanks();

  /// That of rank `rank`, which must not outlive this.
  std::unique_ptr<Transport> open(int rank);
  /// From now on that rank is gone: what others want of it is an error.
  void leave(int rank);

  /// Runs `body` on a thread a rank, with its transport, and waits for all.
  void run(const std::function<void(Transport &)> &body);

  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_THREADTRANSPORT_H
