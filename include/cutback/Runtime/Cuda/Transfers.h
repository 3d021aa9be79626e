// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies beside the launches of a step, on a stream of their own.
#ifndef CUTBACK_RUNTIME_CUDA_TRANSFERS_H
#define CUTBACK_RUNTIME_CUDA_TRANSFERS_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Cuda/Driver.h"

#include <string>
#include <vector>

namespace cutback::cuda {

/// One copy from this machine to the device.
struct TransferIn {
  Address to = 0;
  const char *from = nullptr;
  int64_t bytes = 0;
};

/// While a segment runs, arguments that a later one is the first to take come
/// in, and results of the first one go out. All functions return an empty
/// string, or which call failed.
class Transfers {
public:
  /// `artifact` and `driver` must outlive it.
  Transfers(const Artifact &artifact, const Driver &driver)
      : artifact(artifact), driver(driver) {}
  ~Transfers();

  /// Makes the stream, the events, and memory of this machine for the results
  /// that go out, if they do.
  std::string start(bool copiesOut);

  /// For a run of `segments`: by argument, the place in that list of the first
  /// segment with a launch or a hook that takes it; -1 for none. Tied ones are
  /// one argument.
  std::vector<int> findFirst(const std::vector<size_t> &segments) const;

  /// Copies in; what is put on `stream` from now on comes behind them.
  std::string bring(size_t segment, const std::vector<TransferIn> &copies,
                    Handle stream);
  /// On `stream`, the results of `segment` are made here.
  std::string mark(size_t segment, Handle stream);
  /// Copies out the results of `segment`, if it is the first of several, that
  /// are in the arena, which begins at `base`, once they are made. Nothing
  /// writes over them in a step (kernel.arena).
  std::string fetch(size_t segment, Address base);
  /// Waits for all copies.
  std::string finish();

  /// Forgets what was copied out of `segment`: it runs again.
  void forget(size_t segment);
  /// Bytes `at` of the arena as they were copied out; null if they were not.
  const char *find(int64_t at, int64_t bytes) const;

private:
  /// A result on its way out.
  struct Outgoing {
    size_t segment = 0;
    int64_t at = 0, bytes = 0; ///< in the arena
    int64_t stagedAt = 0;      ///< in `staged`
    bool isThere = false;
  };

  void listResults();
  bool goesOut(size_t segment) const;

  const Artifact &artifact;
  const Driver &driver;
  Handle stream = nullptr;
  std::vector<Handle> arrived, made; ///< events, by segment
  std::vector<Outgoing> outgoing;
  char *staged = nullptr; ///< page-locked
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_TRANSFERS_H
