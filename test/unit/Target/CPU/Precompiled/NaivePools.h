// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools as loops over the elements of each window, in their order. What a
// gradient adds to an element has the order of the windows.
#ifndef CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_NAIVEPOOLS_H
#define CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_NAIVEPOOLS_H

#include "Target/CPU/Precompiled/Strided.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace {

using precompiled::Pool;
using Numbers3 = std::array<int64_t, 3>;

/// Windows as lists of places, for each axis: one that is not there has one
/// window of one element.
struct Windows {
  const Pool &told;
  int lead;
  std::vector<std::vector<int64_t>> places[3];

  Windows(const Pool &told, int lead) : told(told), lead(lead) {
    for (int axis = 0; axis < 3; ++axis)
      for (int64_t number = 0; number < told.axes[axis].count; ++number)
        places[axis].push_back(placesOf(told.axes[axis], number));
  }
  std::vector<int64_t> placesOf(const Pool::Axis &axis, int64_t number) const {
    std::vector<int64_t> result;
    if (told.isAdaptive)
      for (int64_t at = number * axis.size / axis.count;
           at * axis.count < (number + 1) * axis.size; ++at)
        result.push_back(at);
    for (int64_t tap = 0; !told.isAdaptive && tap < axis.taps; ++tap)
      if (const int64_t at =
              number * axis.stride - axis.padding + tap * axis.dilation;
          at >= 0 && at < axis.size)
        result.push_back(at);
    return result;
  }
  /// An element of a plane, or of what has one for each window.
  int64_t at(const Strided &of, int64_t plane, const Numbers3 &index) const {
    return of.begin() + of.offsetOf(plane, 0, lead) +
           of.offset(index.data() + 3 - told.rank, int(told.rank), lead);
  }
  template <typename Use> void forWindows(Use use) const {
    for (int64_t z = 0; z < told.axes[0].count; ++z)
      for (int64_t y = 0; y < told.axes[1].count; ++y)
        for (int64_t x = 0; x < told.axes[2].count; ++x)
          use(Numbers3{z, y, x});
  }
  template <typename Use>
  void forElements(const Numbers3 &window, Use use) const {
    for (int64_t z : places[0][window[0]])
      for (int64_t y : places[1][window[1]])
        for (int64_t x : places[2][window[2]])
          use(Numbers3{z, y, x});
  }
  int64_t numberOf(const Numbers3 &at) const {
    return (at[0] * told.axes[1].size + at[1]) * told.axes[2].size + at[2];
  }
  Numbers3 elementOf(int64_t number) const {
    const int64_t width = told.axes[2].size, height = told.axes[1].size;
    return {number / width / height, number / width % height, number % width};
  }
  int64_t all() const {
    return told.axes[0].size * told.axes[1].size * told.axes[2].size;
  }
  int64_t divisor(const Numbers3 &window) const {
    if (told.isDivisorGiven)
      return told.divisor;
    int64_t divisor = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const Pool::Axis &a = told.axes[axis];
      const int64_t begin = window[axis] * a.stride - a.padding;
      divisor *= told.isPadded
                     ? std::min(begin + a.taps, a.size + a.padding) - begin
                     : int64_t(places[axis][window[axis]].size());
    }
    return divisor;
  }
  /// The number of an element among those of its window, also those that are
  /// beside the plane.
  int64_t tapOf(const Numbers3 &window, const Numbers3 &element) const {
    int64_t tap = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const Pool::Axis &a = told.axes[axis];
      tap = tap * a.taps +
            (element[axis] - window[axis] * a.stride + a.padding) / a.dilation;
    }
    return tap;
  }
  /// Not beside its first or its last element.
  bool reaches(const Numbers3 &window, const Numbers3 &element) const {
    for (int axis = 0; axis < 3; ++axis) {
      const Pool::Axis &a = told.axes[axis];
      const int64_t first = window[axis] * a.stride - a.padding;
      const std::vector<int64_t> &own = places[axis][window[axis]];
      const int64_t begin = told.isAdaptive ? own.front() : first,
                    end = told.isAdaptive ? own.back()
                                          : first + (a.taps - 1) * a.dilation;
      if (element[axis] < begin || element[axis] > end)
        return false;
    }
    return true;
  }
};

/// What becomes of one plane.
template <typename T> struct Plane {
  const Windows &windows;
  const Strided &from, &to, &indices;
  int64_t plane;

  T read(const Numbers3 &index) const {
    return from.get<T>(windows.at(from, plane, index));
  }
  void average() const {
    windows.forWindows([&](const Numbers3 &window) {
      T sum = 0;
      windows.forElements(
          window, [&](const Numbers3 &element) { sum += read(element); });
      const int64_t divisor = windows.divisor(window);
      to.set(windows.at(to, plane, window), divisor ? sum / T(divisor) : T(0));
    });
  }
  void greatest() const {
    const bool isInWindow = windows.told.kind == Pool::GreatestInWindow;
    windows.forWindows([&](const Numbers3 &window) {
      T greatest = -std::numeric_limits<T>::infinity();
      int64_t found = -1;
      windows.forElements(window, [&](const Numbers3 &element) {
        const T x = read(element);
        if (found >= 0 && x == x && !(x > greatest))
          return; // not after a NaN, either
        greatest = x;
        found = isInWindow ? windows.tapOf(window, element)
                           : windows.numberOf(element);
      });
      if (to)
        to.set(windows.at(to, plane, window), greatest);
      if (indices)
        indices.set(windows.at(indices, plane, window),
                    (long long)std::max<int64_t>(found, 0));
    });
  }
  void gradient() const {
    std::vector<T> sums(windows.all());
    windows.forWindows([&](const Numbers3 &window) {
      const T given = read(window);
      if (windows.told.kind == Pool::AverageGradient) {
        const T part = given / T(windows.divisor(window));
        windows.forElements(window, [&](const Numbers3 &element) {
          sums[windows.numberOf(element)] += part;
        });
        return;
      }
      const int64_t place =
          indices.get<long long>(windows.at(indices, plane, window));
      if (place >= 0 && place < windows.all() &&
          windows.reaches(window, windows.elementOf(place)))
        sums[place] += given;
    });
    for (int64_t i = 0; i < windows.all(); ++i)
      to.set(windows.at(to, plane, windows.elementOf(i)), sums[i]);
  }
  void places() const {
    windows.forWindows([&](const Numbers3 &window) {
      const int64_t tap =
          indices.get<long long>(windows.at(indices, plane, window));
      const Pool::Axis &down = windows.told.axes[1],
                       &right = windows.told.axes[2];
      const int64_t y = window[1] * down.stride - down.padding +
                        tap / right.taps * down.dilation,
                    x = window[2] * right.stride - right.padding +
                        tap % right.taps * right.dilation;
      to.set(windows.at(to, plane, window), (long long)(y * right.size + x));
    });
  }
};

} // namespace

#endif // CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_NAIVEPOOLS_H
