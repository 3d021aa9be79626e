// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random planes that are read at the places of a grid, and the gradients,
// beside a loop over what each place is made of: the same bits. What that is
// along one axis, the function of a device says, which other tests compare with
// PyTorch; walks, blocks, channels and sums are looked at here.
//
// For the gradient of the input, each element asks all places in their order.

#include "StridedTest.h"

#include "cutback_grid.cuh"

using namespace cutback;
using precompiled::GridSample;

extern "C" void cutback_grid_sample(void **, int64_t *,
                                    const precompiled::StridedCall *);

namespace {

/// Elements that a place is made of along an axis; those beside it are left
/// out.
template <typename T> struct AxisTaps {
  struct Tap {
    int at;
    T weight, slope;
  };
  std::vector<Tap> taps;

  template <int count> explicit AxisTaps(const GridTaps<T, count> &from) {
    for (int i = 0; i < count; ++i)
      if (from.at[i] >= 0)
        taps.push_back({from.at[i], from.weight[i], from.slope[i]});
  }
  template <int padding, bool isAligned>
  static AxisTaps by(int64_t mode, T x, int size) {
    if (mode == 0)
      return AxisTaps(gridLinear<padding, isAligned>(x, size));
    if (mode == 1)
      return AxisTaps(gridNearest<padding, isAligned>(x, size));
    return AxisTaps(gridCubic<padding, isAligned>(x, size));
  }
  template <int padding>
  static AxisTaps by(const GridSample &told, T x, int size) {
    return told.isAligned ? by<padding, true>(told.mode, x, size)
                          : by<padding, false>(told.mode, x, size);
  }
  static AxisTaps of(const GridSample &told, T x, int size) {
    return told.padding == kZeros    ? by<kZeros>(told, x, size)
           : told.padding == kBorder ? by<kBorder>(told, x, size)
                                     : by<kReflection>(told, x, size);
  }
  /// Of all taps at an element; false if there is none.
  bool find(int element, T &weight) const {
    bool isThere = false;
    weight = 0;
    for (const Tap &tap : taps)
      if (tap.at == element)
        isThere = true, weight += tap.weight;
    return isThere;
  }
};

/// With indices of an image and a place of it.
template <typename T> struct PlaceByPlace {
  const GridSample &told;
  Strided input, grid, gradient, out;
  int rank;

  PlaceByPlace(const GridSample &told, const std::vector<Strided> &all)
      : told(told), input(all[0]), grid(all[1]), gradient(all[2]), out(all[3]),
        rank(int(told.rank)) {}

  const Strided &planes() const { return input ? input : out; }
  /// A number of its own for each axis; the grid has the last one first.
  std::vector<AxisTaps<T>> tapsAt(const int64_t *place) const {
    std::vector<AxisTaps<T>> taps;
    for (int axis = 0; axis < rank; ++axis)
      taps.push_back(AxisTaps<T>::of(
          told,
          grid.get<T>(grid.begin() + grid.offset(place, 1 + rank) +
                      (rank - 1 - axis) * grid.stride(1 + rank)),
          int(planes().size(2 + axis))));
    return taps;
  }
  /// Calls `use(place)` for all places of all images.
  template <typename Use> void forPlaces(Use use) const {
    for (int64_t i = 0; i < grid.count(1 + rank); ++i)
      use(Walk(grid.sizes(), 1 + rank, i).index);
  }
  /// Calls `use(element, numbers)` for all that a place is made of.
  template <typename Use>
  void forElements(const std::vector<AxisTaps<T>> &taps, Use use) const {
    int64_t sizes[3], all = 1;
    for (int axis = 0; axis < rank; ++axis)
      all *= sizes[axis] = int64_t(taps[axis].taps.size());
    for (int64_t i = 0; i < all; ++i) {
      const Walk walk(sizes, rank, i);
      int64_t element[3];
      for (int axis = 0; axis < rank; ++axis)
        element[axis] = taps[axis].taps[walk.index[axis]].at;
      use(element, walk.index);
    }
  }
  /// Where channel `c` of an image has this element.
  int64_t at(const Strided &of, int64_t image, int64_t c,
             const int64_t *element) const {
    return of.begin() + image * of.stride(0) + c * of.stride(1) +
           of.offset(element, rank, 2);
  }

  void forward() const {
    forPlaces([&](const int64_t *place) {
      const auto taps = tapsAt(place);
      for (int64_t c = 0; c < out.size(1); ++c) {
        T sum = 0;
        forElements(taps, [&](const int64_t *element, const int64_t *numbers) {
          T weight = 1;
          for (int axis = 0; axis < rank; ++axis)
            weight *= taps[axis].taps[numbers[axis]].weight;
          sum += weight * input.get<T>(at(input, place[0], c, element));
        });
        out.set(at(out, place[0], c, place + 1), sum);
      }
    });
  }
  void ofGrid() const {
    forPlaces([&](const int64_t *place) {
      const auto taps = tapsAt(place);
      T sums[3] = {};
      forElements(taps, [&](const int64_t *element, const int64_t *numbers) {
        T change = 0;
        for (int64_t c = 0; c < input.size(1); ++c)
          change += input.get<T>(at(input, place[0], c, element)) *
                    gradient.get<T>(at(gradient, place[0], c, place + 1));
        for (int along = 0; along < rank; ++along) {
          T slope = 1;
          for (int axis = 0; axis < rank; ++axis) {
            const auto &tap = taps[axis].taps[numbers[axis]];
            slope *= axis == along ? tap.slope : tap.weight;
          }
          sums[along] += slope * change;
        }
      });
      for (int axis = 0; axis < rank; ++axis)
        out.set(out.begin() + out.offset(place, 1 + rank) +
                    (rank - 1 - axis) * out.stride(1 + rank),
                sums[axis]);
    });
  }
  void ofInput() const {
    std::vector<T> sums(out.count());
    forPlaces([&](const int64_t *place) {
      const auto taps = tapsAt(place);
      for (int64_t i = 0; i < out.count(); ++i) {
        const Walk walk(out.sizes(), out.rank(), i);
        bool isRead = walk.index[0] == place[0];
        T weight = 1;
        for (int axis = 0; isRead && axis < rank; ++axis) {
          T own;
          isRead = taps[axis].find(int(walk.index[2 + axis]), own);
          weight *= own;
        }
        if (isRead)
          sums[i] += weight * gradient.get<T>(at(gradient, place[0],
                                                 walk.index[1], place + 1));
      }
    });
    for (int64_t i = 0; i < out.count(); ++i)
      out.set(out.offsetOf(i), sums[i]);
  }
};

class GridTest : public test::StridedTest {
protected:
  using Random = test::Random;

  std::vector<Random> anyTensors(GridSample &told);
  void compareGrids(GridSample::Kind kind);
};

/// None if there are too many places.
std::vector<test::Random> GridTest::anyTensors(GridSample &told) {
  const auto images = int64_t(oneIn(20) ? 0 : 1 + below(3)),
             channels = int64_t(oneIn(20) ? 0 : 1 + below(4));
  Sizes planes = {images, channels}, places = planes, ofGrid = {images};
  for (int axis = 0; axis < told.rank; ++axis) {
    const int64_t size = oneIn(20)                           ? 0
                         : axis == told.rank - 1 && oneIn(4) ? 60 + below(140)
                                                             : 1 + below(7);
    planes.push_back(1 + below(9));
    places.push_back(size);
    ofGrid.push_back(size);
  }
  const bool isOfInput = told.kind == GridSample::InputGradient;
  if (countOf(ofGrid) > 600 ||
      (isOfInput && countOf(ofGrid) * countOf(planes) > 20000))
    return {};
  ofGrid.push_back(told.rank);
  const int64_t type = anyFloat(), other = floatBeside(type);
  std::vector<Random> tensors = {
      isOfInput ? none() : tensor(floatBeside(type), planes, true),
      tensor(type, ofGrid, true),
      told.kind == GridSample::Forward ? none() : tensor(type, places, true),
      isOfInput
          ? dense(other, planes) // sums of planes are in one piece
          : tensor(other, told.kind == GridSample::Forward ? places : ofGrid,
                   false)};
  for (Random &one : tensors)
    fillFloats(one);
  return tensors;
}

void GridTest::compareGrids(GridSample::Kind kind) {
  int made = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    GridSample told;
    told.kind = kind;
    told.rank = 2 + below(2);
    told.mode = below(told.rank == 2 ? 3 : 2);
    told.padding = below(3);
    told.isAligned = below(2);
    std::vector<Random> tensors = anyTensors(told);
    if (tensors.empty())
      continue;
    SCOPED_TRACE(i);
    compare(cutback_grid_sample, tensors, told, [&](const auto &all) {
      withSum(all[1].type(), [&](auto zero) {
        const PlaceByPlace<decltype(zero)> naive(told, all);
        if (kind == GridSample::Forward)
          naive.forward();
        else if (kind == GridSample::GridGradient)
          naive.ofGrid();
        else
          naive.ofInput();
      });
    });
    ++made;
  }
  EXPECT_GT(made, 400);
}

TEST_F(GridTest, ReadsPlanesAtItsPlaces) { compareGrids(GridSample::Forward); }
TEST_F(GridTest, HasAGradient) { compareGrids(GridSample::GridGradient); }
TEST_F(GridTest, GivesThePlanesTheirGradient) {
  compareGrids(GridSample::InputGradient);
}

} // namespace
