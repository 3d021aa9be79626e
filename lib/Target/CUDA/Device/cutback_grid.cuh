// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element that a grid places is made of, along one axis: elements (-1
// is outside), their weights, and the derivatives of these in the coordinate of
// the grid, which goes from -1 to 1.
#pragma once
#include "cutback_windows.cuh"

enum Outside { kZeros, kBorder, kReflection };

template <typename T> struct GridPlace {
  T at, slope;
};
template <typename T, int count> struct GridTaps : Taps<T, count> {
  T slope[count];
  __device__ bool reaches(int element) const {
    bool is = false;
    for (int i = 0; i < count; ++i)
      is |= this->at[i] == element;
    return is;
  }
};

template <typename T>
__device__ inline GridPlace<T> clampedPlace(GridPlace<T> place, int size) {
  if (place.at <= T(0))
    return {T(0), T(0)};
  return place.at >= T(size - 1) ? GridPlace<T>{T(size - 1), T(0)} : place;
}
template <typename T>
__device__ inline GridPlace<T> reflectedPlace(GridPlace<T> place, T low, T high) {
  const T span = high - low;
  if (span == 0)
    return {T(0), T(0)};
  const T apart = place.at - low, x = apart < 0 ? -apart : apart;
  const T slope = apart < 0 ? -place.slope : place.slope;
  const T turns = floor(x / span), rest = T(fmod(x, span));
  const bool isEven = fmod(turns, T(2)) == T(0);
  return isEven ? GridPlace<T>{rest + low, slope}
                : GridPlace<T>{span - rest + low, -slope};
}
template <int outside, bool isAligned, typename T>
__device__ inline GridPlace<T> paddedPlace(GridPlace<T> place, int size) {
  if (outside == kReflection)
    place = isAligned ? reflectedPlace(place, T(0), T(size - 1))
                      : reflectedPlace(place, T(-0.5), T(size) - T(0.5));
  return outside == kZeros ? place : clampedPlace(place, size);
}
template <bool isAligned, typename T>
__device__ inline GridPlace<T> gridPlace(T x, int size) {
  if (isAligned)
    return {(x + T(1)) / T(2) * T(size - 1), T(size - 1) / T(2)};
  return {((x + T(1)) * T(size) - T(1)) / T(2), T(size) / T(2)};
}
/// -1 outside, and for what is no number.
template <typename T> __device__ inline int insideOf(T at, int size) {
  return at >= T(0) && at < T(size) ? int(at) : -1;
}

template <int outside, bool isAligned, typename T>
__device__ inline GridTaps<T, 1> gridNearest(T x, int size) {
  const auto place =
      paddedPlace<outside, isAligned>(gridPlace<isAligned>(x, size), size);
  return {{{insideOf(T(rint(place.at)), size)}, {T(1)}}, {T(0)}};
}
template <int outside, bool isAligned, typename T>
__device__ inline GridTaps<T, 2> gridLinear(T x, int size) {
  const auto place =
      paddedPlace<outside, isAligned>(gridPlace<isAligned>(x, size), size);
  const T first = T(floor(place.at)), part = place.at - first;
  return {{{insideOf(first, size), insideOf(first + T(1), size)},
           {T(1) - part, part}},
          {-place.slope, place.slope}};
}
/// Keys' cubics with a = -0.75. What is read is padded, not the place.
template <int outside, bool isAligned, typename T>
__device__ inline GridTaps<T, 4> gridCubic(T x, int size) {
  const auto place = gridPlace<isAligned>(x, size);
  const T a = T(-0.75), first = T(floor(place.at)), part = place.at - first;
  GridTaps<T, 4> taps;
  for (int i = 0; i < 4; ++i) {
    const T apart = part - T(i - 1), t = apart < 0 ? -apart : apart;
    const bool isNear = t <= T(1);
    taps.weight[i] = isNear ? ((a + T(2)) * t - (a + T(3))) * t * t + T(1)
                            : ((a * t - T(5) * a) * t + T(8) * a) * t - T(4) * a;
    const T slope = isNear ? (T(3) * (a + T(2)) * t - T(2) * (a + T(3))) * t
                           : (T(3) * a * t - T(10) * a) * t + T(8) * a;
    taps.slope[i] = (apart >= 0 ? slope : -slope) * place.slope;
    taps.at[i] = insideOf(
        paddedPlace<outside, isAligned>(GridPlace<T>{first + T(i - 1), T(0)}, size)
            .at,
        size);
  }
  return taps;
}
