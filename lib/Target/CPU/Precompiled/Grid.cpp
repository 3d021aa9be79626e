// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planes that are read at the places of a grid, and the gradients, of any
// sizes, over two or three axes.
//
// The elements that a place is made of are looked up once for all channels. For
// the gradient of the input, places add to the elements that they read, in
// their order: the sums that the text for a device has. Parts of a call have
// neighboring places, or planes.

#include "Strided.h"

#include "cutback_grid.cuh"

using precompiled::GridSample;

namespace {

/// Elements that a place is made of along an axis, by PyTorch's number of the
/// mode.
template <typename T, int mode> struct GridMode;
template <typename T> struct GridMode<T, 0> {
  static constexpr int count = 2;
  template <int padding, bool isAligned>
  static GridTaps<T, count> taps(T x, int size) {
    return gridLinear<padding, isAligned>(x, size);
  }
};
template <typename T> struct GridMode<T, 1> {
  static constexpr int count = 1;
  template <int padding, bool isAligned>
  static GridTaps<T, count> taps(T x, int size) {
    return gridNearest<padding, isAligned>(x, size);
  }
};
template <typename T> struct GridMode<T, 2> {
  static constexpr int count = 4;
  template <int padding, bool isAligned>
  static GridTaps<T, count> taps(T x, int size) {
    return gridCubic<padding, isAligned>(x, size);
  }
};

template <typename T, int mode>
using GridFunction = GridTaps<T, GridMode<T, mode>::count> (*)(T, int);

template <typename T, int mode>
GridFunction<T, mode> gridFunction(int64_t padding, bool isAligned) {
  using Mode = GridMode<T, mode>;
  static constexpr GridFunction<T, mode> all[3][2] = {
      {Mode::template taps<kZeros, false>, Mode::template taps<kZeros, true>},
      {Mode::template taps<kBorder, false>, Mode::template taps<kBorder, true>},
      {Mode::template taps<kReflection, false>,
       Mode::template taps<kReflection, true>}};
  return all[padding][isAligned];
}

/// Along three axes: one that is not there has an element.
template <typename T, int mode> struct PlaceTaps {
  GridTaps<T, GridMode<T, mode>::count> axis[3];
};

template <typename T, int mode> struct Sampler {
  static constexpr int count = GridMode<T, mode>::count;
  using Own = PlaceTaps<T, mode>;
  using AxisTaps = GridTaps<T, count>;

  const GridSample &told;
  Strided input, grid, gradient, out;
  int rank, absent; ///< axes that are there, and are not
  GridFunction<T, mode> taps;

  explicit Sampler(const Call &call)
      : told(call.numbers<GridSample>()), input(call.tensor(0)),
        grid(call.tensor(1)), gradient(call.tensor(2)), out(call.tensor(3)),
        rank(int(told.rank)), absent(3 - rank),
        taps(gridFunction<T, mode>(told.padding, told.isAligned != 0)) {}

  /// What has the size of the input's planes, which the gradient alone needs
  /// not read.
  int64_t planeSize(int axis) const {
    return (input ? input : out).size(2 + axis);
  }
  int64_t images() const { return grid.size(0); }
  int64_t places() const { return grid.count(1 + rank) / grid.size(0); }
  /// Of place `at` of image `n`: indices.
  Own at(const int64_t *index) const {
    Own own = {};
    const int64_t place = grid.begin() + grid.offset(index, 1 + rank);
    for (int axis = 0; axis < 3; ++axis) {
      if (axis >= absent) {
        const int number = axis - absent;
        own.axis[axis] = taps(
            grid.get<T>(place + (rank - 1 - number) * grid.stride(1 + rank)),
            int(planeSize(number)));
        continue;
      }
      own.axis[axis].weight[0] = T(1);
      for (int i = 1; i < count; ++i)
        own.axis[axis].at[i] = -1;
    }
    return own;
  }
  /// Where element (z, y, x) of a plane is.
  int64_t inPlane(const Strided &tensor, int z, int y, int x) const {
    const int64_t inner = y * tensor.stride(rank) + x * tensor.stride(rank + 1);
    return absent ? inner : z * tensor.stride(rank - 1) + inner;
  }
  /// Calls `use(i, j, k, element of a plane of `tensor`)`.
  template <typename Use>
  void forTaps(const Own &own, const Strided &tensor, Use use) const {
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        for (int k = 0; k < count; ++k)
          if (own.axis[0].at[i] >= 0 && own.axis[1].at[j] >= 0 &&
              own.axis[2].at[k] >= 0)
            use(i, j, k,
                inPlane(tensor, own.axis[0].at[i], own.axis[1].at[j],
                        own.axis[2].at[k]));
  }

  void forward(const Call &call) const {
    call.forEach(grid.sizes(), 1 + rank, [&](int64_t, const int64_t *at) {
      const Own own = this->at(at);
      const int64_t from = input.begin() + at[0] * input.stride(0),
                    to = out.begin() + at[0] * out.stride(0) +
                         out.offset(at + 1, rank, 2);
      for (int64_t c = 0; c < input.size(1); ++c) {
        T sum = 0;
        forTaps(own, input, [&](int i, int j, int k, int64_t element) {
          sum += own.axis[0].weight[i] * own.axis[1].weight[j] *
                 own.axis[2].weight[k] *
                 input.get<T>(from + c * input.stride(1) + element);
        });
        out.set(to + c * out.stride(1), sum);
      }
    });
  }

  void gridGradient(const Call &call) const {
    call.forEach(grid.sizes(), 1 + rank, [&](int64_t, const int64_t *at) {
      const Own own = this->at(at);
      const int64_t from = input.begin() + at[0] * input.stride(0),
                    with = gradient.begin() + at[0] * gradient.stride(0) +
                           gradient.offset(at + 1, rank, 2);
      T sums[3] = {};
      forTaps(own, input, [&](int i, int j, int k, int64_t element) {
        T change = 0;
        for (int64_t c = 0; c < input.size(1); ++c)
          change += input.get<T>(from + c * input.stride(1) + element) *
                    gradient.get<T>(with + c * gradient.stride(1));
        const T weights[3] = {own.axis[0].weight[i], own.axis[1].weight[j],
                              own.axis[2].weight[k]};
        const T slopes[3] = {own.axis[0].slope[i], own.axis[1].slope[j],
                             own.axis[2].slope[k]};
        for (int axis = absent; axis < 3; ++axis) {
          T slope = axis == 0 ? slopes[0] : weights[0];
          slope *= axis == 1 ? slopes[1] : weights[1];
          slope *= axis == 2 ? slopes[2] : weights[2];
          sums[axis] += slope * change;
        }
      });
      const int64_t to = out.begin() + out.offset(at, 1 + rank);
      for (int axis = absent; axis < 3; ++axis)
        out.set(to + (2 - axis) * out.stride(1 + rank), sums[axis]);
    });
  }

  /// Calls `use(element, weight)` once for each element of an axis.
  template <typename Use>
  static void forElements(const AxisTaps &own, Use use) {
    for (int i = 0; i < count; ++i) {
      bool isNew = own.at[i] >= 0;
      for (int other = 0; other < i; ++other)
        isNew &= own.at[other] != own.at[i];
      if (isNew)
        use(own.at[i], own.of(own.at[i]));
    }
  }

  /// One plane: places in their order.
  void addPlaces(const Own *own, int64_t image, int64_t channel,
                 T *sums) const {
    const int64_t from = gradient.begin() + image * gradient.stride(0) +
                         channel * gradient.stride(1);
    Walk walk(grid.sizes() + 1, rank, 0);
    const int64_t height = out.size(rank), width = out.size(rank + 1);
    for (int64_t place = 0; place < places(); ++place, walk.next()) {
      const T g = gradient.get<T>(from + gradient.offset(walk.index, rank, 2));
      forElements(own[place].axis[0], [&](int z, T of_z) {
        forElements(own[place].axis[1], [&](int y, T of_y) {
          forElements(own[place].axis[2], [&](int x, T of_x) {
            sums[(z * height + y) * width + x] += of_z * of_y * of_x * g;
          });
        });
      });
    }
  }

  /// Sums of a plane are held where they are stored, or in memory of their own.
  void inputGradient(Call &call) const {
    const bool isInPlace =
        out.type() != precompiled::BF16 && out.type() != precompiled::F16;
    const int64_t all = out.count() / std::max<int64_t>(out.count(2), 1);
    const Numbers<Own> own(places(), call.problem);
    const Numbers<T> apart(isInPlace ? 0 : all, call.problem);
    if (!own || !apart)
      return;
    const auto [first, last] = call.share(out.count(2));
    int64_t image = -1;
    for (int64_t plane = first; plane < last; ++plane) {
      if (plane / out.size(1) != image) {
        image = plane / out.size(1);
        int64_t index[4] = {image};
        Walk walk(grid.sizes() + 1, rank, 0);
        for (int64_t place = 0; place < places(); ++place, walk.next()) {
          std::copy(walk.index, walk.index + rank, index + 1);
          own.data()[place] = at(index);
        }
      }
      const int64_t to = out.begin() + out.offsetOf(plane, 0, 2);
      T *sums = isInPlace ? out.elements<T>() + to : apart.data();
      std::fill(sums, sums + all, T(0));
      addPlaces(own.data(), image, plane % out.size(1), sums);
      if (!isInPlace)
        writeLine(out, to, 1, int(all), sums);
    }
  }

  void run(Call &call) const {
    switch (told.kind) {
    case GridSample::Forward:
      return forward(call);
    case GridSample::InputGradient:
      return inputGradient(call);
    default:
      return gridGradient(call);
    }
  }
};

} // namespace

CUTBACK_STRIDED_CALL(grid_sample) {
  const auto &told = call.numbers<GridSample>();
  withSum(call.tensor(1).type(), [&](auto zero) {
    using T = decltype(zero);
    switch (told.mode) {
    case 0:
      return Sampler<T, 0>(call).run(call);
    case 1:
      return Sampler<T, 1>(call).run(call);
    default:
      return Sampler<T, 2>(call).run(call);
    }
  });
}
