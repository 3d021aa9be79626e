// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of an MPI that ranks need, under names and types that do not depend
// on which it is: an MPI_Request is an int in one and a pointer in another. This
// file is compiled once for each MPI whose headers are there; the program loads
// the one that mpirun started it with. No decisions are made here.
//
// Errors are returned: a rank that is gone must be named, not end the job.

#include "Shim.h"

#include <mpi.h>
#include <stdlib.h>

static char message[MPI_MAX_ERROR_STRING];
static char library[MPI_MAX_LIBRARY_VERSION_STRING];

static int check(int code) {
  int length = 0;
  if (code != MPI_SUCCESS)
    MPI_Error_string(code, message, &length);
  return code;
}

int cutbackMpiVersion(void) { return CUTBACK_MPI_VERSION; }

const char *cutbackMpiError(void) { return message; }

int cutbackMpiStart(int *rank, int *size, int64_t *largestTag) {
  int provided = 0, has = 0, code = 0, *limit = NULL;
  code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  if (check(code))
    return code;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (check(code = MPI_Comm_rank(MPI_COMM_WORLD, rank)) ||
      check(code = MPI_Comm_size(MPI_COMM_WORLD, size)) ||
      check(code = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &has)))
    return code;
  *largestTag = has ? *limit : 32767;
  return 0;
}

const char *cutbackMpiLibrary(void) {
  int length = 0;
  MPI_Get_library_version(library, &length);
  return library;
}

int cutbackMpiSend(const void *bytes, int64_t count, int to, int tag,
                   void **request) {
  MPI_Request *made = malloc(sizeof *made);
  *request = made;
  return made ? check(MPI_Isend(bytes, (int)count, MPI_BYTE, to, tag,
                                MPI_COMM_WORLD, made))
              : check(MPI_ERR_NO_MEM);
}

int cutbackMpiReceive(void *bytes, int64_t count, int from, int tag,
                      void **request) {
  MPI_Request *made = malloc(sizeof *made);
  *request = made;
  return made ? check(MPI_Irecv(bytes, (int)count, MPI_BYTE, from, tag,
                                MPI_COMM_WORLD, made))
              : check(MPI_ERR_NO_MEM);
}

int cutbackMpiTest(void *request, int *isDone, int64_t *received) {
  MPI_Status status;
  int count = 0;
  int code = MPI_Test(request, isDone, &status);
  if (code == MPI_SUCCESS && *isDone)
    code = MPI_Get_count(&status, MPI_BYTE, &count);
  *received = count;
  if (code != MPI_SUCCESS || *isDone)
    free(request);
  return check(code);
}

int cutbackMpiCancel(void *request) {
  int code = MPI_Cancel(request);
  if (code == MPI_SUCCESS)
    code = MPI_Request_free(request);
  free(request);
  return check(code);
}

void cutbackMpiAbort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

int cutbackMpiFinish(void) { return check(MPI_Finalize()); }
