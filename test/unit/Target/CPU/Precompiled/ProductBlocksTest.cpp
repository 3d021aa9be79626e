// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of sizes around those of blocks beside three plain loops: the same
// bits, for any number of threads, and whichever factor has lines side by side.

#include "LevelTest.h"

#include "Target/CPU/Precompiled/PairPacking.h"

#include <random>
#include <vector>

using namespace cutback_host;

namespace {

struct Times {
  int stride;
  int operator()(int i) const { return i * stride; }
};

template <typename T> std::vector<T> randomNumbers(size_t count) {
  static std::mt19937 random(sizeof(T));
  std::vector<T> numbers(count + 64); // what panels read beside it
  for (T &number : numbers)
    number = T(int(random() % 2001) - 1000) / T(512);
  return numbers;
}

/// m x k times k x n, each of them transposed or not.
template <typename T> struct Matrices {
  int m, n, k;
  bool isLeftTransposed, isRightTransposed;
  std::vector<T> a = randomNumbers<T>(size_t(m) * k),
                 b = randomNumbers<T>(size_t(k) * n);

  std::vector<T> naive() const {
    std::vector<T> c(size_t(m) * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        T sum = 0;
        for (int along = 0; along < k; ++along)
          sum = std::fma(a[isLeftTransposed ? along * m + i : i * k + along],
                         b[isRightTransposed ? j * k + along : along * n + j],
                         sum);
        c[size_t(i) * n + j] = sum;
      }
    return c;
  }

  /// By blocks, one part of `threads` after the other; panels may write their
  /// results themselves.
  std::vector<T> blocked(int threads, bool areWritten) const {
    std::vector<T> c(size_t(m) * n);
    const Factor<true, T, Times, Times> left = {
        a.data(), {isLeftTransposed ? 1 : k}, {isLeftTransposed ? m : 1}};
    const Factor<false, T, Times, Times> right = {
        b.data(), {isRightTransposed ? k : 1}, {isRightTransposed ? 1 : n}};
    for (int part = 0; part < threads; ++part) {
      shareNow = {part, threads, 0, 1};
      multiply<T>(
          m, n, k,
          [&](T *packed, int row, int rows, int step, int steps) {
            packLines<kRows>(packed, left, row, row + rows - 1, step, steps,
                             kRows * ProductBlock<T>::steps);
          },
          [&](T *packed, int column, int columns, int step, int steps) {
            packPanels(packed, right, column, column + columns - 1, step,
                       steps);
          },
          [&](int *lines, int *places, int row, int rows, int column,
              int columns) {
            for (int i = 0; i < rows; ++i)
              lines[i] = (row + i) * n;
            std::iota(places, places + columns, column);
            return ResultPlaces{c.data(), int(sizeof(T)), areWritten};
          },
          [&](T *sums, const int *lines, const int *places, int, int rows, int,
              int columns) {
            storeBlock(c.data(), lines, places, sums, rows, columns,
                       [](int, T *) {});
          });
    }
    shareNow = Share();
    return c;
  }
};

template <typename T> void check(int m, int n, int k) {
  for (bool isLeftTransposed : {false, true})
    for (bool isRightTransposed : {false, true}) {
      const Matrices<T> matrices = {m, n, k, isLeftTransposed,
                                    isRightTransposed};
      const std::vector<T> expected = matrices.naive();
      for (int threads : {1, 2, 5, 16})
        for (bool areWritten : {false, true})
          EXPECT_EQ(matrices.blocked(threads, areWritten), expected)
              << m << " x " << n << " x " << k << ", " << threads << " threads";
    }
}

#if defined(__AVX512BF16__)
/// m x k times k x n of bf16, two steps at once, beside the same numbers as
/// floats.
void checkPairs(int m, int n, int k) {
  for (bool isLeftTransposed : {false, true})
    for (bool isRightTransposed : {false, true}) {
      Matrices<float> matrices = {m, n, k, isLeftTransposed, isRightTransposed};
      auto halvesOf = [](std::vector<float> &numbers) {
        std::vector<Half> halves;
        for (float &number : numbers) {
          const bf16 half = to<bf16>(number);
          number = toFloat(half);
          Half bits;
          std::memcpy(&bits, &half, sizeof bits);
          halves.push_back(bits);
        }
        return halves;
      };
      const std::vector<Half> a = halvesOf(matrices.a),
                              b = halvesOf(matrices.b);
      const std::vector<float> expected = matrices.naive();
      const Times aLine = {isLeftTransposed ? 1 : k},
                  aStep = {isLeftTransposed ? m : 1},
                  bLine = {isRightTransposed ? k : 1},
                  bStep = {isRightTransposed ? 1 : n};
      constexpr int width = ProductBlock<float>::width;
      std::vector<float> c(size_t(m) * n);
      multiply<float, PairLanes>(
          m, n, (k + 1) / 2,
          [&](float *packed, int row, int rows, int pair, int pairs) {
            packLinePairs<kRows>(packed, a.data(), aLine, aStep, row,
                                 row + rows - 1, 2 * pair,
                                 std::min(2 * pairs, k - 2 * pair),
                                 kRows * ProductBlock<float>::steps);
          },
          [&](float *packed, int column, int columns, int pair, int pairs) {
            const int steps = std::min(2 * pairs, k - 2 * pair);
            packLinePairs<width>(packed, b.data(), bLine, bStep, column,
                                 column + columns - 1, 2 * pair, steps,
                                 width * ((steps + 1) / 2));
          },
          [&](int *lines, int *places, int row, int rows, int column,
              int columns) {
            for (int i = 0; i < rows; ++i)
              lines[i] = (row + i) * n;
            std::iota(places, places + columns, column);
            return ResultPlaces{c.data(), int(sizeof(float)), true};
          },
          [&](float *sums, const int *lines, const int *places, int, int rows,
              int, int columns) {
            storeBlock(c.data(), lines, places, sums, rows, columns,
                       [](int, float *) {});
          });
      EXPECT_EQ(c, expected) << m << " x " << n << " x " << k;
    }
}
#endif

class ProductBlocksTest : public cutback::test::LevelTest {};

TEST_F(ProductBlocksTest, SmallProductsAreThoseOfPlainLoops) {
  for (int m : {1, 5, 6, 13})
    for (int n : {1, 7, 33})
      for (int k : {0, 1, 9, 100}) {
        check<float>(m, n, k);
        check<double>(m, n, k);
      }
}

#if defined(__AVX512BF16__)
// Odd numbers of steps too, and more than a block has.
TEST_F(ProductBlocksTest, PairsOfStepsHaveTheBitsOfSingleOnes) {
  for (int m : {1, 5, 8, 13, 150})
    for (int n : {1, 7, 33, 70})
      for (int k : {0, 1, 2, 9, 16, 31, 100, 1027})
        checkPairs(m, n, k);
  checkPairs(300, 530, 600);
}
#endif

// One part of the steps, two, and several with a short one.
TEST_F(ProductBlocksTest, PartsOfTheStepsKeepTheOrderOfSums) {
  for (int k : {255, 256, 257, 512, 1030}) {
    check<float>(20, 35, k);
    check<double>(20, 35, k);
  }
}

// More rows than a block has, than one thread's sums are held for, and more
// columns than are packed at once.
TEST_F(ProductBlocksTest, SumsOfManyRowsAreHeldBetweenParts) {
  check<float>(145, 17, 300);
  check<float>(1000, 19, 270);
  check<double>(1000, 7, 270);
  check<float>(150, 530, 260);
}

} // namespace
