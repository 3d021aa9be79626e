/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions for hooks.test.
 */
#include "cutback-c/Hook.h"

#include <stdio.h>

int64_t onDevice(void *buffer, int64_t bytes, const char *type, int32_t rank,
                 const int64_t *sizes, void *userData, void *stream) {
  if (!buffer || !stream)
    return -1;
  fprintf(stderr, "on a stream: %ld bytes\n", (long)bytes);
  return 0;
}

int64_t stop(void *buffer, int64_t bytes, const char *type, int32_t rank,
             const int64_t *sizes, void *userData, void *stream) {
  return -1;
}
