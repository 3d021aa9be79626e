// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order between a step and a caller who has memory on the device.
#ifndef CUTBACK_RUNTIME_CUDA_CALLERSTREAM_H
#define CUTBACK_RUNTIME_CUDA_CALLERSTREAM_H

#include "cutback/Runtime/Cuda/Driver.h"

namespace cutback::cuda {

/// The stream that a caller issues work to, if he says which. All functions
/// return an empty string, or which call failed.
class CallerStream {
public:
  /// `driver` must outlive it.
  explicit CallerStream(const Driver &driver) : driver(driver) {}
  ~CallerStream();

  std::string start();
  /// `given` is the stream, null the legacy default one. What `own`, the stream
  /// of the step, does from now on comes behind copies on the one before.
  std::string set(Handle given, Handle own);
  /// What `own` does from now on comes behind what the caller has issued.
  std::string follow(Handle own);
  /// Copies on the device: behind what the caller has issued and in front of
  /// what he will; if he has not said where, on `own`, and waits.
  std::string copy(Address to, Address from, int64_t bytes, Handle own);

private:
  const Driver &driver;
  Handle event = nullptr, stream = nullptr;
  bool isKnown = false;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_CALLERSTREAM_H
