// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic scalars: sizes read from tensors and Python's arithmetic on them.
//
// A symbolic int is an `index`, a float `f64`, a bool `i1`. Arithmetic gives a
// float where an operand is one; Python's true division always does.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

static Type sizeType(const InferCall &call) {
  return IndexType::get(call.getContext());
}

static Type realNumberType(const InferCall &call) {
  return Float64Type::get(call.getContext());
}

/// Any scalar parameter from `first` on is a float.
static LogicalResult anyFloat(const InferCall &call, unsigned first,
                              bool &result) {
  const Schema &schema = call.getSchema();
  result = false;
  for (unsigned i = first, n = schema.params.size(); i < n; ++i) {
    Type scalar;
    if (schema.params[i].isOptional && call.isNone(i))
      continue;
    if (failed(call.scalarType(i, scalar)))
      return failure();
    result |= isa<FloatType>(scalar);
  }
  return success();
}

LogicalResult infer::symIndex(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  // sym_size and sym_stride name a dimension.
  if (call.getSchema().find("dim") >= 0 &&
      (failed(getSelf(call, self)) ||
       failed(call.dimension("dim", self.rank(), dim))))
    return failure();
  if (call.getSchema().find("dim") >= 0 && self.dims.empty())
    return call.error("a tensor without dimensions has no size ", dim);
  // round(x, n) is a float.
  bool isFloat = !call.isNone(optional("ndigits"));
  results.push_back(isFloat ? realNumberType(call) : sizeType(call));
  return success();
}

LogicalResult infer::symFloat(const InferCall &call, Results &results) {
  bool isFloat = false;
  if (failed(anyFloat(call, 0, isFloat)))
    return failure();
  results.push_back(realNumberType(call));
  return success();
}

LogicalResult infer::symArith(const InferCall &call, Results &results) {
  bool isFloat = false;
  if (failed(anyFloat(call, 0, isFloat)))
    return failure();
  results.push_back(isFloat ? realNumberType(call) : sizeType(call));
  return success();
}

LogicalResult infer::symBool(const InferCall &call, Results &results) {
  bool isFloat = false;
  if (failed(anyFloat(call, 0, isFloat)))
    return failure();
  results.push_back(boolType(call));
  return success();
}

LogicalResult infer::symIte(const InferCall &call, Results &results) {
  Type then, otherwise;
  if (failed(call.scalarType(1, then)) || failed(call.scalarType(2, otherwise)))
    return failure();
  if (isBool(then) && isBool(otherwise))
    results.push_back(boolType(call));
  else if (isa<FloatType>(then) || isa<FloatType>(otherwise))
    results.push_back(realNumberType(call));
  else
    results.push_back(sizeType(call));
  return success();
}

LogicalResult infer::item(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  int64_t count = countElements(self.dims);
  if (count != kUnknown && count != 1)
    return call.error("a tensor of ", count, " elements is no number");
  if (isComplex(self.element))
    return call.error("a complex number is no symbolic scalar");
  if (isBool(self.element))
    results.push_back(boolType(call));
  else if (isa<FloatType>(self.element))
    results.push_back(realNumberType(call));
  else
    results.push_back(sizeType(call));
  return success();
}

LogicalResult infer::nothing(const InferCall &call, Results &results) {
  return success();
}
