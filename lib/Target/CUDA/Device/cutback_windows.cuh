// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows along one axis, and which windows an element lies in.
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
