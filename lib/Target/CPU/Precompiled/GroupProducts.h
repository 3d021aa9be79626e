// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of many groups that have a row or two each, as those of depthwise
// convolutions: registers have the same result of neighboring groups side by
// side, not neighboring results. Sums are in the order of k, as in
// ProductBlocks.h.
//
// A group's windows are the same places of another plane: where the element of
// a column and a step lies is found once for a block of both, and the elements
// of all groups between the first and the last of these are transposed once.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_GROUPPRODUCTS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_GROUPPRODUCTS_H

#include "ProductPacking.h"

#include <climits>

namespace cutback_host {

/// Elements at(0), at(1), … of `lanes` lines, one after the other; the lines
/// may lie side by side.
template <int lanes, typename T, typename E, typename At>
inline void takeLanes(T *to, const E *const *lines, bool areSide, int count,
                      At at) {
  if (areSide) {
    for (int k = 0; k < count; ++k)
      for (int lane = 0; lane < lanes; ++lane)
        to[k * lanes + lane] = T(toFloat(lines[0][at(k) + lane]));
    return;
  }
  for (int lane = 0; lane < lanes; ++lane)
    for (int k = 0; k < count; ++k)
      to[k * lanes + lane] = T(toFloat(lines[lane][at(k)]));
}

/// The first `count` elements of `lanes` lines, those of all lines `stride`
/// behind those before.
template <int lanes, typename T, typename E>
__attribute__((noinline)) void
transposeLanes(T *to, int stride, const E *const *lines, int count) {
  int k = 0;
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::is_same_v<E, float> && lanes % 8 == 0)
    for (; k + 16 <= count; k += 16) // of a line of a cache, which others need
      for (int lane = 0; lane < lanes; lane += 8)
        for (int half = k; half < k + 16; half += 8)
          packNeighbors<8>(to + half * stride + lane, stride, lines + lane,
                           half, 8);
#endif
  for (; k < count; ++k)
    for (int lane = 0; lane < lanes; ++lane)
      to[k * stride + lane] = T(toFloat(lines[lane][k]));
}

/// A block of columns and steps of windows: what is looked up once for all
/// groups that registers have side by side. On the stack, half of a MiB.
template <typename T, int axes> struct GroupBlock {
  using L = Lanes<T>;
  static constexpr int columns = 128, steps = 128, lanes = L::count;
  static constexpr int span = 1024; ///< of places of columns, and of steps
  static constexpr int outside = 2 * span;

  PanelColumns<axes, columns> column;
  Place<axes> step[steps];
  int numColumns, numSteps;
  int unit;         ///< elements from one that may be read to the next
  int first, count; ///< and so many of them from the first that is read on

  /// For each step and column the element behind `first`, or `outside`.
  alignas(64) int elements[steps * columns];
  alignas(64) T windows[(outside + 1) * lanes]; ///< elements of all lanes
  alignas(64) T factors[steps * lanes];
  alignas(64) T sums[columns * lanes];
  alignas(64) T turned[lanes * columns]; ///< the sums of a lane side by side

  /// Leaves of columns and steps those that are not too far from the first, and
  /// has how far in `unit`s.
  void keepColumns() {
    numColumns =
        keepNear(numColumns, columnAt, [&](int j) { return column.at[j]; });
  }
  void keepSteps() {
    numSteps = keepNear(numSteps, stepAt, [&](int k) { return step[k].at; });
  }

  /// Where the elements of all columns and steps lie.
  __attribute__((noinline)) void findElements(const int *sizes) {
    const int wide = upTo(numColumns, 16);
    int low = INT_MAX, high = INT_MIN;
    for (int k = 0; k < numSteps; ++k) {
      int *found = elements + k * columns;
      findOfStep(k, sizes, wide, found);
      for (int j = 0; j < wide; ++j) {
        low = std::min(low, found[j] == INT_MIN ? INT_MAX : found[j]);
        high = std::max(high, found[j]);
      }
    }
    const int none = outside, from = low == INT_MAX ? 0 : low;
    first = column.at[0] + step[0].at + from * unit;
    count = low == INT_MAX ? 0 : high - low + 1;
    for (int k = 0; k < numSteps; ++k) {
      int *found = elements + k * columns;
      for (int j = 0; j < wide; ++j)
        found[j] = found[j] == INT_MIN ? none : found[j] - from;
    }
  }

  /// Adds the block's steps to the sums of `height` columns from `at` on.
  template <int height> void addColumns(int at) {
    typename L::Vector sum[height];
#pragma GCC unroll 8
    for (int i = 0; i < height; ++i)
      sum[i] = L::load(sums + (at + i) * lanes);
    const int *found = elements + at;
    for (int k = 0; k < numSteps; ++k, found += columns) {
      const typename L::Vector factor = L::load(factors + k * lanes);
#pragma GCC unroll 8
      for (int i = 0; i < height; ++i)
        sum[i] = L::fused(factor, L::load(windows + found[i] * lanes), sum[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < height; ++i)
      L::store(sums + (at + i) * lanes, sum[i]);
  }
  __attribute__((noinline)) void add() {
    int at = 0;
    for (; at + 8 <= numColumns; at += 8)
      addColumns<8>(at);
    for (; at + 2 <= numColumns; at += 2)
      addColumns<2>(at);
    if (at < numColumns)
      addColumns<1>(at);
  }

  void turnSums() {
    for (int j = 0; j < numColumns; j += 16) {
      const T *rows[16];
      for (int i = 0; i < 16; ++i)
        rows[i] = sums + (j + i) * lanes;
      transposeLanes<16>(turned + j, columns, rows, lanes);
    }
  }

private:
  int columnAt[columns], stepAt[steps]; ///< behind the first, in `unit`s

  template <typename At> int keepNear(int all, int *units, At at) const {
    int some = 0;
    for (; some < all; ++some) {
      const int64_t away = (int64_t(at(some)) - at(0)) / unit;
      if (std::abs(away) >= span / 2)
        break;
      units[some] = int(away);
    }
    return some;
  }
  /// INT_MIN where a place is outside.
  void findOfStep(int k, const int *sizes, int wide,
                  int *__restrict found) const {
    const int own = stepAt[k], end = numColumns;
    for (int j = 0; j < wide; ++j)
      found[j] = j < end ? columnAt[j] + own : INT_MIN;
    for (int axis = 0; axis < axes; ++axis) {
      const int *along = column.along[axis], shift = step[k].along[axis],
                size = sizes[axis];
      for (int j = 0; j < wide; ++j)
        found[j] =
            unsigned(along[j] + shift) < unsigned(size) ? found[j] : INT_MIN;
    }
  }
};

} // namespace cutback_host

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_GROUPPRODUCTS_H
