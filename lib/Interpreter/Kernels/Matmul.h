// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop of all matrix products.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_MATMUL_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_MATMUL_H

#include "Values.h"

namespace cutback::interpreter {

/// c[m, n] += a[m, k] * b[k, n].
template <typename T>
void multiply(const T *a, const T *b, T *c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] += a[i * k + l] * b[l * n + j];
}

/// transformers.grouped_mm_fallback and its gradients (GroupedRows.cpp).
mlir::LogicalResult multiplyGroups(const KernelCall &call);
mlir::LogicalResult multiplyGroupsBackward(const KernelCall &call);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_MATMUL_H
