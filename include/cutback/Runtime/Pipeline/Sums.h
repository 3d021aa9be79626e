// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of tensors in memory of this machine, rounded in their own type.
#ifndef CUTBACK_RUNTIME_PIPELINE_SUMS_H
#define CUTBACK_RUNTIME_PIPELINE_SUMS_H

#include <cstdint>
#include <string_view>

namespace cutback::pipeline {

/// sum[i] = sum[i] + more[i], each rounded to the type once: the bits of
/// `aten.add`. "f64", "f32", "bf16" or "f16", or an integer that is added as
/// such; `bytes` of each operand.
void addTo(std::string_view dtype, char *sum, const char *more, int64_t bytes);

/// "i64" or "i32": counts.
bool isAddedAsInteger(std::string_view dtype);

/// "f32" of "complex<f32>"; of other types the type.
std::string_view componentOf(std::string_view dtype);

/// to[i] = to[i] * factor, in the type's arithmetic: the factor is rounded to
/// it first (of 16-bit types to f32).
void scale(std::string_view dtype, char *to, double factor, int64_t bytes);

/// to[i] = to[i] / divisor, in the type's arithmetic.
void divide(std::string_view dtype, char *to, double divisor, int64_t bytes);

/// to[i] = the larger one; NaN where either is.
void maximize(std::string_view dtype, char *to, const char *more,
              int64_t bytes);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_SUMS_H
