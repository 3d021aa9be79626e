// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of cutback-step-test share.
#ifndef CUTBACK_TEST_CAPI_STEP_TEST_H
#define CUTBACK_TEST_CAPI_STEP_TEST_H

#include "cutback-c/Step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros, until the end. */
void *allocate(size_t bytes);

/* Memory at a multiple of 16: what the file FOLDER/NAME holds; without one
 * zeros, or ones of f32, as the step asks. */
void *memoryFor(const char *folder, CutbackTensor tensor);

/* Runs steps[1], which is for memory of the device, beside steps[0], which is
 * not, and prints in what they differ. With `waits` it gives no stream. */
CutbackStatus runOnDevice(CutbackStep *steps[2], const char *in, int waits);

#ifdef __cplusplus
}
#endif

#endif /* CUTBACK_TEST_CAPI_STEP_TEST_H */
