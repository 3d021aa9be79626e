/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a C program does with Cutback, as commands for the tests beside it:
 *
 *   cutback-c-test json FILE OPTIONS...     the object of `report --json`
 *   cutback-c-test report FILE OPTIONS...   the text of `report`
 *   cutback-c-test names FILE OPTIONS...    saved and recomputed values, read
 *                                           from memory and planned twice
 *   cutback-c-test write FILE FOLDER OPTIONS...
 *   cutback-c-test wrong                    calls with nothing in them
 *
 * Ends with the status of the first call that failed. Reading takes the options
 * that begin with --graph.
 */
#include "cutback-c/Cutback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const CutbackDiagnostic *diagnostic, void *user) {
  static const char *const names[] = {"note", "warning", "error", "remark"};
  printf("%s:%u:%u: %s: %s\n", diagnostic->file[0] ? diagnostic->file : "-",
         diagnostic->line, diagnostic->column, names[diagnostic->severity],
         diagnostic->message);
  ++*(unsigned *)user;
}

static char *slurp(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  size_t room = 0, got = 0;
  *size = 0;
  if (!file)
    return NULL;
  do {
    *size += got;
    if (room - *size < 4096) {
      room = 2 * room + 8192;
      data = realloc(data, room);
      if (!data)
        break;
    }
    got = fread(data + *size, 1, room - *size, file);
  } while (got != 0);
  fclose(file);
  return data;
}

static void printNames(const CutbackPlan *plan) {
  size_t count = cutbackPlanNumSaved(plan);
  for (size_t i = 0; i < count; ++i) {
    CutbackSaved saved = cutbackPlanSaved(plan, i);
    printf("saved %s kind %d bytes %lld argument %d\n", saved.name,
           (int)saved.kind, (long long)saved.bytes, saved.isArgument);
  }
  for (size_t i = 0; i < cutbackPlanNumRecomputed(plan); ++i)
    printf("recomputed %s\n", cutbackPlanRecomputed(plan, i));
  if (cutbackPlanSaved(plan, count).name ||
      cutbackPlanRecomputed(plan, cutbackPlanNumRecomputed(plan)))
    printf("out of range gave something\n");
}

/* From memory, under a name of its own; the memory is gone when it is planned.
 */
static CutbackStatus readCopy(CutbackContext *context, const char *path,
                              CutbackGraph **graph) {
  size_t size;
  char *data = slurp(path, &size);
  CutbackStatus status =
      cutbackGraphReadMemory(context, data, size, "memory", 0, NULL, graph);
  free(data);
  return status;
}

static CutbackStatus names(CutbackGraph *graph, int count,
                           const char *const *options) {
  CutbackPlan *first = NULL, *second = NULL;
  CutbackStatus status =
      cutbackPlanCreate(graph, (size_t)count, options, &first);
  if (!status)
    status = cutbackPlanCreate(graph, (size_t)count, options, &second);
  if (!status)
    printNames(first);
  if (!status && cutbackPlanNumSaved(first) != cutbackPlanNumSaved(second))
    printf("the second plan differs\n");
  cutbackPlanDestroy(first);
  cutbackPlanDestroy(second);
  return status;
}

static CutbackStatus texts(const char *command, CutbackGraph *graph,
                           const char *folder, int count,
                           const char *const *options) {
  CutbackPlan *plan = NULL;
  const char *text = "";
  CutbackStatus status =
      cutbackPlanCreate(graph, (size_t)count, options, &plan);
  if (!status && !strcmp(command, "json"))
    status = cutbackPlanJson(plan, 1, &text);
  else if (!status && !strcmp(command, "plan"))
    status = cutbackPlanJson(plan, 0, &text);
  else if (!status && !strcmp(command, "report"))
    status = cutbackPlanReport(plan, &text);
  else if (!status)
    status = cutbackPlanWrite(plan, folder);
  if (!status)
    fputs(text, stdout);
  cutbackPlanDestroy(plan);
  return status;
}

/* Nothing here may crash; each line says what came back. */
static int wrong(CutbackContext *context) {
  CutbackGraph *graph = NULL;
  CutbackPlan *plan = NULL;
  const char *text = NULL;
  const char *none[] = {NULL};
  printf("no context %d\n", cutbackGraphReadFile(NULL, "x", 0, NULL, &graph));
  printf("no path %d\n", cutbackGraphReadFile(context, NULL, 0, NULL, &graph));
  printf("no data %d\n",
         cutbackGraphReadMemory(context, NULL, 5, "x", 0, NULL, &graph));
  printf("no size %d\n",
         cutbackGraphReadMemory(context, "", 0, "x", 0, NULL, &graph));
  printf("no option %d\n",
         cutbackGraphReadFile(context, "x", 1, none, &graph));
  printf("no graph %d\n", cutbackPlanCreate(NULL, 0, NULL, &plan));
  printf("no plan %d %d %d\n", cutbackPlanJson(NULL, 0, &text),
         cutbackPlanReport(NULL, &text), cutbackPlanWrite(NULL, "x"));
  printf("nothing %d %d\n", (int)cutbackPlanNumSaved(NULL),
         (int)cutbackPlanNumRecomputed(NULL));
  cutbackPlanDestroy(NULL);
  cutbackGraphDestroy(NULL);
  cutbackContextDestroy(NULL);
  return 0;
}

int main(int argc, char **argv) {
  unsigned diagnostics = 0;
  CutbackContext *context = cutbackContextCreate(print, &diagnostics);
  CutbackGraph *graph = NULL;
  CutbackStatus status = CUTBACK_DONE;
  const char *command = argc > 1 ? argv[1] : "wrong";
  int next = strcmp(command, "write") ? 3 : 4, reading = 0;
  if (cutbackApiVersion() != CUTBACK_API_VERSION || !cutbackVersion()[0])
    printf("header and library do not fit\n");
  if (argc < next || !strcmp(command, "wrong")) {
    wrong(context);
    cutbackContextDestroy(context);
    return 0;
  }
  while (next + reading < argc && !strncmp(argv[next + reading], "--graph", 7))
    ++reading;
  if (!strcmp(command, "names"))
    status = readCopy(context, argv[2], &graph);
  else
    status = cutbackGraphReadFile(context, argv[2], (size_t)reading,
                                  (const char *const *)argv + next, &graph);
  next += reading;
  if (!status && !strcmp(command, "names"))
    status = names(graph, argc - next, (const char *const *)argv + next);
  else if (!status)
    status = texts(command, graph, argv[3], argc - next,
                   (const char *const *)argv + next);
  cutbackGraphDestroy(graph);
  cutbackContextDestroy(context);
  if (status)
    printf("status %d after %u diagnostics\n", (int)status, diagnostics);
  return status;
}
