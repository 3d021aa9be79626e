// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * What a compiled step asks of libcutback.so: to run the calls that have no
 * machine code. libcutback-step.so and cutback-run load it for that; programs
 * have no use for it.
 */
#ifndef CUTBACK_C_CALLS_H
#define CUTBACK_C_CALLS_H

#include "cutback-c/Status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CutbackCalls CutbackCalls;

/* Of the text of calls.mlir. NULL, with why in `*error`, a string that lives
 * until the next call of this thread. */
CUTBACK_EXPORT CutbackCalls *cutbackCallsCreate(const char *text, size_t size,
                                                const char **error);
CUTBACK_EXPORT void cutbackCallsDestroy(CutbackCalls *calls);
/* Runs a call on the addresses of its operands, one at a time. NULL, or what
 * went wrong, a string that lives until the next call of this thread. */
CUTBACK_EXPORT const char *
cutbackCallsRun(CutbackCalls *calls, const char *name, void *const *operands);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_C_CALLS_H */
