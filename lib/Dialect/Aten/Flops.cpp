// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLOPs of ATen calls. Matrix products, convolutions and attention are counted
// exactly as two for each multiplication of the plain algorithm (no Winograd,
// no skipping of masked blocks, padding counts as if it was data); attention
// backward recomputes the scores, as the fused kernels do. Everything else is
// a constant for each element, good to a factor of two.

#include "cutback/Dialect/Aten/Flops.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::flops;

static double size(int64_t dim) {
  return ShapedType::isDynamic(dim) ? 1.0 : static_cast<double>(dim);
}

static double count(ArrayRef<int64_t> shape) {
  double product = 1.0;
  for (int64_t dim : shape)
    product *= size(dim);
  return product;
}

static ArrayRef<int64_t> operandShape(Operation *op, Shapes shapes,
                                      unsigned i) {
  return i < op->getNumOperands() && i < shapes.size() ? shapes[i]
                                                       : ArrayRef<int64_t>();
}

static ArrayRef<int64_t> resultShape(Operation *op, Shapes shapes, unsigned i) {
  unsigned index = op->getNumOperands() + i;
  return index < shapes.size() ? shapes[index] : ArrayRef<int64_t>();
}

/// Size `fromEnd` places before the end; 1 where there is none.
static double sizeFromEnd(ArrayRef<int64_t> shape, unsigned fromEnd) {
  return fromEnd < shape.size() ? size(shape[shape.size() - 1 - fromEnd]) : 1.0;
}

double flops::none(Operation *, Shapes, unsigned) { return 0.0; }

double flops::perOutput(Operation *op, Shapes shapes, unsigned weight) {
  return weight * count(resultShape(op, shapes, 0));
}

static double largestOperand(Operation *op, Shapes shapes) {
  double largest = 0.0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (isa<ShapedType>(op->getOperand(i).getType()))
      largest = std::max(largest, count(operandShape(op, shapes, i)));
  return largest;
}

double flops::perInput(Operation *op, Shapes shapes, unsigned weight) {
  return weight * largestOperand(op, shapes);
}

double flops::perInputLog(Operation *op, Shapes shapes, unsigned weight) {
  double n = count(operandShape(op, shapes, 0));
  return weight * n * std::log2(std::max(n, 2.0));
}

double flops::matmul(Operation *op, Shapes shapes, unsigned weight) {
  double inner = sizeFromEnd(operandShape(op, shapes, weight), 0);
  return 2.0 * inner * count(resultShape(op, shapes, 0));
}

static bool getFlag(Operation *op, unsigned arg) {
  auto args = op->getAttrOfType<ArrayAttr>("args");
  auto flag =
      args && arg < args.size() ? dyn_cast<BoolAttr>(args[arg]) : BoolAttr();
  return flag && flag.getValue();
}

/// Multiplications of one convolution: every element of the dense side (the
/// output, or the input of a transposed one) meets one filter.
static double convolutionProducts(ArrayRef<int64_t> weight,
                                  ArrayRef<int64_t> dense) {
  if (weight.empty())
    return 0.0;
  return count(dense) * count(weight.drop_front());
}

double flops::convolution(Operation *op, Shapes shapes, unsigned weight) {
  bool transposed = weight || getFlag(op, 6);
  ArrayRef<int64_t> dense =
      transposed ? operandShape(op, shapes, 0) : resultShape(op, shapes, 0);
  return 2.0 * convolutionProducts(operandShape(op, shapes, 1), dense);
}

double flops::convolutionBackward(Operation *op, Shapes shapes, unsigned) {
  // Operands: gradient, input, weight; `output_mask` is the last argument.
  ArrayRef<int64_t> gradient = operandShape(op, shapes, 0);
  ArrayRef<int64_t> input = operandShape(op, shapes, 1);
  ArrayRef<int64_t> weight = operandShape(op, shapes, 2);
  double one =
      2.0 * convolutionProducts(weight, getFlag(op, 7) ? input : gradient);
  auto args = op->getAttrOfType<ArrayAttr>("args");
  auto mask = args && !args.empty() ? dyn_cast<ArrayAttr>(args[args.size() - 1])
                                    : ArrayAttr();
  auto wants = [&](unsigned i) {
    auto flag =
        mask && i < mask.size() ? dyn_cast<BoolAttr>(mask[i]) : BoolAttr();
    return flag && flag.getValue();
  };
  return (wants(0) + wants(1)) * one + wants(2) * count(gradient);
}

/// Products of one matrix with the sizes of the scores, for heads of `width`.
static double scores(ArrayRef<int64_t> query, ArrayRef<int64_t> key) {
  if (query.size() < 2 || key.size() < 2)
    return 0.0;
  return count(query.drop_back()) * sizeFromEnd(key, 1);
}

double flops::attention(Operation *op, Shapes shapes, unsigned) {
  ArrayRef<int64_t> query = operandShape(op, shapes, 0);
  double pairs = scores(query, operandShape(op, shapes, 1));
  double width = sizeFromEnd(query, 0);
  double valueWidth = sizeFromEnd(operandShape(op, shapes, 2), 0);
  return 2.0 * pairs * (width + valueWidth);
}

double flops::attentionBackward(Operation *op, Shapes shapes, unsigned) {
  ArrayRef<int64_t> query = operandShape(op, shapes, 1);
  double pairs = scores(query, operandShape(op, shapes, 2));
  double width = sizeFromEnd(query, 0);
  double valueWidth = sizeFromEnd(operandShape(op, shapes, 3), 0);
  // Scores again, dQ, dK; dV and d(scores).
  return 2.0 * pairs * (3.0 * width + 2.0 * valueWidth);
}

double flops::recurrent(Operation *op, Shapes shapes, unsigned) {
  // All weights are operands of rank 2; each meets every step of the input.
  ArrayRef<int64_t> input = operandShape(op, shapes, 0);
  if (input.empty())
    return 0.0;
  double steps = count(input.drop_back());
  double weights = 0.0;
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (ArrayRef<int64_t> shape = operandShape(op, shapes, i);
        shape.size() == 2)
      weights += count(shape);
  return 2.0 * steps * weights;
}
