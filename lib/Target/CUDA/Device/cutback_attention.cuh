// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, a warp a row, no stored scores (on the CPU target a head at a
// time: lib/Target/CPU/Precompiled/AttentionBlocks.h). Elements are looked up:
// q(i, e), k(j, e), v(j, e), and bias(i, j), which is -infinity where query i
// does not look at key j. `width` elements of q and k, `outWidth` of v, at most
// 32 * kHeld.
#pragma once
#include "cutback_product.cuh"

#ifndef CUTBACK_OWN_CALLS

/// The row that a warp has, of `rows` a head.
struct AttentionRow {
  int head, row;
};
__device__ inline AttentionRow attentionRow(int rows) {
  const int number = blockIdx.x * 4 + threadIdx.x / 32;
  return {number / rows, number % rows};
}

/// Scaled score of query i and key j: one lane alone.
template <typename Q, typename K, typename Bias>
__device__ inline float attentionScore(int i, int j, int width, float scale,
                                       Q q, K k, Bias bias) {
  float sum = 0;
  for (int e = 0; e < width; ++e)
    sum = fmaf(q(i, e), k(j, e), sum);
  return sum * scale + bias(i, j);
}

/// Query i, of `queries`: keys [0, keys), 32 at a time, with a running maximum.
template <int kHeld, typename Q, typename K, typename V, typename Bias,
          typename Out, typename LogSum>
__device__ inline void attend(int i, int queries, int keys, int width,
                              int outWidth, float scale, Q q, K k, V v,
                              Bias bias, Out out, LogSum logSum) {
  const int lane = laneOf();
  float largest = lowest(), sum = 0, held[kHeld] = {};
  for (int first = 0; first < keys; first += 32) {
    const int j = first + lane;
    const float score =
        j < keys ? attentionScore(i, j, width, scale, q, k, bias) : lowest();
    const float next = fmaxf(largest, warpReduce(Max(), score));
    const float shrink = largest == next ? 1.0f : expOf(largest - next);
    const float weight = score == lowest() ? 0.0f : expOf(score - next);
    sum = sum * shrink + warpReduce(Sum(), weight);
    for (int h = 0; h < kHeld; ++h)
      held[h] = held[h] * shrink;
    for (int other = 0; other < 32 && first + other < keys; ++other) {
      const float w = fromLane(weight, other);
      for (int h = 0; h < kHeld; ++h)
        if (h * 32 + lane < outWidth)
          held[h] = fmaf(w, v(first + other, h * 32 + lane), held[h]);
    }
    largest = next;
  }
  for (int h = 0; h < kHeld; ++h)
    if (h * 32 + lane < outWidth)
      out(i, h * 32 + lane, sum == 0.0f ? 0.0f : held[h] / sum);
  if (lane == 0)
    logSum(i, sum == 0.0f ? lowest() : largest + logOf(sum));
}

/// Of query i and key j: the weight, and the gradient of the score.
struct ScoreGradient {
  float weight, score;
};
template <typename Q, typename K, typename V, typename Bias, typename DOut>
__device__ inline ScoreGradient
scoreGradient(int i, int j, int width, int outWidth, float scale, float logSum,
              float dot, Q q, K k, V v, Bias bias, DOut dOut) {
  const float score = attentionScore(i, j, width, scale, q, k, bias);
  if (logSum == lowest() || score == lowest())
    return {0.0f, 0.0f};
  const float weight = expOf(score - logSum);
  float dWeight = 0;
  for (int e = 0; e < outWidth; ++e)
    dWeight = fmaf(dOut(i, e), v(j, e), dWeight);
  return {weight, weight * (dWeight - dot)};
}
/// The sum over e of dOut(i, e) out(i, e): one lane alone.
template <typename DOut, typename Out>
__device__ inline float gradientDot(int i, int outWidth, DOut dOut, Out out) {
  float dot = 0;
  for (int e = 0; e < outWidth; ++e)
    dot = fmaf(dOut(i, e), out(i, e), dot);
  return dot;
}

/// Gradient of query i.
template <int kHeld, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DQ>
__device__ inline void attendQueryGradient(int i, int queries, int keys,
                                           int width, int outWidth, float scale,
                                           Q q, K k, V v, Bias bias, DOut dOut,
                                           Out out, LogSum logSum, DQ dQ) {
  const int lane = laneOf();
  const float dot = gradientDot(i, outWidth, dOut, out);
  float held[kHeld] = {};
  for (int first = 0; first < keys; first += 32) {
    const int j = first + lane;
    const float score = j < keys
                            ? scoreGradient(i, j, width, outWidth, scale,
                                            logSum(i), dot, q, k, v, bias, dOut)
                                  .score
                            : 0.0f;
    for (int other = 0; other < 32 && first + other < keys; ++other) {
      const float w = fromLane(score, other);
      for (int h = 0; h < kHeld; ++h)
        if (h * 32 + lane < width)
          held[h] = fmaf(w, k(first + other, h * 32 + lane), held[h]);
    }
  }
  for (int h = 0; h < kHeld; ++h)
    if (h * 32 + lane < width)
      dQ(i, h * 32 + lane, held[h] * scale);
}

/// Gradients of key and value j: queries [0, queries), 32 at a time.
template <int kHeld, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DK,
          typename DV>
__device__ inline void attendKeyGradient(int j, int keys, int queries,
                                         int width, int outWidth, float scale,
                                         Q q, K k, V v, Bias bias, DOut dOut,
                                         Out out, LogSum logSum, DK dK, DV dV) {
  const int lane = laneOf();
  float heldK[kHeld] = {}, heldV[kHeld] = {};
  for (int first = 0; first < queries; first += 32) {
    const int i = first + lane;
    ScoreGradient mine = {0.0f, 0.0f};
    if (i < queries)
      mine = scoreGradient(i, j, width, outWidth, scale, logSum(i),
                           gradientDot(i, outWidth, dOut, out), q, k, v, bias,
                           dOut);
    for (int other = 0; other < 32 && first + other < queries; ++other) {
      const float score = fromLane(mine.score, other);
      const float weight = fromLane(mine.weight, other);
      for (int h = 0; h < kHeld; ++h) {
        const int e = h * 32 + lane;
        if (e < width)
          heldK[h] = fmaf(score, q(first + other, e), heldK[h]);
        if (e < outWidth)
          heldV[h] = fmaf(weight, dOut(first + other, e), heldV[h]);
      }
    }
  }
  for (int h = 0; h < kHeld; ++h) {
    const int e = h * 32 + lane;
    if (e < width)
      dK(j, e, heldK[h] * scale);
    if (e < outWidth)
      dV(j, e, heldV[h]);
  }
}

/// Gradient of the bias of query i: that of its scores.
template <int kHeld, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DBias>
__device__ inline void attendBiasGradient(int i, int queries, int keys,
                                          int width, int outWidth, float scale,
                                          Q q, K k, V v, Bias bias, DOut dOut,
                                          Out out, LogSum logSum, DBias dBias) {
  const float dot = gradientDot(i, outWidth, dOut, out);
  for (int j = laneOf(); j < keys; j += 32)
    dBias(i, j,
          scoreGradient(i, j, width, outWidth, scale, logSum(i), dot, q, k, v,
                        bias, dOut)
              .score);
}
#endif
