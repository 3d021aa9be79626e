// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a tensor along a dimension: of micro-batches, of replicas.
#ifndef CUTBACK_LIB_RUNTIME_PIPELINE_ROWS_H
#define CUTBACK_LIB_RUNTIME_PIPELINE_ROWS_H

#include "cutback/Runtime/Artifact.h"

#include <cstring>
#include <utility>

namespace cutback::pipeline {

/// Elements before and after a dimension: rows of `inner` bytes a step.
inline std::pair<int64_t, int64_t>
rowsOf(std::string_view dtype, const std::vector<int64_t> &sizes, int64_t dim) {
  int64_t outer = 1, inner = bytesOfType(dtype);
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i)
    (i < dim ? outer : inner) *= sizes[i];
  return {outer, inner};
}

/// `rows` times `bytes` bytes; a step is from where one row begins to where the
/// next one does.
inline void copyRows(int64_t rows, int64_t bytes, const char *from,
                     int64_t fromStep, char *to, int64_t toStep) {
  for (int64_t row = 0; row < rows && bytes; ++row)
    std::memcpy(to + row * toStep, from + row * fromStep, bytes);
}

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_RUNTIME_PIPELINE_ROWS_H
