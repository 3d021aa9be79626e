// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of all inference functions.
//
// Sizes are 64-bit integers with two special values: kUnknown, which every
// operation passes on, and kTooLarge, which stands for overflow. `push` is the
// only place where a result type is made, so it alone decides what a valid
// result is; the functions may compute with sizes from files without care.
//
// Dimension lists follow PyTorch: negative numbers count from the end, a 0-d
// tensor has one dimension as far as numbers go.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t infer::addSizes(int64_t a, int64_t b) {
  if (a == kUnknown || b == kUnknown)
    return kUnknown;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooLarge : sum;
}

int64_t infer::mulSizes(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  if (a == kUnknown || b == kUnknown)
    return kUnknown;
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooLarge : product;
}

int64_t infer::floorDivSize(int64_t a, int64_t b) {
  if (a == kUnknown || b == kUnknown || b <= 0)
    return kUnknown;
  return a / b - (a % b < 0 ? 1 : 0);
}

int64_t infer::ceilDivSize(int64_t a, int64_t b) {
  if (a == kUnknown || b == kUnknown || b <= 0)
    return kUnknown;
  return a / b + (a % b > 0 ? 1 : 0);
}

int64_t infer::countElements(ArrayRef<int64_t> dims) {
  if (llvm::is_contained(dims, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : dims)
    count = mulSizes(count, size);
  return count;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

bool infer::isComplex(Type type) { return isa<ComplexType>(type); }

bool infer::isFloatOrComplex(Type type) {
  return isa<FloatType, ComplexType>(type);
}

bool infer::isIntegral(Type type) { return isa<IntegerType>(type); }

bool infer::isBool(Type type) { return type.isInteger(1); }

Type infer::boolType(const InferCall &call) {
  return IntegerType::get(call.getContext(), 1);
}

Type infer::intType(const InferCall &call) {
  return IntegerType::get(call.getContext(), 64);
}

Type infer::floatType(const InferCall &call) {
  return Float32Type::get(call.getContext());
}

Type infer::realType(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

Type infer::complexType(Type type) {
  if (isComplex(type))
    return type;
  if (!type.isF64() && !type.isF16())
    type = Float32Type::get(type.getContext());
  return ComplexType::get(type);
}

Type infer::toFloating(const InferCall &call, Type type) {
  return isFloatOrComplex(type) ? type : floatType(call);
}

Type infer::statisticsType(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  return type;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult infer::push(const InferCall &call, Results &results,
                          ArrayRef<int64_t> dims, Type element) {
  if (!element || !TensorType::isValidElementType(element))
    return call.error("no tensor has elements of type ", element);
  for (int64_t size : dims) {
    if (size == kTooLarge)
      return call.error("a size of the result does not fit 64 bits");
    if (size < 0 && size != kUnknown)
      return call.error("a size of the result is negative: ", size);
  }
  if (countElements(dims) == kTooLarge)
    return call.error("the number of elements of the result does not fit 64 "
                      "bits");
  results.push_back(RankedTensorType::get(dims, element));
  return success();
}

void infer::pushNone(const InferCall &call, Results &results) {
  results.push_back(NoneType::get(call.getContext()));
}

LogicalResult infer::pushMasked(const InferCall &call, Results &results,
                                ArrayRef<std::optional<TensorShape>> shapes) {
  SmallVector<bool> mask;
  if (failed(call.booleans("output_mask", mask)))
    return failure();
  if (mask.size() != shapes.size())
    return call.error("output_mask has ", mask.size(), " entries, not ",
                      shapes.size());
  for (auto [wanted, shape] : llvm::zip_equal(mask, shapes)) {
    if (!wanted || !shape)
      pushNone(call, results);
    else if (failed(push(call, results, *shape)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

ParamRef infer::selfParam(const InferCall &call) {
  const Schema &schema = call.getSchema();
  for (StringRef name : {"self", "input"})
    if (int index = schema.find(name); index >= 0)
      return index;
  for (auto [i, param] : llvm::enumerate(schema.params))
    if (param.kind == ParamKind::Tensor && !param.isList)
      return static_cast<int>(i);
  return 0;
}

LogicalResult infer::getSelf(const InferCall &call, TensorShape &self) {
  return call.tensor(selfParam(call), self);
}

LogicalResult infer::getOfRank(const InferCall &call, ParamRef param,
                               int64_t rank, TensorShape &result) {
  if (failed(call.tensor(param, result)))
    return failure();
  int index = param.resolve(call.getSchema());
  if (result.rank() != rank)
    return call.error("argument '", call.getSchema().params[index].name,
                      "' must have ", rank, " dimensions, not ", result.rank());
  return success();
}

LogicalResult infer::getFactors(const InferCall &call, StringRef what,
                                FactorRef a, FactorRef b, Factors &factors) {
  if (failed(getOfRank(call, a.param, a.rank, factors.a)) ||
      failed(getOfRank(call, b.param, b.rank, factors.b)))
    return failure();
  return checkSame(call, what, factors.a.dims[a.along],
                   factors.b.dims[b.along]);
}

LogicalResult infer::getDtype(const InferCall &call, Type otherwise,
                              Type &result) {
  if (failed(call.dtype(optional("dtype"), result)))
    return failure();
  if (!result)
    result = otherwise;
  return success();
}

LogicalResult infer::getDims(const InferCall &call, ParamRef param,
                             int64_t rank, llvm::SmallBitVector &result,
                             bool emptyIsAll) {
  result.clear();
  result.resize(static_cast<unsigned>(rank));
  Dims dims;
  if (failed(call.integers(param, dims)))
    return failure();
  if (call.isNone(param) || (dims.empty() && emptyIsAll)) {
    result.set();
    return success();
  }
  // A bit more than the rank: dimension 0 of a 0-d tensor.
  llvm::SmallBitVector seen(static_cast<unsigned>(std::max<int64_t>(rank, 1)));
  for (int64_t value : dims) {
    int64_t dim = 0;
    if (failed(call.wrapDimension(value, rank, dim)))
      return failure();
    if (seen.test(static_cast<unsigned>(dim)))
      return call.error("dim ", dim, " is given twice");
    seen.set(static_cast<unsigned>(dim));
    if (dim < rank)
      result.set(static_cast<unsigned>(dim));
  }
  return success();
}

LogicalResult infer::getInts(const InferCall &call, ParamRef param,
                             unsigned count, ArrayRef<int64_t> otherwise,
                             Dims &result) {
  result.clear();
  if (failed(call.integers(param, result)))
    return failure();
  if (result.empty())
    result.assign(otherwise.begin(), otherwise.end());
  if (result.size() == 1 && count > 1)
    result.assign(count, int64_t(result.front()));
  int index = param.resolve(call.getSchema());
  if (result.size() != count)
    return call.error("argument '",
                      index < 0 ? StringRef("?")
                                : call.getSchema().params[index].name,
                      "' must have ", count, " values, not ", result.size());
  return success();
}

LogicalResult infer::getSizes(const InferCall &call, ParamRef param,
                              Dims &result) {
  result.clear();
  if (failed(call.integers(param, result)))
    return failure();
  for (int64_t size : result)
    if (size < 0 && size != kUnknown)
      return call.error("size ", size, " is negative");
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult infer::broadcastInto(const InferCall &call, Dims &a,
                                   ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    a.insert(a.begin(), b.size() - a.size(), 1);
  size_t offset = a.size() - b.size();
  for (auto [i, size] : llvm::enumerate(b)) {
    int64_t &into = a[offset + i];
    if (size == 1 || into == size)
      continue;
    if (into == 1)
      into = size;
    else if (into == kUnknown || size == kUnknown)
      into = mergeSizes(into, size);
    else
      return call.error("sizes ", into, " and ", size,
                        " do not broadcast in dimension ", offset + i);
  }
  return success();
}

Dims infer::reduceShape(ArrayRef<int64_t> dims,
                        const llvm::SmallBitVector &reduced, bool keepDim) {
  Dims result;
  for (auto [i, size] : llvm::enumerate(dims)) {
    if (!reduced.test(static_cast<unsigned>(i)))
      result.push_back(size);
    else if (keepDim)
      result.push_back(1);
  }
  return result;
}

LogicalResult infer::checkSame(const InferCall &call, StringRef what, int64_t a,
                               int64_t b) {
  return mayEqual(a, b) ? success()
                        : call.error(what, " differ: ", a, " and ", b);
}
