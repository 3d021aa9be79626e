// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of random planes as panels, beside a look at each element: in any
// number of axes, with borders, strides and dilations, and of several images.
// What is read lies between two pages that must not be: nothing beside it is.

#include "LevelTest.h"

#include "Target/CPU/Precompiled/PairPacking.h"

#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace cutback_host;

namespace {

/// Numbers that end, or begin, where a page ends that may be read.
template <typename T> class Guarded {
public:
  Guarded(size_t count, bool isAtEnd) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE)),
                 bytes = (count * sizeof(T) + page - 1) / page * page;
    size = bytes + 2 * page;
    pages = static_cast<char *>(
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void *>(pages), MAP_FAILED);
    EXPECT_EQ(mprotect(pages + page, bytes, PROT_READ | PROT_WRITE), 0);
    char *first =
        isAtEnd ? pages + page + bytes - count * sizeof(T) : pages + page;
    data = reinterpret_cast<T *>(first);
  }
  ~Guarded() { munmap(pages, size); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  T *data;

private:
  char *pages;
  size_t size;
};

/// A convolution's windows: columns are places of results, steps are channels
/// and taps; or, as in the gradient of its weights, the other way round.
template <int axes> struct Windows {
  int images, channels, sizes[axes], taps[axes], results[axes], stride[axes],
      padding[axes], dilation[axes];

  explicit Windows(std::mt19937 &random) {
    auto upTo = [&](int most) { return int(random() % unsigned(most)) + 1; };
    images = upTo(3), channels = upTo(5);
    for (int axis = 0; axis < axes; ++axis) {
      stride[axis] = upTo(4) == 1 ? 2 : 1;
      dilation[axis] = upTo(4) == 1 ? 2 : 1;
      taps[axis] = upTo(axes == 3 ? 2 : 3);
      const int reach = (taps[axis] - 1) * dilation[axis] + 1;
      padding[axis] = int(random() % unsigned(reach));
      sizes[axis] = std::max(upTo(axes == 1 ? 40 : 9), reach - padding[axis]);
      results[axis] =
          (sizes[axis] + 2 * padding[axis] - reach) / stride[axis] + 1;
    }
  }
  int count(const int (&of)[axes]) const {
    int all = 1;
    for (int one : of)
      all *= one;
    return all;
  }
  Place<axes> place(int number, const int (&of)[axes], int outer,
                    bool isResult) const {
    Place<axes> is = {};
    int apart = 1;
    for (int axis = axes; axis-- > 0; number /= of[axis]) {
      const int at = number % of[axis];
      is.along[axis] =
          isResult ? at * stride[axis] - padding[axis] : at * dilation[axis];
      is.at += is.along[axis] * apart;
      apart *= sizes[axis];
    }
    is.at += number * outer * apart;
    return is;
  }
  Place<axes> result(int number) const {
    return place(number, results, channels, /*isResult=*/true);
  }
  Place<axes> tap(int number) const {
    return place(number, taps, 1, /*isResult=*/false);
  }
};

/// Columns from `first` on; behind `count` the last one again.
template <int axes, int width>
void setColumns(const Windows<axes> &windows, bool areTaps, int first,
                int count, PanelColumns<axes, width> &columns) {
  for (int e = 0; e < width; ++e) {
    const int number = first + std::min(e, count - 1);
    const Place<axes> place =
        areTaps ? windows.tap(number) : windows.result(number);
    columns.at[e] = place.at;
    for (int axis = 0; axis < axes; ++axis)
      columns.along[axis][e] = place.along[axis];
  }
}

/// Columns and steps of random windows, of which some steps are packed.
template <int axes> struct Panels {
  const Windows<axes> windows;
  int numElements, numColumns, firstStep, steps;
  std::vector<Place<axes>> along;

  Panels(std::mt19937 &random, bool isOfWeights, int mostSteps)
      : windows(random) {
    const int numResults = windows.images * windows.count(windows.results),
              numTaps = windows.channels * windows.count(windows.taps),
              numSteps = isOfWeights ? numResults : numTaps;
    numElements =
        windows.images * windows.channels * windows.count(windows.sizes);
    numColumns = isOfWeights ? numTaps : numResults;
    firstStep = int(random() % unsigned(numSteps));
    steps = std::min(numSteps - firstStep, mostSteps);
    for (int k = 0; k < steps; ++k)
      along.push_back(isOfWeights ? windows.result(firstStep + k)
                                  : windows.tap(firstStep + k));
  }
};

template <typename T, int axes>
void checkPanels(std::mt19937 &random, bool isOfWeights) {
  constexpr int width = ProductBlock<T>::width;
  const Panels<axes> panels(random, isOfWeights, ProductBlock<T>::steps);
  const auto &[windows, numElements, numColumns, firstStep, steps, along] =
      panels;
  Guarded<T> elements(size_t(numElements), random() % 2);
  for (int i = 0; i < numElements; ++i)
    elements.data[i] = T(i + 1);
  PanelColumns<axes, width> columns;
  std::vector<unsigned char> runs(along.size());
  countNeighbors<axes>(along.data(), steps, runs.data());
  const int period = periodOf<axes>(along.data(), steps);
  for (int first = 0; first < numColumns; first += width) {
    const int count = std::min(width, numColumns - first);
    setColumns(windows, isOfWeights, first, count, columns);
    std::vector<T> packed(size_t(width) * steps);
    copyWindows<T, axes>(packed.data(), elements.data, columns, count,
                         along.data(), runs.data(), period, steps,
                         windows.sizes);
    for (int k = 0; k < steps; ++k)
      for (int e = 0; e < count; ++e) {
        bool isIn = true;
        for (int axis = 0; axis < axes; ++axis) {
          const int at = columns.along[axis][e] + along[k].along[axis];
          isIn &= at >= 0 && at < windows.sizes[axis];
        }
        const int at = columns.at[e] + along[k].at;
        ASSERT_EQ(packed[size_t(k) * width + e],
                  isIn ? elements.data[at] : T(0))
            << "column " << first + e << " step " << firstStep + k;
      }
  }
}

#if defined(__AVX512BF16__)
/// The same of pairs of steps: the even one's element above that of the odd
/// one.
template <int axes> void checkPairs(std::mt19937 &random, bool isOfWeights) {
  constexpr int width = ProductBlock<float>::width;
  const Panels<axes> panels(random, isOfWeights,
                            2 * ProductBlock<float>::steps);
  const auto &[windows, numElements, numColumns, firstStep, steps, along] =
      panels;
  Guarded<Half> elements(size_t(numElements), random() % 2);
  for (int i = 0; i < numElements; ++i)
    elements.data[i] = Half(i + 1);
  const int period = periodOf<axes>(along.data(), steps);
  PanelColumns<axes, width> columns;
  for (int first = 0; first < numColumns; first += width) {
    const int count = std::min(width, numColumns - first);
    setColumns(windows, isOfWeights, first, count, columns);
    std::vector<float> packed(size_t(width) * ((steps + 1) / 2));
    packWindowPairs<axes>(packed.data(), elements.data, columns, count,
                          along.data(), period, steps, windows.sizes);
    for (int k = 0; k < steps + steps % 2; ++k)
      for (int e = 0; e < count; ++e) {
        unsigned word, expected = 0;
        std::memcpy(&word, &packed[size_t(k / 2) * width + e], sizeof word);
        if (k < steps && columns.isInside(e, along[k].along, windows.sizes))
          expected = elements.data[columns.at[e] + along[k].at];
        ASSERT_EQ(k % 2 ? word & 0xFFFF : word >> 16, expected)
            << "column " << first + e << " step " << firstStep + k;
      }
  }
}
#endif

template <typename T, int axes> void checkAll() {
  std::mt19937 random(axes);
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i)
    checkPanels<T, axes>(random, /*isOfWeights=*/i % 3 == 0);
}

class ProductPackingTest : public cutback::test::LevelTest {};

TEST_F(ProductPackingTest, PanelsHaveTheElementsOfTheirWindows) {
  checkAll<float, 1>();
  checkAll<float, 2>();
  checkAll<float, 3>();
  checkAll<double, 1>();
  checkAll<double, 2>();
  checkAll<double, 3>();
}

#if defined(__AVX512BF16__)
template <int axes> void checkAllPairs() {
  std::mt19937 random(axes);
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i)
    checkPairs<axes>(random, /*isOfWeights=*/i % 3 == 0);
}

TEST_F(ProductPackingTest, PairsHaveTheElementsOfTheirWindows) {
  checkAllPairs<1>();
  checkAllPairs<2>();
  checkAllPairs<3>();
}
#endif

} // namespace
