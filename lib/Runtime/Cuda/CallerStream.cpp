// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller with memory on the device issues work there and does not wait for
// it: batches may still be on their way when a step is to run, and a result is
// read by what he issues next. Streams that do not block know nothing of each
// other, nor of the legacy default stream, so an event says it.
//
// A step waits for its own launches, so behind a run nothing is to be said. A
// result is then copied on the stream of the caller, and nobody waits: the next
// run, which writes over it, comes behind that stream.

#include "cutback/Runtime/Cuda/CallerStream.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

using namespace cutback::cuda;

CallerStream::~CallerStream() {
  // No caller is left to hear of errors.
  if (event)
    (void)driver.cuEventDestroy_v2(event);
}

std::string CallerStream::start() {
  std::string error;
  CheckedCalls(driver, error).run(driver.cuEventCreate, &event, kWithoutTiming);
  return error;
}

std::string CallerStream::set(Handle given, Handle own) {
  std::string error;
  if (isKnown && given != stream)
    error = follow(own);
  stream = given;
  isKnown = true;
  return error;
}

std::string CallerStream::follow(Handle own) {
  std::string error;
  if (!isKnown)
    return error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuEventRecord, event, stream);
  calls.run(driver.cuStreamWaitEvent, own, event, 0);
  return error;
}

std::string CallerStream::copy(Address to, Address from, int64_t bytes,
                               Handle own) {
  std::string error;
  if (bytes == 0)
    return error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuMemcpyDtoDAsync_v2, to, from, bytes,
            isKnown ? stream : own);
  if (!isKnown)
    calls.run(driver.cuStreamSynchronize, own);
  return error;
}
