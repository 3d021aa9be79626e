// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows along one axis, and which windows an element lies in; what an element
// of a resampled axis is made of.
#pragma once
#include "cutback_reduce.cuh"

/// [begin, end), in steps of the window's dilation.
struct Span {
  int begin, end;
};
__device__ inline int lengthOf(Span span) { return span.end - span.begin; }

/// Elements of window `number`; those outside of [0, size) do not count.
__device__ inline Span slidingWindow(int number, int taps, int stride,
                                     int padding, int dilation, int size) {
  const int first = number * stride - padding;
  const int skipped = first < 0 ? (dilation - 1 - first) / dilation : 0;
  return {first + skipped * dilation,
          Min()(first + (taps - 1) * dilation + 1, size)};
}
/// How long it is with padding: what is beyond the right one never counts.
__device__ inline int paddedLength(int number, int taps, int stride,
                                   int padding, int size) {
  const int first = number * stride - padding;
  return Min()(first + taps, size + padding) - first;
}
/// The windows between whose first and last place element `at` lies.
__device__ inline Span slidingWindowsOver(int at, int taps, int stride,
                                          int padding, int dilation,
                                          int count) {
  const int place = at + padding, reach = (taps - 1) * dilation;
  return {place > reach ? (place - reach + stride - 1) / stride : 0,
          Min()(place / stride + 1, count)};
}

/// Window `number` of `count` that cover [0, size).
__device__ inline Span coveringWindow(int number, int count, int size) {
  return {int((long long)number * size / count),
          int(((long long)(number + 1) * size + count - 1) / count)};
}
/// The windows that element `at` lies in are those that cover it the other way.
__device__ inline Span coveringWindowsOver(int at, int count, int size) {
  return coveringWindow(at, size, count);
}

/// Copy `number` of 3 of element `at` of an axis that was reflected: `before`
/// elements stand in front of its `size`, `count` there are. Below 0 if it has
/// none.
__device__ inline int reflectedCopy(int number, int at, int before, int size,
                                    int count) {
  const int place = number == 0   ? before - at
                    : number == 1 ? before + at
                                  : before + 2 * (size - 1) - at;
  const bool isOnEdge = (number == 0 && at == 0) || (number == 2 && at == size - 1);
  return isOnEdge || place >= count ? -1 : place;
}
/// The copies of element `at` of an axis whose border was repeated.
__device__ inline Span borderCopies(int at, int before, int size, int count) {
  return {at == 0 ? 0 : Max()(before + at, 0),
          at == size - 1 ? count : Min()(before + at + 1, count)};
}

/// Elements of an axis, and their weights.
template <typename T, int count> struct Taps {
  int at[count];
  T weight[count];
  /// That of one element.
  __device__ T of(int element) const {
    T sum = 0;
    for (int i = 0; i < count; ++i)
      sum += at[i] == element ? weight[i] : T(0);
    return sum;
  }
};

/// Element `o` of the result lies at ratio * (o + offset), in single precision.
template <typename T>
__device__ inline Taps<T, 1> nearestTaps(int o, T ratio, T offset, int size) {
  const float place = (float(o) + float(offset)) * float(ratio);
  return {{Min()(int(floor(place)), size - 1)}, {T(1)}};
}
/// At ratio * (o + offset) - offset, not below 0.
template <typename T>
__device__ inline Taps<T, 2> linearTaps(int o, T ratio, T offset, int size) {
  const T place = Max()(ratio * (T(o) + offset) - offset, T(0));
  const int first = Min()(int(place), size - 1);
  const T part = Min()(place - T(first), T(1));
  return {{first, Min()(first + 1, size - 1)}, {T(1) - part, part}};
}
/// The same, by Keys' cubics with a = -0.75; outside, the border.
template <typename T>
__device__ inline Taps<T, 4> cubicTaps(int o, T ratio, T offset, int size) {
  const T place = ratio * (T(o) + offset) - offset, a = T(-0.75);
  const T below = floor(place), t = place - below;
  const auto near = [=](T x) {
    return ((a + T(2)) * x - (a + T(3))) * x * x + T(1);
  };
  const auto far = [=](T x) {
    return ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a;
  };
  Taps<T, 4> taps = {{}, {far(t + T(1)), near(t), near(T(1) - t), far(T(2) - t)}};
  for (int i = 0; i < 4; ++i)
    taps.at[i] = Min()(Max()(int(below) - 1 + i, 0), size - 1);
  return taps;
}
/// Elements of the result that may read `element`: `reach` away, and all behind
/// a border.
template <typename T>
__device__ inline Span readersOf(int element, T ratio, T offset, int reach,
                                 int size, int count) {
  if (ratio <= T(0))
    return {0, count};
  const T low = (T(element - reach) + offset) / ratio - offset - T(1);
  const T high = (T(element + reach) + offset) / ratio - offset + T(2);
  return {element < reach || low < T(0) ? 0 : int(low),
          element + reach >= size || high > T(count) ? count : int(high)};
}
