// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event has the time at which the device came to it. In a graph it is a node
// of its own between two launches (an external event, as the driver calls it):
// the device goes from launch to launch as it does in the step, with a
// microsecond for each event, and no time of the host is in between, which a
// short kernel launched by itself would have.

#include "cutback/Runtime/Cuda/Stopwatch.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::cuda;

static constexpr unsigned kWithTiming = 0; // CU_EVENT_DEFAULT
static constexpr unsigned kExternal = 1;   // CU_EVENT_RECORD_EXTERNAL

Stopwatch::~Stopwatch() {
  // Errors here have nobody to hear them.
  for (Handle event : events)
    (void)driver.cuEventDestroy_v2(event);
}

std::string Stopwatch::mark(Handle stream, bool isRecorded) {
  std::string error;
  if (numMarks == events.size()) {
    Handle event = nullptr;
    error = driver.explain(driver.cuEventCreate(&event, kWithTiming),
                           "cuEventCreate");
    if (!error.empty())
      return error;
    events.push_back(event);
  }
  Handle event = events[numMarks++];
  // Outside of a capture no event is external.
  if (!isRecorded)
    return driver.explain(driver.cuEventRecord(event, stream), "cuEventRecord");
  return driver.explain(driver.cuEventRecordWithFlags(event, stream, kExternal),
                        "cuEventRecordWithFlags");
}

std::string Stopwatch::read(std::vector<double> &seconds) const {
  for (size_t i = 0; i + 1 < numMarks; ++i) {
    float milliseconds = 0;
    std::string error = driver.explain(
        driver.cuEventElapsedTime(&milliseconds, events[i], events[i + 1]),
        "cuEventElapsedTime");
    if (!error.empty())
      return error;
    seconds.push_back(milliseconds * 1e-3);
  }
  return "";
}

double cutback::cuda::measureDeviceCopies(const Driver &driver, Handle stream,
                                          std::string &error) {
  auto check = [&](Status status, const char *call) {
    if (error.empty())
      error = driver.explain(status, call);
    return error.empty();
  };
  size_t free = 0, total = 0;
  if (!check(driver.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo_v2"))
    return 0;
  size_t bytes = std::min(free / 8, size_t(512) << 20) & ~size_t(255);
  Address memory = 0;
  if (!check(driver.cuMemAlloc_v2(&memory, 2 * bytes), "cuMemAlloc_v2"))
    return 0;
  std::vector<double> seconds;
  {
    constexpr int runs = 5;
    Stopwatch watch(driver);
    error = watch.mark(stream, /*isRecorded=*/false);
    for (int run = 0; run < runs && error.empty(); ++run)
      if (check(driver.cuMemcpyDtoDAsync_v2(memory + bytes, memory, bytes,
                                            stream),
                "cuMemcpyDtoDAsync_v2"))
        error = watch.mark(stream, /*isRecorded=*/false);
    check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (error.empty())
      error = watch.read(seconds);
  }
  check(driver.cuMemFree_v2(memory), "cuMemFree_v2");
  if (!error.empty())
    return 0;
  return 2.0 * bytes / *std::min_element(seconds.begin(), seconds.end());
}
