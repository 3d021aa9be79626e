// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What the two C interfaces share: how a call ends. */
#ifndef CUTBACK_C_STATUS_H
#define CUTBACK_C_STATUS_H

#if defined(_WIN32)
#define CUTBACK_EXPORT
#else
#define CUTBACK_EXPORT __attribute__((visibility("default")))
#endif

/* The numbers are the exit codes of the command line. */
typedef enum CutbackStatus {
  CUTBACK_DONE = 0,
  CUTBACK_WRONG_INPUT = 1, /* the graph, or a file cannot be read or written;
                            * or it needs more memory than there is, and the
                            * context is of no use any more */
  CUTBACK_WRONG_USAGE = 2, /* an option or an argument */
  CUTBACK_NO_PLAN = 3,     /* no plan exists, or its proof failed; a step does
                            * not run here */
  CUTBACK_DEFECT = 4       /* of ours; the context is of no use any more */
} CutbackStatus;

#endif /* CUTBACK_C_STATUS_H */
