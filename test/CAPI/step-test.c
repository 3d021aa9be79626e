/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a C program does with a compiled step, as commands for the tests:
 *
 *   cutback-step-test run DIR IN OUT   arguments from files IN/NAME, results
 * and what was written to OUT/NAME; two steps of the folder, by turns: they
 * must agree cutback-step-test list DIR         arguments, results, segments
 *   cutback-step-test keep DIR IN      a step that keeps its parameters and
 * buffers, beside one that does not: they must agree
 *   cutback-step-test device DIR IN [wait]   a step on memory of the device
 * (step-device.cpp)
 *   cutback-step-test wrong DIR        calls that are refused
 *   cutback-step-test hooks DIR IN     functions at hook points, added and
 * deleted while the step runs
 *   cutback-step-test order DIR IN     segments in a wrong order, what is NULL,
 * a run while the step runs
 *   cutback-step-test segments DIR NUMBERS   runs segments in this order, as
 * 012013, on zeros, the tensors of later ones NULL until their first run
 *   cutback-step-test thread DIR       a step runs in another thread than it
 * was opened in, on zeros
 *
 * Ends with the status of the first call that failed.
 */
#include "step-test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

/* All that was allocated, until the end. */
static void *owned[4096];
static size_t numOwned;

void *allocate(size_t bytes) {
  void *memory = calloc(bytes, 1);
  if (!memory || numOwned == sizeof owned / sizeof *owned)
    exit(9);
  return owned[numOwned++] = memory;
}

static void print(const char *what, CutbackTensor tensor) {
  printf("%s %s %s", what, tensor.name, tensor.dtype);
  for (size_t i = 0; i < tensor.rank; ++i)
    printf("%c%lld", i ? 'x' : ' ', (long long)tensor.sizes[i]);
  printf(" bytes %lu%s%s\n", (unsigned long)tensor.bytes,
         tensor.written ? " written" : "", tensor.required ? " required" : "");
}

static int list(const CutbackStep *step) {
  for (size_t i = 0; i < cutbackStepNumArguments(step); ++i)
    print("argument", cutbackStepArgument(step, i));
  for (size_t i = 0; i < cutbackStepNumResults(step); ++i)
    print("result", cutbackStepResult(step, i));
  for (size_t i = 0; i < cutbackStepNumSegments(step); ++i)
    printf("segment %s\n", cutbackStepSegment(step, i));
  return 0;
}

/* Zeros at a multiple of 16. */
static char *alignedTo16(size_t size) {
  char *bytes = allocate(size + 32);
  return bytes + 16 - (size_t)bytes % 16;
}

void *memoryFor(const char *folder, CutbackTensor tensor) {
  char path[512];
  char *bytes = alignedTo16(tensor.bytes);
  snprintf(path, sizeof path, "%s/%s", folder, tensor.name);
  FILE *file = *tensor.name ? fopen(path, "rb") : NULL;
  const float one = 1;
  if (!file && tensor.fill == '1')
    for (size_t at = 0; at + sizeof one <= tensor.bytes; at += sizeof one)
      memcpy(bytes + at, &one, sizeof one);
  if (file) {
    if (fread(bytes, 1, tensor.bytes, file) != tensor.bytes)
      exit(9);
    fclose(file);
  } else if (tensor.required) {
    exit(9);
  }
  return bytes;
}

static void store(const char *folder, const char *name, const void *bytes,
                  size_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
    exit(9);
}

static CutbackStatus runTwice(CutbackStep *steps[2], const char *in,
                              const char *out) {
  size_t count = cutbackStepNumArguments(steps[0]);
  void **arguments[2];
  for (int s = 0; s < 2; ++s) {
    arguments[s] = allocate((count + 1) * sizeof(void *));
    for (size_t i = 0; i < count; ++i)
      arguments[s][i] = memoryFor(in, cutbackStepArgument(steps[s], i));
  }
  /* Segment by segment, one step behind the other; and all at once. */
  size_t segments = cutbackStepNumSegments(steps[0]);
  for (size_t segment = 0; segment < segments; ++segment)
    if (cutbackStepRunSegment(steps[0], segment, arguments[0]))
      return CUTBACK_NO_PLAN;
  CutbackStatus status = cutbackStepRun(steps[1], arguments[1]);
  for (size_t i = 0; !status && i < cutbackStepNumResults(steps[0]); ++i) {
    CutbackTensor result = cutbackStepResult(steps[0], i);
    char *read[2] = {allocate(result.bytes + 1), allocate(result.bytes + 1)};
    for (int s = 0; s < 2 && !status; ++s)
      status = cutbackStepRead(steps[s], i, read[s]);
    if (!status && memcmp(read[0], read[1], result.bytes))
      printf("%s differs\n", result.name);
    store(out, result.name, read[1], result.bytes);
  }
  for (size_t i = 0; !status && i < count; ++i) {
    CutbackTensor argument = cutbackStepArgument(steps[1], i);
    if (argument.written)
      store(out, argument.name, arguments[1][i], argument.bytes);
  }
  return status;
}

/* Names of results in which two steps differ, and of written arguments. */
static CutbackStatus compare(CutbackStep *steps[2], void **arguments[2]) {
  CutbackStatus status = CUTBACK_DONE;
  for (size_t i = 0; !status && i < cutbackStepNumResults(steps[0]); ++i) {
    CutbackTensor result = cutbackStepResult(steps[0], i);
    char *read[2] = {allocate(result.bytes + 1), allocate(result.bytes + 1)};
    for (int s = 0; s < 2 && !status; ++s)
      status = cutbackStepRead(steps[s], i, read[s]);
    if (!status && memcmp(read[0], read[1], result.bytes))
      printf("%s differs\n", result.name);
  }
  for (size_t i = 0; i < cutbackStepNumArguments(steps[0]); ++i) {
    CutbackTensor argument = cutbackStepArgument(steps[0], i);
    if (memcmp(arguments[0][i], arguments[1][i], argument.bytes))
      printf("%s differs\n", argument.name);
  }
  return status;
}

static CutbackStatus keep(CutbackStep *steps[2], const char *in) {
  size_t count = cutbackStepNumArguments(steps[0]);
  void **arguments[2], **given = allocate((count + 1) * sizeof(void *));
  char *isKept = allocate(count + 1);
  for (int s = 0; s < 2; ++s) {
    arguments[s] = allocate((count + 1) * sizeof(void *));
    for (size_t i = 0; i < count; ++i)
      arguments[s][i] = memoryFor(in, cutbackStepArgument(steps[s], i));
  }
  for (size_t i = 0; i < count; ++i) {
    const char *name = cutbackStepArgument(steps[1], i).name;
    isKept[i] = !strncmp(name, "param.", 6) || !strncmp(name, "buffer.", 7);
    given[i] = isKept[i] ? NULL : arguments[1][i];
  }
  for (int round = 0; round < 2; ++round) {
    /* Anew: what it was, but for a parameter. */
    memset(arguments[0][0], 0, round * 4);
    memset(arguments[1][0], 0, round * 4);
    CutbackStatus status = CUTBACK_DONE;
    for (size_t i = 0; i < count && !status; ++i)
      if (isKept[i])
        status = cutbackStepKeep(steps[1], i, arguments[1][i]);
    for (int run = 0; run < 3 && !status; ++run) {
      status = cutbackStepRun(steps[0], arguments[0]);
      if (!status)
        status = cutbackStepRun(steps[1], given);
    }
    for (size_t i = 0; i < count && !status; ++i)
      if (isKept[i])
        status = cutbackStepFetch(steps[1], i);
    if (!status)
      status = compare(steps, arguments);
    if (status)
      return status;
  }
  return CUTBACK_DONE;
}

static int wrong(CutbackStep *step) {
  CutbackTensor none = cutbackStepArgument(step, (size_t)-1);
  void *arguments[256] = {0};
  float value;
  printf("none: %d %s\n", none.name == NULL, cutbackStepSegment(step, 99));
  printf("%d %s\n", cutbackStepRead(step, 0, &value), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepRun(step, arguments), cutbackStepMessage(step));
  arguments[0] = (char *)arguments + 1;
  printf("%d %s\n", cutbackStepRun(step, arguments), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepRunSegment(step, 99, arguments),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepRead(step, 99, &value),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepKeep(step, 99, &value),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepKeep(step, 0, NULL), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepKeep(step, 0, arguments[0]),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepFetch(step, 0), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepSetStream(step, NULL), cutbackStepMessage(step));
  printf("none: %d\n", cutbackStepLayout(step, 99).strides == NULL);
  return 0;
}

/* A step with what its first hook has to do with others. */
struct Hooked {
  CutbackStep *step;
  uint64_t added; /* by the function itself */
  int calls;
};

static int64_t halve(void *buffer, int64_t bytes, const char *type,
                     int32_t rank, const int64_t *sizes, void *userData,
                     void *stream) {
  float *gradient = buffer;
  for (int64_t i = 0; i < bytes / 4; ++i)
    gradient[i] /= 2;
  (void)type, (void)rank, (void)sizes, (void)userData, (void)stream;
  return bytes;
}

/* Adds another function to its point, in its first call. */
static int64_t addOne(void *buffer, int64_t bytes, const char *type,
                      int32_t rank, const int64_t *sizes, void *userData,
                      void *stream) {
  struct Hooked *hooked = userData;
  (void)buffer, (void)bytes, (void)type, (void)rank, (void)sizes, (void)stream;
  if (!hooked->calls++ &&
      cutbackStepAddHook(hooked->step, 0, halve, NULL, &hooked->added))
    exit(9);
  return 0;
}

static int hooks(CutbackStep *step, const char *in) {
  size_t count = cutbackStepNumArguments(step);
  void **arguments = allocate((count + 1) * sizeof(void *));
  for (size_t i = 0; i < count; ++i)
    arguments[i] = memoryFor(in, cutbackStepArgument(step, i));
  for (size_t i = 0; i < cutbackStepNumHookPoints(step); ++i) {
    CutbackHookPoint point = cutbackStepHookPoint(step, i);
    printf("%s%s ", point.kind, point.replaces ? " replaces" : "");
    print("point", point.gradient);
  }
  printf("none: %d\n", cutbackStepHookPoint(step, 99).kind == NULL);
  struct Hooked hooked = {step, 0, 0};
  uint64_t key = 0;
  printf("%d %s\n", cutbackStepAddHook(step, 99, halve, NULL, &key),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepAddHook(step, 0, NULL, NULL, &key),
         cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepDeleteHook(step, 77), cutbackStepMessage(step));
  CutbackTensor result =
      cutbackStepResult(step, cutbackStepNumResults(step) - 1);
  float *read = allocate(result.bytes);
  for (int run = 0; run < 5; ++run) {
    if (run == 1 && cutbackStepAddHook(step, 0, addOne, &hooked, &key))
      return 9;
    if (run == 4 && (cutbackStepDeleteHook(step, key) ||
                     cutbackStepDeleteHook(step, hooked.added)))
      return 9;
    if (cutbackStepRun(step, arguments) ||
        cutbackStepRead(step, cutbackStepNumResults(step) - 1, read))
      return 9;
    printf("run %d: %g, %d calls\n", run, read[0], hooked.calls);
  }
  return 0;
}

/* What a hook tries while its step runs. */
struct Tried {
  CutbackStep *step;
  void **arguments;
  int status[2]; /* on the thread of the run, and on another one */
  char message[256];
};

static int runTried(void *given) {
  struct Tried *tried = given;
  return (int)cutbackStepRun(tried->step, tried->arguments);
}

static int64_t runAgain(void *buffer, int64_t bytes, const char *type,
                        int32_t rank, const int64_t *sizes, void *userData,
                        void *stream) {
  struct Tried *tried = userData;
  (void)buffer, (void)bytes, (void)type, (void)rank, (void)sizes, (void)stream;
  thrd_t thread;
  tried->status[0] = runTried(tried);
  strncpy(tried->message, cutbackStepMessage(tried->step),
          sizeof tried->message - 1);
  if (thrd_create(&thread, runTried, tried) == thrd_success)
    thrd_join(thread, &tried->status[1]);
  return 0;
}

/* Segments in an order in which what they read is gone, NULL, two runs. */
static int order(CutbackStep *step, const char *folder, const char *in) {
  size_t count = cutbackStepNumArguments(step);
  void **arguments = allocate((count + 1) * sizeof(void *));
  for (size_t i = 0; i < count; ++i)
    arguments[i] = memoryFor(in, cutbackStepArgument(step, i));
  static const size_t segments[] = {1, 0, 1, 1, 0, 0, 1};
  for (size_t i = 0; i < sizeof segments / sizeof *segments; ++i) {
    CutbackStatus status = cutbackStepRunSegment(step, segments[i], arguments);
    printf("%s: %d %s\n", cutbackStepSegment(step, segments[i]), status,
           cutbackStepMessage(step));
  }
  printf("%d %s\n", cutbackStepRun(step, NULL), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepRead(step, 0, NULL), cutbackStepMessage(step));
  printf("%d %s\n", cutbackStepRun(NULL, arguments), cutbackStepMessage(NULL));
  printf("%d %d %s\n", cutbackStepOpen(folder, NULL),
         (int)cutbackStepNumArguments(NULL), cutbackStepMessage(NULL));
  CutbackStep *other = NULL;
  printf("%d ", cutbackStepOpenFor(folder, (CutbackMemory)77, &other));
  printf("%s\n", cutbackStepMessage(other));
  cutbackStepDestroy(other);
  printf("%d ", cutbackStepOpen(NULL, &other));
  printf("%s\n", cutbackStepMessage(other));
  cutbackStepDestroy(other);
  struct Tried tried = {step, arguments, {0}, {0}};
  uint64_t key = 0;
  if (cutbackStepAddHook(step, 0, runAgain, &tried, &key))
    return 9;
  printf("run: %d", cutbackStepRun(step, arguments));
  printf(", within %d %d %s\n", tried.status[0], tried.status[1],
         tried.message);
  return 0;
}

/* Segments by number; what none of them up to now takes has no memory. */
static void runInOrder(CutbackStep *step, const char *numbers) {
  size_t count = cutbackStepNumArguments(step);
  void **arguments = allocate((count + 1) * sizeof(void *));
  for (; *numbers; ++numbers) {
    size_t segment = (size_t)(*numbers - '0');
    for (size_t i = 0; i < count; ++i) {
      CutbackTensor argument = cutbackStepArgument(step, i);
      int isSum = !strncmp(argument.name, "accumulated.", 12) ||
                  !strcmp(argument.name, "optimizer.micro_batch");
      int isOwn = !isSum && !strncmp(argument.name, "optimizer.", 10);
      if (!arguments[i] && (!isSum || segment > 1) && (!isOwn || segment > 2))
        arguments[i] = alignedTo16(argument.bytes);
    }
    CutbackStatus status = cutbackStepRunSegment(step, segment, arguments);
    printf("%s: %d %s\n", cutbackStepSegment(step, segment), status,
           cutbackStepMessage(step));
  }
}

static int runInThread(void *given) {
  CutbackStep *step = given;
  size_t count = cutbackStepNumArguments(step);
  void **arguments = allocate((count + 1) * sizeof(void *));
  for (size_t i = 0; i < count; ++i)
    arguments[i] = alignedTo16(cutbackStepArgument(step, i).bytes);
  CutbackStatus status = cutbackStepRun(step, arguments);
  for (size_t i = 0; !status && i < cutbackStepNumResults(step); ++i)
    status = cutbackStepRead(step, i,
                             allocate(cutbackStepResult(step, i).bytes + 1));
  return (int)status;
}

int main(int argc, char **argv) {
  CutbackStep *steps[2] = {NULL, NULL};
  if (argc < 3 || cutbackStepApiVersion() != CUTBACK_STEP_API_VERSION)
    return 9;
  CutbackStatus status = cutbackStepOpen(argv[2], &steps[0]);
  if (!status && strcmp(argv[1], "list") == 0)
    list(steps[0]);
  if (strcmp(argv[1], "wrong") == 0)
    wrong(steps[0]);
  if (!status && strcmp(argv[1], "hooks") == 0 && argc == 4 &&
      hooks(steps[0], argv[3]))
    status = CUTBACK_DEFECT;
  if (!status && strcmp(argv[1], "order") == 0 && argc == 4 &&
      order(steps[0], argv[2], argv[3]))
    status = CUTBACK_DEFECT;
  if (!status && strcmp(argv[1], "segments") == 0 && argc == 4)
    runInOrder(steps[0], argv[3]);
  if (!status && strcmp(argv[1], "thread") == 0) {
    thrd_t thread;
    int ended = 9;
    if (thrd_create(&thread, runInThread, steps[0]) == thrd_success)
      thrd_join(thread, &ended);
    status = (CutbackStatus)ended;
  }
  if (!status && strcmp(argv[1], "run") == 0 && argc == 5) {
    status = cutbackStepOpen(argv[2], &steps[1]);
    if (!status)
      status = runTwice(steps, argv[3], argv[4]);
  }
  if (strcmp(argv[1], "device") == 0 && argc >= 4) {
    CutbackStatus opened =
        cutbackStepOpenFor(argv[2], CUTBACK_MEMORY_DEVICE, &steps[1]);
    status = status ? status : opened;
    if (!status)
      status = runOnDevice(steps, argv[3], argc == 5);
  }
  if (!status && strcmp(argv[1], "keep") == 0 && argc == 4) {
    status = cutbackStepOpen(argv[2], &steps[1]);
    if (!status)
      status = keep(steps, argv[3]);
  }
  for (int s = 0; s < 2; ++s) {
    if (steps[s] && *cutbackStepMessage(steps[s]))
      printf("message: %s\n", cutbackStepMessage(steps[s]));
    cutbackStepDestroy(steps[s]);
  }
  while (numOwned)
    free(owned[--numOwned]);
  return (int)status;
}
