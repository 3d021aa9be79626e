// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call tells the functions that were compiled with Cutback
// (lib/Target/CPU/Precompiled): a description of numbers alone, which lies in
// the library of a step as it lies here.
#ifndef CUTBACK_TARGET_CPU_PRECOMPILEDCALLS_H
#define CUTBACK_TARGET_CPU_PRECOMPILEDCALLS_H

#include <cstdint>

namespace cutback::precompiled {

/// Of an element.
enum Type : int64_t {
  F32,
  F64,
  BF16,
  F16,
  Bool,
  I32,
  I64,
  I8,
  I16,
  U8,
  U16,
  U32,
  U64
};

/// Axes that a window moves along, at most.
constexpr int kMostAxes = 3;

/// One of the indices that a number stands for: number / divisor % extent,
/// which moves by so many elements, and along each axis.
struct Digit {
  int64_t divisor = 1;
  int64_t extent = 0; ///< 0: of the first, which has no remainder
  int64_t stride = 0;
  int64_t along[kMostAxes] = {};
};
/// What a number of a row, column or step has of an element's, and of its place
/// along each axis.
struct Index {
  int64_t numDigits = 0;
  Digit digits[1 + kMostAxes];
  int64_t at = 0;
  int64_t along[kMostAxes] = {};
};

/// Elements of an operand.
struct Tensor {
  int64_t operand = -1; ///< its number; below 0: there is none
  int64_t type = F32;
  int64_t at = 0;    ///< the first element
  int64_t outer = 0; ///< elements between matrices, or groups
};

/// The element of a line (a row of the left factor, a column of the right one)
/// and a step. With axes: zero where their places together are not inside of
/// the sizes.
struct Factor {
  Tensor tensor;
  Index line, step;
  int64_t numAxes = 0;
  int64_t sizes[kMostAxes] = {};
};

/// out = beta * self + alpha * (a b), rounded once.
struct Product {
  int64_t rows = 0, columns = 0, steps = 0;
  Factor a, b;
  Tensor out;
  Index outRow, outColumn;
  Tensor self;
  Index selfRow, selfColumn;
  double alpha = 1, beta = 1;
};
/// So many of them behind it, one after the other, for each matrix or group.
struct Products {
  int64_t count = 0, outer = 1;
  int64_t sum = F32; ///< the type of sums: F32 or F64
};

/// One product a group, of which each has a stretch of its rows, columns or
/// steps: from where the one before it ends to offsets[group]. It is followed
/// by the product of the whole; what no group has is zero.
struct GroupedProducts {
  enum Along : int64_t { Rows, Columns, Steps };
  int64_t along = Rows, groups = 0;
  int64_t sum = F32;
  Tensor offsets;
  int64_t offsetStride = 1;
  /// Elements between neighbors along the stretch, and between groups.
  int64_t unitA = 0, unitB = 0, unitOut = 0;
  int64_t groupA = 0, groupB = 0, groupOut = 0;
};

/// [batch, head, row, element], or as many dimensions as it has: strides.
struct HeadTensor {
  int64_t operand = -1; ///< its number; below 0: there is none
  int64_t type = F32;
  int64_t at = 0, batch = 0, head = 0, row = 0, element = 0;
};

/// Attention, or its gradients. Of `group` others at a time as on
/// tensor cores (cutback_tile_attention.cuh), or 0.
struct Attention {
  enum Kind : int64_t { Forward, Gradients, BiasGradient };
  int64_t kind = Forward, group = 0;
  int64_t batch = 1, heads = 1, queries = 0, keys = 0, width = 0, outWidth = 0;
  int64_t isCausal = 0;
  double scale = 1;
  HeadTensor query, key, value, mask, gradient, out, logSum;
  /// Gradients: `result` of the query, or of the bias.
  HeadTensor result, keyGradient, valueGradient;
};

/// Row r of `out`: the sum of those rows of the gradient whose index is r, in
/// their order; zeros at `padding`. Divided by their number, if asked.
struct EmbeddingGradient {
  int64_t count = 0, rows = 0, width = 0, padding = -1, isScaled = 0;
  Tensor gradient, indices, out;
  Index gradientRow, indexRow; ///< of a number below count
  int64_t gradientColumn = 0, outRow = 0, outColumn = 0; ///< strides
};

/// out[c]: the sum of `count` numbers of channel c.
struct BiasGradient {
  int64_t channels = 0, count = 0;
  Tensor gradient, out;
  Index number;
  int64_t gradientChannel = 0; ///< a stride
};

} // namespace cutback::precompiled

#endif // CUTBACK_TARGET_CPU_PRECOMPILEDCALLS_H
