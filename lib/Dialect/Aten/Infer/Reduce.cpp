// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, scans, and ops that order elements.
//
// All reductions share one shape rule: the dimensions in `dim` go, or stay
// with size 1 (`keepdim`); no `dim` is all of them. They differ in the element
// type: sums of ints and bools are i64, means and variances need floats, and a
// variance or norm of complex numbers is real.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// `self`, and the shape of its reduction by the parameters dim and keepdim.
static LogicalResult getReduced(const InferCall &call, TensorShape &self,
                                Dims &dims, bool emptyIsAll = true) {
  llvm::SmallBitVector reduced;
  bool keepDim = false;
  if (failed(getSelf(call, self)) ||
      failed(
          getDims(call, optional("dim"), self.rank(), reduced, emptyIsAll)) ||
      failed(call.boolean(optional("keepdim"), keepDim)))
    return failure();
  dims = reduceShape(self.dims, reduced, keepDim);
  return success();
}

static LogicalResult checkFloating(const InferCall &call, Type type) {
  return isFloatOrComplex(type)
             ? success()
             : call.error("elements must be floating-point, not ", type);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult infer::sum(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  Type type;
  if (failed(getReduced(call, self, dims)))
    return failure();
  Type natural = isIntegral(self.element) ? intType(call) : self.element;
  if (failed(getDtype(call, natural, type)))
    return failure();
  return push(call, results, dims, type);
}

LogicalResult infer::mean(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  Type type;
  if (failed(getReduced(call, self, dims)) ||
      failed(getDtype(call, self.element, type)) ||
      failed(checkFloating(call, type)))
    return failure();
  return push(call, results, dims, type);
}

LogicalResult infer::amax(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)))
    return failure();
  return push(call, results, dims, self.element);
}

LogicalResult infer::anyAll(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims, /*emptyIsAll=*/false)))
    return failure();
  // Bytes stay bytes, as before torch had bools.
  bool bytes = self.element.isUnsignedInteger(8);
  return push(call, results, dims, bytes ? self.element : boolType(call));
}

LogicalResult infer::hashOfBits(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)))
    return failure();
  if (isComplex(self.element))
    return call.error("elements must be real, not ", self.element);
  return push(call, results, dims,
              IntegerType::get(call.getContext(), 64, IntegerType::Unsigned));
}

LogicalResult infer::argReduce(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)))
    return failure();
  return push(call, results, dims, intType(call));
}

LogicalResult infer::variance(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)) ||
      failed(checkFloating(call, self.element)))
    return failure();
  return push(call, results, dims, realType(self.element));
}

LogicalResult infer::varMean(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)) ||
      failed(checkFloating(call, self.element)) ||
      failed(push(call, results, dims, realType(self.element))))
    return failure();
  return push(call, results, dims, self.element);
}

LogicalResult infer::vectorNorm(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  Type type;
  if (failed(getReduced(call, self, dims)) ||
      failed(getDtype(call, self.element, type)) ||
      failed(checkFloating(call, type)))
    return failure();
  return push(call, results, dims, realType(type));
}

LogicalResult infer::logSumExp(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)))
    return failure();
  return push(call, results, dims, toFloating(call, self.element));
}

LogicalResult infer::aminmax(const InferCall &call, Results &results) {
  return failed(amax(call, results)) ? failure() : amax(call, results);
}

LogicalResult infer::dimWithIndices(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  if (failed(getReduced(call, self, dims)) ||
      failed(push(call, results, dims, self.element)))
    return failure();
  return push(call, results, dims, intType(call));
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static LogicalResult getScanned(const InferCall &call, TensorShape &self) {
  int64_t dim = 0;
  if (failed(getSelf(call, self)))
    return failure();
  return call.dimension("dim", self.rank(), dim);
}

LogicalResult infer::scan(const InferCall &call, Results &results) {
  TensorShape self;
  Type type;
  if (failed(getScanned(call, self)))
    return failure();
  Type natural = isIntegral(self.element) ? intType(call) : self.element;
  if (failed(getDtype(call, natural, type)))
    return failure();
  return push(call, results, self.dims, type);
}

LogicalResult infer::scanWithIndices(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getScanned(call, self)) || failed(push(call, results, self)))
    return failure();
  return push(call, results, self.dims, intType(call));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

LogicalResult infer::topk(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, k = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("dim", self.rank(), dim)) ||
      failed(call.integer("k", k)))
    return failure();
  int64_t size = self.dims.empty() ? 1 : self.dims[dim];
  if (k != kUnknown && (k < 0 || (size != kUnknown && k > size)))
    return call.error("cannot take ", k, " of ", size, " elements");
  if (!self.dims.empty())
    self.dims[dim] = k;
  if (failed(push(call, results, self)))
    return failure();
  return push(call, results, self.dims, intType(call));
}

LogicalResult infer::sort(const InferCall &call, Results &results) {
  return scanWithIndices(call, results);
}

LogicalResult infer::argsort(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getScanned(call, self)))
    return failure();
  return push(call, results, self.dims, intType(call));
}

LogicalResult infer::searchSorted(const InferCall &call, Results &results) {
  TensorShape self;
  bool narrow = false;
  if (failed(call.tensorOrNumber("self", self)) ||
      failed(call.boolean("out_int32", narrow)))
    return failure();
  return push(call, results, self.dims,
              IntegerType::get(call.getContext(), narrow ? 32 : 64));
}

LogicalResult infer::bincount(const InferCall &call, Results &results) {
  TensorShape self;
  std::optional<TensorShape> weights;
  if (failed(getOfRank(call, "self", 1, self)) ||
      failed(call.optionalTensor("weights", weights)))
    return failure();
  Type type = intType(call);
  if (weights)
    type = weights->element.isF32() ? weights->element
                                    : Float64Type::get(call.getContext());
  return push(call, results, {kUnknown}, type);
}
