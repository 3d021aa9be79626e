// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resampling of planes of any sizes over one to three axes, and its gradients.
//
// A line of results at a time, for each element along the other axes that it is
// made of. Of a gradient the elements of what was made go over the plane in
// their order, and each adds to those that it was made of: the sums that the
// text for a device has, in its order.

#include "Strided.h"

#include "cutback_windows.cuh"

using precompiled::Resample;

namespace {

constexpr int kBlock = 256;

/// The axes of a call, as three: those that are not there have one element.
struct ResamplePlanes {
  const Resample &told;
  Strided from, to;
  int lead; ///< dimensions in front of the planes

  explicit ResamplePlanes(const Call &call)
      : told(call.numbers<Resample>()), from(call.tensor(0)),
        to(call.tensor(1)), lead(int(to.rank() - told.rank)) {}

  int dim(const Strided &tensor, int axis) const {
    return axis - precompiled::kMostAxes + tensor.rank();
  }
  bool hasAxis(int axis) const {
    return axis >= precompiled::kMostAxes - told.rank;
  }
  int64_t apart(const Strided &tensor, int axis) const {
    return hasAxis(axis) ? tensor.stride(dim(tensor, axis)) : 0;
  }
  int size(const Strided &tensor, int axis) const {
    return hasAxis(axis) ? int(tensor.size(dim(tensor, axis))) : 1;
  }
  int64_t plane(const Strided &tensor, int64_t number) const {
    return tensor.begin() + tensor.offsetOf(number, 0, lead);
  }
};

/// Elements that one of `Mode` is made of along an axis.
template <typename T, int64_t mode> struct TapsOf {
  static constexpr int count = mode == Resample::Nearest  ? 1
                               : mode == Resample::Linear ? 2
                                                          : 4;
  using Own = Taps<T, count>;
  static Own at(const ResamplePlanes &p, int axis, int place) {
    if (!p.hasAxis(axis)) {
      Own one = {};
      one.weight[0] = T(1);
      for (int i = 1; i < count; ++i)
        one.at[i] = -1;
      return one;
    }
    const Resample::Axis &a = p.told.axes[axis];
    const T ratio = T(a.ratio), offset = T(a.offset);
    if constexpr (mode == Resample::Nearest)
      return nearestTaps<T>(place, ratio, offset, int(a.in));
    else if constexpr (mode == Resample::Linear)
      return linearTaps<T>(place, ratio, offset, int(a.in));
    else
      return cubicTaps<T>(place, ratio, offset, int(a.in));
  }
};

/// One line, as far as a block goes: as sums of what stands at `own`.
template <typename T, int count, typename E>
void addLine(const E *line, int64_t apart, const int (&at)[count][kBlock],
             const T (&weights)[count][kBlock], T weight, int some, T *sums) {
  for (int k = 0; k < count; ++k)
    for (int e = 0; e < some; ++e)
      sums[e] += weight * weights[k][e] * T(toFloat(line[at[k][e] * apart]));
}

template <typename T, int64_t mode, typename E>
void resample(const Call &call, const ResamplePlanes &p, const E *elements) {
  using Of = TapsOf<T, mode>;
  constexpr int count = Of::count;
  const auto [first, last] = call.share(p.to.count(p.lead));
  const int width = p.size(p.to, 2);
  for (int x = 0; x < width; x += kBlock) {
    const int some = std::min(kBlock, width - x);
    int at[count][kBlock];
    T weights[count][kBlock];
    for (int e = 0; e < some; ++e) {
      const auto own = Of::at(p, 2, x + e);
      for (int k = 0; k < count; ++k)
        at[k][e] = own.at[k], weights[k][e] = own.weight[k];
    }
    for (int64_t plane = first; plane < last; ++plane) {
      const E *from = elements + p.plane(p.from, plane);
      for (int z = 0; z < p.size(p.to, 0); ++z)
        for (int y = 0; y < p.size(p.to, 1); ++y) {
          const auto of_z = Of::at(p, 0, z), of_y = Of::at(p, 1, y);
          T sums[kBlock] = {};
          for (int i = 0; i < count; ++i)
            for (int j = 0; j < count; ++j)
              if (of_z.at[i] >= 0 && of_y.at[j] >= 0)
                addLine<T, count>(from + of_z.at[i] * p.apart(p.from, 0) +
                                      of_y.at[j] * p.apart(p.from, 1),
                                  p.apart(p.from, 2), at, weights,
                                  of_z.weight[i] * of_y.weight[j], some, sums);
          writeLine(p.to,
                    p.plane(p.to, plane) + z * p.apart(p.to, 0) +
                        y * p.apart(p.to, 1) + x * p.apart(p.to, 2),
                    p.apart(p.to, 2), some, sums);
        }
    }
  }
}

/// Calls `use(element, weight)` once for each element that counts.
template <typename T, int count, typename Use>
inline void forWeights(const Taps<T, count> &taps, T weight, Use use) {
  for (int i = 0; i < count; ++i) {
    bool isNew = taps.at[i] >= 0;
    for (int other = 0; other < i; ++other)
      isNew &= taps.at[other] != taps.at[i];
    const T own = isNew ? weight * taps.of(taps.at[i]) : T(0);
    if (own != 0)
      use(taps.at[i], own);
  }
}

/// Sums of a plane are held where they are stored, or in memory of their own.
template <typename T, int64_t mode>
void resampleGradient(Call &call, const ResamplePlanes &p) {
  using Of = TapsOf<T, mode>;
  const bool isInPlace =
      p.to.type() != precompiled::BF16 && p.to.type() != precompiled::F16;
  const int height = p.size(p.to, 1), width = p.size(p.to, 2);
  const int64_t all = int64_t(p.size(p.to, 0)) * height * width;
  const Numbers<T> own(isInPlace ? 0 : all, call.problem);
  const int columns = p.size(p.from, 2);
  const Numbers<typename Of::Own> along(columns, call.problem);
  const Numbers<T> line(columns, call.problem);
  if (!own || !along || !line)
    return;
  const T *gradient = line.data();
  for (int x = 0; x < columns; ++x)
    along.data()[x] = Of::at(p, 2, x);
  const auto [first, last] = call.share(p.to.count(p.lead));
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t at = p.plane(p.to, plane);
    T *sums = isInPlace ? p.to.elements<T>() + at : own.data();
    std::fill(sums, sums + all, T(0));
    for (int z = 0; z < p.size(p.from, 0); ++z)
      for (int y = 0; y < p.size(p.from, 1); ++y) {
        readLine(p.from,
                 p.plane(p.from, plane) + z * p.apart(p.from, 0) +
                     y * p.apart(p.from, 1),
                 p.apart(p.from, 2), columns, line.data());
        forWeights(Of::at(p, 0, z), T(1), [&](int i, T of_z) {
          forWeights(Of::at(p, 1, y), of_z, [&](int j, T of_y) {
            T *to = sums + (int64_t(i) * height + j) * width;
            for (int x = 0; x < columns; ++x)
              forWeights(along.data()[x], of_y, [&](int k, T weight) {
                to[k] += weight * gradient[x];
              });
          });
        });
      }
    if (!isInPlace)
      writeLine(p.to, at, 1, int(all), sums);
  }
}

template <typename T, int64_t mode>
void resampleBy(Call &call, const ResamplePlanes &p) {
  if (p.told.isGradient)
    return resampleGradient<T, mode>(call, p);
  if constexpr (std::is_same_v<T, double>)
    resample<T, mode>(call, p, p.from.elements<double>());
  else if (p.from.type() == precompiled::BF16)
    resample<T, mode>(call, p, p.from.elements<bf16>());
  else if (p.from.type() == precompiled::F16)
    resample<T, mode>(call, p, p.from.elements<f16>());
  else
    resample<T, mode>(call, p, p.from.elements<float>());
}

} // namespace

CUTBACK_STRIDED_CALL(resample) {
  const ResamplePlanes planes(call);
  withSum(planes.from.type(), [&](auto zero) {
    using T = decltype(zero);
    switch (planes.told.kind) {
    case Resample::Nearest:
      return resampleBy<T, Resample::Nearest>(call, planes);
    case Resample::Linear:
      return resampleBy<T, Resample::Linear>(call, planes);
    default:
      return resampleBy<T, Resample::Cubic>(call, planes);
    }
  });
}
