// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over planes as columns, that back, and gradients of windows along a
// dimension and of padding, of any sizes. An element of the result is the sum
// of all that it went to, in the order that the text for a device has: loops
// over those, an element after the other. Parts of a call have neighboring
// elements.

#include "Strided.h"

#include "cutback_windows.cuh"

using precompiled::ColumnWindows;

namespace {

struct WindowsCall {
  const ColumnWindows &told;
  Strided from, to;

  explicit WindowsCall(const Call &call)
      : told(call.numbers<ColumnWindows>()), from(call.tensor(0)),
        to(call.tensor(1)) {}
};

/// [N, C, H, W] is [N, C * taps, windows], or without N.
template <typename T> void columns(const Call &call, const WindowsCall &w) {
  const precompiled::Pool::Axis &down = w.told.axes[0], &right = w.told.axes[1];
  const int rank = w.to.rank();
  const int64_t taps = down.taps * right.taps;
  call.forEach(w.to.sizes(), rank, [&](int64_t, const int64_t *at) {
    const int64_t column = at[rank - 2], window = at[rank - 1];
    const int64_t y = window / right.count * down.stride - down.padding +
                      column / right.taps % down.taps * down.dilation;
    const int64_t x = window % right.count * right.stride - right.padding +
                      column % right.taps * right.dilation;
    T value = 0;
    if (y >= 0 && y < down.size && x >= 0 && x < right.size)
      value =
          w.from.get<T>(w.from.begin() + w.from.offset(at, rank - 2) +
                        column / taps * w.from.stride(rank - 2) +
                        y * w.from.stride(rank - 1) + x * w.from.stride(rank));
    w.to.set(w.to.begin() + w.to.offset(at, rank), value);
  });
}

inline Span windowsOver(const precompiled::Pool::Axis &a, int64_t at) {
  return slidingWindowsOver(int(at), int(a.taps), int(a.stride), int(a.padding),
                            int(a.dilation), int(a.count));
}

template <typename T> void planes(const Call &call, const WindowsCall &w) {
  const precompiled::Pool::Axis &down = w.told.axes[0], &right = w.told.axes[1];
  const int rank = w.to.rank();
  call.forEach(w.to.sizes(), rank, [&](int64_t, const int64_t *at) {
    const int64_t y = at[rank - 2], x = at[rank - 1];
    const Span over_y = windowsOver(down, y), over_x = windowsOver(right, x);
    const int64_t own = w.from.begin() + w.from.offset(at, rank - 3);
    T sum = 0;
    for (int64_t i = over_y.begin; i < over_y.end; ++i)
      for (int64_t j = over_x.begin; j < over_x.end; ++j) {
        const int64_t below = y + down.padding - i * down.stride,
                      beside = x + right.padding - j * right.stride;
        if (below % down.dilation || beside % right.dilation)
          continue;
        const int64_t column =
            (at[rank - 3] * down.taps + below / down.dilation) * right.taps +
            beside / right.dilation;
        sum += w.from.get<T>(own + column * w.from.stride(rank - 3) +
                             (i * right.count + j) * w.from.stride(rank - 2));
      }
    w.to.set(w.to.begin() + w.to.offset(at, rank), sum);
  });
}

/// Windows are a dimension, their elements the last one.
template <typename T> void unfolded(const Call &call, const WindowsCall &w) {
  const precompiled::Pool::Axis &a = w.told.axes[0];
  const int rank = w.to.rank(), axis = int(w.told.axis);
  call.forEach(w.to.sizes(), rank, [&](int64_t, const int64_t *at) {
    const int64_t own = w.from.begin() + w.from.offset(at, rank) -
                        at[axis] * w.from.stride(axis);
    const Span over = windowsOver(a, at[axis]);
    T sum = 0;
    for (int64_t i = over.begin; i < over.end; ++i)
      sum += w.from.get<T>(own + i * w.from.stride(axis) +
                           (at[axis] - i * a.stride) * w.from.stride(rank));
    w.to.set(w.to.begin() + w.to.offset(at, rank), sum);
  });
}

/// Adds the copies of an element along padded axes from `axis` on.
template <typename T>
void addCopies(const WindowsCall &w, const int64_t *at, int axis,
               int64_t offset, T &sum) {
  if (axis == int(w.told.rank)) {
    sum += w.from.get<T>(offset);
    return;
  }
  const int dim = int(w.to.rank() - w.told.rank) + axis;
  const int own = int(at[dim]), before = int(w.told.axes[axis].padding),
            size = int(w.to.size(dim)), count = int(w.from.size(dim));
  auto add = [&](int place) {
    addCopies(w, at, axis + 1, offset + place * w.from.stride(dim), sum);
  };
  if (w.told.kind == ColumnWindows::Reflected) {
    for (int copy = 0; copy < 3; ++copy)
      if (const int place = reflectedCopy(copy, own, before, size, count);
          place >= 0)
        add(place);
    return;
  }
  const Span over = borderCopies(own, before, size, count);
  for (int place = over.begin; place < over.end; ++place)
    add(place);
}

template <typename T> void padding(const Call &call, const WindowsCall &w) {
  const int rank = w.to.rank(), lead = int(rank - w.told.rank);
  call.forEach(w.to.sizes(), rank, [&](int64_t, const int64_t *at) {
    T sum = 0;
    addCopies(w, at, 0, w.from.begin() + w.from.offset(at, lead), sum);
    w.to.set(w.to.begin() + w.to.offset(at, rank), sum);
  });
}

} // namespace

CUTBACK_STRIDED_CALL(windows) {
  const WindowsCall windows(call);
  withSum(windows.from.type(), [&](auto zero) {
    using T = decltype(zero);
    switch (windows.told.kind) {
    case ColumnWindows::Columns:
      return columns<T>(call, windows);
    case ColumnWindows::Planes:
      return planes<T>(call, windows);
    case ColumnWindows::Unfolded:
      return unfolded<T>(call, windows);
    default:
      return padding<T>(call, windows);
    }
  });
}
