// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event has the time at which the device came to it. In a graph it is a node
// of its own between two launches (an external event, as the driver calls it):
// the device goes from launch to launch as it does in the step, with a
// microsecond for each event, and no time of the host is in between, which a
// short kernel launched by itself would have.

#include "cutback/Runtime/Cuda/Stopwatch.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::cuda;

static constexpr unsigned kWithTiming = 0; // CU_EVENT_DEFAULT
static constexpr unsigned kExternal = 1;   // CU_EVENT_RECORD_EXTERNAL

Stopwatch::~Stopwatch() {
  // No caller is left to hear of errors.
  for (Handle event : events)
    (void)driver.cuEventDestroy_v2(event);
}

std::string Stopwatch::mark(Handle stream, bool isRecorded) {
  std::string error;
  CheckedCalls calls(driver, error);
  if (numMarks == events.size()) {
    Handle event = nullptr;
    if (!calls.run(driver.cuEventCreate, &event, kWithTiming))
      return error;
    events.push_back(event);
  }
  Handle event = events[numMarks++];
  // Outside of a capture no event is external.
  if (isRecorded)
    calls.run(driver.cuEventRecordWithFlags, event, stream, kExternal);
  else
    calls.run(driver.cuEventRecord, event, stream);
  return error;
}

std::string Stopwatch::read(std::vector<double> &seconds) const {
  std::string error;
  CheckedCalls calls(driver, error);
  float milliseconds = 0;
  for (size_t i = 0; i + 1 < numMarks; ++i)
    if (calls.run(driver.cuEventElapsedTime, &milliseconds, events[i],
                  events[i + 1]))
      seconds.push_back(milliseconds * 1e-3);
  return error;
}

double cutback::cuda::measureDeviceCopies(const Driver &driver, Handle stream,
                                          std::string &error) {
  CheckedCalls calls(driver, error);
  size_t free = 0, total = 0;
  if (!calls.run(driver.cuMemGetInfo_v2, &free, &total))
    return 0;
  size_t bytes = std::min(free / 8, size_t(512) << 20) & ~size_t(255);
  Address memory = 0;
  if (!calls.run(driver.cuMemAlloc_v2, &memory, 2 * bytes))
    return 0;
  std::vector<double> seconds;
  {
    constexpr int runs = 5;
    Stopwatch watch(driver);
    error = watch.mark(stream, /*isRecorded=*/false);
    for (int run = 0; run < runs && error.empty(); ++run)
      if (calls.run(driver.cuMemcpyDtoDAsync_v2, memory + bytes, memory, bytes,
                    stream))
        error = watch.mark(stream, /*isRecorded=*/false);
    calls.runAnyway(driver.cuStreamSynchronize, stream);
    if (error.empty())
      error = watch.read(seconds);
  }
  calls.runAnyway(driver.cuMemFree_v2, memory);
  if (!error.empty())
    return 0;
  return 2.0 * bytes / *std::min_element(seconds.begin(), seconds.end());
}
