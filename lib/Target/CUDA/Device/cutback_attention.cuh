// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention without stored scores (on the CPU target a head at a time:
// lib/Target/CPU/Precompiled/AttentionBlocks.h). A block of 256 threads has 64
// rows of a head (queries; keys for their own gradients) and goes over the
// others 32 at a time. Elements are looked up: q(i, e), k(j, e), v(j, e), and
// bias(i, j), which is -infinity where query i does not look at key j. Each sum
// is one thread's, in the order of elements, keys or queries. `width` elements
// of q and k, `outWidth` of v, at most 64 * kParts.
#pragma once
#include "cutback_product.cuh"

#ifndef CUTBACK_OWN_CALLS

/// A row of `rows` a head, or the first that a block has.
struct AttentionRow {
  int head, row;
};
/// A warp a row.
__device__ inline AttentionRow attentionRow(int rows) {
  const int number = blockIdx.x * 4 + threadIdx.x / 32;
  return {number / rows, number % rows};
}
/// A block for 64 rows.
__device__ inline AttentionRow attentionTile(int rows) {
  const int tiles = (rows + 63) / 64, number = blockIdx.x;
  return {number / tiles, number % tiles * 64};
}

/// Shared memory of a block. A row has room for 32 numbers and four: so eight
/// threads that read 16 bytes of neighboring rows meet all banks once.
struct alignas(16) AttentionBlock {
  static constexpr int kRow = 36;
  float rows[64 * kRow], others[32 * kRow]; ///< 32 elements of each
  float weights[64 * kRow], scores[64 * kRow]; ///< by row, of the others
  float values[32 * 64];                       ///< 64 elements of the others
  float dots[64], logSums[64];
};
static_assert(sizeof(AttentionBlock) == 40960, "what a launch asks for");

/// A thread has four rows of the block's and of the others two, 16 apart.
__device__ inline int attentionLine() { return threadIdx.x / 16 * 4; }
__device__ inline int attentionOther(int c) {
  return threadIdx.x % 16 + c * 16;
}

/// Elements [from, from + kElements) of `kLines` lines: what a thread has of
/// them on their way to shared memory. All are asked for before one is waited
/// for, so none is behind a branch: outside, another one is, and zero is stored.
template <int kLines, int kElements = 32> struct LineSlice {
  static constexpr int kApart = 256 / kElements; ///< lines of a thread
  float x[kLines / kApart];
  template <typename Get>
  __device__ void load(int first, int lines, int from, int width, Get get) {
    const int e = from + threadIdx.x % kElements;
#pragma unroll
    for (int i = 0; i < kLines / kApart; ++i) {
      const int line = first + threadIdx.x / kElements + i * kApart;
      const float found = get(line < lines ? line : lines - 1,
                              e < width ? e : width - 1);
      x[i] = line < lines && e < width ? found : 0.0f;
    }
  }
  /// A line begins `row` numbers behind the one before.
  __device__ void store(float *to, int row = AttentionBlock::kRow) const {
#pragma unroll
    for (int i = 0; i < kLines / kApart; ++i)
      to[(threadIdx.x / kElements + i * kApart) * row +
         threadIdx.x % kElements] = x[i];
  }
};

/// What goes over the same slices besides: nothing.
struct NothingMore {
  __device__ void fill(int) {}
  __device__ void add() {}
};

/// sums += rows by others, over `width` elements in their order.
template <typename Rows, typename Others, typename More = NothingMore>
__device__ inline void rowsByOthers(AttentionBlock &block, float (&sums)[4][2],
                                    int first, int lines, int begin,
                                    int otherLines, int width, Rows rows,
                                    Others others, More &&more = More()) {
  constexpr int kRow = AttentionBlock::kRow;
  LineSlice<64> rowSlice;
  LineSlice<32> otherSlice;
  rowSlice.load(first, lines, 0, width, rows);
  otherSlice.load(begin, otherLines, 0, width, others);
  for (int from = 0; from < width; from += 32) {
    __syncthreads();
    rowSlice.store(block.rows);
    otherSlice.store(block.others);
    more.fill(from);
    __syncthreads();
    if (from + 32 < width) {
      rowSlice.load(first, lines, from + 32, width, rows);
      otherSlice.load(begin, otherLines, from + 32, width, others);
    }
    more.add();
    const int steps = width - from < 32 ? width - from : 32;
#pragma unroll 2
    for (int e = 0; e < steps; e += 4) {
      Four<float> row[4], other[2];
      for (int i = 0; i < 4; ++i)
        row[i] = load4(block.rows + (attentionLine() + i) * kRow + e);
      for (int c = 0; c < 2; ++c)
        other[c] = load4(block.others + attentionOther(c) * kRow + e);
#pragma unroll
      for (int x = 0; x < 4; ++x)
        for (int i = 0; i < 4; ++i)
          for (int c = 0; c < 2; ++c)
            sums[i][c] = fmaf(row[i][x], other[c][x], sums[i][c]);
    }
  }
}

/// Of a thread's rows, four neighbors of each 64 elements.
template <int kParts> using HeldRows = float[kParts][4][4];

/// held += factors values: of `count` others, in their order.
template <int kParts, typename Get>
__device__ inline void addOthers(AttentionBlock &block, HeldRows<kParts> &held,
                                 const float *factors, int begin, int count,
                                 int width, Get get) {
  const int column = threadIdx.x % 16 * 4;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    LineSlice<32, 64> slice;
    slice.load(begin, begin + count, part * 64, width, get);
    __syncthreads();
    slice.store(block.values, 64);
    __syncthreads();
#pragma unroll 2
    for (int other = 0; other < count; other += 4) {
      Four<float> factor[4];
      for (int i = 0; i < 4; ++i)
        factor[i] = load4(factors +
                          (attentionLine() + i) * AttentionBlock::kRow + other);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const Four<float> value = load4(block.values + (other + x) * 64 + column);
        for (int i = 0; i < 4; ++i)
          for (int e = 0; e < 4; ++e)
            held[part][i][e] = fmaf(factor[i][x], value[e], held[part][i][e]);
      }
    }
  }
}

/// `put(row, e, x)` of all that is held inside.
template <int kParts, typename Put>
__device__ inline void putHeld(const HeldRows<kParts> &held, int first,
                               int lines, int width, Put put) {
#pragma unroll
  for (int part = 0; part < kParts; ++part)
    for (int i = 0; i < 4; ++i)
      for (int x = 0; x < 4; ++x) {
        const int row = first + attentionLine() + i;
        const int e = part * 64 + threadIdx.x % 16 * 4 + x;
        if (row < lines && e < width)
          put(row, e, held[part][i][x]);
      }
}

/// Queries [first, first + 64), of `queries`: keys [0, ends), 32 at a time, with
/// a running maximum. No query of the block looks at keys from `ends` on.
template <int kParts, typename Q, typename K, typename V, typename Bias,
          typename Out, typename LogSum>
__device__ inline void attend(int first, int queries, int keys, int ends,
                              int width, int outWidth, float scale, Q q, K k,
                              V v, Bias bias, Out out, LogSum logSum) {
  auto &block = *sharedMemory<AttentionBlock>();
  // A warp has eight rows, of which each lane has a key.
  const int lane = laneOf(), warpRow = threadIdx.x / 32 * 8;
  float largest[8], sum[8] = {};
  for (int r = 0; r < 8; ++r)
    largest[r] = lowest();
  HeldRows<kParts> held = {};
#pragma unroll 1
  for (int begin = 0; begin < ends; begin += 32) {
    float sums[4][2] = {};
    rowsByOthers(block, sums, first, queries, begin, keys, width, q, k);
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 2; ++c) {
        const int i = first + attentionLine() + r;
        const int j = begin + attentionOther(c);
        block.weights[(attentionLine() + r) * AttentionBlock::kRow +
                      attentionOther(c)] =
            i < queries && j < keys ? sums[r][c] * scale + bias(i, j)
                                    : lowest();
      }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      float &of = block.weights[(warpRow + r) * AttentionBlock::kRow + lane];
      const float score = of;
      const float next = fmaxf(largest[r], warpReduce(Max(), score));
      const float shrink =
          largest[r] == next ? 1.0f : expOf(largest[r] - next);
      const float weight = score == lowest() ? 0.0f : expOf(score - next);
      sum[r] = sum[r] * shrink + warpReduce(Sum(), weight);
      largest[r] = next;
      of = weight;
      if (lane == 0)
        block.dots[warpRow + r] = shrink;
    }
    __syncwarp();
    for (int i = 0; i < 4; ++i) {
      const float shrink = block.dots[attentionLine() + i];
      for (int part = 0; part < kParts; ++part)
        for (int e = 0; e < 4; ++e)
          held[part][i][e] = held[part][i][e] * shrink;
    }
    addOthers<kParts>(block, held, block.weights, begin,
                      keys - begin < 32 ? keys - begin : 32, outWidth, v);
  }
  __syncwarp();
  for (int r = 0; r < 8; ++r)
    if (lane == 0) {
      block.dots[warpRow + r] = sum[r];
      if (first + warpRow + r < queries)
        logSum(first + warpRow + r,
               sum[r] == 0.0f ? lowest() : largest[r] + logOf(sum[r]));
    }
  __syncwarp();
  for (int i = 0; i < 4; ++i) {
    const float all = block.dots[attentionLine() + i];
    for (int part = 0; part < kParts; ++part)
      for (int e = 0; e < 4; ++e)
        held[part][i][e] = all == 0.0f ? 0.0f : held[part][i][e] / all;
  }
  putHeld<kParts>(held, first, queries, outWidth, out);
}

/// Of query i and key j: the weight, and the gradient of the score, from the
/// score and the gradient of the weight.
struct ScoreGradient {
  float weight, score;
};
__device__ inline ScoreGradient scoreGradient(float score, float dWeight,
                                              float logSum, float dot) {
  if (logSum == lowest() || score == lowest())
    return {0.0f, 0.0f};
  const float weight = expOf(score - logSum);
  return {weight, weight * (dWeight - dot)};
}

/// Gradient of queries [first, first + 64).
template <int kParts, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DQ>
__device__ inline void attendQueryGradient(int first, int queries, int keys,
                                           int ends, int width, int outWidth,
                                           float scale, Q q, K k, V v,
                                           Bias bias, DOut dOut, Out out,
                                           LogSum logSum, DQ dQ) {
  constexpr int kRow = AttentionBlock::kRow;
  auto &block = *sharedMemory<AttentionBlock>();
  const int thread = threadIdx.x;
  float dot = 0;
  for (int from = 0; from < outWidth; from += 32) {
    LineSlice<64> gradients, results;
    gradients.load(first, queries, from, outWidth, dOut);
    results.load(first, queries, from, outWidth, out);
    __syncthreads();
    gradients.store(block.rows);
    results.store(block.weights);
    __syncthreads();
    for (int e = 0; thread < 64 && e < 32 && from + e < outWidth; ++e)
      dot = fmaf(block.rows[thread * kRow + e],
                 block.weights[thread * kRow + e], dot);
  }
  if (thread < 64) {
    block.dots[thread] = dot;
    block.logSums[thread] =
        first + thread < queries ? logSum(first + thread) : lowest();
  }
  HeldRows<kParts> held = {};
#pragma unroll 1
  for (int begin = 0; begin < ends; begin += 32) {
    float sums[4][2] = {}, grads[4][2] = {};
    rowsByOthers(block, sums, first, queries, begin, keys, width, q, k);
    rowsByOthers(block, grads, first, queries, begin, keys, outWidth, dOut, v);
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 2; ++c) {
        const int row = attentionLine() + r, other = attentionOther(c);
        const int i = first + row, j = begin + other;
        const float score = i < queries && j < keys
                                ? sums[r][c] * scale + bias(i, j)
                                : lowest();
        block.scores[row * kRow + other] =
            scoreGradient(score, grads[r][c], block.logSums[row],
                          block.dots[row])
                .score;
      }
    addOthers<kParts>(block, held, block.scores, begin,
                      keys - begin < 32 ? keys - begin : 32, width, k);
  }
  putHeld<kParts>(held, first, queries, width,
                  [=](int i, int e, float x) { dQ(i, e, x * scale); });
}

/// Sums over e of dOut(i, e) out(i, e) of the 32 others: the last warp has a
/// query a lane. `out` lies where weights will.
template <typename Out> struct DotOfQueries {
  AttentionBlock &block;
  int begin, queries, width;
  Out out;
  float sum = 0;
  __device__ void fill(int from) {
    LineSlice<32> slice;
    slice.load(begin, queries, from, width, out);
    slice.store(block.weights);
  }
  __device__ void add() {
    if (threadIdx.x < 224)
      return;
    const int line = laneOf() * AttentionBlock::kRow;
#pragma unroll
    for (int e = 0; e < 32; e += 4) {
      const Four<float> gradient = load4(block.others + line + e);
      const Four<float> result = load4(block.weights + line + e);
      for (int x = 0; x < 4; ++x)
        sum = fmaf(gradient[x], result[x], sum);
    }
  }
};

/// Gradients of keys and values [first, first + 64): queries [starts, queries),
/// 32 at a time. No query in front of `starts` looks at a key of the block.
template <int kParts, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DK,
          typename DV>
__device__ inline void attendKeyGradient(int first, int keys, int queries,
                                         int starts, int width, int outWidth,
                                         float scale, Q q, K k, V v, Bias bias,
                                         DOut dOut, Out out, LogSum logSum,
                                         DK dK, DV dV) {
  constexpr int kRow = AttentionBlock::kRow;
  auto &block = *sharedMemory<AttentionBlock>();
  const int thread = threadIdx.x;
  HeldRows<kParts> heldK = {}, heldV = {};
#pragma unroll 1
  for (int begin = starts; begin < queries; begin += 32) {
    float sums[4][2] = {}, grads[4][2] = {};
    rowsByOthers(block, sums, first, keys, begin, queries, width, k, q);
    DotOfQueries<Out> dot{block, begin, queries, outWidth, out};
    rowsByOthers(block, grads, first, keys, begin, queries, outWidth, v, dOut,
                 dot);
    if (thread >= 224)
      block.dots[thread - 224] = dot.sum;
    if (thread < 32)
      block.logSums[thread] =
          begin + thread < queries ? logSum(begin + thread) : lowest();
    __syncthreads();
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 2; ++c) {
        const int row = attentionLine() + r, other = attentionOther(c);
        const int i = begin + other, j = first + row;
        const float score = i < queries && j < keys
                                ? sums[r][c] * scale + bias(i, j)
                                : lowest();
        const ScoreGradient both = scoreGradient(
            score, grads[r][c], block.logSums[other], block.dots[other]);
        block.weights[row * kRow + other] = both.weight;
        block.scores[row * kRow + other] = both.score;
      }
    const int count = queries - begin < 32 ? queries - begin : 32;
    addOthers<kParts>(block, heldV, block.weights, begin, count, outWidth,
                      dOut);
    addOthers<kParts>(block, heldK, block.scores, begin, count, width, q);
  }
  putHeld<kParts>(heldK, first, keys, width,
                  [=](int j, int e, float x) { dK(j, e, x * scale); });
  putHeld<kParts>(heldV, first, keys, outWidth, dV);
}

/// Gradient of the bias of query i, a warp: that of its scores.
template <typename Q, typename K, typename V, typename Bias, typename DOut,
          typename Out, typename LogSum, typename DBias>
__device__ inline void attendBiasGradient(int i, int queries, int keys,
                                          int width, int outWidth, float scale,
                                          Q q, K k, V v, Bias bias, DOut dOut,
                                          Out out, LogSum logSum, DBias dBias) {
  float dot = 0;
  for (int e = 0; e < outWidth; ++e)
    dot = fmaf(dOut(i, e), out(i, e), dot);
  for (int j = laneOf(); j < keys; j += 32) {
    float sum = 0, dWeight = 0;
    for (int e = 0; e < width; ++e)
      sum = fmaf(q(i, e), k(j, e), sum);
    for (int e = 0; e < outWidth; ++e)
      dWeight = fmaf(dOut(i, e), v(j, e), dWeight);
    dBias(i, j,
          scoreGradient(sum * scale + bias(i, j), dWeight, logSum(i), dot)
              .score);
  }
}
#endif
