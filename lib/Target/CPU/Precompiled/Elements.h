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

template <int axes>
inline Place<axes> placeOf(const precompiled::Index &index, int number) {
  int64_t at = index.at, along[axes];
  for (int axis = 0; axis < axes; ++axis)
    along[axis] = index.along[axis];
#pragma clang loop vectorize(disable) unroll(disable)
  for (int64_t d = 0; d < index.numDigits; ++d) {
    const int digit = digitOf(index.digits[d], number);
    at += digit * index.digits[d].stride;
    for (int axis = 0; axis < axes; ++axis)
      along[axis] += digit * index.digits[d].along[axis];
  }
  Place<axes> place;
  place.at = int(at);
  for (int axis = 0; axis < axes; ++axis)
    place.along[axis] = int(along[axis]);
  return place;
}

/// The places of `count` numbers from `first` on. Divisions take longer than
/// what is done with a place: up to the number at which another digit moves,
/// the digits that each number moves are counted on. Loops are short: vectors
/// would be made of their beginnings and ends.
template <int axes>
__attribute__((noinline)) void findPlaces(const precompiled::Index &index,
                                          int first, int count,
                                          Place<axes> *places) {
  for (int i = 0; i < count;) {
    Place<axes> place = placeOf<axes>(index, first + i), step = {};
    int last = count;
#pragma clang loop vectorize(disable) unroll(disable)
    for (int64_t d = 0; d < index.numDigits; ++d) {
      const precompiled::Digit &digit = index.digits[d];
      const int divisor = int(digit.divisor), extent = int(digit.extent);
      const int period = divisor > 1 ? divisor : extent;
      if (period > 0)
        last = std::min(last, i + period - (first + i) % period);
      if (divisor > 1)
        continue;
      step.at += int(digit.stride);
      for (int axis = 0; axis < axes; ++axis)
        step.along[axis] += int(digit.along[axis]);
    }
#pragma clang loop vectorize(disable)
    for (; i < last; ++i) {
      places[i] = place;
      place.at += step.at;
      for (int axis = 0; axis < axes; ++axis)
        place.along[axis] += step.along[axis];
    }
  }
}

/// The offsets of `count` numbers from `first` on, and whether each lies behind
/// the one before it.
inline bool findOffsets(const precompiled::Index &index, int first, int count,
                        int *offsets) {
  constexpr int some = 64;
  Place<1> places[some];
  bool areNeighbors = true;
  for (int i = 0; i < count; i += some) {
    const int now = std::min(some, count - i);
    findPlaces(index, first + i, now, places);
    for (int j = 0; j < now; ++j) {
      offsets[i + j] = places[j].at;
      areNeighbors &= places[j].at == offsets[0] + i + j;
    }
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
