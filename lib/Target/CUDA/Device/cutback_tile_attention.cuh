// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of 16-bit floats on tensor cores: a block of 128 threads has 64
// rows (queries; keys for their own gradients), 16 a warp, and goes over the
// others kOthers at a time. Scores stay in registers; weights and gradients of
// scores are rounded to 16 bits where they are factors. kWidth: elements of a
// head, up to the next 16; both heads are filled up with zeros.
#pragma once
#include "cutback_attention.cuh"
#include "cutback_tile.cuh"

#ifndef CUTBACK_OWN_CALLS

/// Rows of both operands in shared memory, 16 bytes apart in their banks.
template <int kWidth, int kOthers> struct alignas(16) AttentionTiles {
  static constexpr int kRow = kWidth + 8;
  unsigned short rows[2][64 * kRow], others[2][kOthers * kRow];
  float dots[kOthers];
};
template <int kWidth> struct AlongRow {
  __device__ static int at(int line, int k) { return line * (kWidth + 8) + k; }
};
template <int kWidth> struct AlongColumn {
  __device__ static int at(int line, int k) { return k * (kWidth + 8) + line; }
};

/// `kLines` rows of an operand from `first` on.
template <int kWidth, int kLines, typename Operand>
__device__ inline void fillRows(unsigned short *to, const Operand &operand,
                                int first, int lines, int width) {
  for (int number = threadIdx.x; number < kLines * kWidth / 8; number += 128) {
    const int line = number / (kWidth / 8), e = number % (kWidth / 8) * 8;
    *reinterpret_cast<Eight<typename Operand::Element> *>(
        to + AlongRow<kWidth>::at(line, e)) =
        operand.eight(first + line, e, lines, width);
  }
}

/// Of the warp's 16 rows and the others: the sums over elements.
template <typename T, int kWidth, int kOthers>
__device__ inline void rowsByOthers(float (&sums)[kOthers / 8][4],
                                    const unsigned short *rows,
                                    const unsigned short *others) {
  const int row = threadIdx.x / 32 * 16;
  for (int c = 0; c < kOthers / 8; ++c)
    for (int e = 0; e < 4; ++e)
      sums[c][e] = 0;
#pragma unroll
  for (int k = 0; k < kWidth; k += 16) {
    unsigned left[4], right[2][2];
    loadLeft<AlongRow<kWidth>, true>(left, rows, row, k);
    for (int c = 0; c < kOthers; c += 16) {
      loadRight<AlongRow<kWidth>, true>(right, others, c, k);
      multiplyTile<T>(sums[c / 8], left, right[0]);
      multiplyTile<T>(sums[c / 8 + 1], left, right[1]);
    }
  }
}

template <typename T>
__device__ inline unsigned pairOf(float first, float second) {
  return to<T>(first).bits | unsigned(to<T>(second).bits) << 16;
}
/// sums += factors others: 16 rows by the others, these by their elements.
template <typename T, int kWidth, int kOthers>
__device__ inline void addOthers(float (&sums)[kWidth / 8][4],
                                 const float (&factors)[kOthers / 8][4],
                                 const unsigned short *others) {
#pragma unroll
  for (int k = 0; k < kOthers; k += 16) {
    const float (&first)[4] = factors[k / 8], (&second)[4] = factors[k / 8 + 1];
    const unsigned left[4] = {
        pairOf<T>(first[0], first[1]), pairOf<T>(first[2], first[3]),
        pairOf<T>(second[0], second[1]), pairOf<T>(second[2], second[3])};
    unsigned right[2][2];
    for (int e = 0; e < kWidth; e += 16) {
      loadRight<AlongColumn<kWidth>, false>(right, others, e, k);
      multiplyTile<T>(sums[e / 8], left, right[0]);
      multiplyTile<T>(sums[e / 8 + 1], left, right[1]);
    }
  }
}

/// Which row, of the block's, and which of the others element `e` of part `c`
/// is.
__device__ inline int tileRow(int e) {
  return threadIdx.x / 32 * 16 + laneOf() / 4 + e / 2 * 8;
}
__device__ inline int tileColumn(int c, int e) {
  return c * 8 + laneOf() % 4 * 2 + e % 2;
}
/// Over the four lanes that have a row.
template <typename Combine>
__device__ inline float acrossRow(Combine combine, float x) {
  return warpReduce(combine, x, 4);
}

/// `put(row, e, x)` of all sums inside.
template <int kWidth, typename Put>
__device__ inline void putRows(const float (&sums)[kWidth / 8][4], int first,
                               int lines, int width, Put put) {
  for (int c = 0; c < kWidth / 8; ++c)
    for (int e = 0; e < 4; ++e)
      if (first + tileRow(e) < lines && tileColumn(c, e) < width)
        put(first + tileRow(e), tileColumn(c, e), sums[c][e]);
}

/// Queries [first, first + 64): keys [0, keys), with a running maximum. `ends`:
/// no query of the block looks at keys from there on.
template <int kWidth, int kOthers, typename Q, typename K, typename V,
          typename Bias, typename Out, typename LogSum>
__device__ inline void tileAttend(int first, int queries, int keys, int ends,
                                  int width, int outWidth, float scale,
                                  const Q &q, const K &k, const V &v, Bias bias,
                                  Out out, LogSum logSum) {
  using T = typename Q::Element;
  auto &tiles = *sharedMemory<AttentionTiles<kWidth, kOthers>>();
  float held[kWidth / 8][4] = {}, largest[2] = {lowest(), lowest()},
                      sum[2] = {};
  fillRows<kWidth, 64>(tiles.rows[0], q, first, queries, width);
#pragma unroll 1
  for (int begin = 0; begin < ends; begin += kOthers) {
    __syncthreads();
    fillRows<kWidth, kOthers>(tiles.others[0], k, begin, keys, width);
    fillRows<kWidth, kOthers>(tiles.others[1], v, begin, keys, outWidth);
    __syncthreads();
    float weights[kOthers / 8][4], next[2] = {largest[0], largest[1]},
                                   more[2] = {};
    rowsByOthers<T, kWidth, kOthers>(weights, tiles.rows[0], tiles.others[0]);
    for (int c = 0; c < kOthers / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        const int i = first + tileRow(e), j = begin + tileColumn(c, e);
        weights[c][e] = i < queries && j < keys
                            ? weights[c][e] * scale + bias(i, j)
                            : lowest();
        next[e / 2] = fmaxf(next[e / 2], weights[c][e]);
      }
    for (int half = 0; half < 2; ++half)
      next[half] = acrossRow(Max(), next[half]);
    for (int c = 0; c < kOthers / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        weights[c][e] = weights[c][e] == lowest()
                            ? 0.0f
                            : expOf(weights[c][e] - next[e / 2]);
        more[e / 2] += weights[c][e];
      }
    for (int half = 0; half < 2; ++half) {
      const float shrink = largest[half] == next[half]
                               ? 1.0f
                               : expOf(largest[half] - next[half]);
      sum[half] = sum[half] * shrink + acrossRow(Sum(), more[half]);
      largest[half] = next[half];
      for (int c = 0; c < kWidth / 8; ++c)
        for (int e = 0; e < 2; ++e)
          held[c][half * 2 + e] = held[c][half * 2 + e] * shrink;
    }
    addOthers<T, kWidth, kOthers>(held, weights, tiles.others[1]);
  }
  for (int c = 0; c < kWidth / 8; ++c)
    for (int e = 0; e < 4; ++e)
      held[c][e] = sum[e / 2] == 0.0f ? 0.0f : held[c][e] / sum[e / 2];
  putRows<kWidth>(held, first, queries, outWidth, out);
  for (int half = 0; half < 2; ++half)
    if (laneOf() % 4 == 0 && first + tileRow(half * 2) < queries)
      logSum(first + tileRow(half * 2),
             sum[half] == 0.0f ? lowest() : largest[half] + logOf(sum[half]));
}

/// From scores and what weights are multiplied with: weights, gradients of
/// scores.
__device__ inline void scoreGradients(float &weight, float &score, float logSum,
                                      float dot) {
  const bool isSeen = logSum != lowest() && weight != lowest();
  weight = isSeen ? expOf(weight - logSum) : 0.0f;
  score = isSeen ? weight * (score - dot) : 0.0f;
}

/// Gradient of queries [first, first + 64).
template <int kWidth, int kOthers, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename Out, typename LogSum,
          typename DQ>
__device__ inline void
tileQueryGradient(int first, int queries, int keys, int ends, int width,
                  int outWidth, float scale, const Q &q, const K &k, const V &v,
                  Bias bias, const DOut &dOut, Out out, LogSum logSum, DQ dQ) {
  using T = typename Q::Element;
  auto &tiles = *sharedMemory<AttentionTiles<kWidth, kOthers>>();
  float held[kWidth / 8][4] = {}, dots[2] = {}, logSums[2] = {};
  fillRows<kWidth, 64>(tiles.rows[0], q, first, queries, width);
  fillRows<kWidth, 64>(tiles.rows[1], dOut, first, queries, outWidth);
  for (int half = 0; half < 2; ++half) {
    const int i = first + tileRow(half * 2);
    for (int e = laneOf() % 4; i < queries && e < outWidth; e += 4)
      dots[half] = fmaf(toFloat(dOut.get(i, e)), out(i, e), dots[half]);
    dots[half] = acrossRow(Sum(), dots[half]);
    logSums[half] = i < queries ? logSum(i) : lowest();
  }
#pragma unroll 1
  for (int begin = 0; begin < ends; begin += kOthers) {
    __syncthreads();
    fillRows<kWidth, kOthers>(tiles.others[0], k, begin, keys, width);
    fillRows<kWidth, kOthers>(tiles.others[1], v, begin, keys, outWidth);
    __syncthreads();
    float weights[kOthers / 8][4], scores[kOthers / 8][4];
    rowsByOthers<T, kWidth, kOthers>(weights, tiles.rows[0], tiles.others[0]);
    rowsByOthers<T, kWidth, kOthers>(scores, tiles.rows[1], tiles.others[1]);
    for (int c = 0; c < kOthers / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        const int i = first + tileRow(e), j = begin + tileColumn(c, e);
        weights[c][e] = i < queries && j < keys
                            ? weights[c][e] * scale + bias(i, j)
                            : lowest();
        scoreGradients(weights[c][e], scores[c][e], logSums[e / 2],
                       dots[e / 2]);
      }
    addOthers<T, kWidth, kOthers>(held, scores, tiles.others[0]);
  }
  putRows<kWidth>(held, first, queries, width,
                  [=](int i, int e, float x) { dQ(i, e, x * scale); });
}

/// Gradients of keys and values [first, first + 64): queries [starts, queries).
template <int kWidth, int kOthers, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename Out, typename LogSum,
          typename DK, typename DV>
__device__ inline void tileKeyGradient(int first, int keys, int queries,
                                       int starts, int width, int outWidth,
                                       float scale, const Q &q, const K &k,
                                       const V &v, Bias bias, const DOut &dOut,
                                       Out out, LogSum logSum, DK dK, DV dV) {
  using T = typename Q::Element;
  auto &tiles = *sharedMemory<AttentionTiles<kWidth, kOthers>>();
  float heldK[kWidth / 8][4] = {}, heldV[kWidth / 8][4] = {};
  fillRows<kWidth, 64>(tiles.rows[0], k, first, keys, width);
  fillRows<kWidth, 64>(tiles.rows[1], v, first, keys, outWidth);
#pragma unroll 1
  for (int begin = starts; begin < queries; begin += kOthers) {
    __syncthreads();
    fillRows<kWidth, kOthers>(tiles.others[0], q, begin, queries, width);
    fillRows<kWidth, kOthers>(tiles.others[1], dOut, begin, queries, outWidth);
    const int line = threadIdx.x / 4; // four threads a query
    float dot = 0;
    for (int e = threadIdx.x % 4;
         line < kOthers && begin + line < queries && e < outWidth; e += 4)
      dot = fmaf(toFloat(dOut.get(begin + line, e)), out(begin + line, e), dot);
    dot = acrossRow(Sum(), dot);
    if (line < kOthers && threadIdx.x % 4 == 0)
      tiles.dots[line] = dot;
    __syncthreads();
    float weights[kOthers / 8][4], scores[kOthers / 8][4];
    rowsByOthers<T, kWidth, kOthers>(weights, tiles.rows[0], tiles.others[0]);
    rowsByOthers<T, kWidth, kOthers>(scores, tiles.rows[1], tiles.others[1]);
    for (int c = 0; c < kOthers / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        const int j = first + tileRow(e), i = begin + tileColumn(c, e);
        const bool isInside = i < queries && j < keys;
        weights[c][e] =
            isInside ? weights[c][e] * scale + bias(i, j) : lowest();
        scoreGradients(weights[c][e], scores[c][e],
                       isInside ? logSum(i) : lowest(),
                       tiles.dots[tileColumn(c, e)]);
      }
    addOthers<T, kWidth, kOthers>(heldV, weights, tiles.others[1]);
    addOthers<T, kWidth, kOthers>(heldK, scores, tiles.others[0]);
  }
  putRows<kWidth>(heldK, first, keys, width,
                  [=](int j, int e, float x) { dK(j, e, x * scale); });
  putRows<kWidth>(heldV, first, keys, outWidth, dV);
}
#endif
