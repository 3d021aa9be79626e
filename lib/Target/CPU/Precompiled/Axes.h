// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over strided tensors a line at a time: what depends on types and outer
// indices is done once for many elements.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_AXES_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_AXES_H

#include "Strided.h"

#include <numeric>

namespace {

/// Elements of a line that are used at a time.
constexpr int kMostInLine = 256;
constexpr int kMostTogether = precompiled::kMostDims + 4;

/// Calls `run` with a number of so many bytes: elements that are copied.
template <typename Run> inline void withSize(int64_t bytes, Run run) {
  if (bytes == 1)
    return run(char());
  if (bytes == 2)
    return run(short());
  if (bytes == 4)
    return run(int());
  run(0ll);
}

/// Dimensions along which some tensors are walked together, those of one
/// element left out, and those joined that are one for each of the tensors.
struct Axes {
  int tensors, dims = 0;
  int64_t sizes[precompiled::kMostDims + 1];
  int64_t limits[precompiled::kMostDims + 1]; ///< elements that are there
  int64_t strides[precompiled::kMostDims + 1][kMostTogether];

  explicit Axes(int tensors) : tensors(tensors) {}
  /// A dimension behind the others.
  void add(int64_t size, int64_t limit, const int64_t *apart) {
    if (size == 1 && limit == 1)
      return;
    bool isJoined = dims > 0 && limit == size;
    for (int i = 0; isJoined && i < tensors; ++i)
      isJoined = strides[dims - 1][i] == apart[i] * size;
    if (isJoined)
      --dims;
    sizes[dims] = isJoined ? sizes[dims] * size : size;
    limits[dims] = isJoined ? limits[dims] * size : limit;
    std::copy_n(apart, tensors, strides[dims++]);
  }
  void add(int64_t size, const int64_t *apart) { add(size, size, apart); }
  /// A line of one element where there is no dimension.
  void finish() {
    if (dims > 0)
      return;
    sizes[dims] = limits[dims] = 1;
    std::fill_n(strides[dims++], tensors, 0);
  }
  const int64_t *apart() const { return strides[dims - 1]; }
  int64_t length() const { return sizes[dims - 1]; }
  int64_t count() const {
    return std::accumulate(sizes, sizes + dims, int64_t(1),
                           std::multiplies<>());
  }
};

/// Where each of the tensors is on the way.
struct Cursor {
  const Axes &axes;
  int64_t index[precompiled::kMostDims + 1];
  int64_t at[kMostTogether] = {};

  Cursor(const Axes &axes, int64_t number) : axes(axes) {
    for (int dim = axes.dims; dim-- > 0; number /= axes.sizes[dim]) {
      index[dim] = number % axes.sizes[dim];
      move(dim, index[dim]);
    }
  }
  /// Elements up to the end of the line.
  int64_t left() const { return axes.length() - index[axes.dims - 1]; }
  /// How many of the next `count` are there.
  int there(int count) const {
    for (int dim = 0; dim + 1 < axes.dims; ++dim)
      if (index[dim] >= axes.limits[dim])
        return 0;
    const int last = axes.dims - 1;
    return int(std::clamp<int64_t>(axes.limits[last] - index[last], 0, count));
  }
  /// Not beyond the end of the line.
  void skip(int64_t count) {
    int dim = axes.dims - 1;
    index[dim] += count;
    move(dim, count);
    for (; dim > 0 && index[dim] == axes.sizes[dim]; --dim) {
      move(dim, -axes.sizes[dim]);
      index[dim] = 0;
      ++index[dim - 1];
      move(dim - 1, 1);
    }
  }

private:
  void move(int dim, int64_t steps) {
    for (int i = 0; i < axes.tensors; ++i)
      at[i] += steps * axes.strides[dim][i];
  }
};

/// Calls `use(cursor, count)` for elements of lines, not many at a time.
template <typename Use>
void forLines(const Axes &axes, int64_t first, int64_t last, Use use) {
  if (first >= last)
    return;
  Cursor cursor(axes, first);
  for (int64_t number = first; number < last;) {
    const auto count =
        int(std::min<int64_t>({last - number, cursor.left(), kMostInLine}));
    use(cursor, count);
    cursor.skip(count);
    number += count;
  }
}

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_AXES_H
