// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step has two streams: launches on one, copies on the other, and events
// between them.
//
//   * An argument that the forward does not touch is copied in while it runs;
//     an event holds back the first segment that takes it.
//   * A result lies where nothing of the step writes behind it, which the arena
//     was proved for. So a loss goes out while the backward runs, behind an
//     event that the forward leaves. It goes to page-locked memory: to any
//     other the copy would hold up the caller.
//
// Results of later segments are read when they are asked for: behind an update
// nobody needs gradients, which are as large as the model.

#include "cutback/Runtime/Cuda/Transfers.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::cuda;

Transfers::~Transfers() {
  // No caller is left to hear of errors.
  for (const std::vector<Handle> &events : {arrived, made})
    for (Handle event : events)
      if (event)
        (void)driver.cuEventDestroy_v2(event);
  if (stream)
    (void)driver.cuStreamDestroy_v2(stream);
  if (staged)
    (void)driver.cuMemFreeHost(staged);
}

void Transfers::listResults() {
  if (artifact.segments.size() < 2)
    return;
  for (const ArtifactResult &result : artifact.results)
    if (result.segment == artifact.segments[0].name && spanOf(result) &&
        result.memory.kind == ArtifactMemory::Arena)
      outgoing.push_back({0, result.memory.at, spanOf(result)});
}

std::string Transfers::start(bool copiesOut) {
  if (copiesOut)
    listResults();
  std::string error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuStreamCreate, &stream, kNonBlocking);
  for (std::vector<Handle> *events : {&arrived, &made}) {
    events->resize(artifact.segments.size());
    for (Handle &event : *events)
      calls.run(driver.cuEventCreate, &event, kWithoutTiming);
  }
  int64_t end = 0;
  for (Outgoing &one : outgoing) {
    one.stagedAt = end;
    end += roundUp(one.bytes);
  }
  void *memory = nullptr;
  if (end && calls.run(driver.cuMemAllocHost_v2, &memory, end))
    staged = static_cast<char *>(memory);
  return error;
}

std::vector<int>
Transfers::findFirst(const std::vector<size_t> &segments) const {
  std::vector<int> first(artifact.arguments.size(), -1);
  auto rootOf = [&](int64_t argument) {
    int64_t tied = artifact.arguments[argument].tied;
    return tied < 0 ? argument : tied;
  };
  for (size_t i = 0; i < segments.size(); ++i) {
    const ArtifactSegment &segment = artifact.segments[segments[i]];
    auto take = [&](const ArtifactMemory &memory) {
      if (memory.kind != ArtifactMemory::Argument)
        return;
      if (int &at = first[rootOf(memory.at)]; at < 0)
        at = static_cast<int>(i);
    };
    for (const ArtifactLaunch &launch : segment.launches)
      for (const ArtifactOperand &operand : launch.operands)
        take(operand.memory);
    for (const ArtifactHook &hook : segment.hooks)
      take(hook.memory);
  }
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = first[rootOf(static_cast<int64_t>(i))];
  return first;
}

std::string Transfers::bring(size_t segment,
                             const std::vector<TransferIn> &copies,
                             Handle launches) {
  std::string error;
  CheckedCalls calls(driver, error);
  for (const TransferIn &copy : copies)
    calls.run(driver.cuMemcpyHtoDAsync_v2, copy.to, copy.from, copy.bytes,
              stream);
  calls.run(driver.cuEventRecord, arrived[segment], stream);
  calls.run(driver.cuStreamWaitEvent, launches, arrived[segment], 0);
  return error;
}

bool Transfers::goesOut(size_t segment) const {
  return std::any_of(
      outgoing.begin(), outgoing.end(),
      [&](const Outgoing &one) { return one.segment == segment; });
}

std::string Transfers::mark(size_t segment, Handle launches) {
  std::string error;
  if (!goesOut(segment))
    return error;
  CheckedCalls(driver, error)
      .run(driver.cuEventRecord, made[segment], launches);
  return error;
}

std::string Transfers::fetch(size_t segment, Address base) {
  std::string error;
  if (!goesOut(segment))
    return error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuStreamWaitEvent, stream, made[segment], 0);
  for (Outgoing &one : outgoing)
    if (one.segment == segment)
      one.isThere =
          calls.run(driver.cuMemcpyDtoHAsync_v2, staged + one.stagedAt,
                    base + one.at, one.bytes, stream);
  return error;
}

std::string Transfers::finish() {
  std::string error;
  CheckedCalls(driver, error).run(driver.cuStreamSynchronize, stream);
  return error;
}

void Transfers::forget(size_t segment) {
  for (Outgoing &one : outgoing)
    if (one.segment == segment)
      one.isThere = false;
}

const char *Transfers::find(int64_t at, int64_t bytes) const {
  for (const Outgoing &one : outgoing)
    if (one.isThere && one.at <= at && at + bytes <= one.at + one.bytes)
      return staged + one.stagedAt + (at - one.at);
  return nullptr;
}
