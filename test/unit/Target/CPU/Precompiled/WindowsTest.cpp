// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random calls of windows and of gradients of padding, beside a walk over all
// elements of windows, or of a padded tensor, each of which goes to the element
// that it was read from. Walks have the order in which sums are told to be
// added, so bits are the same: by windows, or by elements of the padded tensor.
// Lines are shorter and longer than a block; windows overlap, leave gaps, and
// hang over.

#include "StridedTest.h"

using namespace cutback;
using precompiled::ColumnWindows;
using Axis = precompiled::Pool::Axis;

extern "C" void cutback_windows(void **, int64_t *,
                                const precompiled::StridedCall *);

namespace {

class WindowsTest : public test::StridedTest {
protected:
  using Random = test::Random;

  int64_t anyLength() { return oneIn(8) ? 500 + below(600) : 1 + below(20); }
  /// Windows that fit `size` elements.
  Axis anyWindows(int64_t size, bool isPlain);
  void anyPlanes(ColumnWindows &told, Sizes &planes, Sizes &columns);
  /// Of a tensor that is padded: its sizes, and the padded ones.
  bool anyPadding(ColumnWindows &told, Sizes &sizes, Sizes &padded);

  /// False if it is too large.
  template <typename Naive>
  bool compareWindows(const ColumnWindows &told, const Sizes &from,
                      const Sizes &to, Naive naive);
};

Axis WindowsTest::anyWindows(int64_t size, bool isPlain) {
  for (;;) {
    Axis axis;
    axis.taps = oneIn(6) ? 1 + below(20) : 1 + below(4);
    axis.stride = 1 + below(4);
    axis.padding = isPlain ? 0 : below(5);
    axis.dilation = isPlain ? 1 : 1 + below(3);
    axis.size = size;
    const int64_t left =
        size + 2 * axis.padding - axis.dilation * (axis.taps - 1) - 1;
    axis.count = left / axis.stride + 1;
    if (left >= 0)
      return axis;
  }
}

void WindowsTest::anyPlanes(ColumnWindows &told, Sizes &planes,
                            Sizes &columns) {
  if (oneIn(2))
    planes.push_back(oneIn(20) ? 0 : 1 + below(3));
  columns = planes;
  const int64_t channels = 1 + below(3), height = 1 + below(9),
                width = anyLength();
  const Axis down = told.axes[0] = anyWindows(height, false),
             right = told.axes[1] = anyWindows(width, false);
  planes = joined(planes, {channels, height, width});
  columns = joined(
      columns, {channels * down.taps * right.taps, down.count * right.count});
}

bool WindowsTest::anyPadding(ColumnWindows &told, Sizes &sizes, Sizes &padded) {
  told.rank = 1 + below(3);
  for (int dim = below(3); dim-- > 0;)
    sizes.push_back(1 + below(3));
  padded = sizes;
  for (int axis = 0; axis < told.rank; ++axis) {
    const int64_t size =
        axis == told.rank - 1 ? anyLength() : int64_t(1 + below(7));
    // A reflection has no more than there is beside the border.
    const int most = told.kind == ColumnWindows::Reflected ? int(size) : 6;
    auto any = [&]() -> int64_t {
      return oneIn(8) ? -below(int(size)) : oneIn(3) ? most - 1 : below(most);
    };
    const int64_t before = any(), behind = any();
    if (size + before + behind <= 0)
      return false;
    told.axes[axis].padding = before;
    sizes.push_back(size);
    padded.push_back(size + before + behind);
  }
  return true;
}

template <typename Naive>
bool WindowsTest::compareWindows(const ColumnWindows &told, const Sizes &from,
                                 const Sizes &to, Naive naive) {
  if (std::max(countOf(from), countOf(to)) > 12000)
    return false;
  const int64_t type = anyFloat();
  std::vector<Random> tensors = {tensor(type, from, true),
                                 tensor(floatBeside(type), to, false)};
  fillFloats(tensors[0]);
  fillFloats(tensors[1]);
  compare(cutback_windows, tensors, told, [&](const auto &all) {
    withSum(type, [&](auto zero) { naive(all[0], all[1], zero); });
  });
  return true;
}

/// An element of a window: where it is among the columns, and the number of
/// that of the planes; below 0: it is beside them.
struct Tap {
  int64_t column, number;
};
/// Calls `use` for all, window by window.
template <typename Use>
void forTaps(const ColumnWindows &told, const Strided &planes,
             const Strided &columns, Use use) {
  const Axis &down = told.axes[0], &right = told.axes[1];
  const int lead = columns.rank() - 2;
  const int64_t taps = down.taps * right.taps, channels = planes.size(lead);
  auto useTap = [&](int64_t plane, int64_t row, int64_t column, int64_t tap) {
    const int64_t y = row * down.stride - down.padding +
                      tap / right.taps * down.dilation,
                  x = column * right.stride - right.padding +
                      tap % right.taps * right.dilation;
    const bool isInside = y >= 0 && y < down.size && x >= 0 && x < right.size;
    const int64_t window = row * right.count + column;
    use(Tap{columns.begin() + columns.offsetOf(plane / channels, 0, lead) +
                (plane % channels * taps + tap) * columns.stride(lead) +
                window * columns.stride(lead + 1),
            isInside ? (plane * down.size + y) * right.size + x : -1});
  };
  for (int64_t plane = 0; plane < planes.count(lead + 1); ++plane)
    for (int64_t row = 0; row < down.count; ++row)
      for (int64_t column = 0; column < right.count; ++column)
        for (int64_t tap = 0; tap < taps; ++tap)
          useTap(plane, row, column, tap);
}

template <typename T>
void store(const std::vector<T> &sums, const Strided &to) {
  for (int64_t i = 0; i < to.count(); ++i)
    to.set(to.offsetOf(i), sums[i]);
}

/// Adds all elements in their order to where `moveBack` sends their indices.
template <typename T, typename MoveBack>
void addAll(const Strided &from, const Strided &to, MoveBack moveBack) {
  std::vector<T> sums(to.count());
  for (int64_t i = 0; i < from.count(); ++i) {
    Walk walk(from.sizes(), from.rank(), i);
    moveBack(walk.index);
    int64_t number = 0;
    for (int dim = 0; dim < to.rank(); ++dim)
      number = number * to.size(dim) + walk.index[dim];
    sums[number] += from.get<T>(from.offsetOf(i));
  }
  store(sums, to);
}

TEST_F(WindowsTest, BecomeColumns) {
  int made = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ColumnWindows told;
    told.kind = ColumnWindows::Columns;
    Sizes planes, columns;
    anyPlanes(told, planes, columns);
    made += compareWindows(
        told, planes, columns, [&](auto &from, auto &to, auto zero) {
          using T = decltype(zero);
          forTaps(told, from, to, [&](Tap tap) {
            to.set(tap.column, tap.number < 0 ? zero
                                              : from.template get<T>(
                                                    from.offsetOf(tap.number)));
          });
        });
  }
  EXPECT_GT(made, 500);
}

TEST_F(WindowsTest, AreSummedFromColumns) {
  int made = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ColumnWindows told;
    told.kind = ColumnWindows::Planes;
    Sizes planes, columns;
    anyPlanes(told, planes, columns);
    made += compareWindows(
        told, columns, planes, [&](auto &from, auto &to, auto zero) {
          using T = decltype(zero);
          std::vector<T> sums(to.count());
          forTaps(told, to, from, [&](Tap tap) {
            if (tap.number >= 0)
              sums[tap.number] += from.template get<T>(tap.column);
          });
          store(sums, to);
        });
  }
  EXPECT_GT(made, 500);
}

TEST_F(WindowsTest, OfOneDimensionAreSummed) {
  int made = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ColumnWindows told;
    told.kind = ColumnWindows::Unfolded;
    Sizes sizes;
    for (int dim = below(3); dim-- > 0;)
      sizes.push_back(1 + below(9));
    sizes.push_back(anyLength());
    told.axis = below(int(sizes.size()));
    const Axis axis = told.axes[0] = anyWindows(sizes[told.axis], true);
    Sizes windows = joined(sizes, {axis.taps});
    windows[told.axis] = axis.count;
    made += compareWindows(
        told, windows, sizes, [&](auto &from, auto &to, auto zero) {
          addAll<decltype(zero)>(from, to, [&](int64_t *index) {
            index[told.axis] =
                index[told.axis] * axis.stride + index[to.rank()];
          });
        });
  }
  EXPECT_GT(made, 500);
}

/// Where an element of a padded line is from: `at` as its own line counts.
int64_t reflected(int64_t at, int64_t size) {
  at = std::abs(at);
  return at < size ? at : 2 * (size - 1) - at;
}
int64_t nearest(int64_t at, int64_t size) {
  return std::clamp<int64_t>(at, 0, size - 1);
}

TEST_F(WindowsTest, PaddingGivesItsGradientBack) {
  int made = 0;
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ColumnWindows told;
    told.kind = oneIn(2) ? ColumnWindows::Reflected : ColumnWindows::Border;
    Sizes sizes, padded;
    if (!anyPadding(told, sizes, padded))
      continue;
    made += compareWindows(
        told, padded, sizes, [&](auto &from, auto &to, auto zero) {
          const int lead = int(to.rank() - told.rank);
          addAll<decltype(zero)>(from, to, [&](int64_t *index) {
            for (int dim = lead; dim < to.rank(); ++dim) {
              const int64_t at = index[dim] - told.axes[dim - lead].padding;
              index[dim] = told.kind == ColumnWindows::Reflected
                               ? reflected(at, to.size(dim))
                               : nearest(at, to.size(dim));
            }
          });
        });
  }
  EXPECT_GT(made, 1000);
}

} // namespace
