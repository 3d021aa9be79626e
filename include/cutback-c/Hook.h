// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A function of yours on a gradient, for `--hook=NAME:LIB.so:SYMBOL` and for
 * cutbackStepAddHook. A library of such functions needs this header alone, and
 * links to nothing.
 *
 *   int64_t halve(void *buffer, int64_t bytes, const char *type, int32_t rank,
 *                 const int64_t *sizes, void *userData, void *stream) {
 *     float *gradient = (float *)buffer;
 *     for (int64_t i = 0; i < bytes / 4; ++i)
 *       gradient[i] /= 2;
 *     return bytes;
 *   }
 */
#ifndef CUTBACK_C_HOOK_H
#define CUTBACK_C_HOOK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `buffer`: the gradient, `bytes` of it: `rank` sizes, elements of `type`
 * ("f32", "bf16", ...) in row-major order, without gaps. On a GPU it is memory
 * of the device, and what is enqueued on `stream` (a CUstream) runs in its
 * place between two launches; elsewhere `stream` is NULL. `userData` is what
 * was given with the function, NULL for one of --hook.
 *
 * Returns 0 if the gradient is as it was, `bytes` if it was changed, and a
 * negative number to stop the step. Anything else is an error, and so is a
 * change where hooks only see the gradient (retains_grad). */
typedef int64_t (*CutbackHook)(void *buffer, int64_t bytes, const char *type,
                               int32_t rank, const int64_t *sizes,
                               void *userData, void *stream);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_C_HOOK_H */
