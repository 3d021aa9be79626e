// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planes that are read at the places of a grid, and the gradients, of any
// sizes, over two or three axes.
//
// The elements that a place is made of, and what they weigh, are computed once
// for all channels. For the gradient of the input, places add to the elements
// that they read, in their order: the sums that the text for a device has.
// Parts of a call have neighboring blocks of places, or planes.

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

/// Along three axes: one that is not there has an element.
template <typename T, int mode> struct PlaceTaps {
  GridTaps<T, GridMode<T, mode>::count> axis[3];
};

/// For places of a line that are at `x` along an axis.
template <typename T, int mode, int padding, bool isAligned>
void lineTaps(const T *x, int some, int size, int axis,
              PlaceTaps<T, mode> *to) {
  for (int e = 0; e < some; ++e)
    to[e].axis[axis] =
        GridMode<T, mode>::template taps<padding, isAligned>(x[e], size);
}
template <typename T, int mode>
using GridFunction = void (*)(const T *, int, int, int, PlaceTaps<T, mode> *);

template <typename T, int mode>
GridFunction<T, mode> gridFunction(int64_t padding, bool isAligned) {
  static constexpr GridFunction<T, mode> all[3][2] = {
      {lineTaps<T, mode, kZeros, false>, lineTaps<T, mode, kZeros, true>},
      {lineTaps<T, mode, kBorder, false>, lineTaps<T, mode, kBorder, true>},
      {lineTaps<T, mode, kReflection, false>,
       lineTaps<T, mode, kReflection, true>}};
  return all[padding][isAligned];
}

template <typename T, int mode> struct Sampler {
  static constexpr int count = GridMode<T, mode>::count;
  static constexpr int kPlaces = 64; ///< of a block: places of one line
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
  /// Of an image: there may be no images.
  int64_t places() const {
    int64_t all = 1;
    for (int axis = 0; axis < rank; ++axis)
      all *= grid.size(1 + axis);
    return all;
  }
  /// Of `some` places of a line, from this one on.
  void placesAt(const int64_t *index, int some, Own *own) const {
    const int64_t place = grid.begin() + grid.offset(index, 1 + rank);
    for (int axis = 0; axis < absent; ++axis)
      for (int e = 0; e < some; ++e) {
        own[e].axis[axis] = {};
        own[e].axis[axis].weight[0] = T(1);
        for (int i = 1; i < count; ++i)
          own[e].axis[axis].at[i] = -1;
      }
    for (int number = 0; number < rank; ++number) {
      T line[kPlaces];
      readLine(grid, place + (rank - 1 - number) * grid.stride(1 + rank),
               grid.stride(rank), some, line);
      taps(line, some, int(planeSize(number)), absent + number, own);
    }
  }
  /// Where element (z, y, x) of a plane is.
  int64_t inPlane(const Strided &tensor, int z, int y, int x) const {
    const int64_t inner = y * tensor.stride(rank) + x * tensor.stride(rank + 1);
    return absent ? inner : z * tensor.stride(rank - 1) + inner;
  }
  /// Calls `use(number, i, j, k)` for all elements that places are made of.
  template <typename Use> void forTaps(Use use) const {
    int number = 0;
    for (int i = 0; i < (absent ? 1 : count); ++i)
      for (int j = 0; j < count; ++j)
        for (int k = 0; k < count; ++k)
          use(number++, i, j, k);
  }

  /// No element. Others may be in front of the first one, too.
  static constexpr int64_t kNone = INT64_MIN;
  /// An element that can be read.
  static int64_t readable(int64_t at) { return at == kNone ? 0 : at; }

  /// Elements of the input's planes that a block of places is made of.
  struct Block {
    Own own[kPlaces];
    int64_t at[count * count * count][kPlaces]; ///< or kNone
    int some;
  };
  /// Calls `use(block, index)` for this part of them.
  template <typename Use> void forBlocks(const Call &call, Use use) const {
    int64_t sizes[4];
    std::copy(grid.sizes(), grid.sizes() + 1 + rank, sizes);
    sizes[rank] = (grid.size(rank) + kPlaces - 1) / kPlaces;
    Block block;
    call.forEach(sizes, 1 + rank, [&](int64_t, const int64_t *number) {
      int64_t at[4];
      std::copy(number, number + rank, at);
      at[rank] = number[rank] * kPlaces;
      block.some = int(std::min<int64_t>(kPlaces, grid.size(rank) - at[rank]));
      placesAt(at, block.some, block.own);
      forTaps([&](int number, int i, int j, int k) {
        for (int e = 0; e < block.some; ++e) {
          const int z = block.own[e].axis[0].at[i],
                    y = block.own[e].axis[1].at[j],
                    x = block.own[e].axis[2].at[k];
          block.at[number][e] =
              z < 0 || y < 0 || x < 0 ? kNone : inPlane(input, z, y, x);
        }
      });
      use(block, at);
    });
  }

  /// A number for each element that places are made of.
  using ByTap = T[count * count * count][kPlaces];

  template <int kTaps, typename E>
  static void sumTaps(const E *plane, const Block &block, const ByTap &weights,
                      T *sums) {
    for (int e = 0; e < block.some; ++e) {
      T sum = 0;
      for (int tap = 0; tap < kTaps; ++tap) {
        const int64_t at = block.at[tap][e];
        const T part = weights[tap][e] * heldAs<T>(plane[readable(at)]);
        sum += at == kNone ? T(0) : part;
      }
      sums[e] = sum;
    }
  }
  void forward(const Call &call) const {
    const bool isEmpty = input.count() == 0;
    ByTap weights;
    forBlocks(call, [&](const Block &block, const int64_t *at) {
      forTaps([&](int number, int i, int j, int k) {
        for (int e = 0; e < block.some; ++e)
          weights[number][e] = block.own[e].axis[0].weight[i] *
                               block.own[e].axis[1].weight[j] *
                               block.own[e].axis[2].weight[k];
      });
      const int64_t to =
          out.begin() + at[0] * out.stride(0) + out.offset(at + 1, rank, 2);
      withFloats<T>(input, [&](const auto *elements) {
        for (int64_t c = 0; c < input.size(1); ++c) {
          const auto *plane = elements + input.begin() +
                              at[0] * input.stride(0) + c * input.stride(1);
          T sums[kPlaces] = {};
          if (isEmpty)
            ; // nothing can be read, not even what does not count
          else if (absent)
            sumTaps<count * count>(plane, block, weights, sums);
          else
            sumTaps<count * count * count>(plane, block, weights, sums);
          writeLine(out, to + c * out.stride(1), out.stride(1 + rank),
                    block.some, sums);
        }
      });
    });
  }

  /// Of products with the gradient.
  void sumChannels(const Block &block, const int64_t *at,
                   ByTap &changes) const {
    const int64_t with = gradient.begin() + at[0] * gradient.stride(0) +
                         gradient.offset(at + 1, rank, 2);
    forTaps([&](int number, int, int, int) {
      std::fill(changes[number], changes[number] + block.some, T(0));
    });
    if (input.count() == 0)
      return;
    withFloats<T>(input, [&](const auto *elements) {
      for (int64_t c = 0; c < input.size(1); ++c) {
        const auto *plane = elements + input.begin() + at[0] * input.stride(0) +
                            c * input.stride(1);
        T line[kPlaces];
        readLine(gradient, with + c * gradient.stride(1),
                 gradient.stride(1 + rank), block.some, line);
        forTaps([&](int number, int, int, int) {
          const int64_t *from = block.at[number];
          for (int e = 0; e < block.some; ++e)
            changes[number][e] += heldAs<T>(plane[readable(from[e])]) * line[e];
        });
      }
    });
  }
  void gridGradient(const Call &call) const {
    ByTap changes;
    forBlocks(call, [&](const Block &block, const int64_t *at) {
      sumChannels(block, at, changes);
      T sums[3][kPlaces] = {};
      forTaps([&](int number, int i, int j, int k) {
        for (int e = 0; e < block.some; ++e) {
          if (block.at[number][e] == kNone)
            continue;
          const AxisTaps *own = block.own[e].axis;
          const T weights[3] = {own[0].weight[i], own[1].weight[j],
                                own[2].weight[k]};
          const T slopes[3] = {own[0].slope[i], own[1].slope[j],
                               own[2].slope[k]};
          for (int axis = absent; axis < 3; ++axis) {
            T slope = axis == 0 ? slopes[0] : weights[0];
            slope *= axis == 1 ? slopes[1] : weights[1];
            slope *= axis == 2 ? slopes[2] : weights[2];
            sums[axis][e] += slope * changes[number][e];
          }
        }
      });
      const int64_t to = out.begin() + out.offset(at, 1 + rank);
      for (int axis = absent; axis < 3; ++axis)
        writeLine(out, to + (2 - axis) * out.stride(1 + rank), out.stride(rank),
                  block.some, sums[axis]);
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

  /// An element that a place is made of.
  struct Part {
    int64_t at;
    T weight;
  };
  /// Those of all places of an image, in their order, and where those of a
  /// place end.
  struct Parts {
    Numbers<Part> parts;
    Numbers<int64_t> ends;
    Parts(int64_t places, int taps, int &problem)
        : parts(places * taps, problem), ends(places, problem) {}
  };
  void readImage(int64_t image, const Parts &of) const {
    const int64_t height = out.size(rank), width = out.size(rank + 1);
    Own own[kPlaces];
    Part *part = of.parts.data();
    int64_t *end = of.ends.data();
    const int64_t columns = grid.size(rank);
    int64_t index[4] = {image};
    Walk walk(grid.sizes() + 1, rank, 0);
    for (int64_t place = 0; place < places(); ++place, walk.next()) {
      const int e = int(walk.index[rank - 1] % kPlaces);
      if (e == 0) {
        std::copy(walk.index, walk.index + rank, index + 1);
        placesAt(index, int(std::min<int64_t>(kPlaces, columns - index[rank])),
                 own);
      }
      forElements(own[e].axis[0], [&](int z, T of_z) {
        forElements(own[e].axis[1], [&](int y, T of_y) {
          forElements(own[e].axis[2], [&](int x, T of_x) {
            *part++ = {(z * height + y) * width + x, of_z * of_y * of_x};
          });
        });
      });
      *end++ = part - of.parts.data();
    }
  }

  /// One plane: places in their order.
  void addPlaces(const Parts &of, int64_t image, int64_t channel,
                 T *sums) const {
    const int64_t from = gradient.begin() + image * gradient.stride(0) +
                         channel * gradient.stride(1);
    const Part *part = of.parts.data();
    const int64_t *end = of.ends.data();
    int64_t lines[3] = {1, 1, 1};
    std::copy(grid.sizes() + 1, grid.sizes() + rank, lines);
    withFloats<T>(gradient, [&](const auto *elements) {
      elements += from;
      const int64_t apart = gradient.stride(rank + 1);
      Walk walk(lines, rank - 1, 0);
      for (int64_t line = 0; line < lines[0] * lines[1]; ++line, walk.next()) {
        const auto *at = elements + gradient.offset(walk.index, rank - 1, 2);
        for (int64_t e = 0; e < grid.size(rank); ++e) {
          const T g = heldAs<T>(at[e * apart]);
          for (const Part *last = of.parts.data() + *end++; part != last;
               ++part)
            sums[part->at] += part->weight * g;
        }
      }
    });
  }

  /// Sums of a plane are held where they are stored, or in memory of their own.
  void inputGradient(Call &call) const {
    const bool isInPlace =
        out.type() != precompiled::BF16 && out.type() != precompiled::F16;
    const int64_t all = out.count() / std::max<int64_t>(out.count(2), 1);
    const Parts parts(places(), absent ? count * count : count * count * count,
                      call.problem);
    const Numbers<T> apart(isInPlace ? 0 : all, call.problem);
    if (!parts.parts || !parts.ends || !apart)
      return;
    const auto [first, last] = call.share(out.count(2));
    const bool hasPlaces = places() > 0;
    int64_t image = -1;
    for (int64_t plane = first; plane < last; ++plane) {
      if (hasPlaces && plane / out.size(1) != image) {
        image = plane / out.size(1);
        readImage(image, parts);
      }
      const int64_t to = out.begin() + out.offsetOf(plane, 0, 2);
      T *sums = isInPlace ? out.elements<T>() + to : apart.data();
      std::fill(sums, sums + all, T(0));
      if (hasPlaces)
        addPlaces(parts, image, plane % out.size(1), sums);
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
