// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a rank whose phases run on a GPU: one address for both sides, so
// who adds, cuts or sends on this machine is as for other blocks, and what no
// one here touches stays on the GPU.
//
// What is given back is for the next block of that size: cuMemFree waits for
// all that the GPU does, also for a message of a rank that waits for this one.
// Sizes are those of a few tensors, for each micro-batch.

#include "cutback/Runtime/Pipeline/GpuMemory.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

using namespace cutback;
using namespace cutback::cuda;
using namespace cutback::pipeline;

static constexpr unsigned kOfAllStreams = 1; // CU_MEM_ATTACH_GLOBAL

std::unique_ptr<GpuMemory> GpuMemory::open(int number, StepError &error) {
  std::unique_ptr<GpuMemory> memory(new GpuMemory());
  memory->driver = Driver::open(error.what, error.next);
  if (!memory->driver)
    return nullptr;
  const Driver &driver = *memory->driver;
  error.next = kMayBeInUse;
  memory->device = driver.deviceOf(number, error.what);
  int isShared = 0;
  CheckedCalls calls(driver, error.what);
  if (!calls.run(driver.cuDeviceGetAttribute, &isShared,
                 kConcurrentManagedAccess, memory->device) ||
      !isShared)
    return nullptr;
  memory->hasContext = calls.run(driver.cuDevicePrimaryCtxRetain,
                                 &memory->context, memory->device);
  return memory->hasContext ? std::move(memory) : nullptr;
}

GpuMemory::~GpuMemory() {
  if (!hasContext)
    return;
  // No caller is left to hear of errors.
  (void)driver->cuCtxSetCurrent(context);
  for (const auto &[bytes, memory] : free)
    (void)driver->cuMemFree_v2(reinterpret_cast<Address>(memory));
  (void)driver->cuDevicePrimaryCtxRelease_v2(device);
}

void *GpuMemory::take(int64_t bytes) {
  if (auto found = free.find(bytes); found != free.end()) {
    void *memory = found->second;
    free.erase(found);
    return memory;
  }
  Address made = 0;
  if (driver->cuCtxSetCurrent(context) != 0 ||
      driver->cuMemAllocManaged(&made, static_cast<size_t>(bytes),
                                kOfAllStreams) != 0)
    return nullptr;
  return reinterpret_cast<void *>(made);
}

void GpuMemory::giveBack(void *memory, int64_t bytes) {
  free.emplace(bytes, memory);
}
