// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear algebra. An operand is a matrix in its last two dimensions, and a
// batch of them in those before. An op gives its results in one order
// whatever it is called; a call that has fewer of them (`linalg_det` beside
// `_linalg_det`) has those that its schema names.

#include "Common.h"

#include <cmath>

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static LogicalResult checkMatrix(const InferCall &call,
                                 const TensorShape &self) {
  if (self.rank() < 2)
    return call.error("a matrix has 2 dimensions or more, not ", self.rank());
  if (!isFloatOrComplex(self.element))
    return call.error("matrices are of floating point, not of ", self.element);
  return success();
}

static LogicalResult checkSquare(const InferCall &call,
                                 const TensorShape &self) {
  if (failed(checkMatrix(call, self)))
    return failure();
  return checkSame(call, "rows and columns", self.dims[self.rank() - 2],
                   self.dims.back());
}

static LogicalResult getMatrix(const InferCall &call, TensorShape &self) {
  return failed(getSelf(call, self)) ? failure() : checkMatrix(call, self);
}

static LogicalResult getSquare(const InferCall &call, TensorShape &self) {
  return failed(getSelf(call, self)) ? failure() : checkSquare(call, self);
}

/// The dimensions of the batch, and then `more`.
static Dims batched(const TensorShape &self, ArrayRef<int64_t> more = {}) {
  Dims dims(self.dims.begin(), self.dims.end() - 2);
  dims.append(more.begin(), more.end());
  return dims;
}

static Type infoType(const InferCall &call) {
  return IntegerType::get(call.getContext(), 32);
}

static int64_t smaller(int64_t a, int64_t b) {
  return a == kUnknown || b == kUnknown ? kUnknown : std::min(a, b);
}

//===----------------------------------------------------------------------===//
// Square matrices
//===----------------------------------------------------------------------===//

LogicalResult infer::squareMatrix(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getSquare(call, self)) ? failure() : push(call, results, self);
}

LogicalResult infer::matrixAndInfo(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSquare(call, self)) || failed(push(call, results, self)))
    return failure();
  return push(call, results, batched(self), infoType(call));
}

/// A condition by singular values, which other matrices have as well.
static bool isSpectralCondition(const InferCall &call) {
  std::optional<double> p;
  return call.getSchema().packet.ends_with("cond") &&
         call.getSchema().overload == "default" &&
         (call.isNone(optional("p")) ||
          (succeeded(call.number(optional("p"), p)) && p &&
           std::fabs(*p) == 2));
}

LogicalResult infer::linalgDet(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(isSpectralCondition(call) ? getMatrix(call, self)
                                       : getSquare(call, self)))
    return failure();
  StringRef packet = call.getSchema().packet;
  Type real = realType(self.element);
  bool hasSign = packet.ends_with("slogdet");
  if (failed(push(call, results, batched(self),
                  packet.ends_with("cond") ? real : self.element)) ||
      (hasSign && failed(push(call, results, batched(self), real))))
    return failure();
  if (results.size() == call.getSchema().results.size())
    return success();
  if (failed(push(call, results, self)))
    return failure();
  return push(call, results, batched(self, self.dims.back()), infoType(call));
}

LogicalResult infer::linalgEigh(const InferCall &call, Results &results) {
  TensorShape self;
  bool vectors = false;
  if (failed(getSquare(call, self)) ||
      failed(push(call, results, batched(self, self.dims.back()),
                  realType(self.element))))
    return failure();
  if (call.getSchema().results.size() == 1)
    return success();
  bool isUnit = call.getSchema().find("compute_v") >= 0;
  if (isUnit && failed(call.boolean("compute_v", vectors)))
    return failure();
  if (isUnit && !vectors)
    return push(call, results, {0}, self.element);
  return push(call, results, self);
}

LogicalResult infer::linalgEig(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSquare(call, self)))
    return failure();
  if (!infer::isComplex(self.element))
    self.element = complexType(self.element);
  if (failed(
          push(call, results, batched(self, self.dims.back()), self.element)))
    return failure();
  return call.getSchema().results.size() == 1 ? success()
                                              : push(call, results, self);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

LogicalResult infer::linalgQr(const InferCall &call, Results &results) {
  TensorShape self;
  StringRef mode;
  if (failed(getMatrix(call, self)))
    return failure();
  bool complete = false;
  if (call.getSchema().find("mode") >= 0) {
    if (failed(call.string("mode", mode)))
      return failure();
    complete = mode == "complete";
    if (!complete && mode != "reduced" && mode != "r")
      return call.error("mode is 'reduced', 'complete' or 'r', not '", mode,
                        "'");
  } else {
    bool some = true;
    if (failed(call.boolean(optional("some"), some)))
      return failure();
    complete = !some;
  }
  int64_t rows = self.dims[self.rank() - 2], columns = self.dims.back();
  int64_t size = complete ? rows : smaller(rows, columns);
  if (failed(mode == "r" ? push(call, results, {0}, self.element)
                         : push(call, results, batched(self, {rows, size}),
                                self.element)))
    return failure();
  return push(call, results, batched(self, {size, columns}), self.element);
}

LogicalResult infer::geqrf(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getMatrix(call, self)) || failed(push(call, results, self)))
    return failure();
  int64_t size = smaller(self.dims[self.rank() - 2], self.dims.back());
  return push(call, results, batched(self, size), self.element);
}

LogicalResult infer::ormqr(const InferCall &call, Results &results) {
  TensorShape self, other;
  bool left = true;
  if (failed(getMatrix(call, self)) || failed(call.tensor("input3", other)) ||
      failed(checkMatrix(call, other)) || failed(call.boolean("left", left)) ||
      failed(checkSame(call, "sizes of the reflections and the matrix",
                       self.dims[self.rank() - 2],
                       other.dims[other.rank() - (left ? 2 : 1)])))
    return failure();
  return push(call, results, other);
}

LogicalResult infer::linalgSvd(const InferCall &call, Results &results) {
  TensorShape self;
  bool full = false, some = true, vectors = true;
  if (failed(getMatrix(call, self)) ||
      failed(call.boolean(optional("full_matrices"), full)))
    return failure();
  const Schema &schema = call.getSchema();
  if (schema.find("some") >= 0 && failed(call.boolean("some", some)))
    return failure();
  if (schema.find("compute_uv") >= 0 &&
      failed(call.boolean("compute_uv", vectors)))
    return failure();
  full |= !some;
  int64_t rows = self.dims[self.rank() - 2], columns = self.dims.back();
  int64_t size = smaller(rows, columns);
  Type real = realType(self.element);
  if (schema.results.size() == 1)
    return push(call, results, batched(self, size), real);
  bool isOld = schema.packet == "aten.svd"; // gives V, not its transpose
  full |= isOld && !vectors;                // zeros, as many as of full vectors
  int64_t left = full ? rows : size, right = full ? columns : size;
  Dims u = batched(self, {rows, left});
  Dims v =
      isOld ? batched(self, {columns, right}) : batched(self, {right, columns});
  if (!vectors && !isOld)
    u = v = {0};
  if (failed(push(call, results, u, self.element)) ||
      failed(push(call, results, batched(self, size), real)))
    return failure();
  return push(call, results, v, self.element);
}

LogicalResult infer::pinv(const InferCall &call, Results &results) {
  TensorShape self;
  bool isHermitian = false;
  if (failed(getMatrix(call, self)) ||
      (call.getSchema().find("hermitian") >= 0 &&
       failed(call.boolean("hermitian", isHermitian))) ||
      (isHermitian && failed(checkSquare(call, self))))
    return failure();
  std::swap(self.dims[self.rank() - 2], self.dims.back());
  return push(call, results, self);
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

/// The dimensions of the batches of both, broadcast.
static LogicalResult broadcastBatch(const InferCall &call, const TensorShape &a,
                                    const TensorShape &b, Dims &result) {
  result = batched(a);
  return broadcastInto(call, result, ArrayRef<int64_t>(b.dims).drop_back(2));
}

/// linalg_solve: B is a batch of vectors where it has one dimension, or the
/// sizes of A but its last.
LogicalResult infer::linalgSolve(const InferCall &call, Results &results) {
  TensorShape a, b;
  bool left = true;
  if (failed(call.tensor("A", a)) || failed(checkSquare(call, a)) ||
      failed(call.tensor("B", b)) || failed(call.boolean("left", left)))
    return failure();
  bool isVector =
      b.rank() == 1 ||
      (b.rank() == a.rank() - 1 &&
       llvm::equal(b.dims, ArrayRef<int64_t>(a.dims).drop_back(), mayEqual));
  if (isVector && !left)
    return call.error("vectors are solved for from the left only");
  Dims dims;
  TensorShape matrix = b;
  if (isVector)
    matrix.dims.push_back(1);
  if (failed(checkMatrix(call, matrix)) ||
      failed(broadcastBatch(call, a, matrix, dims)) ||
      failed(checkSame(call, "sizes of A and B", a.dims.back(),
                       matrix.dims[matrix.rank() - (left ? 2 : 1)])))
    return failure();
  dims.push_back(matrix.dims[matrix.rank() - 2]);
  if (!isVector)
    dims.push_back(matrix.dims.back());
  if (failed(push(call, results, dims, b.element)))
    return failure();
  size_t count = call.getSchema().results.size();
  if (count == 1)
    return success();
  if (count == 4 &&
      (failed(push(call, results, a)) ||
       failed(push(call, results, batched(a, a.dims.back()), infoType(call)))))
    return failure();
  return push(call, results, batched(a), infoType(call));
}

/// The triangular matrix is `self`, `input2` or `A`; what is solved for `B` or
/// `self`.
LogicalResult infer::solveTriangular(const InferCall &call, Results &results) {
  TensorShape a, b;
  StringRef packet = call.getSchema().packet;
  bool isNew = packet == "aten.linalg_solve_triangular";
  bool left = true;
  const char *name = packet == "aten.cholesky_solve" ? "input2" : "A";
  if (failed(call.tensor(isNew ? "self" : name, a)) ||
      failed(checkSquare(call, a)) ||
      failed(call.tensor(isNew ? "B" : "self", b)) ||
      failed(checkMatrix(call, b)) ||
      (isNew && failed(call.boolean(optional("left"), left))))
    return failure();
  Dims dims;
  if (failed(broadcastBatch(call, a, b, dims)) ||
      failed(checkSame(call, "sizes of the matrix and the right-hand side",
                       a.dims.back(), b.dims[b.rank() - (left ? 2 : 1)])))
    return failure();
  Dims batch = dims;
  dims.append(b.dims.end() - 2, b.dims.end());
  if (failed(push(call, results, dims, b.element)))
    return failure();
  if (call.getSchema().results.size() == 1)
    return success();
  batch.append(a.dims.end() - 2, a.dims.end());
  return push(call, results, batch, a.element);
}

LogicalResult infer::lstsq(const InferCall &call, Results &results) {
  TensorShape a, b;
  if (failed(getMatrix(call, a)) || failed(call.tensor("b", b)))
    return failure();
  bool isVector = b.rank() == a.rank() - 1;
  if (!isVector && b.rank() != a.rank())
    return call.error("the right-hand side has ", b.rank(),
                      " dimensions, the matrix ", a.rank());
  int64_t rows = a.dims[a.rank() - 2];
  Dims dims(b.dims.begin(), b.dims.end());
  dims[a.rank() - 2] = a.dims.back();
  if (failed(checkSame(call, "rows of the matrix and the right-hand side", rows,
                       b.dims[a.rank() - 2])) ||
      failed(push(call, results, dims, a.element)))
    return failure();
  // Residuals, rank and singular values depend on the data and the driver.
  for (int i = 0; i < 3; ++i)
    pushNone(call, results);
  return success();
}

//===----------------------------------------------------------------------===//
// LU factors
//===----------------------------------------------------------------------===//

LogicalResult infer::luFactor(const InferCall &call, Results &results) {
  TensorShape self;
  bool pivot = true;
  if (failed(getMatrix(call, self)) || failed(call.boolean("pivot", pivot)))
    return failure();
  if (!pivot)
    return call.error("LU factors without pivots are not supported");
  int64_t size = smaller(self.dims[self.rank() - 2], self.dims.back());
  if (failed(push(call, results, self)) ||
      failed(push(call, results, batched(self, size), infoType(call))))
    return failure();
  if (call.getSchema().results.size() == 2)
    return success();
  return push(call, results, batched(self), infoType(call));
}

LogicalResult infer::luUnpack(const InferCall &call, Results &results) {
  TensorShape self;
  bool data = true, pivots = true;
  if (failed(getMatrix(call, self)))
    return failure();
  const Schema &schema = call.getSchema();
  if (schema.find("unpack_data") >= 0 &&
      (failed(call.boolean("unpack_data", data)) ||
       failed(call.boolean(optional("unpack_pivots"), pivots))))
    return failure();
  if (schema.find("pivot") >= 0 && failed(call.boolean("pivot", pivots)))
    return failure();
  int64_t rows = self.dims[self.rank() - 2], columns = self.dims.back();
  int64_t size = smaller(rows, columns);
  auto add = [&](bool wanted, int64_t m, int64_t n) {
    return wanted ? push(call, results, batched(self, {m, n}), self.element)
                  : push(call, results, {0}, self.element);
  };
  if (failed(add(pivots, rows, rows)) || failed(add(data, rows, size)))
    return failure();
  return add(data, size, columns);
}

/// `right` for each batch of `factors`, whose size is that of `along`.
static LogicalResult solvedBy(const InferCall &call, Results &results,
                              const TensorShape &factors,
                              const TensorShape &right, int64_t along) {
  Dims dims = batched(right);
  if (failed(checkSame(call, "sizes of the factors and the right-hand side",
                       factors.dims.back(), along)) ||
      failed(broadcastInto(call, dims, batched(factors))))
    return failure();
  dims.append(right.dims.end() - 2, right.dims.end());
  return push(call, results, dims, right.element);
}

LogicalResult infer::ldlFactor(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getMatrix(call, self)) || failed(checkSquare(call, self)) ||
      failed(push(call, results, self)) ||
      failed(
          push(call, results, batched(self, self.dims.back()), infoType(call))))
    return failure();
  if (call.getSchema().results.size() == 2)
    return success();
  return push(call, results, batched(self), infoType(call));
}

LogicalResult infer::ldlSolve(const InferCall &call, Results &results) {
  TensorShape factors, right;
  if (failed(call.tensor("LD", factors)) ||
      failed(checkSquare(call, factors)) || failed(call.tensor("B", right)) ||
      failed(checkMatrix(call, right)))
    return failure();
  return solvedBy(call, results, factors, right, right.dims[right.rank() - 2]);
}

LogicalResult infer::luSolve(const InferCall &call, Results &results) {
  TensorShape factors, right;
  bool isOld = call.getSchema().find("LU_data") >= 0, left = true;
  if (failed(call.tensor(isOld ? "LU_data" : "LU", factors)) ||
      failed(checkSquare(call, factors)) ||
      failed(call.tensor(isOld ? "self" : "B", right)) ||
      failed(checkMatrix(call, right)) ||
      (!isOld && failed(call.boolean(optional("left"), left))))
    return failure();
  int64_t along = left ? right.dims[right.rank() - 2] : right.dims.back();
  return solvedBy(call, results, factors, right, along);
}

//===----------------------------------------------------------------------===//
// Tensors as matrices, ranks
//===----------------------------------------------------------------------===//

LogicalResult infer::tensorSolve(const InferCall &call, Results &results) {
  TensorShape self, other;
  SmallVector<int64_t> moved;
  if (failed(getSelf(call, self)) || failed(call.tensor("other", other)) ||
      (!call.isNone("dims") && failed(call.integers("dims", moved))))
    return failure();
  llvm::SmallBitVector isMoved(self.rank());
  for (int64_t &dim : moved) {
    dim += dim < 0 ? self.rank() : 0;
    if (dim < 0 || dim >= self.rank())
      return call.error("dims names a dimension that is not there");
    isMoved.set(dim);
  }
  Dims rest;
  for (int64_t dim = 0; dim < self.rank(); ++dim)
    if (!isMoved.test(dim))
      rest.push_back(self.dims[dim]);
  for (int64_t dim : moved)
    rest.push_back(self.dims[dim]);
  if (self.rank() < other.rank())
    return call.error("the tensor has ", self.rank(),
                      " dimensions, its right-hand side ", other.rank());
  // The sizes may be other ones than those of the right-hand side.
  ArrayRef<int64_t> own = ArrayRef<int64_t>(rest).take_front(other.rank());
  if (failed(checkSame(call, "elements of the tensor and its right-hand side",
                       countElements(own), countElements(other.dims))))
    return failure();
  return push(call, results, ArrayRef<int64_t>(rest).drop_front(other.rank()),
              self.element);
}

LogicalResult infer::tensorInverse(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t first = 0;
  if (failed(getSelf(call, self)) || failed(call.integer("ind", first)))
    return failure();
  if (first <= 0 || first > self.rank())
    return call.error("ind is ", first, ", and the tensor has ", self.rank(),
                      " dimensions");
  Dims dims(self.dims.begin() + first, self.dims.end());
  dims.append(self.dims.begin(), self.dims.begin() + first);
  return push(call, results, dims, self.element);
}

LogicalResult infer::matrixRank(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getMatrix(call, self)))
    return failure();
  return push(call, results, batched(self), intType(call));
}
