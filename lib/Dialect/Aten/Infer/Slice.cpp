// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views that take a part of a tensor: one piece (slice, select, narrow,
// diagonal), all pieces (split, chunk, unbind), or windows (unfold).
//
// Bounds of slices are clamped as in Python. Ops with a list of results need
// the number of pieces, so the dimension they cut must be known; the number is
// limited, as a file can ask for any.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// No model splits a tensor in more pieces.
static constexpr int64_t kMaxPieces = 1 << 16;

/// `self` and one of its dimensions; 0-d tensors have none to cut.
static LogicalResult getSelfAndDim(const InferCall &call, ParamRef param,
                                   TensorShape &self, int64_t &dim) {
  if (failed(getSelf(call, self)) ||
      failed(call.dimension(param, self.rank(), dim)))
    return failure();
  return self.dims.empty()
             ? call.error("a tensor without dimensions has no parts")
             : success();
}

//===----------------------------------------------------------------------===//
// One piece
//===----------------------------------------------------------------------===//

/// A bound of a slice as Python takes it: from the end if negative, clamped.
static int64_t clampBound(std::optional<int64_t> bound, int64_t otherwise,
                          int64_t size) {
  int64_t value = bound.value_or(otherwise);
  if (value == kUnknown || size == kUnknown)
    return kUnknown;
  if (value < 0)
    value = addSizes(value, size);
  return std::clamp<int64_t>(value, 0, size);
}

LogicalResult infer::slice(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, step = 1;
  std::optional<int64_t> start, end;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(call.optionalInteger("start", start)) ||
      failed(call.optionalInteger("end", end)) ||
      failed(call.integer("step", step)))
    return failure();
  if (step != kUnknown && step <= 0)
    return call.error("the step of a slice must be positive, not ", step);
  int64_t size = self.dims[dim];
  int64_t first = clampBound(start, 0, size);
  int64_t last = clampBound(end, kTooLarge, size);
  int64_t length = kUnknown;
  if (first != kUnknown && last != kUnknown)
    length = ceilDivSize(std::max<int64_t>(last - first, 0), step);
  self.dims[dim] = length;
  return push(call, results, self);
}

LogicalResult infer::select(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, index = 0;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(call.integer("index", index)))
    return failure();
  int64_t size = self.dims[dim];
  if (index != kUnknown && size != kUnknown && (index < -size || index >= size))
    return call.error("index ", index, " is out of range for dimension ", dim,
                      " of size ", size);
  self.dims.erase(self.dims.begin() + dim);
  return push(call, results, self);
}

LogicalResult infer::narrow(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, length = 0;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(call.integer("length", length)))
    return failure();
  int64_t size = self.dims[dim];
  if (length != kUnknown && size != kUnknown && length > size)
    return call.error("length ", length, " exceeds dimension ", dim,
                      " of size ", size);
  self.dims[dim] = length;
  return push(call, results, self);
}

LogicalResult infer::diagonal(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t offset = 0, a = 0, b = 0;
  if (failed(getSelfAndDim(call, "dim1", self, a)) ||
      failed(call.dimension("dim2", self.rank(), b)) ||
      failed(call.integer("offset", offset)))
    return failure();
  if (a == b)
    return call.error("dim1 and dim2 are both ", a);
  int64_t rows = self.dims[a], columns = self.dims[b], length = kUnknown;
  if (rows != kUnknown && columns != kUnknown && offset != kUnknown) {
    int64_t right = std::clamp<int64_t>(offset, 0, columns);
    int64_t down = -std::clamp<int64_t>(offset, -rows, 0);
    length = std::min(rows - down, columns - right);
  }
  self.dims.erase(self.dims.begin() + std::max(a, b));
  self.dims.erase(self.dims.begin() + std::min(a, b));
  self.dims.push_back(length);
  return push(call, results, self);
}

//===----------------------------------------------------------------------===//
// All pieces
//===----------------------------------------------------------------------===//

/// Pieces of `width` along `dim`; the last one has what is left.
static LogicalResult pushPieces(const InferCall &call, Results &results,
                                TensorShape self, int64_t dim, int64_t width,
                                int64_t pieces) {
  int64_t left = self.dims[dim];
  for (int64_t i = 0; i < pieces; ++i) {
    if (left != 0)
      self.dims[dim] = left == kUnknown || width == kUnknown
                           ? kUnknown
                           : std::min(left, width);
    else
      self.dims[dim] = 0;
    left = self.dims[dim] == kUnknown ? kUnknown : left - self.dims[dim];
    if (failed(push(call, results, self)))
      return failure();
  }
  return success();
}

static LogicalResult checkPieces(const InferCall &call, int64_t dim,
                                 int64_t pieces) {
  if (pieces == kUnknown)
    return call.error("the number of pieces of dimension ", dim,
                      " is not known");
  if (pieces < 0 || pieces > kMaxPieces)
    return call.error(pieces, " pieces; at most ", kMaxPieces,
                      " are supported");
  return success();
}

LogicalResult infer::splitWithSizes(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  Dims sizes;
  int param = call.getSchema().find("split_sizes");
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(getSizes(
          call, param < 0 ? ParamRef("split_size") : ParamRef(param), sizes)))
    return failure();
  int64_t total = 0;
  for (int64_t size : sizes)
    total = addSizes(total, size);
  if (failed(
          checkSame(call, "sum of the pieces and size", total, self.dims[dim])))
    return failure();
  for (int64_t size : sizes) {
    self.dims[dim] = size;
    if (failed(push(call, results, self)))
      return failure();
  }
  return success();
}

LogicalResult infer::split(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, width = 0;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(call.integer("split_size", width)))
    return failure();
  int64_t size = self.dims[dim];
  if (width != kUnknown && (width < 0 || (width == 0 && size != 0)))
    return call.error("pieces of size ", width);
  // An empty dimension is one piece.
  int64_t pieces = size == 0 ? 1 : ceilDivSize(size, width);
  if (failed(checkPieces(call, dim, pieces)))
    return failure();
  return pushPieces(call, results, self, dim, width, pieces);
}

LogicalResult infer::chunk(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, chunks = 0;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(call.integer("chunks", chunks)))
    return failure();
  if (chunks != kUnknown && chunks <= 0)
    return call.error("the number of chunks must be positive, not ", chunks);
  int64_t size = self.dims[dim], width = ceilDivSize(size, chunks);
  int64_t pieces = chunks;
  if (size != kUnknown && size != 0)
    pieces = ceilDivSize(size, width);
  if (failed(checkPieces(call, dim, pieces)))
    return failure();
  return pushPieces(call, results, self, dim, width, pieces);
}

LogicalResult infer::unbind(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  if (failed(getSelfAndDim(call, "dim", self, dim)) ||
      failed(checkPieces(call, dim, self.dims[dim])))
    return failure();
  int64_t pieces = self.dims[dim];
  self.dims.erase(self.dims.begin() + dim);
  for (int64_t i = 0; i < pieces; ++i)
    if (failed(push(call, results, self)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

LogicalResult infer::unfold(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, size = 0, step = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("dimension", self.rank(), dim)) ||
      failed(call.integer("size", size)) || failed(call.integer("step", step)))
    return failure();
  if (step != kUnknown && step <= 0)
    return call.error("the step of windows must be positive, not ", step);
  int64_t available = self.dims.empty() ? 1 : self.dims[dim];
  bool known = size != kUnknown && available != kUnknown;
  if (size != kUnknown && (size < 0 || (known && size > available)))
    return call.error("windows of ", size, " do not fit in ", available,
                      " elements");
  if (!self.dims.empty())
    self.dims[dim] =
        known ? addSizes(floorDivSize(available - size, step), 1) : kUnknown;
  self.dims.push_back(size);
  return push(call, results, self);
}
