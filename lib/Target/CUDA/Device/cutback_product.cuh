// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products: sums over k of a(i, k) b(k, j), each in the order of k with one
// rounding a step, whatever the tiles. Convolutions are products of what they
// look up.
#pragma once
#include "cutback_factors.cuh"

__device__ inline float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return fma(a, b, c);
}

#ifndef CUTBACK_OWN_CALLS // a CPU has another one

/// What a block has: rows x columns results, so many steps of k at a time. The
/// first of its threads, as many as it takes, have rowsEach x columnsEach
/// results each. All others fetch, `ahead` slices of steps in front of that
/// which comes next; where there are none, these do.
template <int rows, int columns, int rowsEach, int columnsEach, int steps,
          int threads, int ahead>
struct ProductShape {
  static constexpr int kRows = rows, kColumns = columns, kRowsEach = rowsEach,
                       kColumnsEach = columnsEach, kSteps = steps,
                       kAhead = ahead;
  static constexpr int kDown = rows / rowsEach, kAcross = columns / columnsEach;
  static constexpr int kAdding = kDown * kAcross;
  static constexpr int kFirstFetching = threads > kAdding ? kAdding : 0;
  static constexpr int kFetching = threads - kFirstFetching;
  /// Steps of a line lie beside each other, else lines of a step: a thread with
  /// few lines reads four steps of one at once, else four lines.
  static constexpr bool isByLine = rowsEach * columnsEach <= 4;
  static_assert(kDown % 4 == 0 && kAcross % 8 == 0 && kAdding <= threads,
                "a warp has 4 x 8 of a block's threads");
  __device__ static bool adds() { return threadIdx.x < kAdding; }
  __device__ static bool fetches() { return threadIdx.x >= kFirstFetching; }
  /// Among those that fetch.
  __device__ static int fetching() { return int(threadIdx.x) - kFirstFetching; }
};

/// A slice of a factor in shared memory. Rows are longer than they need be, so
/// that what is read at once lies in different banks.
template <int lines, int steps, bool isByLine> struct ProductLayout {
  static constexpr int kRow = (isByLine ? steps : lines) + 4;
  static constexpr int kSize = (isByLine ? lines : steps) * kRow;
  __device__ static int at(int line, int k) {
    return isByLine ? line * kRow + k : k * kRow + line;
  }
};

/// Two slices of each factor, one read while the other one is filled.
template <typename T, typename Shape> struct alignas(16) ProductSlices {
  static constexpr bool isByLine = Shape::isByLine;
  using Left = ProductLayout<Shape::kRows, Shape::kSteps, isByLine>;
  using Right = ProductLayout<Shape::kColumns, Shape::kSteps, isByLine>;
  T left[2][Left::kSize], right[2][Right::kSize];
};
/// Where the steps of four slices lie, unless that is a product with a stride.
template <typename A, typename B, int steps> struct alignas(16) ProductSteps {
  typename B::At right[4][steps];
  typename A::At left[4][steps];
};

/// A thread's part of slices: where its lines lie, and what it fetched last.
template <typename T, typename Factor, int lines, typename Shape>
struct ProductPart {
  static constexpr bool isAlongK = Factor::isAlongK;
  static constexpr int kSteps = Shape::kSteps, kWide = Factor::kWide,
                       kThreads = Shape::kFetching;
  /// Accesses side by side, and of a thread; lines that these are in.
  static constexpr int kAcross = (isAlongK ? kSteps : lines) / kWide;
  static constexpr int kAll = lines * kSteps / kWide;
  static constexpr int kCount = (kAll + kThreads - 1) / kThreads;
  static constexpr int kLines = isAlongK ? kCount : 1;
  static constexpr int kApart = kThreads / kAcross;
  static_assert(kThreads % kAcross == 0, "each thread keeps its place across");

  typename Factor::At at[kLines];
  Neighbours<T, kWide> values[Shape::kAhead][kCount];

  __device__ static int line(int i) {
    const int thread = Shape::fetching();
    return isAlongK ? thread / kAcross + i * kApart : thread % kAcross * kWide;
  }
  __device__ static int step(int i) {
    const int thread = Shape::fetching();
    return isAlongK ? thread % kAcross * kWide : thread / kAcross + i * kApart;
  }
  __device__ static bool has(int i) {
    return kAll % kThreads == 0 || Shape::fetching() + i * kThreads < kAll;
  }
  __device__ void begin(const Factor &factor, int first, int count) {
#pragma unroll
    for (int i = 0; i < kLines; ++i)
      at[i] = factor.lineAt(first + line(i), count);
  }
  /// Steps from `first` on, of `k`, whose places are `places`, into `set`.
  __device__ void fetch(int set, const Factor &factor,
                        const typename Factor::At *places, int first, int k,
                        T zero) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (has(i))
        values[set][i] =
            factor.get(at[isAlongK ? i : 0],
                       Factor::isLinear ? factor.stepAt(first + step(i), k)
                                        : places[step(i)],
                       zero);
  }
  template <typename Layout> __device__ void put(int set, T *slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      T *to = slice + Layout::at(line(i), step(i));
      if (!has(i))
        continue;
      if (isAlongK == Shape::isByLine) {
        *reinterpret_cast<Neighbours<T, kWide> *>(to) = values[set][i];
        continue;
      }
#pragma unroll
      for (int e = 0; e < kWide; ++e)
        to[e * Layout::kRow] = values[set][i][e];
    }
  }
};

/// A thread's results.
template <typename T, typename Shape> struct ProductSums {
  using Slices = ProductSlices<T, Shape>;
  static constexpr int kRowsEach = Shape::kRowsEach,
                       kColumnsEach = Shape::kColumnsEach;
  T sum[kRowsEach][kColumnsEach] = {};

  /// Number `e` of the `each` lines of thread `number` of so many.
  template <int each, int count> __device__ static int line(int number, int e) {
    constexpr int beside = Shape::isByLine ? 1 : each < 4 ? each : 4;
    return e / beside * (count * beside) + number * beside + e % beside;
  }
  /// Lanes beside each other share rows, those two apart columns: what eight
  /// lanes read is then read for sixteen.
  __device__ static int down() {
    const int lane = laneOf();
    return threadIdx.x / 32 / (Shape::kAcross / 8) * 4 + (lane >> 1 & 1) +
           (lane >> 2 & 2);
  }
  __device__ static int across() {
    const int lane = laneOf();
    return threadIdx.x / 32 % (Shape::kAcross / 8) * 8 + (lane & 1) +
           (lane >> 1 & 2) + (lane >> 2 & 4);
  }
  __device__ static int row(int i) {
    return line<kRowsEach, Shape::kDown>(down(), i);
  }
  __device__ static int column(int j) {
    return line<kColumnsEach, Shape::kAcross>(across(), j);
  }

  /// Of one step, or of four.
  template <int each, int count, typename Layout>
  __device__ static void load(T (&x)[Shape::isByLine ? 4 : 1][each],
                              const T *slice, int number, int k) {
    constexpr int beside = Shape::isByLine ? 4 : each < 4 ? each : 4;
    constexpr int apart = Shape::isByLine ? 1 : beside;
#pragma unroll
    for (int e = 0; e < each; e += apart) {
      const auto near = *reinterpret_cast<const Neighbours<T, beside> *>(
          slice + Layout::at(line<each, count>(number, e), k));
#pragma unroll
      for (int i = 0; i < beside; ++i)
        (Shape::isByLine ? x[i][e] : x[0][e + i]) = near[i];
    }
  }
  /// Adds a slice, of which `steps` count.
  __device__ void add(const T *left, const T *right, int steps) {
    constexpr int atOnce = Shape::isByLine ? 4 : 1;
    constexpr int unrolled = Shape::kSteps < 32 ? Shape::kSteps : 32;
    const int ofRow = down(), ofColumn = across();
#pragma unroll 1
    for (int from = 0; from < Shape::kSteps && from < steps; from += unrolled) {
#pragma unroll
      for (int k = 0; k < unrolled; k += atOnce) {
        T a[atOnce][kRowsEach], b[atOnce][kColumnsEach];
        load<kRowsEach, Shape::kDown, typename Slices::Left>(a, left, ofRow,
                                                             from + k);
        load<kColumnsEach, Shape::kAcross, typename Slices::Right>(
            b, right, ofColumn, from + k);
#pragma unroll
        for (int s = 0; s < atOnce; ++s)
#pragma unroll
          for (int i = 0; i < kRowsEach; ++i)
#pragma unroll
            for (int j = 0; j < kColumnsEach; ++j)
              sum[i][j] = fused(a[s][i], b[s][j], sum[i][j]);
      }
    }
  }
  template <typename Results>
  __device__ void store(int firstRow, int firstColumn, int m, int n,
                        const Results &results) const {
    constexpr int wide = Shape::isByLine ? 1 : Results::kWide;
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i)
#pragma unroll
      for (int j = 0; j < kColumnsEach; j += wide) {
        const int r = firstRow + row(i), c = firstColumn + column(j);
        if (r >= m || c >= n)
          continue;
        if constexpr (wide > 1)
          results.storeWide(r, c, sum[i] + j);
        else
          results(r, c, sum[i][j]);
      }
  }
};

/// Computes tile blockIdx.x, column by column, of an m x n product. Steps
/// behind the last one are -0 times 0, which no sum notices.
template <typename T, typename Shape, typename A, typename B, typename Results>
__device__ inline void product(int m, int n, int k, const A &a, const B &b,
                               const Results &results) {
  using Slices = ProductSlices<T, Shape>;
  using Steps = ProductSteps<A, B, Shape::kSteps>;
  constexpr int kSteps = Shape::kSteps;
  auto &slices = *sharedMemory<Slices>();
  auto &places = *reinterpret_cast<Steps *>(&slices + 1);
  const int rowTiles = (m + Shape::kRows - 1) / Shape::kRows;
  const int firstRow = int(blockIdx.x) % rowTiles * Shape::kRows;
  const int firstColumn = int(blockIdx.x) / rowTiles * Shape::kColumns;
  if (firstColumn >= n)
    return;
  // Slice `number`: where its steps lie, what its elements are, for all to see.
  const auto place = [&](int number) {
    const int thread = Shape::fetching(), last = Shape::kFetching - 1 - thread;
    const int first = number * kSteps;
    if (!A::isLinear && thread < kSteps)
      places.left[number % 4][thread] = a.stepAt(first + thread, k);
    if (!B::isLinear && last < kSteps)
      places.right[number % 4][last] = b.stepAt(first + last, k);
  };
  ProductPart<T, A, Shape::kRows, Shape> partA;
  ProductPart<T, B, Shape::kColumns, Shape> partB;
  const auto fetch = [&](int set, int number) {
    const int first = number * kSteps;
    if (first >= k)
      return;
    partA.fetch(set, a, places.left[number % 4], first, k, T(-0.0));
    partB.fetch(set, b, places.right[number % 4], first, k, T(0));
  };
  const auto put = [&](int set, int number) {
    partA.template put<typename Slices::Left>(set, slices.left[number % 2]);
    partB.template put<typename Slices::Right>(set, slices.right[number % 2]);
  };
  constexpr int ahead = Shape::kAhead;
  ProductSums<T, Shape> sums;
  if (Shape::fetches()) {
    partA.begin(a, firstRow, m);
    partB.begin(b, firstColumn, n);
    for (int number = 0; number < 4; ++number)
      place(number);
  }
  if (!A::isLinear || !B::isLinear)
    __syncthreads();
  if (Shape::fetches()) {
    fetch(0, 0);
    put(0, 0);
#pragma unroll
    for (int number = 1; number <= ahead; ++number)
      fetch(number % ahead, number);
  }
  __syncthreads();
#pragma unroll 1
  for (int first = 0; first * kSteps < k; first += ahead) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      const int number = first + i, set = (i + 1) % ahead;
      if (Shape::fetches()) {
        put(set, number + 1);
        fetch(set, number + 1 + ahead);
        place(number + 4);
      }
      if (Shape::adds())
        sums.add(slices.left[number % 2], slices.right[number % 2],
                 k - number * kSteps);
      __syncthreads();
    }
  }
  if (Shape::adds())
    sums.store(firstRow, firstColumn, m, n, results);
}
#endif
