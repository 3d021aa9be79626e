// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products. einsum is in Einsum.cpp.
//
// Factors must have one element type (torch does not promote here) and inner
// sizes that can be the same; an added term only has to broadcast. `matmul`
// and `linear` reduce to one rule: the last two dimensions multiply, the ones
// before broadcast, and a vector counts as a row on the left, a column on the
// right.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

static LogicalResult checkFactors(const InferCall &call, const TensorShape &a,
                                  const TensorShape &b, int64_t innerA,
                                  int64_t innerB) {
  if (a.element != b.element)
    return call.error("the factors' element types differ: ", a.element, " and ",
                      b.element);
  return checkSame(call, "inner sizes", innerA, innerB);
}

/// Pushes a result of `dims` to which `self` is added.
static LogicalResult pushSum(const InferCall &call, Results &results,
                             const TensorShape &self, ArrayRef<int64_t> dims,
                             Type element) {
  Dims sum(dims);
  if (failed(broadcastInto(call, sum, self.dims)))
    return failure();
  for (auto [a, b] : llvm::zip(llvm::reverse(dims), llvm::reverse(sum)))
    if (!mayEqual(a, b))
      return call.error("a term of size ", b, " is added to size ", a);
  if (sum.size() != dims.size())
    return call.error("a term of rank ", self.rank(),
                      " is added to a product of rank ", dims.size());
  return push(call, results, sum, element);
}

LogicalResult infer::mm(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getOfRank(call, "self", 2, a)) ||
      failed(getOfRank(call, "mat2", 2, b)) ||
      failed(checkFactors(call, a, b, a.dims[1], b.dims[0])))
    return failure();
  return push(call, results, {a.dims[0], b.dims[1]}, a.element);
}

LogicalResult infer::addmm(const InferCall &call, Results &results) {
  TensorShape self, a, b;
  if (failed(call.tensor("self", self)) ||
      failed(getOfRank(call, "mat1", 2, a)) ||
      failed(getOfRank(call, "mat2", 2, b)) ||
      failed(checkFactors(call, a, b, a.dims[1], b.dims[0])))
    return failure();
  return pushSum(call, results, self, {a.dims[0], b.dims[1]}, a.element);
}

/// The dimensions of a batched product of `left` and `right`.
static LogicalResult multiplyBatches(const InferCall &call, ParamRef left,
                                     ParamRef right, Dims &dims,
                                     Type &element) {
  TensorShape a, b;
  if (failed(getOfRank(call, left, 3, a)) ||
      failed(getOfRank(call, right, 3, b)) ||
      failed(checkFactors(call, a, b, a.dims[2], b.dims[1])) ||
      failed(checkSame(call, "batch sizes", a.dims[0], b.dims[0])))
    return failure();
  dims = {mergeSizes(a.dims[0], b.dims[0]), a.dims[1], b.dims[2]};
  element = a.element;
  return success();
}

LogicalResult infer::bmm(const InferCall &call, Results &results) {
  Dims dims;
  Type element;
  if (failed(multiplyBatches(call, "self", "mat2", dims, element)))
    return failure();
  return push(call, results, dims, element);
}

LogicalResult infer::productAs(const InferCall &call, Results &results) {
  bool isBatch = call.getSchema().packet.ends_with("bmm");
  Type type;
  if (failed(isBatch ? bmm(call, results) : mm(call, results)) ||
      failed(call.dtype("out_dtype", type)))
    return failure();
  auto product = cast<RankedTensorType>(results.pop_back_val());
  return push(call, results, product.getShape(), type);
}

LogicalResult infer::baddbmm(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims;
  Type element;
  if (failed(call.tensor("self", self)) ||
      failed(multiplyBatches(call, "batch1", "batch2", dims, element)))
    return failure();
  return pushSum(call, results, self, dims, element);
}

LogicalResult infer::matmul(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(call.tensor("self", a)) || failed(call.tensor("other", b)))
    return failure();
  if (a.dims.empty() || b.dims.empty())
    return call.error("factors need at least one dimension");
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row)
    a.dims.insert(a.dims.begin(), 1);
  if (column)
    b.dims.push_back(1);
  if (failed(
          checkFactors(call, a, b, a.dims.back(), b.dims[b.dims.size() - 2])))
    return failure();
  Dims dims(ArrayRef<int64_t>(a.dims).drop_back(2));
  if (failed(broadcastInto(call, dims, ArrayRef<int64_t>(b.dims).drop_back(2))))
    return failure();
  if (!row)
    dims.push_back(a.dims[a.dims.size() - 2]);
  if (!column)
    dims.push_back(b.dims.back());
  return push(call, results, dims, a.element);
}

LogicalResult infer::mv(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getOfRank(call, "self", 2, a)) ||
      failed(getOfRank(call, "vec", 1, b)) ||
      failed(checkFactors(call, a, b, a.dims[1], b.dims[0])))
    return failure();
  return push(call, results, {a.dims[0]}, a.element);
}

LogicalResult infer::addmv(const InferCall &call, Results &results) {
  TensorShape self, a, b;
  if (failed(call.tensor("self", self)) ||
      failed(getOfRank(call, "mat", 2, a)) ||
      failed(getOfRank(call, "vec", 1, b)) ||
      failed(checkFactors(call, a, b, a.dims[1], b.dims[0])))
    return failure();
  return pushSum(call, results, self, {a.dims[0]}, a.element);
}

LogicalResult infer::dot(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getOfRank(call, 0, 1, a)) || failed(getOfRank(call, 1, 1, b)) ||
      failed(checkFactors(call, a, b, a.dims[0], b.dims[0])))
    return failure();
  return push(call, results, {}, a.element);
}

LogicalResult infer::outer(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getOfRank(call, "self", 1, a)) ||
      failed(getOfRank(call, "vec2", 1, b)))
    return failure();
  return push(call, results, {a.dims[0], b.dims[0]}, promoteTypes({a, b}));
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

LogicalResult infer::linear(const InferCall &call, Results &results) {
  TensorShape input, weight;
  std::optional<TensorShape> bias;
  if (failed(call.tensor("input", input)) ||
      failed(call.tensor("weight", weight)) ||
      failed(call.optionalTensor("bias", bias)))
    return failure();
  if (input.dims.empty() || weight.rank() < 1 || weight.rank() > 2)
    return call.error("input of rank ", input.rank(), " and weight of rank ",
                      weight.rank());
  if (failed(checkFactors(call, input, weight, input.dims.back(),
                          weight.dims.back())))
    return failure();
  input.dims.pop_back();
  if (weight.rank() == 2)
    input.dims.push_back(weight.dims[0]);
  if (bias)
    return pushSum(call, results, *bias, input.dims, input.element);
  return push(call, results, input);
}

LogicalResult infer::linearBackward(const InferCall &call, Results &results) {
  TensorShape input, weight, bias;
  if (failed(call.tensor("self", input)) ||
      failed(getOfRank(call, "weight", 2, weight)))
    return failure();
  bias.dims = {weight.dims[0]};
  bias.element = weight.element;
  return pushMasked(call, results, {input, weight, bias});
}

//===----------------------------------------------------------------------===//
// Grouped and scaled products, distances
//===----------------------------------------------------------------------===//

/// `offs` splits the rows (2-d times 3-d), the columns (3-d times 2-d) or the
/// inner dimension (2-d times 2-d) into groups.
LogicalResult infer::groupedMm(const InferCall &call, Results &results) {
  TensorShape a, b;
  std::optional<TensorShape> offsets;
  Type type;
  if (failed(call.tensor("self", a)) || failed(call.tensor("mat2", b)) ||
      failed(call.optionalTensor("offs", offsets)) ||
      failed(call.dtype("out_dtype", type)))
    return failure();
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3)
    return call.error("grouped factors have 2 or 3 dimensions, not ", a.rank(),
                      " and ", b.rank());
  if (failed(
          checkFactors(call, a, b, a.dims.back(), b.dims[b.dims.size() - 2])))
    return failure();
  Dims dims = {a.dims[a.dims.size() - 2], b.dims.back()};
  if (a.rank() == 3 && b.rank() == 3) {
    if (failed(checkSame(call, "batch sizes", a.dims[0], b.dims[0])))
      return failure();
    dims.insert(dims.begin(), mergeSizes(a.dims[0], b.dims[0]));
  } else if (a.rank() == b.rank()) {
    bool known = offsets && offsets->rank() == 1;
    dims.insert(dims.begin(), known ? offsets->dims[0] : kUnknown);
  }
  return push(call, results, dims, type ? type : a.element);
}

LogicalResult infer::scaledMm(const InferCall &call, Results &results) {
  Factors f;
  Type type;
  if (failed(
          getFactors(call, "inner sizes", {"self", 2, 1}, {"mat2", 2, 0}, f)) ||
      failed(call.dtype("out_dtype", type)))
    return failure();
  return push(call, results, {f.a.dims[0], f.b.dims[1]},
              type ? type : f.a.element);
}

LogicalResult infer::cdist(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(call.tensor(0, a)) || failed(call.tensor(1, b)))
    return failure();
  if (a.rank() < 2 || b.rank() < 2)
    return call.error("points need at least 2 dimensions, not ", a.rank(),
                      " and ", b.rank());
  if (failed(checkSame(call, "sizes of points", a.dims.back(), b.dims.back())))
    return failure();
  Dims dims(ArrayRef<int64_t>(a.dims).drop_back(2));
  if (failed(broadcastInto(call, dims, ArrayRef<int64_t>(b.dims).drop_back(2))))
    return failure();
  dims.push_back(a.dims[a.dims.size() - 2]);
  dims.push_back(b.dims[b.dims.size() - 2]);
  return push(call, results, dims, a.element);
}

//===----------------------------------------------------------------------===//
// Products of integers, and of groups as a library writes them
//===----------------------------------------------------------------------===//

LogicalResult infer::integerMm(const InferCall &call, Results &results) {
  Factors f;
  if (failed(getFactors(call, "columns and rows", {"self", 2, 1},
                        {"mat2", 2, 0}, f)))
    return failure();
  return push(call, results, {f.a.dims[0], f.b.dims[1]},
              IntegerType::get(call.getContext(), 32));
}

LogicalResult infer::int8packMm(const InferCall &call, Results &results) {
  Factors f;
  if (failed(getFactors(call, "columns of both", {"self", 2, 1}, {"mat2", 2, 1},
                        f)))
    return failure();
  return push(call, results, {f.a.dims[0], f.b.dims[0]}, f.a.element);
}

LogicalResult infer::groupedRows(const InferCall &call, Results &results) {
  Factors f;
  if (failed(getFactors(call, "columns and rows", {"input", 2, 1},
                        {"weight", 3, 1}, f)))
    return failure();
  return push(call, results, {f.a.dims[0], f.b.dims[2]}, f.a.element);
}

LogicalResult infer::groupedRowsBackward(const InferCall &call,
                                         Results &results) {
  TensorShape rows, weight;
  if (failed(getOfRank(call, "input", 2, rows)) ||
      failed(getOfRank(call, "weight", 3, weight)) ||
      failed(push(call, results, rows)))
    return failure();
  return push(call, results, weight);
}
