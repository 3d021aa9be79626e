// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of rows that indices name, in the order of the indices; bags of indices;
// orders.
#pragma once
#include "cutback_reduce.cuh"

#ifndef CUTBACK_OWN_CALLS // a CPU has others

/// The row that a warp of four a block sums.
__device__ inline int rowOfWarp() { return blockIdx.x * 4 + threadIdx.x / 32; }

/// Adds the rows whose bits are set, in their order, four columns a lane. All of
/// up to eight are asked for before the first is added.
template <typename T, typename Row>
__device__ inline void addRows(T (&sum)[4], unsigned rows, int first, int width,
                               int column, Row row) {
  while (rows) {
    const int count = __popc(rows) < 8 ? __popc(rows) : 8;
    T found[8][4];
    int number = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < count)
        number = first + __ffs(int(rows)) - 1;
      rows = i < count ? rows & (rows - 1) : rows;
#pragma unroll
      for (int part = 0; part < 4; ++part)
        found[i][part] = column + part * 32 < width && i < count
                             ? row(number, column + part * 32)
                             : T(0);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      for (int part = 0; part < 4; ++part)
        sum[part] = i < count ? sum[part] + found[i][part] : sum[part];
  }
}

/// Of the rows [0, count) those that are `isMine`: their sum, 128 columns from
/// blockIdx.y * 128 on, by one warp.
template <typename T, typename IsMine, typename Row, typename Store>
__device__ inline void sumRows(int count, int width, IsMine isMine, Row row,
                               Store store) {
  const int lane = laneOf(), column = blockIdx.y * 128 + lane;
  T sum[4] = {};
  for (int first = 0; first < count; first += 32) {
    const bool mine = first + lane < count && isMine(first + lane);
    addRows(sum, __ballot_sync(~0u, mine), first, width, column, row);
  }
  for (int part = 0; part < 4; ++part)
    if (column + part * 32 < width)
      store(column + part * 32, sum[part]);
}

/// How many of [0, count) are `isMine`: for all lanes of the warp.
template <typename IsMine>
__device__ inline int countRows(int count, IsMine isMine) {
  int mine = 0;
  for (int number = laneOf(); number < count; number += 32)
    mine += isMine(number);
  return warpReduce(Sum(), mine);
}

/// The sum of all places of all images, by one warp: lane by lane, then of the
/// lanes.
template <typename T, typename Value, typename Store>
__device__ inline void sumPlaces(int images, int places, Value value,
                                 Store store) {
  T sum = 0;
  for (int number = laneOf(); number < images * places; number += 32)
    sum += value(number / places, number % places);
  sum = warpReduce(Sum(), sum);
  if (laneOf() == 0)
    store(sum);
}
#endif

/// Which of `count` bags, that begin at offset(0) <= offset(1) <= ..., has
/// index `number`: the last that begins there or before.
template <typename Offset>
__device__ inline int bagOf(int count, int number, Offset offset) {
  int bag = 0;
  for (int end = count; end - bag > 1;) {
    const int middle = (bag + end) / 2;
    if (offset(middle) <= number)
      bag = middle;
    else
      end = middle;
  }
  return bag;
}

/// Whether `a`, which is number `i`, comes in front of `b`, number `j`: NaN is
/// the greatest, the first of equals comes first.
template <bool isFalling, typename T>
__device__ inline bool isBefore(T a, int i, T b, int j) {
  const bool aIsNan = a != a, bIsNan = b != b;
  if (aIsNan || bIsNan ? aIsNan == bIsNan : a == b)
    return i < j;
  const bool isGreater = aIsNan || (!bIsNan && a > b);
  return isGreater == isFalling;
}

/// log(exp(a) + exp(b)), which does not overflow.
template <typename T> __device__ inline T addPowers(T a, T b) {
  if (a != a || b != b)
    return a + b;
  const T high = Max()(a, b), low = Min()(a, b);
  return high - low == high - low
             ? high + T(log1p(exp(double(low) - double(high))))
             : high;
}

/// How many of a row that rises come in front of `value`, and with `isRight`
/// those that are equal too. What is not
/// comparable (NaN) comes in front too, as in PyTorch, whose middles these are.
template <bool isRight, typename T, typename Read>
__device__ inline int placeIn(int count, T value, Read read) {
  int begin = 0;
  for (int end = count; begin < end;) {
    const int middle = begin + (end - begin) / 2;
    const T at = T(read(middle));
    if (!(isRight ? at > value : at >= value))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// A block of 256 threads has `perBlock` of [0, count), a multiple of 256: for
/// each `number` whether it isTrue, and how many in front of it are.
template <typename IsTrue, typename Use>
__device__ inline void rankTrue(int count, int perBlock, IsTrue isTrue,
                                Use use) {
  int *counts = sharedMemory<int>();
  const int warp = threadIdx.x / 32, first = blockIdx.x * perBlock;
  int before = 0;
  for (int number = threadIdx.x; number < first; number += 256)
    before += isTrue(number);
  before = blockReduce<8>(Sum(), before, counts);
  for (int tile = first; tile < first + perBlock && tile < count; tile += 256) {
    const int number = tile + threadIdx.x;
    const bool mine = number < count && isTrue(number);
    const unsigned ofWarp = __ballot_sync(~0u, mine);
    __syncthreads();
    if (laneOf() == 0)
      counts[warp] = __popc(ofWarp);
    __syncthreads();
    int rank = before + __popc(ofWarp & ((1u << laneOf()) - 1));
    for (int other = 0; other < 8; ++other) {
      rank += other < warp ? counts[other] : 0;
      before += counts[other];
    }
    if (number < count)
      use(number, mine, rank);
  }
}
