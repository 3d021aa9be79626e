// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times on a device, by events of the driver.
#ifndef CUTBACK_RUNTIME_CUDA_STOPWATCH_H
#define CUTBACK_RUNTIME_CUDA_STOPWATCH_H

#include "cutback/Runtime/Cuda/Driver.h"

#include <vector>

namespace cutback::cuda {

/// Marks on a stream, and the seconds between them. Marks that are recorded
/// into a graph pass again whenever it is launched.
class Stopwatch {
public:
  explicit Stopwatch(const Driver &driver) : driver(driver) {}
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// Forgets all marks; their events are used again.
  void restart() { numMarks = 0; }
  /// Here one thing ends and the next one begins. `isRecorded`: while the
  /// stream is in capture. Returns an empty string, or what went wrong.
  std::string mark(Handle stream, bool isRecorded);
  /// Appends the seconds from each mark to the next. Their stream must have
  /// been waited for.
  std::string read(std::vector<double> &seconds) const;

private:
  const Driver &driver;
  std::vector<Handle> events;
  size_t numMarks = 0;
};

/// Bytes a second that the device reads and writes when it copies 1 GiB, or
/// what a quarter of its free memory has room for; the fastest of five. 0, with
/// `error` set, if a call fails.
double measureDeviceCopies(const Driver &driver, Handle stream,
                           std::string &error);

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_STOPWATCH_H
