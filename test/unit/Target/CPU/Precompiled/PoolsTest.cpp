// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random pools, beside loops over the elements of each window: the same bits
// and places. Windows slide with any strides, padding and dilation, the last
// one beyond the border where sizes are rounded up, or cover an axis.
//
// A gradient goes window by window, each to its elements, which is the order
// that sums have. Of greatest elements the places may be any numbers: those
// beside the window do not count.

#include "NaivePools.h"
#include "StridedTest.h"

using namespace cutback;
using precompiled::Pool;

extern "C" void cutback_pool(void **, int64_t *,
                             const precompiled::StridedCall *);

namespace {

class PoolsTest : public test::StridedTest {
protected:
  using Random = test::Random;

  Pool::Axis anyAxis(const Pool &told, bool isLast);
  Pool anyPool(Pool::Kind kind);
  std::vector<Random> anyTensors(Pool &told);
  void fillPlaces(Random &indices, const Pool &told);
  void comparePools(Pool::Kind kind);
};

Pool::Axis PoolsTest::anyAxis(const Pool &told, bool isLast) {
  const bool isAverage = told.kind <= Pool::AverageGradient;
  for (;;) {
    Pool::Axis axis;
    axis.size =
        isLast && oneIn(8) ? 200 + below(400) : 1 + below(isLast ? 24 : 9);
    axis.count = isLast && oneIn(8) ? 1 + below(600) : 1 + below(12);
    if (told.isAdaptive)
      return axis;
    axis.taps = oneIn(8) ? 1 + below(20) : 1 + below(4);
    axis.stride = oneIn(5) ? 1 + below(7) : 1 + below(3);
    axis.padding = below(int(axis.taps / 2) + 1);
    axis.dilation = isAverage || oneIn(2) ? 1 : 1 + below(3);
    const int64_t left =
        axis.size + 2 * axis.padding - axis.dilation * (axis.taps - 1) - 1;
    const bool isRoundedUp = oneIn(2);
    axis.count = (left + (isRoundedUp ? axis.stride - 1 : 0)) / axis.stride + 1;
    // The last window begins inside, or in front.
    if (isRoundedUp &&
        (axis.count - 1) * axis.stride >= axis.size + axis.padding)
      --axis.count;
    if (left >= 0)
      return axis;
  }
}

Pool PoolsTest::anyPool(Pool::Kind kind) {
  const bool isOfWindows =
      kind == Pool::GreatestInWindow || kind == Pool::PlacesOfWindows;
  Pool told;
  told.kind = kind;
  told.rank = isOfWindows ? 2 : 1 + below(3);
  told.isAdaptive = !isOfWindows && oneIn(3);
  told.isPadded = !told.isAdaptive && oneIn(2);
  told.isDivisorGiven = !told.isAdaptive && oneIn(4);
  told.divisor = told.isDivisorGiven ? 1 + below(7) : 0;
  for (int axis = int(3 - told.rank); axis < 3; ++axis)
    told.axes[axis] = anyAxis(told, axis == 2);
  return told;
}

/// As the call may give them, and few that are any numbers.
void PoolsTest::fillPlaces(Random &indices, const Pool &told) {
  void *memory = indices.memory.data();
  const Strided all(indices.layout, &memory);
  const Windows windows(told, int(all.rank() - told.rank));
  const int planes = int(all.count(windows.lead));
  for (int plane = 0; plane < planes; ++plane)
    windows.forWindows([&](const Numbers3 &window) {
      int64_t place = below(int(told.axes[1].taps * told.axes[2].taps));
      if (told.kind == Pool::GreatestGradient) {
        Numbers3 at;
        for (int axis = 0; axis < 3; ++axis) {
          const auto &own = windows.places[axis][window[axis]];
          at[axis] = own.empty() ? 0 : pick(own);
        }
        place =
            oneIn(8) ? below(int(windows.all()) + 4) - 2 : windows.numberOf(at);
      }
      all.set(windows.at(all, plane, window), (long long)place);
    });
}

/// None if there are too many elements.
std::vector<test::Random> PoolsTest::anyTensors(Pool &told) {
  Sizes planes, results;
  for (int dim = below(3); dim-- > 0;)
    planes.push_back(oneIn(20) ? 0 : 1 + below(3));
  results = planes;
  int64_t work = countOf(planes);
  for (int axis = int(3 - told.rank); axis < 3; ++axis) {
    planes.push_back(told.axes[axis].size);
    results.push_back(told.axes[axis].count);
    work *= told.isAdaptive ? told.axes[axis].size + told.axes[axis].count
                            : told.axes[axis].count * told.axes[axis].taps;
  }
  if (work > 30000 || countOf(planes) > 20000)
    return {};
  const bool isGradient =
      told.kind == Pool::AverageGradient || told.kind == Pool::GreatestGradient;
  const bool isOfPlaces = told.kind == Pool::PlacesOfWindows;
  const int64_t type = anyFloat(),
                ofPlaces = oneIn(2) ? precompiled::I64 : precompiled::I32;
  std::vector<Random> tensors = {
      isOfPlaces ? none() : tensor(type, isGradient ? results : planes, true),
      isOfPlaces   ? tensor(ofPlaces, results, false)
      : isGradient ? tensor(floatBeside(type), planes, false)
                   : tensor(floatBeside(type), results, false),
      told.kind <= Pool::AverageGradient
          ? none()
          : tensor(ofPlaces, results, isGradient || isOfPlaces)};
  if (told.kind == Pool::GreatestGradient) // sums of planes are in one piece
    tensors[1] = dense(floatBeside(type), planes);
  if (!isOfPlaces) {
    fillFloats(tensors[0]);
    fillFloats(tensors[1]);
  }
  if (isOfPlaces || told.kind == Pool::GreatestGradient)
    fillPlaces(tensors[2], told);
  else if (told.kind > Pool::AverageGradient && oneIn(4))
    tensors[1 + below(2)] = none();
  return tensors;
}

void PoolsTest::comparePools(Pool::Kind kind) {
  int made = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    Pool told = anyPool(kind);
    std::vector<Random> tensors = anyTensors(told);
    if (tensors.empty())
      continue;
    SCOPED_TRACE(i);
    compare(cutback_pool, tensors, told, [&](const auto &all) {
      const Strided &some = all[1] ? all[1] : all[2];
      const Windows windows(told, int(some.rank() - told.rank));
      withSum(all[0].type(), [&](auto zero) {
        Plane<decltype(zero)> one{windows, all[0], all[1], all[2], 0};
        for (; one.plane < some.count(windows.lead); ++one.plane)
          if (kind == Pool::Average)
            one.average();
          else if (kind == Pool::PlacesOfWindows)
            one.places();
          else if (kind == Pool::Greatest || kind == Pool::GreatestInWindow)
            one.greatest();
          else
            one.gradient();
      });
    });
    ++made;
  }
  EXPECT_GT(made, 500);
}

TEST_F(PoolsTest, AreAverages) { comparePools(Pool::Average); }
TEST_F(PoolsTest, AveragesHaveAGradient) {
  comparePools(Pool::AverageGradient);
}
TEST_F(PoolsTest, AreTheGreatest) { comparePools(Pool::Greatest); }
TEST_F(PoolsTest, AreTheGreatestByNumbersInWindows) {
  comparePools(Pool::GreatestInWindow);
}
TEST_F(PoolsTest, TheGreatestHaveAGradient) {
  comparePools(Pool::GreatestGradient);
}
TEST_F(PoolsTest, NumbersInWindowsBecomePlaces) {
  comparePools(Pool::PlacesOfWindows);
}

} // namespace
