// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How lanes combine what they have: one order for every length, so that a value
// does not depend on where it is computed. Four neighbours first, then lanes
// that are 16, 8, 4, 2, 1 apart, the lower one on the left; then warps.
#pragma once
#include "cutback_math.cuh"

/// Neighbours of a row: one access of up to 16 bytes.
template <typename T, int n> struct alignas(n * sizeof(T) > 16 ? 16 : n * sizeof(T))
Neighbours {
  T e[n];
  __device__ T &operator[](int i) { return e[i]; }
  __device__ const T &operator[](int i) const { return e[i]; }
};
template <typename T> using Four = Neighbours<T, 4>;
template <typename T> using Two = Neighbours<T, 2>;
template <typename T> using One = Neighbours<T, 1>;
template <typename T> __device__ inline Four<T> load4(const T *from) {
  return *reinterpret_cast<const Four<T> *>(from);
}
template <typename T> __device__ inline Two<T> load2(const T *from) {
  return *reinterpret_cast<const Two<T> *>(from);
}
template <typename T> __device__ inline void store4(T *to, const Four<T> &x) {
  *reinterpret_cast<Four<T> *>(to) = x;
}
template <typename T> __device__ inline void store2(T *to, const Two<T> &x) {
  *reinterpret_cast<Two<T> *>(to) = x;
}
template <typename T> __device__ inline Four<T> all4(T x) {
  return {{x, x, x, x}};
}
template <typename T> __device__ inline Two<T> all2(T x) { return {{x, x}}; }
template <typename T> __device__ inline One<T> all1(T x) { return {{x}}; }

// Nothing; but a compiler does not know that `x` is what it was, and computes
// again what it is for, rather than to hold that in registers, too.
#ifdef __CUDACC__
__device__ inline void asNew(float &x) { asm volatile("" : "+f"(x)); }
__device__ inline void asNew(double &x) { asm volatile("" : "+d"(x)); }
__device__ inline void asNew(int &x) { asm volatile("" : "+r"(x)); }
__device__ inline void asNew(long long &x) { asm volatile("" : "+l"(x)); }
__device__ inline void asNew(bf16 &x) { asm volatile("" : "+h"(x.bits)); }
__device__ inline void asNew(f16 &x) { asm volatile("" : "+h"(x.bits)); }
#endif
template <typename T> __device__ inline void asNew(T &) {}
template <typename T, int n> __device__ inline void asNew(Neighbours<T, n> &x) {
  for (int e = 0; e < n; ++e)
    asNew(x[e]);
}

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
/// NaN if one is.
struct Max {
  template <typename T> __device__ T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};
struct Min {
  template <typename T> __device__ T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};
struct MaxUnsigned {
  template <typename T> __device__ T operator()(T a, T b) const {
    return (unsigned long long)a > (unsigned long long)b ? a : b;
  }
};
struct MinUnsigned {
  template <typename T> __device__ T operator()(T a, T b) const {
    return (unsigned long long)a < (unsigned long long)b ? a : b;
  }
};
struct And {
  template <typename T> __device__ T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct Or {
  template <typename T> __device__ T operator()(T a, T b) const {
    return T(a | b);
  }
};

/// The one that there is.
struct Chosen {
  template <typename T> __device__ T operator()(T a, T b) const {
    return a.at < 0 ? b : a;
  }
};

/// An element and where it stands; at < 0 is none.
template <typename T> struct Best {
  T value;
  long long at;
};
/// The first NaN, else the first of the greatest (or least).
template <bool isLeast> struct Better {
  template <typename T> __device__ Best<T> operator()(Best<T> a, Best<T> b) const {
    if (a.at < 0 || b.at < 0)
      return a.at < 0 ? b : a;
    const bool aIsNan = a.value != a.value, bIsNan = b.value != b.value;
    if (aIsNan || bIsNan)
      return aIsNan && (!bIsNan || a.at < b.at) ? a : b;
    if (a.value == b.value)
      return a.at < b.at ? a : b;
    return (a.value < b.value) == isLeast ? a : b;
  }
};

__device__ inline float fromLane(float x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
__device__ inline double fromLane(double x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
__device__ inline int fromLane(int x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
__device__ inline long long fromLane(long long x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
__device__ inline bool fromLane(bool x, int lane) {
  return __shfl_sync(~0u, int(x), lane) != 0;
}
__device__ inline signed char fromLane(signed char x, int lane) {
  return (signed char)__shfl_sync(~0u, int(x), lane);
}
__device__ inline short fromLane(short x, int lane) {
  return (short)__shfl_sync(~0u, int(x), lane);
}
__device__ inline bf16 fromLane(bf16 x, int lane) {
  return {(unsigned short)__shfl_sync(~0u, int(x.bits), lane)};
}
__device__ inline f16 fromLane(f16 x, int lane) {
  return {(unsigned short)__shfl_sync(~0u, int(x.bits), lane)};
}
template <typename T> __device__ inline Best<T> fromLane(Best<T> x, int lane) {
  return {fromLane(x.value, lane), fromLane(x.at, lane)};
}

__device__ inline int laneOf() { return threadIdx.x % 32; }

/// Over `lanes` lanes (a power of two); all of them get it.
template <typename Combine, typename T>
__device__ inline T warpReduce(Combine combine, T x, int lanes = 32) {
  const int lane = laneOf();
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    const T other = fromLane(x, lane ^ apart);
    x = lane & apart ? combine(other, x) : combine(x, other);
  }
  return x;
}
template <typename Combine, typename T>
__device__ inline T fold4(Combine combine, const Four<T> &x) {
  return combine(combine(x[0], x[1]), combine(x[2], x[3]));
}

/// Over what the block's first warps have, as many as a power of two says.
/// `shared` has room for one element a warp of the block.
template <int warps, typename Combine, typename T>
__device__ inline T blockReduceOfWarps(Combine combine, T x, T *shared) {
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads();
  return warpReduce(combine, shared[threadIdx.x % warps], warps);
}
/// The same of what their threads have.
template <int warps, typename Combine, typename T>
__device__ inline T blockReduce(Combine combine, T x, T *shared) {
  return blockReduceOfWarps<warps>(combine, warpReduce(combine, x), shared);
}

/// Two neighbours of four, or one, over the threads that have the others.
template <typename Combine, typename T, int n>
__device__ inline T foldNeighbours(Combine combine, const Neighbours<T, n> &x) {
  T all = n == 2 ? combine(x[0], x[n - 1]) : x[0];
  const int lane = laneOf();
  for (int apart = 1; apart < 4 / n; apart *= 2) {
    const T other = fromLane(all, lane ^ apart);
    all = lane & apart ? combine(other, all) : combine(all, other);
  }
  return all;
}
/// Over the lanes of a warp that have two neighbours of four each, or one, of a
/// row that is no longer: as warpReduce() where lanes have four.
template <typename Combine, typename T, int n>
__device__ inline T warpReduceOf(Combine combine, const Neighbours<T, n> &x) {
  T all = foldNeighbours(combine, x);
  const int lane = laneOf();
  for (int apart = 16; apart >= 4 / n; apart /= 2) {
    const T other = fromLane(all, lane ^ apart);
    all = lane & apart ? combine(other, all) : combine(all, other);
  }
  return all;
}
/// Over the block's first threads that have two neighbours of four each, or one:
/// as the `fours` threads that have four would do it. `shared` has room for one
/// element each of these.
template <int fours, typename Combine, typename T, int n>
__device__ inline T blockReduceOf(Combine combine, const Neighbours<T, n> &x,
                                  T *shared) {
  T all = foldNeighbours(combine, x);
  const int thread = threadIdx.x;
  __syncthreads();
  if (thread % (4 / n) == 0 && thread < fours * (4 / n))
    shared[thread / (4 / n)] = all;
  __syncthreads();
  all = warpReduce(combine, shared[thread % fours]);
  return fours == 32 ? all : blockReduceOfWarps<fours / 32>(combine, all, shared);
}

/// Over the `rows` threads of a column, in their order: those of warps behind
/// each other. `shared` has room for one element a thread.
template <int rows, typename Combine, typename T>
__device__ inline T columnReduce(Combine combine, T x, T *shared) {
  __syncthreads();
  shared[threadIdx.x] = x;
  __syncthreads();
  const int first = threadIdx.x / (rows * 32) * (rows * 32) + laneOf();
  T all = shared[first];
  for (int row = 1; row < rows; ++row)
    all = combine(all, shared[first + row * 32]);
  return all;
}
