// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLOPs of ATen calls from shapes, one function a family. A fused multiply-add
// counts two. A size that is not known counts one. `shapes` holds the
// operands' shapes, then the results' (see joint::CostModelOpInterface).
#ifndef CUTBACK_DIALECT_ATEN_FLOPS_H
#define CUTBACK_DIALECT_ATEN_FLOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace cutback::aten::flops {

using Shapes = llvm::ArrayRef<llvm::ArrayRef<int64_t>>;

/// Moves data only.
double none(mlir::Operation *op, Shapes shapes, unsigned weight);
/// `weight` for each element of the first result.
double perOutput(mlir::Operation *op, Shapes shapes, unsigned weight);
/// `weight` for each element of the largest operand: reductions, norms, losses.
double perInput(mlir::Operation *op, Shapes shapes, unsigned weight);
/// `weight` n log2 n over the elements of the first operand: FFTs, sorting.
double perInputLog(mlir::Operation *op, Shapes shapes, unsigned weight);
/// A matrix product whose left factor is operand `weight`: 2 K for each element
/// of the result, where K is the left factor's last size.
double matmul(mlir::Operation *op, Shapes shapes, unsigned weight);
/// Convolution with the weight at operand 1; `weight` is 1 if it is a
/// transposed one whatever the argument `transposed` says.
double convolution(mlir::Operation *op, Shapes shapes, unsigned weight);
/// The parts of `convolution_backward` that `output_mask` asks for.
double convolutionBackward(mlir::Operation *op, Shapes shapes, unsigned weight);
/// Attention of query, key, value at operands 0 to 2.
double attention(mlir::Operation *op, Shapes shapes, unsigned weight);
/// Its backward, with query, key, value at operands 1 to 3.
double attentionBackward(mlir::Operation *op, Shapes shapes, unsigned weight);
/// A recurrent layer: every matrix among the operands meets every step.
double recurrent(mlir::Operation *op, Shapes shapes, unsigned weight);

} // namespace cutback::aten::flops

#endif // CUTBACK_DIALECT_ATEN_FLOPS_H
