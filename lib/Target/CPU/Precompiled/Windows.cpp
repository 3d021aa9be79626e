// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over planes as columns, that back, and gradients of windows along a
// dimension and of padding, of any sizes. An element of the result is the sum
// of all that it went to, in the order that the text for a device has.
//
// A block of a line of results at a time: for each line that went to it, in
// that order, all that its elements have of it. A later window has an earlier
// place of an element, so along a line the places of windows fall. Parts of a
// call have neighboring blocks.

#include "Strided.h"

#include "cutback_windows.cuh"

using precompiled::ColumnWindows;
using Axis = precompiled::Pool::Axis;

namespace {

constexpr int kBlock = 512;

struct WindowsCall {
  const ColumnWindows &told;
  Strided from, to;

  explicit WindowsCall(const Call &call)
      : told(call.numbers<ColumnWindows>()), from(call.tensor(0)),
        to(call.tensor(1)) {}
};

/// Elements `begin` to `end` of a line; none where `end` is not behind.
struct Range {
  int64_t begin, end;
  int64_t count() const { return std::max<int64_t>(end - begin, 0); }
};
inline Range both(Range a, Range b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}
/// The numbers n with low <= n * step + shift < high.
inline Range numbersInside(int64_t low, int64_t high, int64_t step,
                           int64_t shift) {
  auto atLeast = [&](int64_t x) {
    return x > shift ? (x - shift + step - 1) / step : 0;
  };
  return {atLeast(low), atLeast(high)};
}

/// Adds `count` elements, so far apart, to sums that are `step` apart.
template <typename T>
inline void addLine(const Strided &from, int64_t at, int64_t apart,
                    int64_t count, T *sums, int64_t step = 1) {
  withFloats<T>(from, [&](const auto *elements) {
    elements += at;
    if (apart == 1 && step == 1)
      for (int64_t i = 0; i < count; ++i)
        sums[i] += heldAs<T>(elements[i]);
    else
      for (int64_t i = 0; i < count; ++i)
        sums[i * step] += heldAs<T>(elements[i * apart]);
  });
}

/// Calls `use(at, x, some, line)` for this part of the blocks of all lines
/// along the last of these dimensions. It adds to `line`, and tells where the
/// block goes.
template <typename T, typename Use>
void forBlocks(const Call &call, const Strided &to, const int64_t *given,
               int dims, Use use) {
  const int last = dims - 1;
  int64_t sizes[precompiled::kMostDims];
  std::copy(given, given + last, sizes);
  sizes[last] = (given[last] + kBlock - 1) / kBlock;
  call.forEach(sizes, dims, [&](int64_t, const int64_t *at) {
    const int64_t x = at[last] * kBlock;
    const int some = int(std::min<int64_t>(kBlock, given[last] - x));
    T line[kBlock];
    std::fill(line, line + some, T(0));
    const int64_t place = use(at, x, some, line);
    writeLine(to, place, to.stride(to.rank() - 1), some, line);
  });
}

/// Where the block from `x` on of the line at these indices is.
inline int64_t placeOf(const Strided &of, const int64_t *at, int64_t x) {
  const int last = of.rank() - 1;
  return of.begin() + of.offset(at, last) + x * of.stride(last);
}

/// [N, C, H, W] is [N, C * taps, windows], or without N. A line has the windows
/// of a row.
template <typename T> void columns(const Call &call, const WindowsCall &w) {
  const Axis &down = w.told.axes[0], &right = w.told.axes[1];
  const Strided &from = w.from, &to = w.to;
  const int lead = to.rank() - 2;
  const int64_t taps = down.taps * right.taps;
  int64_t sizes[precompiled::kMostDims];
  std::copy(to.sizes(), to.sizes() + lead, sizes);
  sizes[lead] = from.size(lead);
  sizes[lead + 1] = taps;
  sizes[lead + 2] = down.count;
  sizes[lead + 3] = right.count;
  auto use = [&](const int64_t *at, int64_t x, int some, T *line) {
    const int64_t channel = at[lead], tap = at[lead + 1], row = at[lead + 2];
    const int64_t y =
        row * down.stride - down.padding + tap / right.taps * down.dilation;
    const int64_t shift = tap % right.taps * right.dilation - right.padding;
    const Range in =
        both(numbersInside(0, right.size, right.stride, shift), {x, x + some});
    if (y >= 0 && y < down.size && in.count())
      readLine(from,
               from.begin() + from.offset(at, lead + 1) +
                   y * from.stride(lead + 1) +
                   (in.begin * right.stride + shift) * from.stride(lead + 2),
               right.stride * from.stride(lead + 2), int(in.count()),
               line + (in.begin - x));
    return to.begin() + to.offset(at, lead) +
           (channel * taps + tap) * to.stride(lead) +
           (row * right.count + x) * to.stride(lead + 1);
  };
  forBlocks<T>(call, to, sizes, lead + 4, use);
}

inline Span windowsOver(const Axis &a, int64_t at) {
  return slidingWindowsOver(int(at), int(a.taps), int(a.stride), int(a.padding),
                            int(a.dilation), int(a.count));
}

/// Adds what windows have of elements from `x` on of their axis: by taps or by
/// windows, whichever are fewer.
template <typename T>
void addWindows(const Axis &a, const Strided &from, int64_t at,
                int64_t apartWindows, int64_t apartTaps, int64_t x, int some,
                T *line) {
  const int64_t first = windowsOver(a, x).begin,
                last = windowsOver(a, x + some - 1).end;
  if (a.taps <= last - first) {
    for (int64_t tap = a.taps; tap-- > 0;) {
      const int64_t shift = tap * a.dilation - a.padding;
      const Range in =
          both(numbersInside(x, x + some, a.stride, shift), {0, a.count});
      addLine(from, at + tap * apartTaps + in.begin * apartWindows,
              apartWindows, in.count(),
              line + (in.begin * a.stride + shift - x), a.stride);
    }
    return;
  }
  for (int64_t window = first; window < last; ++window) {
    const int64_t shift = window * a.stride - a.padding;
    const Range in =
        both(numbersInside(x, x + some, a.dilation, shift), {0, a.taps});
    addLine(from, at + window * apartWindows + in.begin * apartTaps, apartTaps,
            in.count(), line + (in.begin * a.dilation + shift - x), a.dilation);
  }
}

template <typename T> void planes(const Call &call, const WindowsCall &w) {
  const Axis &down = w.told.axes[0], &right = w.told.axes[1];
  const Strided &from = w.from, &to = w.to;
  const int rank = to.rank();
  auto use = [&](const int64_t *at, int64_t x, int some, T *line) {
    const int64_t y = at[rank - 2];
    const int64_t own = from.begin() + from.offset(at, rank - 3);
    const Span over = windowsOver(down, y);
    for (int64_t i = over.begin; i < over.end; ++i) {
      const int64_t below = y + down.padding - i * down.stride;
      if (below % down.dilation)
        continue;
      const int64_t column =
          (at[rank - 3] * down.taps + below / down.dilation) * right.taps;
      addWindows(right, from,
                 own + column * from.stride(rank - 3) +
                     i * right.count * from.stride(rank - 2),
                 from.stride(rank - 2), from.stride(rank - 3), x, some, line);
    }
    return placeOf(to, at, x);
  };
  forBlocks<T>(call, to, to.sizes(), rank, use);
}

/// Windows are a dimension, their elements the last one.
template <typename T> void unfolded(const Call &call, const WindowsCall &w) {
  const Axis &a = w.told.axes[0];
  const Strided &from = w.from, &to = w.to;
  const int rank = to.rank(), axis = int(w.told.axis);
  const int64_t apart = from.stride(axis), apartTaps = from.stride(rank);
  auto use = [&](const int64_t *at, int64_t x, int some, T *line) {
    const int64_t own = from.begin() + from.offset(at, rank - 1);
    if (axis == rank - 1) {
      addWindows(a, from, own, apart, apartTaps, x, some, line);
      return placeOf(to, at, x);
    }
    const Span over = windowsOver(a, at[axis]);
    for (int64_t i = over.begin; i < over.end; ++i)
      addLine(from,
              own + (i - at[axis]) * apart +
                  (at[axis] - i * a.stride) * apartTaps +
                  x * from.stride(rank - 1),
              from.stride(rank - 1), some, line);
    return placeOf(to, at, x);
  };
  forBlocks<T>(call, to, to.sizes(), rank, use);
}

/// The copies of a block of elements of the last axis, whose first one in the
/// padded line is at `offset`.
template <typename T> struct Copies {
  const WindowsCall &w;
  const int64_t *at;
  int64_t x;
  int some;
  T *line;

  void addReflected(int64_t offset, int64_t before, int64_t size, int64_t count,
                    int64_t apart) const {
    // Element `e` is also at `edge` - e.
    auto addMirrored = [&](int64_t edge, Range range) {
      const Range in =
          both(range, both({edge - count + 1, edge + 1}, {x, x + some}));
      addLine(w.from, offset + (edge - in.begin) * apart, -apart, in.count(),
              line + (in.begin - x));
    };
    addMirrored(before, {1, size});
    const Range in = both({-before, count - before}, {x, x + some});
    addLine(w.from, offset + (before + in.begin) * apart, apart, in.count(),
            line + (in.begin - x));
    addMirrored(before + 2 * (size - 1), {0, size - 1});
  }

  void addBorder(int64_t offset, int64_t before, int64_t size, int64_t count,
                 int64_t apart) const {
    auto addEnd = [&](int64_t end) {
      const Span over =
          borderCopies(int(end), int(before), int(size), int(count));
      addLine(w.from, offset + over.begin * apart, apart,
              std::max(lengthOf(over), 0), line + (end - x), 0);
    };
    if (x == 0)
      addEnd(0);
    const Range in =
        both(both({-before, count - before}, {1, size - 1}), {x, x + some});
    addLine(w.from, offset + (before + in.begin) * apart, apart, in.count(),
            line + (in.begin - x));
    if (size > 1 && x + some == size)
      addEnd(size - 1);
  }

  /// Along padded axes from `axis` on.
  void add(int axis, int64_t offset) const {
    const int dim = int(w.to.rank() - w.told.rank) + axis;
    const int64_t before = w.told.axes[axis].padding, size = w.to.size(dim),
                  count = w.from.size(dim), apart = w.from.stride(dim);
    const bool isReflected = w.told.kind == ColumnWindows::Reflected;
    if (axis == int(w.told.rank) - 1)
      return isReflected ? addReflected(offset, before, size, count, apart)
                         : addBorder(offset, before, size, count, apart);
    if (isReflected) {
      for (int copy = 0; copy < 3; ++copy)
        if (const int place = reflectedCopy(copy, int(at[dim]), int(before),
                                            int(size), int(count));
            place >= 0)
          add(axis + 1, offset + place * apart);
      return;
    }
    const Span over =
        borderCopies(int(at[dim]), int(before), int(size), int(count));
    for (int place = over.begin; place < over.end; ++place)
      add(axis + 1, offset + place * apart);
  }
};

template <typename T> void padding(const Call &call, const WindowsCall &w) {
  const int rank = w.to.rank(), lead = int(rank - w.told.rank);
  auto use = [&](const int64_t *at, int64_t x, int some, T *line) {
    Copies<T>{w, at, x, some, line}.add(0, w.from.begin() +
                                               w.from.offset(at, lead));
    return placeOf(w.to, at, x);
  };
  forBlocks<T>(call, w.to, w.to.sizes(), rank, use);
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
