/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions for hooks.test.
 */
#include "cutback-c/Hook.h"

int64_t halve(void *buffer, int64_t bytes, const char *type, int32_t rank,
              const int64_t *sizes, void *userData, void *stream) {
  float *gradient = (float *)buffer;
  int64_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    count *= sizes[i];
  if (count * (int64_t)sizeof(float) != bytes || type[0] != 'f' || userData ||
      stream)
    return -9;
  for (int64_t i = 0; i < count; ++i)
    gradient[i] /= 2;
  return bytes;
}

int64_t stop(void *buffer, int64_t bytes, const char *type, int32_t rank,
             const int64_t *sizes, void *userData, void *stream) {
  return -7;
}

int64_t cut(void *buffer, int64_t bytes, const char *type, int32_t rank,
            const int64_t *sizes, void *userData, void *stream) {
  return bytes / 2;
}

int64_t spoil(void *buffer, int64_t bytes, const char *type, int32_t rank,
              const int64_t *sizes, void *userData, void *stream) {
  ((float *)buffer)[2] /= 0;
  return bytes;
}
