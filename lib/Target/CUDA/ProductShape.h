// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How product() of Device/cutback_product.cuh divides a product, and how it
// reads a factor.
#ifndef CUTBACK_LIB_TARGET_CUDA_PRODUCTSHAPE_H
#define CUTBACK_LIB_TARGET_CUDA_PRODUCTSHAPE_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cutback::cuda {

/// The parameters of ProductShape of the header, and how fast it is.
struct ProductShape {
  int64_t rows, columns, rowsEach, columnsEach, steps, threads, ahead;
  /// Cycles of a multiprocessor that a step of k takes: with one block, and of
  /// each block where it has many.
  double alone, together;

  /// "ProductShape<64, 64, 4, 4, 16, 256>"
  std::string text() const;
  int64_t tiles(int64_t m, int64_t n) const {
    return (m + rows - 1) / rows * ((n + columns - 1) / columns);
  }
  /// Of shared memory, with elements of so many bytes.
  int64_t sharedBytes(int64_t elementBytes) const;
};

/// What a block may have of shared memory.
inline constexpr int64_t kMostSharedBytes = 48 * 1024;
/// Measured on an H200.
inline constexpr ProductShape kProductShapes[] = {
    {64, 128, 8, 8, 16, 128, 1, 160, 116}, {64, 64, 8, 4, 16, 128, 1, 98, 60},
    {64, 32, 4, 4, 16, 128, 1, 72, 37},    {64, 32, 4, 4, 32, 256, 1, 42, 38},
    {32, 32, 2, 2, 32, 384, 1, 36, 25},    {16, 16, 2, 2, 128, 192, 2, 14, 11},
};
/// The one that takes the least time for `batch` products of m x n results, of
/// those that such elements leave room for.
const ProductShape &chooseProductShape(int64_t m, int64_t n, int64_t batch,
                                       int64_t elementBytes);

/// Where the elements of a factor lie: lines, and steps as axes of which the
/// last one moves fastest. Strides count elements.
struct FactorLayout {
  struct Axis {
    int64_t size, stride;
  };
  int64_t lines = 0, lineStride = 0;
  llvm::SmallVector<Axis, 4> steps = {};
  int64_t offset = 0;
  /// Strides of axes that are neither.
  llvm::SmallVector<int64_t, 2> added = {};

  /// Whether neighbours along the steps lie nearer than those along the lines.
  bool isAlongK() const;
  /// How many of them one access reads.
  int64_t wide() const;
  /// The same of results, of which only columns (steps) may be written at once.
  int64_t wideResults() const { return isAlongK() ? wide() : 1; }
  /// The distance of two steps, if all steps have one.
  std::optional<int64_t> stepStride() const;
  /// "MatrixFactor<float, true, 4>(a + 256, 64, 1)": of such elements, `offset`
  /// behind `begin`, whose steps have one distance.
  std::string matrixText(const std::string &type,
                         const std::string &begin) const;
  /// "true, 4>": how product() reads it, the end of a list.
  std::string accessText() const;
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_PRODUCTSHAPE_H
