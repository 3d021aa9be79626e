// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program that was compiled without an MPI takes of one: a library for
// each binary interface, of one source. C.
#ifndef CUTBACK_LIB_RUNTIME_PIPELINE_MPI_SHIM_H
#define CUTBACK_LIB_RUNTIME_PIPELINE_MPI_SHIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUTBACK_MPI_VERSION 1

/* CUTBACK_MPI_VERSION of the library. */
int cutbackMpiVersion(void);
/* Begins; the numbers of this rank and of all, the largest tag. Calls return 0,
 * or else cutbackMpiError() says what went wrong. */
int cutbackMpiStart(int *rank, int *size, int64_t *largestTag);
const char *cutbackMpiError(void);
/* "Open MPI v4.1.4 ..." */
const char *cutbackMpiLibrary(void);
/* At most 2^31 - 1 bytes. `request` is for cutbackMpiTest(). */
int cutbackMpiSend(const void *bytes, int64_t count, int to, int tag,
                   void **request);
int cutbackMpiReceive(void *bytes, int64_t count, int from, int tag,
                      void **request);
/* `isDone` is 1 once, and `received` the bytes of a receive; then the request
 * is gone, as it is after an error. */
int cutbackMpiTest(void *request, int *isDone, int64_t *received);
/* Gives up a receive. */
int cutbackMpiCancel(void *request);
void cutbackMpiAbort(int code);
int cutbackMpiFinish(void);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_LIB_RUNTIME_PIPELINE_MPI_SHIM_H */
