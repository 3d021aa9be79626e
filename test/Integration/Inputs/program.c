/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of somebody else: plans argv[1] and says how much is saved. */
#include "cutback-c/Cutback.h"

#include <stdio.h>

int main(int argc, char **argv) {
  CutbackContext *context = cutbackContextCreate(NULL, NULL);
  CutbackGraph *graph = NULL;
  CutbackPlan *plan = NULL;
  if (argc == 2 && cutbackApiVersion() == CUTBACK_API_VERSION &&
      !cutbackGraphReadFile(context, argv[1], 0, NULL, &graph) &&
      !cutbackPlanCreate(graph, 0, NULL, &plan))
    printf("%s saves %zu values\n", cutbackVersion(),
           cutbackPlanNumSaved(plan));
  cutbackPlanDestroy(plan);
  cutbackGraphDestroy(graph);
  cutbackContextDestroy(context);
  return plan == NULL;
}
