// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products: sums over k of a(i, k) b(k, j), each in the order of k with one
// rounding a step, whatever the tiles. Convolutions are products of what they
// look up.
#pragma once
#include "cutback_reduce.cuh"

__device__ inline float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return fma(a, b, c);
}

/// A factor of a product: of line i and step k, what lies at line(i) + step(k).
template <bool isLeft, typename T, typename Line, typename Step> struct Factor {
  const T *elements;
  Line line;
  Step step;
  __device__ auto operator()(int x, int y) const {
    return toFloat(elements[isLeft ? line(x) + step(y) : line(y) + step(x)]);
  }
};
template <typename T, typename Line, typename Step>
__device__ inline Factor<true, T, Line, Step> leftFactor(const T *elements,
                                                         Line line, Step step) {
  return {elements, line, step};
}
template <typename T, typename Line, typename Step>
__device__ inline Factor<false, T, Line, Step>
rightFactor(const T *elements, Line line, Step step) {
  return {elements, line, step};
}

/// Takes results of a product: value(i, j, sum) lies at line(i) + column(j).
template <typename T, typename Line, typename Column, typename Value>
struct Results {
  T *elements;
  Line line;
  Column column;
  Value value;
  template <typename S> __device__ void operator()(int i, int j, S sum) const {
    elements[line(i) + column(j)] = value(i, j, sum);
  }
};
template <typename T, typename Line, typename Column, typename Value>
__device__ inline Results<T, Line, Column, Value>
results(T *elements, Line line, Column column, Value value) {
  return {elements, line, column, value};
}

/// What a column of windows, or a step, has of an element's number, and of its
/// place along each axis.
template <int axes> struct Place {
  int at;
  int along[axes];
};

/// A right operand of a product: element `column(j).at + step(k).at`, or zero
/// where their places together are not inside of all the sizes.
template <typename T, typename Column, typename Step, int... size>
struct Windows {
  static constexpr int axes = sizeof...(size);
  const T *elements;
  Column column;
  Step step;
  __device__ auto operator()(int k, int j) const {
    const Place<axes> c = column(j), s = step(k);
    const int sizes[] = {size...};
    bool isInside = true;
    for (int axis = 0; axis < axes; ++axis)
      isInside &=
          unsigned(c.along[axis] + s.along[axis]) < unsigned(sizes[axis]);
    return isInside ? toFloat(elements[c.at + s.at])
                    : decltype(toFloat(*elements))(0);
  }
};
template <int... size, typename T, typename Column, typename Step>
__device__ inline Windows<T, Column, Step, size...>
windows(const T *elements, Column column, Step step) {
  return {elements, column, step};
}

#ifndef CUTBACK_OWN_CALLS // a CPU has another one
/// A block's tile of 64 x 64 results, 16 steps of k at a time.
template <typename T> struct ProductTile {
  T a[16][65], b[16][65];
};

/// Computes tile blockIdx.x, column by column, of an m x n product with 256
/// threads, 4 x 4 results each. `a` and `b` give elements inside; `store` takes
/// results.
template <typename T, typename A, typename B, typename Store>
__device__ inline void product(int m, int n, int k, A a, B b, Store store) {
  ProductTile<T> &tile = *sharedMemory<ProductTile<T>>();
  const int thread = threadIdx.x, row = thread / 16 * 4,
            column = thread % 16 * 4;
  const int rowTiles = (m + 63) / 64;
  const int firstRow = blockIdx.x % rowTiles * 64;
  const int firstColumn = blockIdx.x / rowTiles * 64;
  T sum[4][4] = {};
  for (int step = 0; step < k; step += 16) {
    for (int number = thread; number < 1024; number += 256) {
      const int along = step + number % 16, i = firstRow + number / 16;
      tile.a[number % 16][number / 16] =
          i < m && along < k ? a(i, along) : T(0);
    }
    for (int number = thread; number < 1024; number += 256) {
      const int along = step + number / 64, j = firstColumn + number % 64;
      tile.b[number / 64][number % 64] =
          j < n && along < k ? b(along, j) : T(0);
    }
    __syncthreads();
    const int steps = k - step < 16 ? k - step : 16;
    for (int along = 0; along < steps; ++along)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          sum[i][j] = fused(tile.a[along][row + i], tile.b[along][column + j],
                            sum[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (firstRow + row + i < m && firstColumn + column + j < n)
        store(firstRow + row + i, firstColumn + column + j, sum[i][j]);
}
#endif
