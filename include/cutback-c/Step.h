// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The C interface of compiled steps: open a folder that `cutback compile
 * --target=...` wrote, and run it. No compiler, no MLIR or LLVM behind it.
 *
 *   CutbackStep *step = NULL;
 *   if (cutbackStepOpen("out", &step) == CUTBACK_DONE) {
 *     for (size_t i = 0; i < cutbackStepNumArguments(step); ++i)
 *       arguments[i] = bytesOf(cutbackStepArgument(step, i).name);
 *     if (cutbackStepRun(step, arguments) == CUTBACK_DONE)
 *       cutbackStepRead(step, 0, &loss);
 *   }
 *   fputs(cutbackStepMessage(step), stderr);
 *   cutbackStepDestroy(step);
 *
 * Nothing is thrown or printed: whatever fails is a status and a message. A
 * step belongs to one thread at a time, of the process that opened it: a run or
 * a read while another one works, from a hook of it too, is
 * CUTBACK_WRONG_USAGE. Different steps, of one folder too, may work on
 * different threads. Strings belong to the step, and live as long; a message
 * until the next call. A step that is NULL is CUTBACK_WRONG_USAGE, and has no
 * arguments or results.
 */
#ifndef CUTBACK_C_STEP_H
#define CUTBACK_C_STEP_H

#include "cutback-c/Hook.h"
#include "cutback-c/Status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one with every change after which a program has to be compiled
 * again; functions that are added do not change it. */
#define CUTBACK_STEP_API_VERSION 1

typedef struct CutbackStep CutbackStep;

/* A tensor that goes in or comes out: `rank` sizes, elements in row-major
 * order, without gaps. */
typedef struct CutbackTensor {
  const char *name;  /* "input.0", "param.fc.weight", "loss"; "" without one */
  const char *dtype; /* "f32", "bf16", "i64", "i1" (a byte), "complex<f32>" */
  size_t rank;
  const int64_t *sizes;
  size_t bytes;
  int written;  /* of an argument: the step changes it */
  int required; /* of an argument: nothing is known to put there. Others begin
                 * as zeros, ones, or hold the seed: see `fill` */
  char fill;    /* '0', '1', 's' for the seed; 0 where `required` */
} CutbackTensor;

/* CUTBACK_STEP_API_VERSION of the library. */
CUTBACK_EXPORT int cutbackStepApiVersion(void);

/* Opens the step in `folder`. `*step` is set whatever happens, unless there is
 * no memory for it (then it is NULL): so that it can be asked for the message.
 * A step that did not open has no arguments and does not run. */
CUTBACK_EXPORT CutbackStatus cutbackStepOpen(const char *folder,
                                             CutbackStep **step);
/* What kind of memory arguments are in, and results are read to. */
typedef enum CutbackMemory {
  CUTBACK_MEMORY_HOST = 0,  /* of this machine, whatever runs the step */
  CUTBACK_MEMORY_DEVICE = 1 /* of the GPU that runs it (--target=cuda) */
} CutbackMemory;

/* Opens a step for memory of that kind; cutbackStepOpen is for that of this
 * machine. Addresses of the device are those of its primary context, device 0
 * of CUDA_VISIBLE_DEVICES, at multiples of 16 bytes. Parameters, buffers and
 * optimizer state ("param.", "buffer.", "const.", and what an update changes)
 * are read and written where they are; a run in which they lie elsewhere than
 * in the one before costs some milliseconds. All other arguments may lie
 * elsewhere in each run. A step for this machine does not open for memory of a
 * device. */
CUTBACK_EXPORT CutbackStatus cutbackStepOpenFor(const char *folder,
                                                CutbackMemory memory,
                                                CutbackStep **step);
/* Of a step for memory of the device: the CUstream that its caller works on;
 * NULL is the legacy default stream. Runs and reads come behind what was issued
 * to it, and what is issued to it from then on comes behind them: nobody has to
 * wait. It must live until another one is set, or the step is destroyed.
 * Without this call the caller must have waited for his work before a run (that
 * on the default stream too), and cutbackStepRead waits. */
CUTBACK_EXPORT CutbackStatus cutbackStepSetStream(CutbackStep *step,
                                                  void *stream);

/* NULL is allowed. Gives memory of a device back. */
CUTBACK_EXPORT void cutbackStepDestroy(CutbackStep *step);

/* What the last call that failed has to say, and what to do next; "" if none
 * did. NULL is allowed. */
CUTBACK_EXPORT const char *cutbackStepMessage(const CutbackStep *step);

/* Of the arena: all memory but arguments and results. */
CUTBACK_EXPORT size_t cutbackStepArenaBytes(const CutbackStep *step);

CUTBACK_EXPORT size_t cutbackStepNumArguments(const CutbackStep *step);
/* All zero for a number out of range; so are results. */
CUTBACK_EXPORT CutbackTensor cutbackStepArgument(const CutbackStep *step,
                                                 size_t number);
CUTBACK_EXPORT size_t cutbackStepNumResults(const CutbackStep *step);
CUTBACK_EXPORT CutbackTensor cutbackStepResult(const CutbackStep *step,
                                               size_t number);

/* How many threads of this machine run a launch, with that of the caller; 0 as
 * 1. Results have the same bits. Without this: one a processor that the process
 * may use. */
CUTBACK_EXPORT void cutbackStepSetThreads(CutbackStep *step, unsigned count);

/* "forward", "backward", "update", in the order in which they run; before an
 * update of several micro-batches "accumulate". Of a step whose backward
 * updates parameters (`--optimizer`, without what needs all gradients first)
 * there is no "update"; "optimizer.lr" and "optimizer.step", from 1 on, are
 * arguments of that backward. */
CUTBACK_EXPORT size_t cutbackStepNumSegments(const CutbackStep *step);
CUTBACK_EXPORT const char *cutbackStepSegment(const CutbackStep *step,
                                              size_t number);

/* Runs forward and backward, and waits for their end. `arguments`: memory
 * of the kind that the step was opened for, one an argument, aligned to 16
 * bytes; NULL for what only other segments take, or what the step keeps. */
CUTBACK_EXPORT CutbackStatus cutbackStepRun(CutbackStep *step,
                                            void *const *arguments);
/* Runs one segment. What earlier ones left in the arena is still there: a
 * backward comes after a forward, an update after a backward, each once;
 * another order is CUTBACK_WRONG_USAGE. Of several micro-batches each has a
 * forward, a backward and "accumulate", which adds its gradients to the
 * arguments "accumulated.*" ("optimizer.micro_batch" is its number in the step,
 * from 0 on); the update comes after the last one. */
CUTBACK_EXPORT CutbackStatus cutbackStepRunSegment(CutbackStep *step,
                                                   size_t segment,
                                                   void *const *arguments);

/* Keeps an argument where launches run: it is what is in `memory` now (aligned
 * to 16 bytes), and runs take no notice of what they are given for it. On a GPU
 * it is copied there, once, and neither brought nor fetched by runs; elsewhere
 * runs work on `memory` itself. So that must live as long as the step, or until
 * the argument is kept anew. Tied names of one tensor are kept together: keep
 * each with the same memory. */
CUTBACK_EXPORT CutbackStatus cutbackStepKeep(CutbackStep *step, size_t argument,
                                             void *memory);
/* Copies what a kept argument is now to the memory that it was kept with. */
CUTBACK_EXPORT CutbackStatus cutbackStepFetch(CutbackStep *step,
                                              size_t argument);

/* After a run: the elements of a result, `bytes` of it, to `to`. To memory of
 * the device only what lies in row-major order (cutbackStepLayout). */
CUTBACK_EXPORT CutbackStatus cutbackStepRead(CutbackStep *step, size_t result,
                                             void *to);

/* How a result lies where the step makes it: a gradient may be a transpose. */
typedef struct CutbackLayout {
  const int64_t *strides; /* one a size, in elements */
  size_t bytes;           /* from its first element to the end of the last */
} CutbackLayout;

/* All zero for a number out of range. */
CUTBACK_EXPORT CutbackLayout cutbackStepLayout(const CutbackStep *step,
                                               size_t result);
/* After a run: a result as it lies, `bytes` of its layout, to `to`. */
CUTBACK_EXPORT CutbackStatus cutbackStepReadLying(CutbackStep *step,
                                                  size_t result, void *to);

/* A point between launches at which functions run on a gradient. Points are
 * those of `compile --hook`; functions are added here. */
typedef struct CutbackHookPoint {
  CutbackTensor gradient; /* its name is that of what the gradient is of */
  const char *kind;       /* "tensor_pre", "retains_grad", "node_pre",
                             "node_post", "post_accumulate" */
  int replaces;           /* functions may change it */
} CutbackHookPoint;

/* In the order in which they run. */
CUTBACK_EXPORT size_t cutbackStepNumHookPoints(const CutbackStep *step);
/* All zero for a number out of range. */
CUTBACK_EXPORT CutbackHookPoint cutbackStepHookPoint(const CutbackStep *step,
                                                     size_t number);

/* Adds a function behind those that are at the point, and says by which key it
 * is deleted. A function may add and delete others while the step runs: that
 * takes effect at the next run. Points without functions cost a comparison. */
CUTBACK_EXPORT CutbackStatus cutbackStepAddHook(CutbackStep *step, size_t point,
                                                CutbackHook function,
                                                void *userData, uint64_t *key);
CUTBACK_EXPORT CutbackStatus cutbackStepDeleteHook(CutbackStep *step,
                                                   uint64_t key);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_C_STEP_H */
