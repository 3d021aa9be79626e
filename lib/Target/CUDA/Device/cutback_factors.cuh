// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a product multiplies, and where its results go. A factor has lines (the
// rows of the left one, the columns of the right one) and steps; where an
// element lies is a part of the line and a part of the step, each found once.
#pragma once
#include "cutback_reduce.cuh"

/// A factor of a product: of line i and step k, what lies at line(i) + step(k).
/// Neighbours in memory are those along k, or those along the lines; `wide` of
/// them are one access, from each multiple of `wide` on.
template <bool isLeft, typename T, typename Line, typename Step,
          bool isAlong = true, int wide = 1>
struct Factor {
  static constexpr bool isAlongK = isAlong, isLinear = false;
  static constexpr int kWide = wide;
  using At = int; ///< below 0: outside

  const T *elements;
  Line line;
  Step step;
  __device__ auto operator()(int x, int y) const {
    return toFloat(elements[isLeft ? line(x) + step(y) : line(y) + step(x)]);
  }
  __device__ At lineAt(int i, int lines) const {
    return i < lines ? line(i) : -1;
  }
  __device__ At stepAt(int k, int steps) const {
    return k < steps ? step(k) : -1;
  }
  /// `kWide` neighbours; `zero` outside.
  template <typename Number>
  __device__ Neighbours<Number, wide> get(At line, At step, Number zero) const {
    Neighbours<Number, wide> x;
    const bool isInside = (line | step) >= 0;
    const T *from = elements + (line + step);
    if constexpr (wide > 1) {
      Neighbours<T, wide> own = {};
      if (isInside)
        own = *reinterpret_cast<const Neighbours<T, wide> *>(from);
      for (int e = 0; e < wide; ++e)
        x[e] = isInside ? Number(toFloat(own[e])) : zero;
    } else {
      x[0] = isInside ? Number(toFloat(*from)) : zero;
    }
    return x;
  }
};
template <bool isAlongK, int wide, typename T, typename Line, typename Step>
__device__ inline Factor<true, T, Line, Step, isAlongK, wide>
leftFactor(const T *elements, Line line, Step step) {
  return {elements, line, step};
}

/// Times so many elements.
struct Stride {
  int stride;
  __device__ int operator()(int number) const { return number * stride; }
};
/// A matrix: element (line, k) lies at[line * lineStride + k * kStride].
template <typename T, bool isAlongK, int wide>
struct MatrixFactor : Factor<true, T, Stride, Stride, isAlongK, wide> {
  static constexpr bool isLinear = true;
  __device__ MatrixFactor(const T *at, int lineStride, int kStride)
      : Factor<true, T, Stride, Stride, isAlongK, wide>{
            at, {lineStride}, {kStride}} {}
};

/// Takes results of a product: value(i, j, sum) lies at line(i) + column(j).
/// `wide` columns are one access, from each multiple of `wide` on.
template <typename T, typename Line, typename Column, typename Value,
          int wide = 1>
struct Results {
  static constexpr int kWide = wide;
  T *elements;
  Line line;
  Column column;
  Value value;
  template <typename S> __device__ void operator()(int i, int j, S sum) const {
    elements[line(i) + column(j)] = value(i, j, sum);
  }
  /// kWide of them.
  template <typename S>
  __device__ void storeWide(int i, int j, const S *sums) const {
    Neighbours<T, wide> x;
    for (int e = 0; e < wide; ++e)
      x[e] = value(i, j + e, sums[e]);
    *reinterpret_cast<Neighbours<T, wide> *>(elements + line(i) + column(j)) =
        x;
  }
};
template <int wide, typename T, typename Line, typename Column, typename Value>
__device__ inline Results<T, Line, Column, Value, wide>
results(T *elements, Line line, Column column, Value value) {
  return {elements, line, column, value};
}

/// What a column of windows, or a step, has of an element's number, and of its
/// place along each axis.
template <int axes> struct Place {
  int at;
  int along[axes];
};

/// A right factor of a product: element `column(j).at + step(k).at`, or zero
/// where their places together are not inside of all the sizes.
template <typename T, typename Column, typename Step, bool isAlong, int... size>
struct Windows {
  static constexpr bool isAlongK = isAlong, isLinear = false;
  static constexpr int kWide = 1, axes = sizeof...(size);
  struct alignas(axes > 1 ? 16 : 8) At : Place<axes> {};

  const T *elements;
  Column column;
  Step step;
  /// So far from all sizes that two of them are, too.
  static __device__ At outside() {
    At at = {};
    at.along[0] = -(1 << 29);
    return at;
  }
  __device__ At lineAt(int j, int columns) const {
    return j < columns ? At{column(j)} : outside();
  }
  __device__ At stepAt(int k, int steps) const {
    return k < steps ? At{step(k)} : outside();
  }
  template <typename Number>
  __device__ Neighbours<Number, 1> get(const At &c, const At &s,
                                       Number zero) const {
    const int sizes[] = {size...};
    bool isInside = true;
    for (int axis = 0; axis < axes; ++axis)
      isInside &=
          unsigned(c.along[axis] + s.along[axis]) < unsigned(sizes[axis]);
    return {{isInside ? Number(toFloat(elements[c.at + s.at])) : zero}};
  }
};
template <bool isAlongK, int... size, typename T, typename Column,
          typename Step>
__device__ inline Windows<T, Column, Step, isAlongK, size...>
windows(const T *elements, Column column, Step step) {
  return {elements, column, step};
}

/// A right factor whose element (k, j) is what `look(k, j)` gives.
template <typename Look> struct LookedUpFactor {
  static constexpr bool isAlongK = false, isLinear = true;
  static constexpr int kWide = 1;
  using At = int; ///< below 0: outside

  Look look;
  __device__ At lineAt(int j, int columns) const {
    return j < columns ? j : -1;
  }
  __device__ At stepAt(int k, int steps) const { return k < steps ? k : -1; }
  template <typename Number>
  __device__ Neighbours<Number, 1> get(At j, At k, Number zero) const {
    return {{(j | k) >= 0 ? Number(look(k, j)) : zero}};
  }
};
template <typename Look>
__device__ inline LookedUpFactor<Look> lookedUpFactor(Look look) {
  return {look};
}
