// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on the emulated device, in every shape of a tile: the bits of a loop
// over k, whatever the sizes and however the factors lie; and which shape a
// product has.

#include "cutback_cuda_host.h"

#include "cutback_cuda.cuh"

#include "Target/CUDA/ProductShape.h"

#include "gtest/gtest.h"

#include <cmath>
#include <iterator>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

using namespace cutback::cuda;

namespace {

constexpr size_t kShapes = std::size(kProductShapes);
template <size_t number>
using Shape =
    ::ProductShape<kProductShapes[number].rows, kProductShapes[number].columns,
                   kProductShapes[number].rowsEach,
                   kProductShapes[number].columnsEach,
                   kProductShapes[number].steps, kProductShapes[number].threads,
                   kProductShapes[number].ahead>;

/// Numbers of both signs, of which some are zeros of both signs.
template <typename T> std::vector<T> someNumbers(size_t count) {
  std::mt19937 generator(static_cast<unsigned>(count));
  std::normal_distribution<T> normal;
  std::vector<T> values(count);
  for (T &value : values)
    value = generator() % 8 ? normal(generator) : T(generator() % 2 ? -0.0 : 0);
  return values;
}

template <typename T> bool areSameBits(T a, T b) {
  return a == b && std::signbit(a) == std::signbit(b);
}

/// One product, of which `wide` columns are stored at once.
template <typename T, size_t number, int wide, typename A, typename B>
std::vector<T> multiply(int m, int n, int k, const A &a, const B &b) {
  const cutback::cuda::ProductShape &shape = kProductShapes[number];
  std::vector<T> sums(m * n, T(-1));
  const unsigned grid[3] = {unsigned(shape.tiles(m, n)), 1, 1};
  const unsigned block[3] = {unsigned(shape.threads), 1, 1};
  auto kernel = [&] {
    product<T, Shape<number>>(m, n, k, a, b,
                              results<wide>(
                                  sums.data(), [=](int i) { return i * n; },
                                  [](int j) { return j; },
                                  [](int, int, T sum) { return sum; }));
  };
  cutback_host::launch(
      grid, block, unsigned(shape.sharedBytes(sizeof(T))), /*waits=*/true,
      [](void *given) { (*static_cast<decltype(kernel) *>(given))(); },
      &kernel);
  return sums;
}

/// Elements (i, s) and (s, j) of the factors are leftAt(i, s), rightAt(s, j).
template <typename T, size_t number, typename A, typename B, typename LeftAt,
          typename RightAt>
void expectBits(int m, int n, int k, const A &a, const B &b, LeftAt leftAt,
                RightAt rightAt) {
  const cutback::cuda::ProductShape &shape = kProductShapes[number];
  if (shape.sharedBytes(sizeof(T)) > kMostSharedBytes)
    return; // no double has it
  std::vector<T> sums = n % 4 ? multiply<T, number, 1>(m, n, k, a, b)
                              : multiply<T, number, 4>(m, n, k, a, b);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int s = 0; s < k; ++s)
        sum = std::fma(leftAt(i, s), rightAt(s, j), sum);
      wrong += !areSameBits(sums[i * n + j], sum);
    }
  EXPECT_EQ(wrong, 0) << shape.text() << ": " << m << " x " << n << " x " << k;
}

/// Of matrices.
template <typename T, size_t number, bool isLeftAlongK, bool isRightAlongK,
          int wide>
void expectMatrices(int m, int n, int k) {
  std::vector<T> left = someNumbers<T>(m * k), right = someNumbers<T>(k * n);
  expectBits<T, number>(
      m, n, k,
      MatrixFactor<T, isLeftAlongK, wide>(left.data(), isLeftAlongK ? k : 1,
                                          isLeftAlongK ? 1 : m),
      MatrixFactor<T, isRightAlongK, wide>(right.data(), isRightAlongK ? k : 1,
                                           isRightAlongK ? 1 : n),
      [&](int i, int s) { return left[isLeftAlongK ? i * k + s : s * m + i]; },
      [&](int s, int j) {
        return right[isRightAlongK ? j * k + s : s * n + j];
      });
}

/// Images of 2 channels, 7 x 6, with windows of 3 x 2 one place beyond them on
/// each side: as a convolution, and as its gradient of weights.
template <size_t number> void expectWindows(int m) {
  constexpr int images = 3, down = 7, across = 7, taps = 6;
  const int n = images * down * across, k = 2 * taps;
  std::vector<float> image = someNumbers<float>(images * 2 * 42);
  std::vector<float> left = someNumbers<float>(m * n);
  auto ofPlace = [](int j) {
    const int x = j / 7 % 7 - 1, y = j % 7 - 1;
    return Place<2>{j / 49 * 84 + x * 6 + y, {x, y}};
  };
  auto ofTap = [](int s) {
    const int x = s / 2 % 3, y = s % 2;
    return Place<2>{s / 6 * 42 + x * 6 + y, {x, y}};
  };
  auto look = [&](int place, int tap) {
    const Place<2> p = ofPlace(place), t = ofTap(tap);
    const int x = p.along[0] + t.along[0], y = p.along[1] + t.along[1];
    return x < 0 || x >= 7 || y < 0 || y >= 6 ? 0.0f : image[p.at + t.at];
  };
  expectBits<float, number>(
      m, n, k,
      leftFactor<true, 1>(
          left.data(), [=](int i) { return i * k; }, [](int s) { return s; }),
      windows<false, 7, 6>(image.data(), ofPlace, ofTap),
      [&](int i, int s) { return left[i * k + s]; },
      [&](int s, int j) { return look(j, s); });
  expectBits<float, number>(
      m, k, n,
      leftFactor<false, 1>(
          left.data(), [](int i) { return i; }, [=](int s) { return s * m; }),
      windows<true, 7, 6>(image.data(), ofTap, ofPlace),
      [&](int i, int s) { return left[s * m + i]; },
      [&](int s, int j) { return look(s, j); });
}

template <size_t number> void expectShape() {
  expectMatrices<float, number, true, false, 4>(128, 128, 128);
  expectMatrices<float, number, true, true, 4>(132, 36, 20);
  expectMatrices<float, number, false, false, 4>(12, 140, 33);
  expectMatrices<float, number, false, true, 1>(67, 5, 131);
  expectMatrices<float, number, true, false, 1>(1, 70, 17);
  expectMatrices<float, number, true, true, 1>(131, 33, 1);
  expectMatrices<float, number, true, true, 1>(3, 3, 0);
  expectMatrices<double, number, true, false, 4>(64, 68, 36);
  expectMatrices<double, number, false, true, 1>(67, 35, 129);
  expectWindows<number>(5);
  expectWindows<number>(130);
}
template <size_t... number> void expectShapes(std::index_sequence<number...>) {
  (expectShape<number>(), ...);
}

TEST(ProductShapeTest, EveryShapeSumsInTheOrderOfK) {
  expectShapes(std::make_index_sequence<kShapes>());
}

/// A convolution whose windows no text of phases has.
TEST(ProductShapeTest, AFactorMayBeLookedUpElementByElement) {
  std::vector<float> left = someNumbers<float>(20 * 30);
  auto look = [](int s, int j) { return float(s * 3 - j); };
  expectBits<float, 0>(
      20, 10, 30,
      leftFactor<true, 2>(
          left.data(), [](int i) { return i * 30; }, [](int s) { return s; }),
      lookedUpFactor(look), [&](int i, int s) { return left[i * 30 + s]; },
      look);
}

/// Of the layouts of a factor: neighbours that one access reads, and whether
/// its steps have one distance.
TEST(ProductShapeTest, AFactorIsReadFourAtATimeWhereItLiesSo) {
  FactorLayout rows = {64, 32, {{32, 1}}};
  EXPECT_TRUE(rows.isAlongK());
  EXPECT_EQ(rows.wide(), 4);
  EXPECT_EQ(rows.stepStride(), 1);
  rows.offset = 2;
  EXPECT_EQ(rows.wide(), 1);
  FactorLayout columns = {64, 1, {{32, 64}}};
  EXPECT_FALSE(columns.isAlongK());
  EXPECT_EQ(columns.wide(), 4);
  EXPECT_EQ(columns.wideResults(), 1);
  EXPECT_EQ(columns.stepStride(), 64);
  // Images of 16 channels, 6 x 6 places each.
  FactorLayout images = {16, 36, {{8, 576}, {6, 6}, {6, 1}}};
  EXPECT_EQ(images.wide(), 4);
  EXPECT_EQ(images.stepStride(), std::nullopt);
  EXPECT_EQ((FactorLayout{16, 25, {{8, 400}, {5, 5}, {5, 1}}}).wide(), 1);
  EXPECT_EQ((FactorLayout{16, 36, {{4, 9}, {3, 3}, {3, 1}}}).stepStride(), 1);
}

TEST(ProductShapeTest, FewResultsHaveSmallTiles) {
  auto rowsOf = [](int64_t m, int64_t n, int64_t bytes) {
    return chooseProductShape(m, n, /*batch=*/1, bytes).rows;
  };
  EXPECT_EQ(rowsOf(64, 27, 4), 16);
  EXPECT_EQ(rowsOf(4096, 4096, 4), 64);
  for (const cutback::cuda::ProductShape &shape : kProductShapes)
    EXPECT_LE(shape.sharedBytes(4), kMostSharedBytes) << shape.text();
}

} // namespace
