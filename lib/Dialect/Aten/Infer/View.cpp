// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views that keep or rearrange dimensions; those that cut pieces out of a
// tensor are in Slice.cpp.
//
// Whether a view copies depends on strides and is not asked here: `view`,
// `reshape` and `_unsafe_view` have one rule. Where a size is unknown, the
// number of elements is checked as far as it is known and -1 gives `?`.

#include "Common.h"
#include "cutback/Support/MLIR/TensorBytes.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// Replaces the -1 in `sizes` so that they hold `count` elements, and checks
/// the count.
static LogicalResult resolveSizes(const InferCall &call, Dims &sizes,
                                  int64_t count) {
  int64_t *hole = nullptr;
  int64_t others = 1;
  for (int64_t &size : sizes) {
    if (size == -1) {
      if (hole)
        return call.error("more than one size is -1");
      hole = &size;
    } else if (size < 0 && size != kUnknown) {
      return call.error("size ", size, " is negative");
    } else {
      others = mulSizes(others, size);
    }
  }
  if (!hole)
    return checkSame(call, "numbers of elements", count, others);
  if (others == 0)
    return call.error("-1 can be any size: the others hold no elements");
  if (count != kUnknown && others != kUnknown && count % others != 0)
    return call.error(count, " elements cannot be arranged in groups of ",
                      others);
  *hole = floorDivSize(count, others);
  return success();
}

LogicalResult infer::view(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes;
  int param = call.getSchema().find("size");
  if (failed(getSelf(call, self)) ||
      failed(call.integers(param < 0 ? ParamRef("shape") : ParamRef(param),
                           sizes)) ||
      failed(resolveSizes(call, sizes, countElements(self.dims))))
    return failure();
  return push(call, results, sizes, self.element);
}

LogicalResult infer::viewDtype(const InferCall &call, Results &results) {
  TensorShape self;
  Type type;
  if (failed(getSelf(call, self)) || failed(getDtype(call, self.element, type)))
    return failure();
  int64_t from = elementBytes(self.element), to = elementBytes(type);
  if (from == to || from == 0 || to == 0)
    return push(call, results, self.dims, type);
  if (self.dims.empty())
    return call.error("a tensor without dimensions cannot be viewed as ", type);
  int64_t bytes = mulSizes(self.dims.back(), from);
  if (bytes != kUnknown && bytes % to != 0)
    return call.error("rows of ", bytes, " bytes cannot be viewed as ", type);
  self.dims.back() = floorDivSize(bytes, to);
  return push(call, results, self.dims, type);
}

LogicalResult infer::shapeOfOther(const InferCall &call, Results &results) {
  TensorShape self, other;
  if (failed(call.tensor(0, self)) || failed(call.tensor(1, other)))
    return failure();
  return push(call, results, other.dims, self.element);
}

//===----------------------------------------------------------------------===//
// Order of dimensions
//===----------------------------------------------------------------------===//

LogicalResult infer::permute(const InferCall &call, Results &results) {
  TensorShape self;
  llvm::SmallBitVector seen;
  Dims order, dims;
  if (failed(getSelf(call, self)) || failed(call.integers("dims", order)) ||
      failed(getDims(call, "dims", self.rank(), seen)))
    return failure();
  if (order.size() != self.dims.size())
    return call.error(order.size(), " dimensions given for a tensor of rank ",
                      self.rank());
  for (int64_t dim : order)
    dims.push_back(self.dims[dim < 0 ? dim + self.rank() : dim]);
  return push(call, results, dims, self.element);
}

LogicalResult infer::transpose(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t a = 0, b = 0;
  bool axes = call.getSchema().find("axis0") >= 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension(axes ? "axis0" : "dim0", self.rank(), a)) ||
      failed(call.dimension(axes ? "axis1" : "dim1", self.rank(), b)))
    return failure();
  if (!self.dims.empty())
    std::swap(self.dims[a], self.dims[b]);
  return push(call, results, self);
}

LogicalResult infer::t(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.rank() > 2)
    return call.error("only up to 2 dimensions can be transposed, not ",
                      self.rank());
  if (self.rank() == 2)
    std::swap(self.dims[0], self.dims[1]);
  return push(call, results, self);
}

LogicalResult infer::movedim(const InferCall &call, Results &results) {
  TensorShape self;
  llvm::SmallBitVector from, to;
  Dims source, destination;
  if (failed(getSelf(call, self)) ||
      failed(getDims(call, "source", self.rank(), from)) ||
      failed(getDims(call, "destination", self.rank(), to)) ||
      failed(call.integers("source", source)) ||
      failed(call.integers("destination", destination)))
    return failure();
  if (source.size() != destination.size())
    return call.error(source.size(), " dimensions cannot move to ",
                      destination.size(), " places");
  if (self.dims.empty())
    return push(call, results, self);
  Dims dims(self.dims.size(), 0);
  llvm::SmallBitVector moved(self.dims.size()), taken(self.dims.size());
  for (auto [a, b] : llvm::zip_equal(source, destination)) {
    int64_t at = b < 0 ? b + self.rank() : b;
    int64_t of = a < 0 ? a + self.rank() : a;
    dims[at] = self.dims[of];
    moved.set(static_cast<unsigned>(of));
    taken.set(static_cast<unsigned>(at));
  }
  unsigned at = 0;
  for (auto [i, size] : llvm::enumerate(self.dims)) {
    if (moved.test(static_cast<unsigned>(i)))
      continue;
    while (taken.test(at))
      ++at;
    dims[at++] = size;
  }
  return push(call, results, dims, self.element);
}

//===----------------------------------------------------------------------===//
// Dimensions of size 1, joined and split dimensions
//===----------------------------------------------------------------------===//

LogicalResult infer::expand(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes;
  int param = call.getSchema().find("size");
  if (failed(getSelf(call, self)) ||
      failed(call.integers(param < 0 ? ParamRef("shape") : ParamRef(param),
                           sizes)))
    return failure();
  if (sizes.size() < self.dims.size())
    return call.error("rank ", self.rank(), " cannot be expanded to ",
                      sizes.size());
  size_t added = sizes.size() - self.dims.size();
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t from = i < added ? 1 : self.dims[i - added];
    if (size == -1 && i < added)
      return call.error("-1 stands for a new dimension");
    if (size == -1 || (size == kUnknown && from != 1))
      size = from;
    else if (from != 1 && !mayEqual(from, size))
      return call.error("size ", from, " cannot be expanded to ", size,
                        " in dimension ", i);
  }
  return push(call, results, sizes, self.element);
}

LogicalResult infer::unsqueeze(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("dim", self.rank() + 1, dim)))
    return failure();
  self.dims.insert(self.dims.begin() + dim, 1);
  return push(call, results, self);
}

LogicalResult infer::squeeze(const InferCall &call, Results &results) {
  TensorShape self;
  llvm::SmallBitVector candidates;
  if (failed(getSelf(call, self)) ||
      failed(getDims(call, optional("dim"), self.rank(), candidates,
                     /*emptyIsAll=*/false)))
    return failure();
  Dims dims;
  for (auto [i, size] : llvm::enumerate(self.dims))
    if (size != 1 || !candidates.test(static_cast<unsigned>(i)))
      dims.push_back(size);
  return push(call, results, dims, self.element);
}

LogicalResult infer::flatten(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t start = 0, end = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("start_dim", self.rank(), start)) ||
      failed(call.dimension("end_dim", self.rank(), end)))
    return failure();
  if (start > end)
    return call.error("start_dim ", start, " is behind end_dim ", end);
  if (self.dims.empty())
    return push(call, results, {1}, self.element);
  ArrayRef<int64_t> all = self.dims;
  Dims dims(all.take_front(start));
  dims.push_back(countElements(all.slice(start, end - start + 1)));
  dims.append(all.begin() + end + 1, all.end());
  return push(call, results, dims, self.element);
}

LogicalResult infer::unflatten(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  Dims sizes;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("dim", self.rank(), dim)) ||
      failed(call.integers("sizes", sizes)))
    return failure();
  if (self.dims.empty() || sizes.empty())
    return call.error("nothing to unflatten");
  if (failed(resolveSizes(call, sizes, self.dims[dim])))
    return failure();
  ArrayRef<int64_t> all = self.dims;
  Dims dims(all.take_front(dim));
  dims.append(sizes.begin(), sizes.end());
  dims.append(all.begin() + dim + 1, all.end());
  return push(call, results, dims, self.element);
}

//===----------------------------------------------------------------------===//
// Strides and complex numbers
//===----------------------------------------------------------------------===//

LogicalResult infer::asStrided(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes, strides;
  if (failed(getSelf(call, self)) || failed(getSizes(call, "size", sizes)) ||
      failed(call.integers("stride", strides)))
    return failure();
  if (sizes.size() != strides.size())
    return call.error(sizes.size(), " sizes and ", strides.size(), " strides");
  return push(call, results, sizes, self.element);
}

LogicalResult infer::resize(const InferCall &call, Results &results) {
  TensorShape self, other;
  if (failed(getSelf(call, self)))
    return failure();
  if (call.getSchema().find("the_template") >= 0) {
    if (failed(call.tensor("the_template", other)))
      return failure();
  } else if (failed(getSizes(call, optional("size"), other.dims))) {
    return failure();
  }
  int64_t from = countElements(self.dims), to = countElements(other.dims);
  if (from != kUnknown && to != kUnknown && from < to)
    return call.error(from, " elements cannot be resized to ", to,
                      ", which would have no value");
  return push(call, results, other.dims, self.element);
}

LogicalResult infer::viewAsReal(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (!isComplex(self.element))
    return call.error("elements must be complex, not ", self.element);
  self.dims.push_back(2);
  return push(call, results, self.dims, realType(self.element));
}

LogicalResult infer::viewAsComplex(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (!isa<FloatType>(self.element))
    return call.error("parts of complex numbers must be floats, not ",
                      self.element);
  if (self.dims.empty() || !mayEqual(self.dims.back(), 2))
    return call.error("the last dimension must have size 2");
  self.dims.pop_back();
  return push(call, results, self.dims, complexType(self.element));
}
