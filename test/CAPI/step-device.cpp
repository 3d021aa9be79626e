// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller with memory on the device: he allocates it by the driver, issues
// copies to a stream of his and waits for nothing but what he reads.
//
//   round 0   parameters and batch are there for the first time
//   round 1   the batch lies elsewhere
//   round 2   so do the parameters; the memory of before is given back
//   round 3   the work is on the legacy default stream
//
// In each round a parameter has another value, and results and written
// arguments must be those of a step that is given memory of this machine. The
// loss is read once more, and waited for behind the next round.

#include "step-test.h"

#include "cutback/Runtime/Cuda/Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace cutback::cuda;

static DriverCalls cuda;

static void must(int status) {
  if (status)
    exit(9);
}

static void *addressed(Address there) {
  return reinterpret_cast<void *>(there);
}

/// Zeros, until the end.
template <typename T> static T *listOf(size_t count) {
  return static_cast<T *>(allocate((count + 1) * sizeof(T)));
}

static void load() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  auto find = [&](auto &call) {
    call.setAddress(library ? dlsym(library, call.name) : nullptr);
    must(!call.function);
  };
  find(cuda.cuDevicePrimaryCtxRetain);
  find(cuda.cuDevicePrimaryCtxRelease_v2);
  find(cuda.cuCtxSetCurrent);
  find(cuda.cuMemAlloc_v2);
  find(cuda.cuMemFree_v2);
  find(cuda.cuMemcpyHtoDAsync_v2);
  find(cuda.cuMemcpyDtoHAsync_v2);
  find(cuda.cuStreamCreate);
  find(cuda.cuStreamDestroy_v2);
  find(cuda.cuStreamSynchronize);
}

/// Whether arguments lie elsewhere in a round than in the one before.
static bool moves(const char *name, int round) {
  return round == 2 || (round == 1 && !strncmp(name, "input.", 6));
}

/// To the device what the arguments of steps[0] hold, in memory that nobody
/// changes until the copy is made.
static void bring(CutbackStep *step, void *const *arguments, Address *there,
                  int round, Handle stream) {
  for (size_t i = 0; i < cutbackStepNumArguments(step); ++i) {
    CutbackTensor argument = cutbackStepArgument(step, i);
    if (!argument.bytes)
      continue;
    void *staged = allocate(argument.bytes);
    memcpy(staged, arguments[i], argument.bytes);
    if (!there[i] || moves(argument.name, round)) {
      Address before = there[i];
      must(cuda.cuMemAlloc_v2(&there[i], argument.bytes));
      if (before)
        must(cuda.cuMemFree_v2(before));
    }
    must(cuda.cuMemcpyHtoDAsync_v2(there[i], staged, argument.bytes, stream));
  }
}

static void say(const char *name, int round) {
  printf("round %d: %s differs\n", round, name);
}

/// Results as they lie, by the device and by this machine.
static CutbackStatus compareResults(CutbackStep *steps[2], int round,
                                    Handle stream) {
  CutbackStatus status = CUTBACK_DONE;
  for (size_t i = 0; !status && i < cutbackStepNumResults(steps[0]); ++i) {
    size_t bytes = cutbackStepLayout(steps[0], i).bytes;
    char *read[2] = {listOf<char>(bytes), listOf<char>(bytes)};
    Address there;
    must(cuda.cuMemAlloc_v2(&there, bytes + 1));
    status = cutbackStepReadLying(steps[0], i, read[0]);
    if (!status)
      status = cutbackStepReadLying(steps[1], i, addressed(there));
    if (!status && bytes)
      must(cuda.cuMemcpyDtoHAsync_v2(read[1], there, bytes, stream));
    must(cuda.cuStreamSynchronize(stream));
    must(cuda.cuMemFree_v2(there));
    if (!status && memcmp(read[0], read[1], bytes) != 0)
      say(cutbackStepResult(steps[0], i).name, round);
  }
  return status;
}

static void compareArguments(CutbackStep *step, void *const *arguments,
                             const Address *there, int round, Handle stream) {
  for (size_t i = 0; i < cutbackStepNumArguments(step); ++i) {
    CutbackTensor argument = cutbackStepArgument(step, i);
    char *read = listOf<char>(argument.bytes);
    if (argument.bytes)
      must(cuda.cuMemcpyDtoHAsync_v2(read, there[i], argument.bytes, stream));
    must(cuda.cuStreamSynchronize(stream));
    if (memcmp(read, arguments[i], argument.bytes) != 0)
      say(argument.name, round);
  }
}

/// What is not for memory of the device.
static void refused(CutbackStep *step, void *memory) {
  for (size_t i = 0; i < cutbackStepNumResults(step); ++i) {
    Address there;
    must(cuda.cuMemAlloc_v2(&there, cutbackStepResult(step, i).bytes + 1));
    if (cutbackStepRead(step, i, addressed(there)))
      printf("%s\n", cutbackStepMessage(step));
    must(cuda.cuStreamSynchronize(nullptr) || cuda.cuMemFree_v2(there));
  }
  if (cutbackStepKeep(step, 0, memory))
    printf("%s\n", cutbackStepMessage(step));
}

/// Of the round before: the loss, and whether it is that.
struct Late {
  char expected[64];
  Address there;
};

static CutbackStatus readLate(CutbackStep *steps[2], Late *late) {
  if (cutbackStepLayout(steps[0], 0).bytes > sizeof late->expected)
    exit(9);
  if (!late->there)
    must(cuda.cuMemAlloc_v2(&late->there, sizeof late->expected));
  CutbackStatus status = cutbackStepReadLying(steps[0], 0, late->expected);
  return status ? status
                : cutbackStepReadLying(steps[1], 0, addressed(late->there));
}

static void compareLate(const CutbackStep *step, const Late *late, int round,
                        Handle stream) {
  char read[sizeof late->expected];
  size_t bytes = cutbackStepLayout(step, 0).bytes;
  must(cuda.cuMemcpyDtoHAsync_v2(read, late->there, bytes, stream) ||
       cuda.cuStreamSynchronize(stream));
  if (memcmp(read, late->expected, bytes) != 0)
    say("the loss of the round before", round);
}

CutbackStatus runOnDevice(CutbackStep *steps[2], const char *in, int waits) {
  size_t count = cutbackStepNumArguments(steps[0]);
  void **arguments = listOf<void *>(count);
  void **given = listOf<void *>(count);
  Address *there = listOf<Address>(count);
  Late late = {{0}, 0};
  Handle context, own;
  for (size_t i = 0; i < count; ++i)
    arguments[i] = memoryFor(in, cutbackStepArgument(steps[0], i));
  load();
  must(cuda.cuDevicePrimaryCtxRetain(&context, 0) ||
       cuda.cuCtxSetCurrent(context) || cuda.cuStreamCreate(&own, 1));
  CutbackStatus status = CUTBACK_DONE;
  for (int round = 0; round < 4 && !status; ++round) {
    Handle stream = round < 3 ? own : nullptr;
    *static_cast<float *>(arguments[0]) = static_cast<float>(round);
    bring(steps[0], arguments, there, round, stream);
    for (size_t i = 0; i < count; ++i)
      given[i] = addressed(there[i]);
    if (waits)
      must(cuda.cuStreamSynchronize(stream));
    else
      status = cutbackStepSetStream(steps[1], stream);
    if (!status)
      status = cutbackStepRun(steps[0], arguments);
    if (!status)
      status = cutbackStepRun(steps[1], given);
    if (!status && round > 0)
      compareLate(steps[0], &late, round, stream);
    if (!status)
      status = compareResults(steps, round, stream);
    if (!status)
      compareArguments(steps[0], arguments, there, round, stream);
    if (!status)
      status = readLate(steps, &late);
  }
  if (!status)
    refused(steps[1], arguments[0]);
  must(cuda.cuStreamSynchronize(own) || cuda.cuStreamSynchronize(nullptr));
  if (late.there)
    must(cuda.cuMemFree_v2(late.there));
  for (size_t i = 0; i < count; ++i)
    if (there[i])
      must(cuda.cuMemFree_v2(there[i]));
  must(cuda.cuStreamDestroy_v2(own) || cuda.cuDevicePrimaryCtxRelease_v2(0));
  return status;
}
