// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools of any sizes over one to three axes. A line of results at a time: for
// each place of a window, in the order that the text for a device has, all
// results of the line that have it. Of the gradient of greatest elements the
// windows go over the plane in their order, which adds to each element what its
// windows have, in that order.
//
// Lines are cut into blocks, planes shared by the parts of a call.

#include "Strided.h"

#include "cutback_windows.cuh"

using precompiled::Pool;

namespace {

constexpr int kBlock = 256;

/// The axes of a call, as three: those that are not there have one element.
struct PoolPlanes {
  const Pool &pool;
  Strided from, to, indices;
  int lead; ///< dimensions in front of the planes

  explicit PoolPlanes(Call &call)
      : pool(call.numbers<Pool>()), from(call.tensor(0)), to(call.tensor(1)),
        indices(call.tensor(2)) {
    const Strided &some = to ? to : indices;
    lead = int(some.rank() - pool.rank);
  }

  /// Elements between neighbors along an axis.
  int64_t apart(const Strided &tensor, int axis) const {
    const int dim = int(axis - precompiled::kMostAxes + tensor.rank());
    return axis < precompiled::kMostAxes - pool.rank ? 0 : tensor.stride(dim);
  }
  int64_t plane(const Strided &tensor, int64_t number) const {
    return tensor.begin() + tensor.offsetOf(number, 0, lead);
  }
  int size(int axis) const { return int(pool.axes[axis].size); }
  int count(int axis) const { return int(pool.axes[axis].count); }

  Span window(int axis, int number) const {
    const Pool::Axis &a = pool.axes[axis];
    if (pool.isAdaptive)
      return coveringWindow(number, int(a.count), int(a.size));
    return slidingWindow(number, int(a.taps), int(a.stride), int(a.padding),
                         int(a.dilation), int(a.size));
  }
  Span windowsOver(int axis, int at) const {
    const Pool::Axis &a = pool.axes[axis];
    if (pool.isAdaptive)
      return coveringWindowsOver(at, int(a.count), int(a.size));
    return slidingWindowsOver(at, int(a.taps), int(a.stride), int(a.padding),
                              int(a.dilation), int(a.count));
  }
  int length(int axis, int number) const {
    const Pool::Axis &a = pool.axes[axis];
    return pool.isPadded ? paddedLength(number, int(a.taps), int(a.stride),
                                        int(a.padding), int(a.size))
                         : lengthOf(window(axis, number));
  }
  /// What elements of a line of windows are divided by, of which the last axis
  /// has `along`. Without the axes that are not there, which have windows of
  /// one.
  int divisor(int z, int y, int along) const {
    if (pool.isDivisorGiven)
      return int(pool.divisor);
    if (pool.rank > 1)
      along *= length(1, y);
    return pool.rank > 2 ? along * length(0, z) : along;
  }
  /// Windows [first, last) of [first, first + count) whose place `tap` along
  /// the last axis is inside: the same for all lines, and kept for one block.
  Span inside(int tap, int first, int count) {
    if (tap >= kTaps)
      return findInside(tap, first, count);
    if (first != knownFirst || count != knownCount) {
      knownFirst = first, knownCount = count;
      const int taps = int(std::min<int64_t>(kTaps, pool.axes[2].taps));
      for (int i = 0; i < taps; ++i)
        known[i] = findInside(i, first, count);
    }
    return known[tap];
  }

private:
  static constexpr int kTaps = 16;
  Span known[kTaps];
  int knownFirst = 0, knownCount = -1;

  Span findInside(int tap, int first, int count) const {
    const Pool::Axis &a = pool.axes[2];
    const int64_t shift = tap * a.dilation - a.padding;
    const int64_t low = shift < 0 ? (-shift + a.stride - 1) / a.stride : 0;
    const int64_t high =
        a.size > shift ? (a.size - shift + a.stride - 1) / a.stride : 0;
    return {int(std::clamp<int64_t>(low, first, first + count)),
            int(std::clamp<int64_t>(high, first, first + count))};
  }
};

/// Calls `use(z, y)` and so on for all places of windows along the first two
/// axes, in their order, with the number of each among the taps of its axis.
template <typename Use>
inline void forLines(const PoolPlanes &planes, int z, int y, Use use) {
  const Span over_z = planes.window(0, z), over_y = planes.window(1, y);
  const int step_z =
                planes.pool.isAdaptive ? 1 : int(planes.pool.axes[0].dilation),
            step_y =
                planes.pool.isAdaptive ? 1 : int(planes.pool.axes[1].dilation);
  for (int i = over_z.begin; i < over_z.end; i += step_z)
    for (int j = over_y.begin; j < over_y.end; j += step_y)
      use(i, j);
}

/// Calls `use(plane, z, y, x, some)` for blocks of lines of the part's planes.
template <typename Use>
inline void forBlocks(const Call &call, const Strided &of, int lead,
                      const int (&sizes)[3], Use use) {
  const auto [first, last] = call.share(of.count(lead));
  for (int64_t plane = first; plane < last; ++plane)
    for (int z = 0; z < sizes[0]; ++z)
      for (int y = 0; y < sizes[1]; ++y)
        for (int x = 0; x < sizes[2]; x += kBlock)
          use(plane, z, y, x, std::min(kBlock, sizes[2] - x));
}

/// Windows along the last axis, which all lines have: computed once.
struct LineWindows {
  Numbers<Span> windows;
  Numbers<int> lengths;

  LineWindows(const PoolPlanes &p, int &problem)
      : windows(p.count(2), problem), lengths(p.count(2), problem) {
    if (!windows || !lengths)
      return;
    for (int x = 0; x < p.count(2); ++x) {
      windows.data()[x] = p.window(2, x);
      lengths.data()[x] = p.length(2, x);
    }
  }
  explicit operator bool() const { return windows && lengths; }
};

/// Adds `count` elements, `step` from one to the next, to as many sums: as
/// keepLine does.
template <int kStep = 0, typename T, typename E>
inline void addElements(const E *elements, int64_t step, int count, T *sums) {
  if constexpr (kStep == 0) {
    if (step == 1)
      return addElements<1>(elements, step, count, sums);
    if (step == 2)
      return addElements<2>(elements, step, count, sums);
  } else {
    step = kStep;
  }
  for (int e = 0; e < count; ++e)
    sums[e] += T(toFloat(elements[e * step]));
}

/// Divides what windows (z, y, x + [0, some)) have.
template <typename T>
void divide(const PoolPlanes &p, const LineWindows &line, int z, int y, int x,
            int some, T *numbers, bool isGradient) {
  const int *lengths = line.lengths.data() + x;
  const int given = p.divisor(z, y, 1);
  if (p.pool.isDivisorGiven) {
    for (int e = 0; e < some; ++e)
      numbers[e] = given || isGradient ? numbers[e] / T(given) : T(0);
    return;
  }
  for (int e = 0; e < some; ++e) {
    const int divisor = lengths[e] * given;
    const T quotient = numbers[e] / T(divisor);
    numbers[e] = divisor || isGradient ? quotient : T(0);
  }
}

template <typename T, typename E>
void averageBlock(PoolPlanes &p, const LineWindows &known, const E *from,
                  int64_t plane, int z, int y, int x, int some) {
  T sums[kBlock] = {};
  const int64_t apart = p.apart(p.from, 2);
  const Pool::Axis &last = p.pool.axes[2];
  forLines(p, z, y, [&](int i, int j) {
    const E *line = from + i * p.apart(p.from, 0) + j * p.apart(p.from, 1);
    if (p.pool.isAdaptive) {
      for (int e = 0; e < some; ++e) {
        const Span over = known.windows.data()[x + e];
        T sum = sums[e];
        for (int k = over.begin; k < over.end; ++k)
          sum += T(toFloat(line[k * apart]));
        sums[e] = sum;
      }
      return;
    }
    for (int tap = 0; tap < int(last.taps); ++tap) {
      const Span in = p.inside(tap, x, some);
      const E *first =
          line + (in.begin * last.stride - last.padding + tap) * apart;
      addElements(first, last.stride * apart, lengthOf(in),
                  sums + (in.begin - x));
    }
  });
  divide(p, known, z, y, x, some, sums, /*isGradient=*/false);
  const int64_t at =
      p.plane(p.to, plane) + z * p.apart(p.to, 0) + y * p.apart(p.to, 1);
  writeLine(p.to, at + x * p.apart(p.to, 2), p.apart(p.to, 2), some, sums);
}

/// Keeps `value`, at `place`, where it is greater, the first, or a NaN.
template <typename T>
inline void keepGreatest(T value, int place, T &greatest, int &found) {
  const bool isKept = !(found >= 0 && !(value > greatest) && value == value);
  greatest = isKept ? value : greatest;
  found = isKept ? place : found;
}

/// Keeps `count` elements, `step` from one to the next, in as many windows;
/// their places are `next` apart. By vectors for the steps that pools have as a
/// rule, which the loop must know.
template <int kStep = 0, typename T, typename E>
inline void keepLine(const E *elements, int64_t step, int count, int place,
                     int next, T *greatest, int *found) {
  if constexpr (kStep == 0) {
    if (step == 1)
      return keepLine<1>(elements, step, count, place, next, greatest, found);
    if (step == 2)
      return keepLine<2>(elements, step, count, place, next, greatest, found);
  } else {
    step = kStep;
  }
  for (int e = 0; e < count; ++e)
    keepGreatest(T(toFloat(elements[e * step])), place + e * next, greatest[e],
                 found[e]);
}

template <typename T, typename E>
void greatestBlock(PoolPlanes &p, const E *from, int64_t plane, int z, int y,
                   int x, int some) {
  T greatest[kBlock];
  int found[kBlock];
  std::fill(greatest, greatest + some, T(lowest()));
  std::fill(found, found + some, -1);
  const int64_t apart = p.apart(p.from, 2);
  const Pool::Axis &last = p.pool.axes[2];
  const bool isInWindow = p.pool.kind == Pool::GreatestInWindow;
  const Pool::Axis &middle = p.pool.axes[1];
  forLines(p, z, y, [&](int i, int j) {
    const E *line = from + i * p.apart(p.from, 0) + j * p.apart(p.from, 1);
    const int row = (i * p.size(1) + j) * p.size(2);
    if (p.pool.isAdaptive) {
      for (int e = 0; e < some; ++e) {
        const Span over = p.window(2, x + e);
        for (int k = over.begin; k < over.end; ++k)
          keepGreatest(T(toFloat(line[k * apart])), row + k, greatest[e],
                       found[e]);
      }
      return;
    }
    // A window over two axes numbers its places.
    const int taps = int((j + middle.padding - y * middle.stride) /
                         middle.dilation * last.taps);
    for (int tap = 0; tap < int(last.taps); ++tap) {
      const Span in = p.inside(tap, x, some);
      const int shift = int(tap * last.dilation - last.padding);
      const E *first = line + (in.begin * last.stride + shift) * apart;
      const int place = isInWindow ? taps + tap
                                   : row + shift + in.begin * int(last.stride),
                next = isInWindow ? 0 : int(last.stride);
      keepLine(first, last.stride * apart, lengthOf(in), place, next,
               greatest + (in.begin - x), found + (in.begin - x));
    }
  });
  auto at = [&](const Strided &to) {
    return p.plane(to, plane) + z * p.apart(to, 0) + y * p.apart(to, 1) +
           x * p.apart(to, 2);
  };
  if (p.to)
    writeLine(p.to, at(p.to), p.apart(p.to, 2), some, greatest);
  for (int e = 0; e < some; ++e)
    found[e] = std::max(found[e], 0);
  if (p.indices)
    writeLine(p.indices, at(p.indices), p.apart(p.indices, 2), some, found);
}

template <typename T> void pool(Call &call, PoolPlanes &p) {
  const int sizes[3] = {p.count(0), p.count(1), p.count(2)};
  const LineWindows known(p, call.problem);
  if (!known)
    return;
  auto run = [&](const auto *elements) {
    forBlocks(call, p.to ? p.to : p.indices, p.lead, sizes,
              [&](int64_t plane, int z, int y, int x, int some) {
                const auto *from = elements + p.plane(p.from, plane);
                if (p.pool.kind == Pool::Average)
                  averageBlock<T>(p, known, from, plane, z, y, x, some);
                else
                  greatestBlock<T>(p, from, plane, z, y, x, some);
              });
  };
  withFloats<T>(p.from, run);
}

/// The gradients of averages, of a block of a line of elements.
template <typename T> struct GradientBlock {
  const PoolPlanes &p;
  const LineWindows &line;
  int x, some;
  T sums[kBlock];
  Span over[kBlock]; ///< adaptive ones

  /// Adds what windows [first, first + count) of a line have, in their order. A
  /// later window has an earlier place of an element, so places fall.
  void addSliding(int first, int count, const T *quotients) {
    const Pool::Axis &a = p.pool.axes[2];
    const int stride = int(a.stride);
    for (int tap = int(a.taps); tap-- > 0;) {
      const int shift = first * stride - int(a.padding) + tap - x;
      const int begin = shift < 0 ? (stride - 1 - shift) / stride : 0,
                end = some > shift ? (some - shift + stride - 1) / stride : 0;
      const int inside = std::min(end, count) - begin;
      if (inside <= 0)
        continue;
      const T *from = quotients + begin;
      T *to = sums + (shift + begin * stride);
      if (stride == 1)
        for (int e = 0; e < inside; ++e)
          to[e] += from[e];
      else
        for (int e = 0; e < inside; ++e)
          to[int64_t(e) * stride] += from[e];
    }
  }
  void addAdaptive(int first, int count, const T *quotients) {
    for (int e = 0; e < some; ++e)
      for (int k = std::max(over[e].begin, first);
           k < std::min(over[e].end, first + count); ++k)
        sums[e] += quotients[k - first];
  }
  /// Of the line (z, y) of windows.
  void addLine(int64_t at, int z, int y) {
    const int first = p.windowsOver(2, x).begin,
              last = p.windowsOver(2, x + some - 1).end;
    const int64_t apart = p.apart(p.from, 2);
    T quotients[kBlock];
    for (int k = first; k < last; k += kBlock) {
      const int count = std::min(kBlock, last - k);
      readLine(p.from, at + k * apart, apart, count, quotients);
      divide(p, line, z, y, k, count, quotients, /*isGradient=*/true);
      if (p.pool.isAdaptive)
        addAdaptive(k, count, quotients);
      else
        addSliding(k, count, quotients);
    }
  }
};

inline bool operator==(Span a, Span b) {
  return a.begin == b.begin && a.end == b.end;
}

/// An element is the sum over the windows that it lies in: the same for
/// neighboring lines that lie in the same ones.
template <typename T> void averageGradient(Call &call, const PoolPlanes &p) {
  const LineWindows line(p, call.problem);
  if (!line)
    return;
  GradientBlock<T> block = {p, line, 0, 0, {}, {}};
  const auto [first, last] = call.share(p.to.count(p.lead));
  for (int x = 0; x < p.size(2); x += kBlock) {
    block.x = x;
    block.some = std::min(kBlock, p.size(2) - x);
    if (p.pool.isAdaptive)
      for (int e = 0; e < block.some; ++e)
        block.over[e] = p.windowsOver(2, x + e);
    for (int64_t plane = first; plane < last; ++plane) {
      const int64_t from = p.plane(p.from, plane);
      for (int z = 0; z < p.size(0); ++z) {
        const Span over_z = p.windowsOver(0, z);
        Span known = {-1, -1};
        for (int y = 0; y < p.size(1); ++y) {
          const Span over_y = p.windowsOver(1, y);
          if (!(over_y == known)) {
            std::fill(block.sums, block.sums + block.some, T(0));
            for (int i = over_z.begin; i < over_z.end; ++i)
              for (int j = over_y.begin; j < over_y.end; ++j)
                block.addLine(from + i * p.apart(p.from, 0) +
                                  j * p.apart(p.from, 1),
                              i, j);
          }
          known = over_y;
          writeLine(p.to,
                    p.plane(p.to, plane) + z * p.apart(p.to, 0) +
                        y * p.apart(p.to, 1) + x * p.apart(p.to, 2),
                    p.apart(p.to, 2), block.some, block.sums);
        }
      }
    }
  }
}

/// Whether `at` is between the first and the last place of a window.
inline bool isBetween(const PoolPlanes &p, int axis, int number, int at) {
  const Pool::Axis &a = p.pool.axes[axis];
  if (p.pool.isAdaptive) {
    const Span over = p.window(axis, number);
    return at >= over.begin && at < over.end;
  }
  const int first = int(number * a.stride - a.padding);
  return at >= first && at <= first + int((a.taps - 1) * a.dilation);
}

/// Adds the gradients of windows (i, j, x + [0, some)) where their greatest
/// elements are, if these lie in them.
template <typename T>
void addWindows(const PoolPlanes &p, int i, int j, int x, int some,
                const T *gradients, const int64_t *places, T *sums) {
  const unsigned width = unsigned(p.size(2)), height = unsigned(p.size(1)),
                 all = unsigned(p.size(0)) * height * width;
  for (int e = 0; e < some; ++e) {
    if (uint64_t(places[e]) >= all)
      continue;
    const unsigned row = unsigned(places[e]) / width,
                   column = unsigned(places[e]) - row * width;
    const bool isInRow = isBetween(p, 2, x + e, int(column)),
               isInPlane = p.pool.rank > 2
                               ? isBetween(p, 1, j, int(row % height)) &&
                                     isBetween(p, 0, i, int(row / height))
                               : isBetween(p, 1, j, int(row));
    if (isInRow && isInPlane)
      sums[places[e]] += gradients[e];
  }
}

/// All windows of a plane, in their order.
template <typename T>
void addPlane(const PoolPlanes &p, int64_t plane, T *sums) {
  T gradients[kBlock];
  int64_t places[kBlock];
  for (int i = 0; i < p.count(0); ++i)
    for (int j = 0; j < p.count(1); ++j)
      for (int x = 0; x < p.count(2); x += kBlock) {
        const int some = std::min(kBlock, p.count(2) - x);
        auto read = [&](const Strided &from, auto *to) {
          readLine(from,
                   p.plane(from, plane) + i * p.apart(from, 0) +
                       j * p.apart(from, 1) + x * p.apart(from, 2),
                   p.apart(from, 2), some, to);
        };
        read(p.from, gradients);
        read(p.indices, places);
        addWindows(p, i, j, x, some, gradients, places, sums);
      }
}

/// Sums of a plane are held where they are stored, or in memory of their own.
template <typename T> void greatestGradient(Call &call, const PoolPlanes &p) {
  const bool isInPlace =
      p.to.type() != precompiled::BF16 && p.to.type() != precompiled::F16;
  const int64_t all = int64_t(p.size(0)) * p.size(1) * p.size(2);
  const Numbers<T> own(isInPlace ? 0 : all, call.problem);
  if (!own)
    return;
  const auto [first, last] = call.share(p.to.count(p.lead));
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t at = p.plane(p.to, plane);
    T *sums = isInPlace ? p.to.elements<T>() + at : own.data();
    std::fill(sums, sums + all, T(0));
    addPlane(p, plane, sums);
    if (!isInPlace)
      writeLine(p.to, at, 1, int(all), sums);
  }
}

/// Quotients of numbers from 0 on by one that stays: by a product, which is
/// rounded by less than the half that is added. Divisions are no vectors.
class Quotients {
  double inverse;

public:
  explicit Quotients(int divisor) : inverse(1.0 / divisor) {}
  int of(int number) const { return int((number + 0.5) * inverse); }
};

/// From the place in its window to that in the plane.
void placesOfWindows(const Call &call, const PoolPlanes &p) {
  const Pool::Axis &down = p.pool.axes[1], &right = p.pool.axes[2];
  const int taps = int(right.taps), width = p.size(2);
  const Quotients rows(taps);
  const int sizes[3] = {1, p.count(1), p.count(2)};
  forBlocks(
      call, p.to, p.lead, sizes,
      [&](int64_t plane, int, int y, int x, int some) {
        int places[kBlock];
        auto at = [&](const Strided &of) {
          return p.plane(of, plane) + y * p.apart(of, 1) + x * p.apart(of, 2);
        };
        readLine(p.indices, at(p.indices), p.apart(p.indices, 2), some, places);
        const int top = y * int(down.stride) - int(down.padding),
                  left = x * int(right.stride) - int(right.padding);
        for (int e = 0; e < some; ++e) {
          const int row = rows.of(places[e]), column = places[e] - row * taps;
          places[e] = (top + row * int(down.dilation)) * width + left +
                      e * int(right.stride) + column * int(right.dilation);
        }
        writeLine(p.to, at(p.to), p.apart(p.to, 2), some, places);
      });
}

} // namespace

CUTBACK_STRIDED_CALL(pool) {
  PoolPlanes planes(call);
  if (planes.pool.kind == Pool::PlacesOfWindows)
    return placesOfWindows(call, planes);
  withSum(planes.from.type(), [&](auto zero) {
    using T = decltype(zero);
    switch (planes.pool.kind) {
    case Pool::AverageGradient:
      return averageGradient<T>(call, planes);
    case Pool::GreatestGradient:
      return greatestGradient<T>(call, planes);
    default:
      return pool<T>(call, planes);
    }
  });
}
