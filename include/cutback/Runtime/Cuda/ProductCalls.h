// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of cuBLASLt's interface that products need: names, numbers and sizes
// as NVIDIA documents them, the same in versions 12 and 13.
#ifndef CUTBACK_RUNTIME_CUDA_PRODUCTCALLS_H
#define CUTBACK_RUNTIME_CUDA_PRODUCTCALLS_H

#include "cutback/Runtime/Cuda/Driver.h"

namespace cutback::cuda {

/// cudaDataType_t
enum DataType : int { kReal32 = 0, kReal64 = 1, kReal16 = 2, kRealB16 = 14 };
/// cublasComputeType_t
enum ComputeType : int { kCompute32 = 68, kCompute64 = 70, kTf32 = 77 };
/// cublasLtMatmulDescAttributes_t
enum ProductAttribute : int {
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8
};
/// cublasOperation_t, cublasLtEpilogue_t
enum : int { kNotTransposed = 0, kTransposed = 1, kBiasEpilogue = 4 };
/// cublasLtMatrixLayoutAttribute_t
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
/// cublasLtMatmulPreferenceAttributes_t
enum PreferenceAttribute : int {
  kMostWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentOut = 8
};

/// cublasLtMatmulHeuristicResult_t
struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state; ///< 0 if it can be run
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

/// Calls by the names that the library exports. 0 is success.
struct ProductCalls {
  size_t (*cublasLtGetVersion)();
  const char *(*cublasLtGetStatusString)(int status);
  int (*cublasLtCreate)(Handle *handle);
  int (*cublasLtDestroy)(Handle handle);
  int (*cublasLtMatmulDescCreate)(Handle *descriptor, int compute, int scale);
  int (*cublasLtMatmulDescDestroy)(Handle descriptor);
  int (*cublasLtMatmulDescSetAttribute)(Handle descriptor, int attribute,
                                        const void *value, size_t bytes);
  int (*cublasLtMatrixLayoutCreate)(Handle *layout, int type, uint64_t rows,
                                    uint64_t columns, int64_t leading);
  int (*cublasLtMatrixLayoutDestroy)(Handle layout);
  int (*cublasLtMatrixLayoutSetAttribute)(Handle layout, int attribute,
                                          const void *value, size_t bytes);
  int (*cublasLtMatmulPreferenceCreate)(Handle *preference);
  int (*cublasLtMatmulPreferenceDestroy)(Handle preference);
  int (*cublasLtMatmulPreferenceSetAttribute)(Handle preference, int attribute,
                                              const void *value, size_t bytes);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle handle, Handle descriptor,
                                        Handle a, Handle b, Handle c,
                                        Handle out, Handle preference, int most,
                                        HeuristicResult *results, int *found);
  int (*cublasLtMatmulAlgoCheck)(Handle handle, Handle descriptor, Handle a,
                                 Handle b, Handle c, Handle out,
                                 const void *algorithm,
                                 HeuristicResult *result);
  int (*cublasLtMatmul)(Handle handle, Handle descriptor, const void *alpha,
                        const void *a, Handle layoutA, const void *b,
                        Handle layoutB, const void *beta, const void *c,
                        Handle layoutC, void *out, Handle layoutOut,
                        const void *algorithm, void *workspace,
                        size_t workspaceBytes, Handle stream);
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_PRODUCTCALLS_H
