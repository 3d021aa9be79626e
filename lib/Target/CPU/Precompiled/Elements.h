// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where elements lie that a description names.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ELEMENTS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ELEMENTS_H

#include "ProductBlocks.h"

#include "cutback/Target/CPU/PrecompiledCalls.h"

namespace {

namespace precompiled = cutback::precompiled;

inline int digitOf(const precompiled::Digit &digit, int number) {
  if (digit.divisor > 1)
    number /= int(digit.divisor);
  return digit.extent ? number % int(digit.extent) : number;
}

/// What an index has of an element's number.
struct Offset {
  const precompiled::Index &index;
  int operator()(int number) const {
    int64_t at = index.at;
    for (int64_t d = 0; d < index.numDigits; ++d)
      at += digitOf(index.digits[d], number) * index.digits[d].stride;
    return int(at);
  }
};

/// The offsets of `count` numbers from `first` on, and whether each lies behind
/// the one before it.
inline bool findOffsets(const precompiled::Index &index, int first, int count,
                        int *offsets) {
  const Offset offset = {index};
  bool areNeighbors = true;
  for (int i = 0; i < count; ++i) {
    offsets[i] = offset(first + i);
    areNeighbors &= offsets[i] == offsets[0] + i;
  }
  return areNeighbors;
}

/// Calls `run` with the elements of `tensor` in matrix or group blockIdx.z:
/// doubles where sums are.
template <typename T, typename Run>
inline void withElements(const precompiled::Tensor &tensor, void **operands,
                         Run run) {
  const int64_t at = tensor.at + int64_t(blockIdx.z) * tensor.outer;
  void *operand = operands[tensor.operand];
  if constexpr (std::is_same_v<T, double>)
    run(static_cast<double *>(operand) + at);
  else if (tensor.type == precompiled::BF16)
    run(static_cast<bf16 *>(operand) + at);
  else if (tensor.type == precompiled::F16)
    run(static_cast<f16 *>(operand) + at);
  else
    run(static_cast<float *>(operand) + at);
}

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ELEMENTS_H
