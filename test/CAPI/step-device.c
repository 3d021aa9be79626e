/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A caller with memory on the device: he allocates it by the driver, issues
 * copies to a stream of his and waits for nothing but what he reads.
 *
 *   round 0   parameters and batch are there for the first time
 *   round 1   the batch lies elsewhere
 *   round 2   so do the parameters; the memory of before is given back
 *   round 3   the work is on the legacy default stream
 *
 * In each round a parameter has another value, and results and written
 * arguments must be those of a step that is given memory of this machine. The
 * loss is read once more, and waited for behind the next round.
 */
#include "step-test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

static struct {
  int (*retain)(void **context, int device);
  int (*release)(int device);
  int (*enter)(void *context);
  int (*alloc)(Address *address, size_t bytes);
  int (*free)(Address address);
  int (*bring)(Address to, const void *from, size_t bytes, void *stream);
  int (*fetch)(void *to, Address from, size_t bytes, void *stream);
  int (*makeStream)(void **stream, unsigned flags);
  int (*freeStream)(void *stream);
  int (*wait)(void *stream);
} cuda;

static void must(int status) {
  if (status)
    exit(9);
}

static void load(void) {
  static const char *const names[] = {"cuDevicePrimaryCtxRetain",
                                      "cuDevicePrimaryCtxRelease_v2",
                                      "cuCtxSetCurrent",
                                      "cuMemAlloc_v2",
                                      "cuMemFree_v2",
                                      "cuMemcpyHtoDAsync_v2",
                                      "cuMemcpyDtoHAsync_v2",
                                      "cuStreamCreate",
                                      "cuStreamDestroy_v2",
                                      "cuStreamSynchronize"};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  for (size_t i = 0; library && i < sizeof names / sizeof *names; ++i) {
    void *call = dlsym(library, names[i]);
    memcpy((char *)&cuda + i * sizeof call, &call, sizeof call);
  }
  must(!library || !cuda.wait);
}

/* Whether arguments lie elsewhere in a round than in the one before. */
static int moves(const char *name, int round) {
  return round == 2 || (round == 1 && !strncmp(name, "input.", 6));
}

/* To the device what the arguments of steps[0] hold, in memory that nobody
 * changes until the copy is made. */
static void bring(CutbackStep *step, void *const *arguments, Address *there,
                  int round, void *stream) {
  for (size_t i = 0; i < cutbackStepNumArguments(step); ++i) {
    CutbackTensor argument = cutbackStepArgument(step, i);
    if (!argument.bytes)
      continue;
    void *staged = allocate(argument.bytes);
    memcpy(staged, arguments[i], argument.bytes);
    if (!there[i] || moves(argument.name, round)) {
      Address before = there[i];
      must(cuda.alloc(&there[i], argument.bytes));
      if (before)
        must(cuda.free(before));
    }
    must(cuda.bring(there[i], staged, argument.bytes, stream));
  }
}

static void say(const char *name, int round) {
  printf("round %d: %s differs\n", round, name);
}

/* Results as they lie, by the device and by this machine. */
static CutbackStatus compareResults(CutbackStep *steps[2], int round,
                                    void *stream) {
  CutbackStatus status = CUTBACK_DONE;
  for (size_t i = 0; !status && i < cutbackStepNumResults(steps[0]); ++i) {
    size_t bytes = cutbackStepLayout(steps[0], i).bytes;
    char *read[2] = {allocate(bytes + 1), allocate(bytes + 1)};
    Address there;
    must(cuda.alloc(&there, bytes + 1));
    status = cutbackStepReadLying(steps[0], i, read[0]);
    if (!status)
      status = cutbackStepReadLying(steps[1], i, (void *)(size_t)there);
    if (!status && bytes)
      must(cuda.fetch(read[1], there, bytes, stream));
    must(cuda.wait(stream));
    must(cuda.free(there));
    if (!status && memcmp(read[0], read[1], bytes))
      say(cutbackStepResult(steps[0], i).name, round);
  }
  return status;
}

static void compareArguments(CutbackStep *step, void *const *arguments,
                             const Address *there, int round, void *stream) {
  for (size_t i = 0; i < cutbackStepNumArguments(step); ++i) {
    CutbackTensor argument = cutbackStepArgument(step, i);
    char *read = allocate(argument.bytes + 1);
    if (argument.bytes)
      must(cuda.fetch(read, there[i], argument.bytes, stream));
    must(cuda.wait(stream));
    if (memcmp(read, arguments[i], argument.bytes))
      say(argument.name, round);
  }
}

/* What is not for memory of the device. */
static void refused(CutbackStep *step, void *memory) {
  for (size_t i = 0; i < cutbackStepNumResults(step); ++i) {
    Address there;
    must(cuda.alloc(&there, cutbackStepResult(step, i).bytes + 1));
    if (cutbackStepRead(step, i, (void *)(size_t)there))
      printf("%s\n", cutbackStepMessage(step));
    must(cuda.wait(NULL) || cuda.free(there));
  }
  if (cutbackStepKeep(step, 0, memory))
    printf("%s\n", cutbackStepMessage(step));
}

/* Of the round before: the loss, and whether it is that. */
struct Late {
  char expected[64];
  Address there;
};

static CutbackStatus readLate(CutbackStep *steps[2], struct Late *late) {
  if (cutbackStepLayout(steps[0], 0).bytes > sizeof late->expected)
    exit(9);
  if (!late->there)
    must(cuda.alloc(&late->there, sizeof late->expected));
  CutbackStatus status = cutbackStepReadLying(steps[0], 0, late->expected);
  return status
             ? status
             : cutbackStepReadLying(steps[1], 0, (void *)(size_t)late->there);
}

static void compareLate(const CutbackStep *step, const struct Late *late,
                        int round, void *stream) {
  char read[sizeof late->expected];
  size_t bytes = cutbackStepLayout(step, 0).bytes;
  must(cuda.fetch(read, late->there, bytes, stream) || cuda.wait(stream));
  if (memcmp(read, late->expected, bytes))
    say("the loss of the round before", round);
}

CutbackStatus runOnDevice(CutbackStep *steps[2], const char *in, int waits) {
  size_t count = cutbackStepNumArguments(steps[0]);
  void **arguments = allocate((count + 1) * sizeof(void *));
  void **given = allocate((count + 1) * sizeof(void *));
  Address *there = allocate((count + 1) * sizeof(Address));
  struct Late late = {{0}, 0};
  void *context, *own;
  for (size_t i = 0; i < count; ++i)
    arguments[i] = memoryFor(in, cutbackStepArgument(steps[0], i));
  load();
  must(cuda.retain(&context, 0) || cuda.enter(context) ||
       cuda.makeStream(&own, 1));
  CutbackStatus status = CUTBACK_DONE;
  for (int round = 0; round < 4 && !status; ++round) {
    void *stream = round < 3 ? own : NULL;
    *(float *)arguments[0] = (float)round;
    bring(steps[0], arguments, there, round, stream);
    for (size_t i = 0; i < count; ++i)
      given[i] = (void *)(size_t)there[i];
    if (waits)
      must(cuda.wait(stream));
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
  must(cuda.wait(own) || cuda.wait(NULL));
  if (late.there)
    must(cuda.free(late.there));
  for (size_t i = 0; i < count; ++i)
    if (there[i])
      must(cuda.free(there[i]));
  must(cuda.freeStream(own) || cuda.release(0));
  return status;
}
