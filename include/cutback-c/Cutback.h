// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The C interface of Cutback: read a training graph, plan what is saved for the
 * backward and what is computed twice, and ask for the plan.
 *
 *   CutbackContext *context = cutbackContextCreate(onDiagnostic, NULL);
 *   CutbackGraph *graph = NULL;
 *   CutbackPlan *plan = NULL;
 *   const char *options[] = {"--cost-model=pytorch", "--sym", "s0=24"};
 *   if (!cutbackGraphReadFile(context, "joint.txt", 0, NULL, &graph) &&
 *       !cutbackPlanCreate(graph, 3, options, &plan))
 *     for (size_t i = 0; i < cutbackPlanNumSaved(plan); ++i)
 *       puts(cutbackPlanSaved(plan, i).name);
 *   cutbackPlanDestroy(plan);
 *   cutbackGraphDestroy(graph);
 *   cutbackContextDestroy(context);
 *
 * Nothing is thrown, printed, or ended: whatever fails is a status, after one
 * or more calls of the diagnostic function of the context. (A write to memory
 * that is not ours, or the end of the stack, still ends the process.)
 *
 * A context and what was made in it belong to one thread at a time; different
 * contexts may work on different threads. Text is UTF-8. Strings that a
 * function returns belong to the object it was asked of, and live as long.
 */
#ifndef CUTBACK_C_CUTBACK_H
#define CUTBACK_C_CUTBACK_H

#include "cutback-c/Status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one with every change after which a program has to be compiled
 * again; functions that are added do not change it. */
#define CUTBACK_API_VERSION 1

typedef struct CutbackContext CutbackContext;
typedef struct CutbackGraph CutbackGraph;
typedef struct CutbackPlan CutbackPlan;

typedef enum CutbackSeverity {
  CUTBACK_NOTE = 0, /* belongs to the diagnostic before it */
  CUTBACK_WARNING = 1,
  CUTBACK_ERROR = 2,
  CUTBACK_REMARK = 3
} CutbackSeverity;

/* `file` is "" where no place is known, `line` and `column` (from 1) are 0
 * where they are not. Strings live until the function returns. */
typedef struct CutbackDiagnostic {
  CutbackSeverity severity;
  const char *file;
  unsigned line;
  unsigned column;
  const char *message;
} CutbackDiagnostic;

typedef void (*CutbackDiagnosticFn)(const CutbackDiagnostic *diagnostic,
                                    void *userData);

typedef enum CutbackSavedKind {
  CUTBACK_TENSOR = 0,
  CUTBACK_SIZE = 1,
  CUTBACK_SEED = 2
} CutbackSavedKind;

/* A value that the forward hands to the backward. */
typedef struct CutbackSaved {
  const char *name; /* as in the graph that was read */
  CutbackSavedKind kind;
  int64_t bytes;  /* under the sizes of --sym, else the hints of the graph */
  int isArgument; /* of the graph: it exists anyway */
} CutbackSaved;

/* "0.1.0" */
CUTBACK_EXPORT const char *cutbackVersion(void);
/* CUTBACK_API_VERSION of the library, to be compared with the header's. */
CUTBACK_EXPORT int cutbackApiVersion(void);

/* `onDiagnostic` may be NULL. Returns NULL if there is no memory. */
CUTBACK_EXPORT CutbackContext *
cutbackContextCreate(CutbackDiagnosticFn onDiagnostic, void *userData);
/* After the graphs and plans in it. All destroy functions take NULL. */
CUTBACK_EXPORT void cutbackContextDestroy(CutbackContext *context);

/* Reads any input that `cutback report` reads; options are those of reading and
 * of gradients, as the command line has them: "--graph=0", "--model=NAME",
 * "--forward-outputs=2", "--of=grad.w". A folder that cutbackPlanWrite or
 * `cutback compile` wrote holds a plan, which is proved here: CUTBACK_NO_PLAN
 * if a part does not belong to the others. cutbackPlanCreate then gives that
 * plan, and takes no option that would decide another; to plan the graph again,
 * read joint.mlir of the folder. */
CUTBACK_EXPORT CutbackStatus cutbackGraphReadFile(CutbackContext *context,
                                                  const char *path,
                                                  size_t numOptions,
                                                  const char *const *options,
                                                  CutbackGraph **graph);
/* The same from memory, which is copied; `name` stands for the file in
 * diagnostics. */
CUTBACK_EXPORT CutbackStatus cutbackGraphReadMemory(
    CutbackContext *context, const char *data, size_t size, const char *name,
    size_t numOptions, const char *const *options, CutbackGraph **graph);
CUTBACK_EXPORT void cutbackGraphDestroy(CutbackGraph *graph);

/* Plans, and proves that the two halves compute what the graph does. Options
 * are the plan options of the command line; "--remarks" makes a diagnostic of
 * each decision. The graph stays as it was and can be planned again. */
CUTBACK_EXPORT CutbackStatus cutbackPlanCreate(CutbackGraph *graph,
                                               size_t numOptions,
                                               const char *const *options,
                                               CutbackPlan **plan);
CUTBACK_EXPORT void cutbackPlanDestroy(CutbackPlan *plan);

CUTBACK_EXPORT size_t cutbackPlanNumSaved(const CutbackPlan *plan);
/* All zero for an index that is out of range. */
CUTBACK_EXPORT CutbackSaved cutbackPlanSaved(const CutbackPlan *plan,
                                             size_t index);
CUTBACK_EXPORT size_t cutbackPlanNumRecomputed(const CutbackPlan *plan);
/* The name of a value that the backward computes again, or NULL. */
CUTBACK_EXPORT const char *cutbackPlanRecomputed(const CutbackPlan *plan,
                                                 size_t index);

/* The object of `cutback report --json`. `compare`: with the other strategies,
 * which costs as much as planning by each of them. */
CUTBACK_EXPORT CutbackStatus cutbackPlanJson(CutbackPlan *plan, int compare,
                                             const char **text);
/* The text of `cutback report`. */
CUTBACK_EXPORT CutbackStatus cutbackPlanReport(CutbackPlan *plan,
                                               const char **text);
/* Writes what `cutback compile --to=partition` writes: joint.mlir,
 * forward.mlir, backward.mlir, plan.json; all of them or none. */
CUTBACK_EXPORT CutbackStatus cutbackPlanWrite(CutbackPlan *plan,
                                              const char *folder);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_C_CUTBACK_H */
