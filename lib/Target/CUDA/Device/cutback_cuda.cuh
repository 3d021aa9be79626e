// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a step call. nvcc compiles them for a device; for the
// host, cutback_cuda_host.h stands in front.
#pragma once

#ifdef __CUDACC__
extern __shared__ __align__(16) unsigned char sharedBytes[];
/// The block's shared memory: so many bytes as the launch says.
template <typename T> __device__ inline T *sharedMemory() {
  return reinterpret_cast<T *>(sharedBytes);
}
#endif

#include "cutback_grid.cuh"
#include "cutback_random.cuh"
#include "cutback_rows.cuh"
#include "cutback_special.cuh"
#include "cutback_tile_attention.cuh"
#include "cutback_windows.cuh"
