// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where elements lie that a description names.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ELEMENTS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ELEMENTS_H

#include "Mark.h"
#include "ProductPacking.h"

#include "cutback/Target/CPU/PrecompiledCalls.h"

#include <climits>

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

/// The places of numbers from `first` on, in runs in which each number moves
/// the same digits: divisions, which take longer than what is done with a
/// place, are of the first number alone.
template <int axes> class PlaceWalk {
  const precompiled::Index &index;
  Place<axes> place = {}, step = {};
  int digits[1 + precompiled::kMostAxes]; ///< of the number that comes
  int left[1 + precompiled::kMostAxes];   ///< numbers until they move, or wrap

  static void add(Place<axes> &to, const precompiled::Digit &digit, int times) {
    to.at += times * int(digit.stride);
    for (int axis = 0; axis < axes; ++axis)
      to.along[axis] += times * int(digit.along[axis]);
  }

public:
  PlaceWalk(const precompiled::Index &index, int first) : index(index) {
    place.at = int(index.at);
    for (int axis = 0; axis < axes; ++axis)
      place.along[axis] = int(index.along[axis]);
    for (int64_t d = 0; d < index.numDigits; ++d) {
      const precompiled::Digit &digit = index.digits[d];
      const int divisor = int(digit.divisor), extent = int(digit.extent);
      digits[d] = digitOf(digit, first);
      left[d] = divisor > 1 ? divisor - first % divisor
                : extent    ? extent - digits[d]
                            : INT_MAX;
      add(place, digit, digits[d]);
      if (divisor <= 1)
        add(step, digit, 1);
    }
  }
  /// Calls `use(from, to, place, step)` for runs of the next `count` numbers,
  /// with the place of the first of a run and what the next ones add to it.
  template <typename Use> void take(int count, Use use) {
    for (int from = 0; from < count;) {
      int run = count - from;
      for (int64_t d = 0; d < index.numDigits; ++d)
        run = std::min(run, left[d]);
      use(from, from + run, place, step);
      move(run);
      from += run;
    }
  }

private:
  /// Not further than where a digit moves.
  void move(int count) {
    place.at += count * step.at;
    for (int axis = 0; axis < axes; ++axis)
      place.along[axis] += count * step.along[axis];
    for (int64_t d = 0; d < index.numDigits; ++d) {
      if ((left[d] -= count) > 0)
        continue;
      const precompiled::Digit &digit = index.digits[d];
      const int extent = int(digit.extent);
      if (digit.divisor <= 1) {
        left[d] = extent;
        add(place, digit, -extent);
        continue;
      }
      left[d] = int(digit.divisor);
      add(place, digit, 1);
      if (++digits[d] == extent) {
        digits[d] = 0;
        add(place, digit, -extent);
      }
    }
  }
};

/// The places of `count` numbers from `first` on.
template <int axes>
__attribute__((noinline)) void findPlaces(const precompiled::Index &index,
                                          int first, int count,
                                          Place<axes> *places) {
  PlaceWalk<axes>(index, first)
      .take(count, [&](int from, int to, Place<axes> place, Place<axes> step) {
#pragma clang loop vectorize(disable)
        for (int i = from; i < to; ++i) {
          places[i] = place;
          place.at += step.at;
          for (int axis = 0; axis < axes; ++axis)
            place.along[axis] += step.along[axis];
        }
      });
}

/// The next `count` columns of a panel; behind them the last one again.
template <int axes, int width>
inline void takeColumns(PlaceWalk<axes> &walk, int count,
                        cutback_host::PanelColumns<axes, width> &columns) {
  auto set = [](int *to, int from, int first, int step) {
    for (int e = 0; e < width; ++e)
      to[e] = e < from ? to[e] : first + (e - from) * step;
  };
  walk.take(count, [&](int from, int, const Place<axes> &place,
                       const Place<axes> &step) {
    set(columns.at, from, place.at, step.at);
    for (int axis = 0; axis < axes; ++axis)
      set(columns.along[axis], from, place.along[axis], step.along[axis]);
  });
  if (count == width)
    return;
  set(columns.at, count, columns.at[count - 1], 0);
  for (int axis = 0; axis < axes; ++axis)
    set(columns.along[axis], count, columns.along[axis][count - 1], 0);
}

/// The offsets of `count` numbers from `first` on, and whether each lies behind
/// the one before it.
inline bool findOffsets(const precompiled::Index &index, int first, int count,
                        int *offsets) {
  bool areNeighbors = true;
  PlaceWalk<1>(index, first)
      .take(count,
            [&](int from, int to, const Place<1> &place, const Place<1> &step) {
              areNeighbors &= (from == 0 || place.at == offsets[0] + from) &&
                              (step.at == 1 || to == from + 1);
              for (int i = from; i < to; ++i)
                offsets[i] = place.at + (i - from) * step.at;
            });
  return areNeighbors;
}
inline void findOffsets(const Offset &offset, int first, int count,
                        int *offsets) {
  findOffsets(offset.index, first, count, offsets);
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
