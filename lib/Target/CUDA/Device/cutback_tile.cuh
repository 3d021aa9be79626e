// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 16-bit floats on tensor cores (sm_80 and newer), summed in single
// precision, sixteen steps of k at a time, in their order; those of floats
// rounded to tf32 (ten bits of mantissa) likewise, eight steps at a time. How a
// tensor core rounds within these is not specified; on the host they are summed
// one by one, each with one rounding.
#pragma once
#include "cutback_product.cuh"

//===--- What a warp does at once
//------------------------------------------===//

/// Four matrices of 8 x 8 elements from shared memory. Lane l says where row
/// l % 8 of matrix l / 8 lies, 16 bytes, and gets of each matrix two neighbours
/// of row l / 4 from column 2 (l % 4) on; transposed, of column l / 4.
template <bool isTransposed>
__device__ inline void loadMatrices(unsigned (&to)[4],
                                    const unsigned short *row) {
#ifdef __CUDACC__
  const unsigned at = unsigned(__cvta_generic_to_shared(row));
  if (isTransposed)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(at)
        : "memory");
  else
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(at)
        : "memory");
#else
  const unsigned short *const *rows = cutback_host::exchangeAll(row);
  const int line = laneOf() / 4, pair = laneOf() % 4 * 2;
  for (int i = 0; i < 4; ++i) {
    const unsigned short *const *matrix = rows + i * 8;
    to[i] = isTransposed
                ? matrix[pair][line] | unsigned(matrix[pair + 1][line]) << 16
                : matrix[line][pair] | unsigned(matrix[line][pair + 1]) << 16;
  }
#endif
}

/// sum += a b: 16 x 16 by 16 x 8, of floats 16 x 8 by 8 x 8. Lane l has of
/// `sum` two neighbours of row l / 4 from column 2 (l % 4) on, and of row l / 4
/// + 8; of `a` and `b` what loadLeft() and loadRight() give.
template <typename T>
__device__ inline void multiplyTile(float (&sum)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]);
#ifdef __CUDACC__
template <>
__device__ inline void multiplyTile<bf16>(float (&sum)[4],
                                          const unsigned (&a)[4],
                                          const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ inline void multiplyTile<f16>(float (&sum)[4],
                                         const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ inline void multiplyTile<float>(float (&sum)[4],
                                           const unsigned (&a)[4],
                                           const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
/// What a lane has of both, as floats: of row l / 4 and the one 8 behind it
/// elements 2 (l % 4), the next, and both 8 behind; of column l / 4 likewise.
struct TileShare {
  float a[2][4], b[4];
};
template <typename T>
inline void multiplyTile(float (&sum)[4], const unsigned (&a)[4],
                         const unsigned (&b)[2]) {
  auto low = [](unsigned pair) { return toFloat(T{(unsigned short)pair}); };
  auto high = [](unsigned pair) {
    return toFloat(T{(unsigned short)(pair >> 16)});
  };
  const TileShare own = {{{low(a[0]), high(a[0]), low(a[2]), high(a[2])},
                          {low(a[1]), high(a[1]), low(a[3]), high(a[3])}},
                         {low(b[0]), high(b[0]), low(b[1]), high(b[1])}};
  const TileShare *all = cutback_host::exchangeAll(own);
  const int row = laneOf() / 4 * 4, column = laneOf() % 4 * 8;
  for (int k = 0; k < 16; ++k) {
    const int from = k % 8 / 2, element = k / 8 * 2 + k % 2;
    for (int i = 0; i < 4; ++i)
      sum[i] = fmaf(all[row + from].a[i / 2][element],
                    all[column + i % 2 * 4 + from].b[element], sum[i]);
  }
}
/// Of floats: of row l / 4 and the one 8 behind it elements l % 4 and l % 4 +
/// 4, of column l / 4 likewise.
struct TileShareOfFloats {
  float a[2][2], b[2];
};
template <>
inline void multiplyTile<float>(float (&sum)[4], const unsigned (&a)[4],
                                const unsigned (&b)[2]) {
  auto number = [](unsigned bits) { return __int_as_float(int(bits)); };
  const TileShareOfFloats own = {
      {{number(a[0]), number(a[2])}, {number(a[1]), number(a[3])}},
      {number(b[0]), number(b[1])}};
  const TileShareOfFloats *all = cutback_host::exchangeAll(own);
  const int row = laneOf() / 4 * 4, column = laneOf() % 4 * 8;
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 4; ++i)
      sum[i] = fmaf(all[row + k % 4].a[i / 2][k / 4],
                    all[column + i % 2 * 4 + k % 4].b[k / 4], sum[i]);
}
#endif

//===--- Operands in shared memory
//-----------------------------------------===//

/// Eight neighbours: one access of 16 bytes, of floats two.
template <typename T> struct alignas(16) Eight {
  T e[8];
};

/// How elements lie in shared memory: as bits of 16-bit floats, or as floats
/// that are tf32. kSteps of k at a time, of which multiplyTile() takes kDepth.
template <typename T> struct TileCell {
  using Cell = unsigned short;
  static constexpr int kSteps = 32, kDepth = 16;
  __device__ static Eight<T> of(const Eight<T> &x) { return x; }
};
template <> struct TileCell<float> {
  using Cell = float;
  static constexpr int kSteps = 16, kDepth = 8;
  /// The nearest tf32; of two the one further from zero.
  __device__ static float rounded(float x) {
#ifdef __CUDACC__
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __int_as_float(int(bits));
#else
    const unsigned bits = unsigned(__float_as_int(x));
    if ((bits & 0x7f800000u) == 0x7f800000u) // stays infinite, or a NaN
      return x;
    return __int_as_float(int((bits + 0x1000u) & ~0x1fffu));
#endif
  }
  __device__ static Eight<float> of(Eight<float> x) {
    for (int e = 0; e < 8; ++e)
      x.e[e] = rounded(x.e[e]);
    return x;
  }
};

/// A tile of an operand: `lines` rows of the left or columns of the right one.
/// Neighbours are those along k, or those along the lines. Rows are longer than
/// they need be, so that those which are read at once lie in different banks.
template <int lines, bool isAlongK, typename T> struct TileLayout {
  static constexpr int kRow =
      isAlongK ? TileCell<T>::kSteps + TileCell<T>::kSteps / 4 : lines + 8;
  __device__ static int at(int line, int k) {
    return isAlongK ? line * kRow + k : k * kRow + line;
  }
};

/// 16 rows from `row` on, kDepth steps from `k` on, of a left operand.
template <typename Layout, bool isAlongK>
__device__ inline void loadLeft(unsigned (&a)[4], const unsigned short *tile,
                                int row, int k) {
  const int lane = laneOf();
  loadMatrices<!isAlongK>(
      a, tile + (isAlongK ? Layout::at(row + lane % 16, k + lane / 16 * 8)
                          : Layout::at(row + lane / 8 % 2 * 8,
                                       k + lane / 16 * 8 + lane % 8)));
}
template <typename Layout, bool isAlongK>
__device__ inline void loadLeft(unsigned (&a)[4], const float *tile, int row,
                                int k) {
  const int lane = laneOf();
  for (int i = 0; i < 4; ++i)
    a[i] = unsigned(__float_as_int(tile[Layout::at(row + lane / 4 + i % 2 * 8,
                                                   k + lane % 4 + i / 2 * 4)]));
}
/// 16 columns of a right operand: of the first 8, then of the others.
template <typename Layout, bool isAlongK>
__device__ inline void loadRight(unsigned (*b)[2], const unsigned short *tile,
                                 int column, int k) {
  const int lane = laneOf();
  unsigned all[4];
  loadMatrices<!isAlongK>(
      all,
      tile + (isAlongK ? Layout::at(column + lane / 16 * 8 + lane % 8,
                                    k + lane / 8 % 2 * 8)
                       : Layout::at(column + lane / 16 * 8, k + lane % 16)));
  b[0][0] = all[0], b[0][1] = all[1], b[1][0] = all[2], b[1][1] = all[3];
}
template <typename Layout, bool isAlongK>
__device__ inline void loadRight(unsigned (*b)[2], const float *tile,
                                 int column, int k) {
  const int lane = laneOf();
  for (int i = 0; i < 4; ++i)
    b[i / 2][i % 2] = unsigned(__float_as_int(tile[Layout::at(
        column + lane / 4 + i / 2 * 8, k + lane % 4 + i % 2 * 4)]));
}

//===--- Operands and results in memory
//------------------------------------===//

/// Element (line, k) is at[line * lineStride + k * kStride]. `isAligned`: eight
/// neighbours are one access, wherever the first one's number is one of eight.
template <typename T, bool isAlong, bool isAligned> struct TileOperand {
  using Element = T;
  static constexpr bool isAlongK = isAlong;
  const T *at;
  int lineStride, kStride;

  __device__ T get(int line, int k) const {
    return at[line * lineStride + k * kStride];
  }
  /// Those that begin at (line, k); zeros outside of `lines` and `steps`.
  __device__ Eight<T> eight(int line, int k, int lines, int steps) const {
    Eight<T> x = {};
    if (line >= lines || k >= steps)
      return x;
    const T *from = at + (line * lineStride + k * kStride);
    const int left = isAlongK ? steps - k : lines - line;
    if (isAligned && left >= 8)
      return *reinterpret_cast<const Eight<T> *>(from);
    for (int e = 0; e < 8; ++e)
      if (e < left)
        x.e[e] = from[e * (isAlongK ? kStride : lineStride)];
    return x;
  }
};

/// Element (line, k) is what `look(line, k)` gives.
template <typename T, bool isAlong, typename Look> struct LookedUp {
  using Element = T;
  static constexpr bool isAlongK = isAlong;
  Look look;

  __device__ Eight<T> eight(int line, int k, int lines, int steps) const {
    Eight<T> x = {};
    if (line >= lines || k >= steps)
      return x;
    const int left = isAlongK ? steps - k : lines - line;
    for (int e = 0; e < 8; ++e)
      if (e < left)
        x.e[e] = isAlongK ? look(line, k + e) : look(line + e, k);
    return x;
  }
};
template <typename T, bool isAlongK, typename Look>
__device__ inline LookedUp<T, isAlongK, Look> lookedUp(Look look) {
  return {look};
}

/// Result (i, j) lies at[i * rowStride + j * columnStride]; `value(i, j, sum)`
/// is what is stored. `isAligned` as of operands.
template <typename T, bool isAligned, typename Value> struct TileResult {
  T *at;
  int rowStride, columnStride;
  Value value;

  /// Eight columns from (i, j) on, of those below `columns`.
  __device__ void store(int i, int j, int columns,
                        const Eight<float> &sum) const {
    T *to = at + (i * rowStride + j * columnStride);
    if (isAligned && j + 8 <= columns) {
      Eight<T> x;
      for (int e = 0; e < 8; ++e)
        x.e[e] = value(i, j + e, sum.e[e]);
      *reinterpret_cast<Eight<T> *>(to) = x;
      return;
    }
    for (int e = 0; e < 8; ++e)
      if (j + e < columns)
        to[e * columnStride] = value(i, j + e, sum.e[e]);
  }
};
template <bool isAligned, typename T, typename Value>
__device__ inline TileResult<T, isAligned, Value>
tileResult(T *at, int rowStride, int columnStride, Value value) {
  return {at, rowStride, columnStride, value};
}

/// Result (i, j) is where `put(i, j, sum)` stores it.
template <typename Put> struct PutEach {
  Put put;

  __device__ void store(int i, int j, int columns,
                        const Eight<float> &sum) const {
    for (int e = 0; e < 8; ++e)
      if (j + e < columns)
        put(i, j + e, sum.e[e]);
  }
};
template <typename Put> __device__ inline PutEach<Put> putEach(Put put) {
  return {put};
}

//===--- The product
//--------------------------------------------------------===//

#ifndef CUTBACK_OWN_CALLS // a CPU has another one

/// Two tiles of each operand: one is read while the other one is filled.
template <int kTile, typename T> struct alignas(16) TileBuffers {
  static constexpr int kSteps = TileCell<T>::kSteps;
  typename TileCell<T>::Cell left[2][kTile * (kSteps + kSteps / 4)];
  typename TileCell<T>::Cell right[2][kTile * (kSteps + kSteps / 4)];
};

/// A thread's part of a tile of kTile lines: two times eight neighbours, or one
/// time of floats.
template <int kTile, typename Operand> struct TilePart {
  using Element = typename Operand::Element;
  static constexpr int kOfStep = TileCell<Element>::kSteps / 8;
  static constexpr int kEights = kOfStep / 2;
  Eight<Element> eights[kEights];

  /// Line and step of eight `number`.
  __device__ static int line(int number) {
    return Operand::isAlongK ? number / kOfStep : number % (kTile / 8) * 8;
  }
  __device__ static int step(int number) {
    return Operand::isAlongK ? number % kOfStep * 8 : number / (kTile / 8);
  }
  __device__ void fetch(const Operand &operand, int firstLine, int firstStep,
                        int lines, int steps) {
    for (int i = 0; i < kEights; ++i) {
      const int number = threadIdx.x + i * 2 * kTile;
      eights[i] = operand.eight(firstLine + line(number),
                                firstStep + step(number), lines, steps);
    }
  }
  __device__ void put(typename TileCell<Element>::Cell *tile) const {
    using Layout = TileLayout<kTile, Operand::isAlongK, Element>;
    for (int i = 0; i < kEights; ++i) {
      const int number = threadIdx.x + i * 2 * kTile;
      *reinterpret_cast<Eight<Element> *>(
          tile + Layout::at(line(number), step(number))) =
          TileCell<Element>::of(eights[i]);
    }
  }
};

/// Computes tile blockIdx.x, column by column, of kTile x kTile results (64 or
/// 128), of an m x n product with 2 * kTile threads: a warp has kTile / 2 rows
/// and 32 columns.
template <int kTile, typename A, typename B, typename Result>
__device__ inline void tileProduct(int m, int n, int k, const A &a, const B &b,
                                   const Result &result) {
  constexpr int kBands = kTile / 32; // of 16 rows
  using Element = typename A::Element;
  using Left = TileLayout<kTile, A::isAlongK, Element>;
  using Right = TileLayout<kTile, B::isAlongK, Element>;
  constexpr int kSteps = TileCell<Element>::kSteps;
  auto &buffers = *sharedMemory<TileBuffers<kTile, Element>>();
  const int rowTiles = (m + kTile - 1) / kTile;
  const int firstRow = blockIdx.x % rowTiles * kTile;
  const int firstColumn = blockIdx.x / rowTiles * kTile;
  const int warp = threadIdx.x / 32, lane = laneOf();
  const int row = warp % 2 * (kTile / 2), column = warp / 2 * 32;
  float sum[kBands][4][4] = {};
  TilePart<kTile, A> nextA;
  TilePart<kTile, B> nextB;
  nextA.fetch(a, firstRow, 0, m, k);
  nextB.fetch(b, firstColumn, 0, n, k);
#pragma unroll 1
  for (int step = 0; step < k; step += kSteps) {
    const int turn = step / kSteps % 2;
    nextA.put(buffers.left[turn]);
    nextB.put(buffers.right[turn]);
    __syncthreads();
    if (step + kSteps < k) {
      nextA.fetch(a, firstRow, step + kSteps, m, k);
      nextB.fetch(b, firstColumn, step + kSteps, n, k);
    }
    for (int half = 0; half < kSteps && step + half < k;
         half += TileCell<Element>::kDepth) {
      unsigned right[4][2];
      for (int c = 0; c < 2; ++c)
        loadRight<Right, B::isAlongK>(right + 2 * c, buffers.right[turn],
                                      column + 16 * c, half);
      for (int r = 0; r < kBands; ++r) {
        unsigned left[4];
        loadLeft<Left, A::isAlongK>(left, buffers.left[turn], row + 16 * r,
                                    half);
        for (int c = 0; c < 4; ++c)
          multiplyTile<Element>(sum[r][c], left, right[c]);
      }
    }
  }
  // Eight neighbours of a row to one lane: through shared memory, band by band.
  constexpr int kLength = 40;
  float *band = sharedMemory<float>() + warp * 16 * kLength;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kBands; ++r) {
    for (int c = 0; c < 4; ++c)
      for (int e = 0; e < 4; ++e)
        band[(lane / 4 + e / 2 * 8) * kLength + c * 8 + lane % 4 * 2 + e % 2] =
            sum[r][c][e];
    __syncwarp();
    for (int number = lane; number < 64; number += 32) {
      const int i = number / 4, j = number % 4 * 8;
      if (firstRow + row + 16 * r + i < m && firstColumn + column + j < n)
        result.store(
            firstRow + row + 16 * r + i, firstColumn + column + j, n,
            *reinterpret_cast<const Eight<float> *>(band + i * kLength + j));
    }
    __syncwarp();
  }
}
#endif
