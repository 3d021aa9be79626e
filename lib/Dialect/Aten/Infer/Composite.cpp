// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that PyTorch runs as several others: stacking, pieces, products of many
// tensors, distances and losses between vectors. Exported programs keep them
// as they are written, so their types are inferred like any other's;
// decomposition (Decompose) says what they do.
//
// Each function restates the shape of the result only. Errors are those that
// an exported program cannot have; a wrong text gets one that names the sizes.

#include "Common.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// A dimension of `shape` by parameter `dim`, of which there must be one.
static LogicalResult getDim(const InferCall &call, const TensorShape &shape,
                            int64_t &dim) {
  if (shape.dims.empty())
    return call.error("a tensor without dimensions has no parts");
  return call.dimension("dim", shape.rank(), dim);
}

/// The first two parameters, broadcast to `dims`.
static LogicalResult getPair(const InferCall &call, TensorShape &a,
                             TensorShape &b, Dims &dims) {
  if (failed(call.tensor(0, a)) || failed(call.tensor(1, b)))
    return failure();
  dims = a.dims;
  return broadcastInto(call, dims, b.dims);
}

//===----------------------------------------------------------------------===//
// Reductions and differences
//===----------------------------------------------------------------------===//

LogicalResult infer::trace(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getOfRank(call, "self", 2, self)))
    return failure();
  return push(call, results, {},
              isIntegral(self.element) ? intType(call) : self.element);
}

LogicalResult infer::dist(const InferCall &call, Results &results) {
  TensorShape a, b;
  Dims dims;
  if (failed(getPair(call, a, b, dims)))
    return failure();
  return push(call, results, {}, realType(promoteTypes({a, b})));
}

LogicalResult infer::diff(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0, n = 1;
  if (failed(call.tensor("self", self)) || failed(getDim(call, self, dim)) ||
      failed(call.integer("n", n)))
    return failure();
  TensorShape whole = self; // without differences nothing is joined to it
  for (const char *name : {"prepend", "append"}) {
    std::optional<TensorShape> more;
    if (failed(call.optionalTensor(name, more)))
      return failure();
    if (!more)
      continue;
    if (more->rank() != self.rank())
      return call.error("ranks of tensor and '", name,
                        "' differ: ", self.rank(), " and ", more->rank());
    self.dims[dim] = addSizes(self.dims[dim], more->dims[dim]);
  }
  if (n == 0)
    return push(call, results, whole);
  int64_t &size = self.dims[dim];
  if (n == kUnknown)
    size = kUnknown;
  else if (size != kUnknown)
    size = std::max<int64_t>(addSizes(size, -std::max<int64_t>(n, 0)), 0);
  return push(call, results, self);
}

LogicalResult infer::trapezoid(const InferCall &call, Results &results) {
  TensorShape y;
  int64_t dim = 0;
  if (failed(call.tensor("y", y)) || failed(getDim(call, y, dim)))
    return failure();
  if (call.getSchema().packet.contains("cumulative"))
    y.dims[dim] = y.dims[dim] == kUnknown
                      ? kUnknown
                      : std::max<int64_t>(y.dims[dim] - 1, 0);
  else
    y.dims.erase(y.dims.begin() + dim);
  return push(call, results, y.dims, toFloating(call, y.element));
}

//===----------------------------------------------------------------------===//
// Distances and losses of vectors
//===----------------------------------------------------------------------===//

LogicalResult infer::cosineSimilarity(const InferCall &call, Results &results) {
  TensorShape a, b, both;
  int64_t dim = 0;
  if (failed(getPair(call, a, b, both.dims)) ||
      failed(call.dimension("dim", both.rank(), dim)))
    return failure();
  if (!both.dims.empty()) // else one number, which is a vector
    both.dims.erase(both.dims.begin() + dim);
  return push(call, results, both.dims, toFloating(call, promoteTypes({a, b})));
}

LogicalResult infer::pairwiseDistance(const InferCall &call, Results &results) {
  TensorShape a, b;
  Dims dims;
  bool keep = false;
  if (failed(getPair(call, a, b, dims)) ||
      failed(call.boolean("keepdim", keep)))
    return failure();
  if (dims.empty())
    return call.error("a tensor without dimensions has no parts");
  dims.pop_back();
  if (keep)
    dims.push_back(1);
  return push(call, results, dims, promoteTypes({a, b}));
}

/// `reduction`: 0 keeps `dims`, 1 is the mean, 2 the sum.
static LogicalResult pushLoss(const InferCall &call, Results &results,
                              ArrayRef<int64_t> dims, Type element) {
  int64_t reduction = 0;
  if (failed(call.integer("reduction", reduction)))
    return failure();
  return push(call, results, reduction == 0 ? dims : ArrayRef<int64_t>(),
              element);
}

/// The tensors of the call, broadcast and promoted.
static LogicalResult getAll(const InferCall &call, unsigned count,
                            SmallVectorImpl<TensorShape> &tensors, Dims &dims) {
  for (unsigned i = 0; i < count; ++i)
    if (failed(call.tensor(i, tensors.emplace_back())) ||
        failed(broadcastInto(call, dims, tensors.back().dims)))
      return failure();
  return success();
}

LogicalResult infer::broadcastLoss(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  Dims dims;
  bool three = call.getSchema().find("input2") >= 0;
  if (failed(getAll(call, three ? 3 : 2, tensors, dims)))
    return failure();
  // The target of a hinge is compared with, and no more.
  bool isHinge = call.getSchema().find("target") == 1;
  return pushLoss(call, results, dims,
                  isHinge ? tensors.front().element : promoteTypes(tensors));
}

LogicalResult infer::tripletMarginLoss(const InferCall &call,
                                       Results &results) {
  SmallVector<TensorShape> tensors;
  Dims dims;
  if (failed(getAll(call, 3, tensors, dims)))
    return failure();
  if (dims.empty())
    return call.error("a tensor without dimensions has no parts");
  dims.pop_back();
  return pushLoss(call, results, dims, promoteTypes(tensors));
}

LogicalResult infer::cosineEmbeddingLoss(const InferCall &call,
                                         Results &results) {
  TensorShape a, b, target;
  Dims dims;
  if (failed(getPair(call, a, b, dims)) ||
      failed(call.tensor("target", target)))
    return failure();
  if (target.rank() > 1 || a.rank() != target.rank() + 1)
    return call.error("a target of rank ", target.rank(),
                      " for inputs of rank ", a.rank());
  dims.pop_back();
  if (failed(broadcastInto(call, dims, target.dims)))
    return failure();
  return pushLoss(call, results, dims, promoteTypes({a, b}));
}

LogicalResult infer::cdistBackward(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(call.tensor("x1", a)) || failed(call.tensor("x2", b)))
    return failure();
  if (a.rank() < 2 || b.rank() < 2)
    return call.error("points need at least 2 dimensions, not ", a.rank(),
                      " and ", b.rank());
  Dims dims(ArrayRef<int64_t>(a.dims).drop_back(2));
  if (failed(broadcastInto(call, dims, ArrayRef<int64_t>(b.dims).drop_back(2))))
    return failure();
  llvm::append_range(dims, ArrayRef<int64_t>(a.dims).take_back(2));
  // PyTorch gives zeros of the shape of x1 then.
  if (llvm::is_contained(a.dims, 0) || llvm::is_contained(b.dims, 0))
    dims.assign(a.dims.begin(), a.dims.end());
  return push(call, results, dims, a.element);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// An added term `self` must broadcast to the product.
static LogicalResult pushAdded(const InferCall &call, Results &results,
                               Dims dims) {
  TensorShape self;
  if (failed(call.tensor("self", self)) ||
      failed(broadcastInto(call, dims, self.dims)))
    return failure();
  return push(call, results, dims, self.element);
}

LogicalResult infer::addbmm(const InferCall &call, Results &results) {
  Factors f;
  if (failed(getFactors(call, "inner sizes", {"batch1", 3, 2}, {"batch2", 3, 1},
                        f)))
    return failure();
  return pushAdded(call, results, {f.a.dims[1], f.b.dims[2]});
}

LogicalResult infer::addr(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getOfRank(call, "vec1", 1, a)) ||
      failed(getOfRank(call, "vec2", 1, b)))
    return failure();
  return pushAdded(call, results, {a.dims[0], b.dims[0]});
}

LogicalResult infer::chainMatmul(const InferCall &call, Results &results) {
  SmallVector<TensorShape> factors;
  if (failed(call.tensors(0, factors)))
    return failure();
  if (factors.empty())
    return call.error("no tensors given");
  Dims dims;
  if (factors.front().rank() == 2)
    dims.push_back(factors.front().dims[0]);
  if (factors.back().rank() == 2)
    dims.push_back(factors.back().dims[1]);
  for (size_t i = 0; i + 1 < factors.size(); ++i) {
    const TensorShape &a = factors[i], &b = factors[i + 1];
    if (a.dims.empty() || b.dims.empty())
      return call.error("factors need at least one dimension");
    if (failed(checkSame(call, "inner sizes", a.dims.back(), b.dims[0])))
      return failure();
  }
  return push(call, results, dims, factors.front().element);
}

LogicalResult infer::kron(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(call.tensor(0, a)) || failed(call.tensor(1, b)))
    return failure();
  size_t rank = std::max(a.dims.size(), b.dims.size());
  Dims dims = a.dims, others = b.dims;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  others.insert(others.begin(), rank - others.size(), 1);
  for (auto [size, other] : llvm::zip_equal(dims, others))
    size = mulSizes(size, other);
  return push(call, results, dims, promoteTypes({a, b}));
}

LogicalResult infer::tensordot(const InferCall &call, Results &results) {
  TensorShape a, b;
  llvm::SmallBitVector inA, inB;
  if (failed(call.tensor("self", a)) || failed(call.tensor("other", b)) ||
      failed(getDims(call, "dims_self", a.rank(), inA, false)) ||
      failed(getDims(call, "dims_other", b.rank(), inB, false)))
    return failure();
  if (inA.count() != inB.count())
    return call.error("numbers of dimensions differ: ", inA.count(), " and ",
                      inB.count());
  Dims dims = reduceShape(a.dims, inA, /*keepDim=*/false);
  dims.append(reduceShape(b.dims, inB, /*keepDim=*/false));
  return push(call, results, dims, a.element);
}

LogicalResult infer::inner(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(call.tensor(0, a)) || failed(call.tensor(1, b)))
    return failure();
  if (a.dims.empty() || b.dims.empty())
    return push(call, results, a.dims.empty() ? b.dims : a.dims, a.element);
  if (failed(checkSame(call, "inner sizes", a.dims.back(), b.dims.back())))
    return failure();
  a.dims.pop_back();
  a.dims.append(b.dims.begin(), b.dims.end() - 1);
  return push(call, results, a);
}

LogicalResult infer::bilinear(const InferCall &call, Results &results) {
  TensorShape a, b, weight;
  if (failed(call.tensor("input1", a)) || failed(call.tensor("input2", b)) ||
      failed(getOfRank(call, "weight", 3, weight)))
    return failure();
  if (a.dims.empty() || b.dims.empty())
    return call.error("factors need at least one dimension");
  if (failed(checkSame(call, "inner sizes", a.dims.back(), weight.dims[1])) ||
      failed(checkSame(call, "inner sizes", b.dims.back(), weight.dims[2])))
    return failure();
  a.dims.back() = weight.dims[0];
  return push(call, results, a);
}

LogicalResult infer::cross(const InferCall &call, Results &results) {
  TensorShape a, b;
  Dims dims;
  if (failed(getPair(call, a, b, dims)))
    return failure();
  return push(call, results, dims, promoteTypes({a, b}));
}

LogicalResult infer::vecdot(const InferCall &call, Results &results) {
  TensorShape a, b, both;
  int64_t dim = 0;
  if (failed(getPair(call, a, b, both.dims)) || failed(getDim(call, both, dim)))
    return failure();
  both.dims.erase(both.dims.begin() + dim);
  return push(call, results, both.dims, promoteTypes({a, b}));
}

//===----------------------------------------------------------------------===//
// Arrangement
//===----------------------------------------------------------------------===//

LogicalResult infer::rot90(const InferCall &call, Results &results) {
  TensorShape self;
  llvm::SmallBitVector plane;
  int64_t k = 0;
  if (failed(getSelf(call, self)) || failed(call.integer("k", k)) ||
      failed(getDims(call, "dims", self.rank(), plane, false)))
    return failure();
  if (plane.count() != 2)
    return call.error(plane.count(), " dimensions span no plane");
  int64_t &a = self.dims[plane.find_first()], &b = self.dims[plane.find_last()];
  if (k == kUnknown && a != b)
    a = b = kUnknown;
  else if (k % 2 != 0)
    std::swap(a, b);
  return push(call, results, self);
}

/// The least number of dimensions that `packet` gives, by the digit in it.
static void addDims(StringRef packet, Dims &dims) {
  size_t least = packet.contains('3') ? 3 : packet.contains('2') ? 2 : 1;
  if (dims.size() >= least)
    return;
  // Rows come first, planes behind.
  if (least > 1 && dims.size() < 2)
    dims.insert(dims.begin(), dims.empty() ? 2 : 1, 1);
  if (least == 1 || least == 3)
    dims.push_back(1);
}

LogicalResult infer::atLeast(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  if (call.getSchema().params[0].isList) {
    if (failed(call.tensors(0, tensors)))
      return failure();
  } else if (failed(call.tensor(0, tensors.emplace_back()))) {
    return failure();
  }
  for (TensorShape &tensor : tensors) {
    addDims(call.getSchema().packet, tensor.dims);
    if (failed(push(call, results, tensor)))
      return failure();
  }
  return success();
}

/// hstack joins along dimension 1 (0 of vectors), vstack along 0, dstack along
/// 2, column_stack along 1; all give a tensor dimensions first.
LogicalResult infer::stackAlong(const InferCall &call, Results &results) {
  StringRef packet = call.getSchema().packet;
  SmallVector<TensorShape> tensors;
  if (failed(call.tensors(0, tensors)))
    return failure();
  if (tensors.empty())
    return call.error("no tensors given");
  bool columns = packet.ends_with("column_stack");
  for (TensorShape &tensor : tensors) {
    if (columns)
      tensor.dims.append(tensor.rank() < 2 ? 2 - tensor.rank() : 0, 1);
    else
      addDims(packet.contains("hstack")   ? "1"
              : packet.contains("dstack") ? "3"
                                          : "2",
              tensor.dims);
  }
  Dims dims = tensors.front().dims;
  size_t along = 0;
  if (packet.contains("dstack"))
    along = 2;
  else if (columns || packet.contains("hstack"))
    along = dims.size() > 1 ? 1 : 0;
  dims[along] = 0;
  for (const TensorShape &tensor : tensors) {
    if (tensor.dims.size() != dims.size())
      return call.error("tensors of rank ", dims.size(), " and ", tensor.rank(),
                        " cannot be stacked");
    dims[along] = addSizes(dims[along], tensor.dims[along]);
  }
  return push(call, results, dims, promoteTypes(tensors));
}

LogicalResult infer::cartesianProd(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  if (failed(call.tensors(0, tensors)))
    return failure();
  if (tensors.empty())
    return call.error("no tensors given");
  int64_t rows = 1;
  for (const TensorShape &tensor : tensors)
    rows = mulSizes(rows, countElements(tensor.dims));
  Dims dims = {rows};
  if (tensors.size() > 1)
    dims.push_back(static_cast<int64_t>(tensors.size()));
  return push(call, results, dims, tensors.front().element);
}

LogicalResult infer::blockDiag(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  if (failed(call.tensors(0, tensors)))
    return failure();
  int64_t rows = 0, columns = 0;
  for (const TensorShape &tensor : tensors) {
    if (tensor.rank() > 2)
      return call.error("blocks have at most 2 dimensions, not ",
                        tensor.rank());
    rows = addSizes(rows, tensor.rank() == 2 ? tensor.dims[0] : 1);
    columns = addSizes(columns, tensor.dims.empty() ? 1 : tensor.dims.back());
  }
  if (tensors.empty())
    return push(call, results, {1, 0}, floatType(call));
  return push(call, results, {rows, columns}, promoteTypes(tensors));
}

LogicalResult infer::triIndices(const InferCall &call, Results &results) {
  int64_t rows = 0, columns = 0, offset = 0;
  Type type;
  if (failed(call.integer("row", rows)) ||
      failed(call.integer("col", columns)) ||
      failed(call.integer("offset", offset)) ||
      failed(getDtype(call, intType(call), type)))
    return failure();
  bool upper = call.getSchema().packet.contains("triu");
  constexpr int64_t limit = 1 << 20;
  if (rows == kUnknown || columns == kUnknown || offset == kUnknown)
    return push(call, results, {2, kUnknown}, type);
  if (rows < 0 || columns < 0 || rows > limit || columns > limit)
    return call.error("a triangle of ", rows, " by ", columns);
  offset = std::clamp(offset, -limit, limit);
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t below =
        std::clamp<int64_t>(row + offset + (upper ? 0 : 1), 0, columns);
    count += upper ? columns - below : below;
  }
  return push(call, results, {2, count}, type);
}
