// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulated device: lanes and blocks wait for each other, a wait that some
// miss is an error, and reductions have the order that they state.

#include "cutback_cuda_host.h"

#include "cutback_cuda.cuh"

#include "gtest/gtest.h"

#include <array>
#include <random>

namespace {

/// Runs `kernel(arguments)` on so many blocks of so many threads.
template <typename Kernel>
void runBlocks(unsigned blocks, unsigned x, unsigned y, unsigned sharedBytes,
               Kernel kernel) {
  unsigned grid[3] = {blocks, 1, 1}, block[3] = {x, y, 1};
  cutback_host::launch(
      grid, block, sharedBytes, /*waits=*/true,
      [](void *given) { (*static_cast<Kernel *>(given))(); }, &kernel);
}

/// The order of sums that is stated: lanes 16, 8, 4, 2, 1 apart.
float butterfly(std::vector<float> lanes) {
  for (size_t apart = lanes.size() / 2; apart > 0; apart /= 2)
    for (size_t i = 0; i < apart; ++i)
      lanes[i] += lanes[i + apart];
  return lanes[0];
}

std::vector<float> randomFloats(size_t count) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return values;
}

TEST(HostEmulationTest, AWarpSumsInTheOrderOfTheButterfly) {
  std::vector<float> values = randomFloats(32), sums(32);
  runBlocks(1, 32, 1, 0, [&] {
    sums[threadIdx.x] = warpReduce(Sum(), values[threadIdx.x]);
  });
  for (float sum : sums)
    EXPECT_EQ(sum, butterfly(values));
}

TEST(HostEmulationTest, ABlockSumsItsWarpsInTheSameOrder) {
  std::vector<float> values = randomFloats(256), sums(256), warps;
  runBlocks(1, 256, 1, 32, [&] {
    sums[threadIdx.x] =
        blockReduce<8>(Sum(), values[threadIdx.x], sharedMemory<float>());
  });
  for (int warp = 0; warp < 8; ++warp)
    warps.push_back(butterfly(std::vector<float>(
        values.begin() + warp * 32, values.begin() + warp * 32 + 32)));
  for (float sum : sums)
    EXPECT_EQ(sum, butterfly(warps));
}

/// Where each thread of a block has `n` neighbours of four: in the order of
/// threads that have four.
template <int n, int fours> void checkNeighbours() {
  std::vector<float> values = randomFloats(4 * fours), expected(32), sums;
  runBlocks(1, fours, 1, 4 * fours, [&] {
    const Four<float> own = load4(values.data() + threadIdx.x * 4);
    float sum = fold4(Sum(), own);
    sum = fours == 32
              ? warpReduce(Sum(), sum)
              : blockReduce<fours / 32>(Sum(), sum, sharedMemory<float>());
    expected[threadIdx.x % 32] = sum;
  });
  sums.resize(fours * 4 / n);
  runBlocks(1, unsigned(sums.size()), 1, 4 * fours, [&] {
    Neighbours<float, n> own;
    for (int e = 0; e < n; ++e)
      own[e] = values[threadIdx.x * n + e];
    sums[threadIdx.x] = blockReduceOf<fours>(Sum(), own, sharedMemory<float>());
  });
  for (float sum : sums)
    EXPECT_EQ(sum, expected[0]);
}

TEST(HostEmulationTest, FewerNeighboursAThreadAreSummedInTheSameOrder) {
  checkNeighbours<2, 32>();
  checkNeighbours<1, 32>();
  checkNeighbours<2, 256>();
  checkNeighbours<1, 256>();
}

/// The lanes that a short row has no elements for have zeros.
template <int n> void checkShortRow() {
  std::vector<float> values = randomFloats(size_t(n) * 32), sums(32), fours(32);
  runBlocks(1, 32, 1, 0, [&] {
    Four<float> own = all4<float>(0.0f);
    if (threadIdx.x * 4 < values.size())
      own = load4(values.data() + threadIdx.x * 4);
    fours[threadIdx.x] = warpReduce(Sum(), fold4(Sum(), own));
  });
  runBlocks(1, 32, 1, 0, [&] {
    Neighbours<float, n> own;
    for (int e = 0; e < n; ++e)
      own[e] = values[threadIdx.x * n + e];
    sums[threadIdx.x] = warpReduceOf(Sum(), own);
  });
  EXPECT_EQ(sums, fours);
}

TEST(HostEmulationTest, AShortRowHasOneNeighbourALane) {
  checkShortRow<2>();
  checkShortRow<1>();
}

TEST(HostEmulationTest, AColumnSumsItsThreadsFromTheFirst) {
  std::vector<float> values = randomFloats(512), sums(512);
  runBlocks(1, 512, 1, 2048, [&] {
    sums[threadIdx.x] =
        columnReduce<8>(Sum(), values[threadIdx.x], sharedMemory<float>());
  });
  for (int first : {0, 256})
    for (int column = 0; column < 32; ++column) {
      float sum = values[first + column];
      for (int row = 1; row < 8; ++row)
        sum += values[first + row * 32 + column];
      EXPECT_EQ(sums[first + column], sum);
    }
}

float factorOf(bf16 x) { return toFloat(x); }
float factorOf(float x) { return TileCell<float>::rounded(x); }

/// One product on tiles: each result is summed in the order of k, with one
/// rounding a step, whatever the tile and the layouts. Floats are rounded to
/// tf32.
template <int kTile, bool isLeftAlongK, bool isRightAlongK, bool isAligned,
          typename T = bf16>
void expectTileProduct(int m, int n, int k) {
  std::vector<float> values = randomFloats(m * k + k * n);
  std::vector<T> left(m * k), right(k * n);
  auto leftAt = [&](int i, int s) {
    return isLeftAlongK ? i * k + s : s * m + i;
  };
  auto rightAt = [&](int s, int j) {
    return isRightAlongK ? j * k + s : s * n + j;
  };
  for (int i = 0; i < m * k; ++i)
    left[i] = to<T>(values[i]);
  for (int i = 0; i < k * n; ++i)
    right[i] = to<T>(values[m * k + i]);
  std::vector<float> sums(m * n, -1.0f);
  unsigned grid[3] = {
      unsigned((m + kTile - 1) / kTile * ((n + kTile - 1) / kTile)), 1, 1};
  unsigned block[3] = {2 * kTile, 1, 1};
  auto kernel = [&] {
    tileProduct<kTile>(
        m, n, k,
        TileOperand<T, isLeftAlongK, isAligned>{
            left.data(), isLeftAlongK ? k : 1, isLeftAlongK ? 1 : m},
        TileOperand<T, isRightAlongK, isAligned>{
            right.data(), isRightAlongK ? k : 1, isRightAlongK ? 1 : n},
        tileResult<isAligned>(sums.data(), n, 1,
                              [](int, int, float sum) { return sum + 1.0f; }));
  };
  cutback_host::launch(
      grid, block, sizeof(TileBuffers<kTile, T>), /*waits=*/true,
      [](void *given) { (*static_cast<decltype(kernel) *>(given))(); },
      &kernel);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int s = 0; s < k; ++s)
        sum = fmaf(factorOf(left[leftAt(i, s)]), factorOf(right[rightAt(s, j)]),
                   sum);
      wrong += sums[i * n + j] != sum + 1.0f;
    }
  EXPECT_EQ(wrong, 0) << kTile << ": " << m << " x " << n << " x " << k;
}

TEST(HostEmulationTest, ATileProductSumsInTheOrderOfK) {
  expectTileProduct<64, true, false, true>(64, 64, 64);
  expectTileProduct<64, true, true, true>(72, 80, 40);
  expectTileProduct<64, false, false, true>(72, 136, 8);
  expectTileProduct<64, false, true, false>(67, 5, 33);
  expectTileProduct<64, true, false, false>(1, 70, 17);
  expectTileProduct<128, true, false, true>(136, 264, 72);
  expectTileProduct<128, false, true, false>(131, 129, 50);
}

TEST(HostEmulationTest, ATileProductOfFloatsIsOneOfTf32) {
  expectTileProduct<64, true, false, true, float>(64, 64, 64);
  expectTileProduct<64, true, true, true, float>(72, 80, 36);
  expectTileProduct<64, false, false, true, float>(72, 136, 4);
  expectTileProduct<64, false, true, false, float>(67, 5, 33);
  expectTileProduct<64, true, false, false, float>(1, 70, 17);
  expectTileProduct<128, true, false, true, float>(136, 264, 72);
  expectTileProduct<128, false, true, false, float>(131, 129, 50);
}

/// Ten bits of mantissa, of two neighbours as near the one further from zero.
TEST(HostEmulationTest, FloatsAreRoundedToTf32) {
  auto rounded = TileCell<float>::rounded;
  const float step = 1.0f / 1024, half = step / 2, tiny = step / 4096;
  EXPECT_EQ(rounded(1 + half), 1 + step);
  EXPECT_EQ(rounded(1 + half - tiny), 1.0f);
  EXPECT_EQ(rounded(-1 - half), -1 - step);
  EXPECT_EQ(rounded(2 - tiny), 2.0f);
  EXPECT_EQ(rounded(-0.0f), 0.0f);
  EXPECT_EQ(rounded(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(rounded(NAN)));
}

/// One head of attention, its gradients too, on tiles and by one warp a row.
struct AttentionCase {
  int queries, keys, width, outWidth;
  bool isCausal;
  std::vector<bf16> q, k, v, dOut, out;
  std::vector<float> logSums;

  AttentionCase(int queries, int keys, int width, int outWidth, bool isCausal)
      : queries(queries), keys(keys), width(width), outWidth(outWidth),
        isCausal(isCausal), out(queries * outWidth), logSums(queries) {
    std::vector<float> all = randomFloats(4 * (queries + keys) * 64);
    auto next = all.begin();
    auto take = [&](std::vector<bf16> &to, int count) {
      for (int i = 0; i < count; ++i)
        to.push_back(toBf16(*next++));
    };
    take(q, queries * width);
    take(k, keys * width);
    take(v, keys * outWidth);
    take(dOut, queries * outWidth);
  }

  static TileOperand<bf16, true, false> tiles(const std::vector<bf16> &x,
                                              int width) {
    return {x.data(), width, 1};
  }
  static auto rows(const std::vector<bf16> &x, int width) {
    return [&x, width](int i, int e) { return toFloat(x[i * width + e]); };
  }
  /// Nobody looks at key 3; a causal query not behind itself either.
  auto bias() const {
    return [this](int i, int j) {
      return j == 3 || (isCausal && j > i) ? lowest() : 0.25f * (j % 3);
    };
  }
  auto put(std::vector<float> &to, int width) const {
    return [&to, width](int i, int e, float x) { to[i * width + e] = x; };
  }
  int ends(int first) const {
    return isCausal ? std::min(keys, first + 64) : keys;
  }

  /// Results, log-sums, gradients of queries, keys and values.
  using Results = std::array<std::vector<float>, 5>;
  Results results() const {
    return {std::vector<float>(queries * outWidth), std::vector<float>(queries),
            std::vector<float>(queries * width),
            std::vector<float>(keys * width),
            std::vector<float>(keys * outWidth)};
  }

  float scoreOf(int i, int j) const {
    float sum = 0;
    for (int e = 0; e < width; ++e)
      sum = fmaf(toFloat(q[i * width + e]), toFloat(k[j * width + e]), sum);
    return sum * 0.3f + bias()(i, j);
  }
  /// As lanes of a warp add up.
  static float sumOf(std::array<float, 32> x) {
    for (int apart = 16; apart; apart /= 2)
      for (int lane = 0; lane < apart; ++lane)
        x[lane] = x[lane] + x[lane + apart];
    return x[0];
  }

  /// One element after the other, in the order of its sum.
  Results runNaive() {
    Results to = results();
    for (int i = 0; i < queries; ++i) {
      float largest = lowest(), sum = 0;
      std::vector<float> held(outWidth);
      for (int begin = 0; begin < keys; begin += 32) {
        std::array<float, 32> weights;
        float next = largest;
        for (int lane = 0; lane < 32; ++lane) {
          weights[lane] =
              begin + lane < keys ? scoreOf(i, begin + lane) : lowest();
          next = std::max(next, weights[lane]);
        }
        for (float &weight : weights)
          weight = weight == lowest() ? 0.0f : expOf(weight - next);
        float shrink = largest == next ? 1.0f : expOf(largest - next);
        sum = sum * shrink + sumOf(weights);
        for (int e = 0; e < outWidth; ++e) {
          held[e] *= shrink;
          for (int j = begin; j < std::min(begin + 32, keys); ++j)
            held[e] =
                fmaf(weights[j - begin], toFloat(v[j * outWidth + e]), held[e]);
        }
        largest = next;
      }
      for (int e = 0; e < outWidth; ++e) {
        to[0][i * outWidth + e] = held[e] / sum;
        out[i * outWidth + e] = toBf16(held[e] / sum);
      }
      to[1][i] = logSums[i] = largest + logOf(sum);
    }
    for (int i = 0; i < queries; ++i)
      for (int j = 0; j < keys; ++j)
        addGradients(to, i, j);
    for (int result : {2, 3})
      for (float &x : to[result])
        x = x * 0.3f;
    return to;
  }
  void addGradients(Results &to, int i, int j) const {
    float dot = 0, dWeight = 0;
    for (int e = 0; e < outWidth; ++e) {
      float gradient = toFloat(dOut[i * outWidth + e]);
      dot = fmaf(gradient, toFloat(out[i * outWidth + e]), dot);
      dWeight = fmaf(gradient, toFloat(v[j * outWidth + e]), dWeight);
    }
    float score = scoreOf(i, j);
    float weight = score == lowest() ? 0.0f : expOf(score - logSums[i]);
    score = weight * (dWeight - dot);
    for (int e = 0; e < width; ++e) {
      float &ofQuery = to[2][i * width + e], &ofKey = to[3][j * width + e];
      ofQuery = fmaf(score, toFloat(k[j * width + e]), ofQuery);
      ofKey = fmaf(score, toFloat(q[i * width + e]), ofKey);
    }
    for (int e = 0; e < outWidth; ++e) {
      float &ofValue = to[4][j * outWidth + e];
      ofValue = fmaf(weight, toFloat(dOut[i * outWidth + e]), ofValue);
    }
  }

  /// In full precision, after runNaive().
  template <int kParts> Results runFull() {
    Results to = results();
    auto q = rows(this->q, width), k = rows(this->k, width);
    auto v = rows(this->v, outWidth), dOut = rows(this->dOut, outWidth);
    auto result = rows(out, outWidth);
    auto logSum = [&](int i) { return logSums[i]; };
    const unsigned shared = sizeof(AttentionBlock);
    runBlocks((queries + 63) / 64, 256, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      attend<kParts>(first, queries, keys, ends(first), width, outWidth, 0.3f,
                     q, k, v, bias(), put(to[0], outWidth),
                     [&](int i, float x) { to[1][i] = x; });
    });
    runBlocks((queries + 63) / 64, 256, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      attendQueryGradient<kParts>(first, queries, keys, ends(first), width,
                                  outWidth, 0.3f, q, k, v, bias(), dOut, result,
                                  logSum, put(to[2], width));
    });
    runBlocks((keys + 63) / 64, 256, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      attendKeyGradient<kParts>(first, keys, queries, isCausal ? first : 0,
                                width, outWidth, 0.3f, q, k, v, bias(), dOut,
                                result, logSum, put(to[3], width),
                                put(to[4], outWidth));
    });
    return to;
  }

  template <int kWidth, int kOthers> Results runTiles() {
    Results to = results();
    auto q = tiles(this->q, width), k = tiles(this->k, width);
    auto v = tiles(this->v, outWidth), dOut = tiles(this->dOut, outWidth);
    auto result = rows(out, outWidth);
    auto logSum = [&](int i) { return logSums[i]; };
    const unsigned shared = sizeof(AttentionTiles<kWidth, kOthers>);
    runBlocks((queries + 63) / 64, 128, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      tileAttend<kWidth, kOthers>(
          first, queries, keys, ends(first), width, outWidth, 0.3f, q, k, v,
          bias(), put(to[0], outWidth), [&](int i, float x) { to[1][i] = x; });
    });
    runBlocks((queries + 63) / 64, 128, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      tileQueryGradient<kWidth, kOthers>(
          first, queries, keys, ends(first), width, outWidth, 0.3f, q, k, v,
          bias(), dOut, result, logSum, put(to[2], width));
    });
    runBlocks((keys + 63) / 64, 128, 1, shared, [&] {
      const int first = blockIdx.x * 64;
      tileKeyGradient<kWidth, kOthers>(
          first, keys, queries, isCausal ? first : 0, width, outWidth, 0.3f, q,
          k, v, bias(), dOut, result, logSum, put(to[3], width),
          put(to[4], outWidth));
    });
    return to;
  }
};

template <int kWidth, int kOthers> void expectSameAttention(AttentionCase one) {
  AttentionCase::Results expected = one.runNaive(),
                         full = one.runFull<(kWidth + 63) / 64>(),
                         actual = one.runTiles<kWidth, kOthers>();
  EXPECT_EQ(full, expected) << kWidth;
  for (size_t result = 0; result < expected.size(); ++result) {
    float largest = 0, apart = 0;
    for (size_t i = 0; i < expected[result].size(); ++i) {
      largest = std::max(largest, std::fabs(expected[result][i]));
      apart =
          std::max(apart, std::fabs(expected[result][i] - actual[result][i]));
    }
    // Factors that are weights are rounded to bf16.
    EXPECT_LE(apart, 0.01f * largest) << kWidth << ": result " << result;
    EXPECT_GT(largest, 0.0f);
  }
}

TEST(HostEmulationTest, AttentionOnTilesIsThatOfRows) {
  expectSameAttention<16, 32>({35, 35, 11, 11, true});
  expectSameAttention<48, 32>({70, 45, 40, 24, false});
  expectSameAttention<64, 32>({130, 130, 64, 64, true});
  expectSameAttention<128, 16>({33, 70, 128, 120, false});
}

TEST(HostEmulationTest, ANanWinsAndTheFirstOfEqualsToo) {
  std::vector<float> values(32, 1.0f);
  values[9] = values[20] = 5.0f;
  auto best = [&] {
    long long at = -1;
    runBlocks(1, 32, 1, 0, [&] {
      Best<float> mine = {values[threadIdx.x], threadIdx.x};
      at = warpReduce(Better<false>(), mine).at;
    });
    return at;
  };
  EXPECT_EQ(best(), 9);
  values[25] = NAN;
  EXPECT_EQ(best(), 25);
  float greatest = 0;
  runBlocks(1, 32, 1, 0,
            [&] { greatest = warpReduce(Max(), values[threadIdx.x]); });
  EXPECT_TRUE(std::isnan(greatest));
}

TEST(HostEmulationTest, AVoteHasABitALane) {
  unsigned votes = 0;
  runBlocks(1, 32, 1, 0,
            [&] { votes = __ballot_sync(~0u, threadIdx.x % 3 == 0); });
  EXPECT_EQ(votes, 0x49249249u);
}

TEST(HostEmulationTest, SharedMemoryIsNanInEachBlock) {
  int nans = 0;
  runBlocks(3, 32, 1, 128, [&] {
    float *shared = sharedMemory<float>();
    nans += std::isnan(shared[threadIdx.x]);
    shared[threadIdx.x] = 1.0f;
  });
  EXPECT_EQ(nans, 96);
}

using HostEmulationDeathTest = testing::Test;

TEST(HostEmulationDeathTest, AMissedWaitIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(runBlocks(1, 64, 1, 0,
                         [] {
                           if (threadIdx.x < 32)
                             __syncthreads();
                         }),
               "a barrier that some threads of the block miss");
  EXPECT_DEATH(runBlocks(1, 32, 1, 0,
                         [] {
                           if (threadIdx.x < 16)
                             warpReduce(Sum(), 1.0f);
                         }),
               "an exchange between lanes that some lanes of the warp miss");
  EXPECT_DEATH(runBlocks(1, 2048, 1, 0, [] {}), "a block that no device takes");
}

} // namespace
