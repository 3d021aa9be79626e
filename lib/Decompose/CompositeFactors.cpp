// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LU factors as the unit gives them (L and U in one matrix, pivots as swaps),
// equations that they solve, tensors as matrices, ranks, and products in
// another type.
//
// A rank counts the singular values above max(atol, rtol * the largest), by
// default rtol = max(m, n) epsilon, and 0 where atol is given.

#include "FactorRules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

//===----------------------------------------------------------------------===//
// LU factors
//===----------------------------------------------------------------------===//

static Values luOf(CallBuilder &b, Value matrix) {
  return b.callMany(op::linalg_lu_factor_ex, {matrix});
}

/// The first results of the unit: LU, pivots, info.
static Values luFactor(Rewrite &c) {
  Values all = luOf(c.b, c.r.value(0));
  all.resize(std::min(all.size(), c.op.getSchema().results.size()));
  return all;
}

static Values ldlFactor(Rewrite &c) {
  Values all = c.b.callMany(op::linalg_ldl_factor_ex, {c.r.value("self")},
                            {{"hermitian", c.r.arg("hermitian")}});
  all.resize(std::min<size_t>(all.size(), 2));
  return all;
}

static Values luParts(Rewrite &c) {
  Values factors = luOf(c.b, c.r.value("A"));
  if (factors.empty())
    return {};
  return c.b.callMany(op::lu_unpack, {factors[0], factors[1]});
}

static Value solveTriangular(CallBuilder &b, Value matrix, Value right,
                             bool upper, bool left, bool unit) {
  return b.call(op::linalg_solve_triangular, {matrix, right},
                {{"upper", upper}, {"left", left}, {"unitriangular", unit}});
}

/// A X = B or X A = B with A = P L U, or with its transpose.
static Value luSolve(CallBuilder &b, Value factors, Value pivots, Value right,
                     bool left, bool adjoint) {
  Values parts = b.callMany(op::lu_unpack, {factors, pivots});
  if (parts.empty())
    return {};
  Value p = parts[0], lower = parts[1], upper = parts[2];
  Value turnedLower = decompose::adjoint(b, lower);
  Value turnedUpper = decompose::adjoint(b, upper);
  if (left && !adjoint) {
    right = matmul(b, transposed(b, p), right);
    right = solveTriangular(b, lower, right, false, true, true);
    return solveTriangular(b, upper, right, true, true, false);
  }
  if (left) {
    right = solveTriangular(b, turnedUpper, right, false, true, false);
    right = solveTriangular(b, turnedLower, right, true, true, true);
    return matmul(b, p, right);
  }
  if (!adjoint) {
    right = solveTriangular(b, upper, right, true, false, false);
    right = solveTriangular(b, lower, right, false, false, true);
    return matmul(b, right, transposed(b, p));
  }
  right = matmul(b, right, p);
  right = solveTriangular(b, turnedLower, right, true, false, true);
  return solveTriangular(b, turnedUpper, right, false, false, false);
}

static Value luSolve(Rewrite &c) {
  if (c.packet() == "aten.lu_solve")
    return luSolve(c.b, c.r.value("LU_data"), c.r.value("LU_pivots"),
                   c.r.value("self"), true, false);
  return luSolve(c.b, c.r.value("LU"), c.r.value("pivots"), c.r.value("B"),
                 c.r.boolean("left").value_or(true),
                 c.r.boolean("adjoint").value_or(false));
}

//===----------------------------------------------------------------------===//
// Tensors as matrices
//===----------------------------------------------------------------------===//

/// The tensor as a square matrix whose rows are the first `count` dimensions.
static Value squareOf(Rewrite &c, Value tensor, int64_t count) {
  return viewAs(c.b, tensor,
                {countOf(c.b, tensor, 0, count),
                 countOf(c.b, tensor, count, rankOf(tensor))});
}

static Value tensorSolve(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), other = c.r.value("other");
  if (!c.r.isNone("dims")) {
    SmallVector<int64_t> moved =
        c.r.integers("dims").value_or(SmallVector<int64_t>());
    SmallVector<int64_t> order = allDims(self);
    for (int64_t &dim : moved)
      dim = wrapDim(dim, rankOf(self));
    llvm::erase_if(order,
                   [&](int64_t dim) { return llvm::is_contained(moved, dim); });
    order.append(moved.begin(), moved.end());
    self = b.call(op::permute, {self, order});
  }
  int64_t count = rankOf(other);
  std::vector<Arg> sizes = b.sizes(self).getList().drop_front(count).vec();
  Values all =
      b.callMany(op::_linalg_solve_ex, {squareOf(c, self, count),
                                        viewAs(b, other, {b.numel(other)})});
  return all.empty() ? Value() : viewAs(b, all.front(), sizes);
}

static Value tensorInverse(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  int64_t count = c.r.integer("ind").value_or(2);
  std::vector<Arg> own = b.sizes(self).getList().vec();
  std::vector<Arg> sizes(own.begin() + count, own.end());
  sizes.insert(sizes.end(), own.begin(), own.begin() + count);
  Values all = b.callMany(op::linalg_inv_ex, {squareOf(c, self, count)});
  return all.empty() ? Value() : viewAs(b, all.front(), sizes);
}

//===----------------------------------------------------------------------===//
// Ranks and condition numbers
//===----------------------------------------------------------------------===//

/// `matrix` [.., m, n] gives its singular values [.., min(m, n)], or the
/// absolute eigenvalues of a symmetric one.
static Value sizesOfSpectrum(CallBuilder &b, Value matrix, bool isSymmetric) {
  Values all = isSymmetric ? b.callMany(op::_linalg_eigh, {matrix, "L", true})
                           : b.callMany(op::_linalg_svd, {matrix, false, true});
  if (all.empty())
    return {};
  return isSymmetric ? b.call(op::abs, {all[0]}) : all[1];
}

static Value matrixRank(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value(0);
  const Schema &schema = c.op.getSchema();
  bool hasTolerance = schema.find("tol") >= 0;
  ArrayRef<int64_t> shape = shapeOf(self);
  int64_t size = std::max(shape.back(), shape[shape.size() - 2]);
  // Singular values are real.
  Type element = elementOf(self);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  auto floating = cast<FloatType>(element);
  if (ShapedType::isDynamic(shape.back()) ||
      ShapedType::isDynamic(shape[shape.size() - 2])) {
    b.error("a rank of a matrix whose size is not known");
    return {};
  }
  // A matrix without elements has the rank 0.
  if (shape.back() == 0 || shape[shape.size() - 2] == 0)
    return b.call(op::sum_dim_IntList,
                  {b.call(op::gt_Scalar, {self, 0}), {-2, -1}});
  Value spectrum =
      sizesOfSpectrum(b, self, c.r.boolean("hermitian").value_or(false));
  Value largest = b.call(op::amax, {spectrum, {-1}, true});
  double epsilon = std::ldexp(1.0, 1 - int(floating.getFPMantissaWidth()));
  StringRef absolute = hasTolerance ? "tol" : "atol";
  bool hasAbsolute = hasTolerance || !c.r.isNone(optional("atol"));
  // A number, or a tensor with one for each matrix.
  auto tolerance = [&](StringRef name) {
    Value given = c.r.value(name);
    return given ? Arg(b.call(op::unsqueeze, {castTo(b, given, floating), -1}))
                 : c.r.arg(name);
  };
  Arg relative = hasTolerance                    ? Arg(0.0)
                 : !c.r.isNone(optional("rtol")) ? tolerance("rtol")
                 : hasAbsolute ? Arg(0.0)
                               : Arg(epsilon * static_cast<double>(size));
  Value bound = b.call(op::mul_Tensor, {largest, relative});
  if (hasAbsolute) {
    Arg given = tolerance(absolute);
    bound = given.isValue() ? b.call(op::maximum, {bound, given.getValue()})
                            : b.call(op::clamp_min, {bound, given});
  }
  Value counts = b.call(op::gt_Tensor, {spectrum, bound});
  return b.call(op::sum_dim_IntList, {counts, {-1}, false});
}

/// The norm of the matrix times that of its inverse.
static Value conditionByNorm(Rewrite &c) {
  Value self = c.r.value("self");
  Values inverse = c.b.callMany(op::linalg_inv_ex, {self});
  if (inverse.empty())
    return {};
  auto norm = [&](Value matrix) {
    return c.b.call(op::linalg_matrix_norm_str_ord, {matrix, c.r.string("p")});
  };
  return c.b.call(op::mul_Tensor, {norm(self), norm(inverse[0])});
}

//===----------------------------------------------------------------------===//
// Products in another type
//===----------------------------------------------------------------------===//

/// _int_mm, mm.dtype, bmm.dtype: in the type of the result.
static Value productAs(Rewrite &c) {
  Type type = elementOf(c.result());
  return c.b.call(c.packet() == "aten.bmm" ? op::bmm : op::mm,
                  {castTo(c.b, c.r.value("self"), type),
                   castTo(c.b, c.r.value("mat2"), type)});
}

/// self mat2^T, its columns scaled; in f32.
static Value int8packMm(Rewrite &c) {
  CallBuilder &b = c.b;
  Value weight = castTo(b, c.r.value("mat2"), b.f32());
  Value whole = b.call(
      op::mm, {castTo(b, c.r.value("self"), b.f32()), transposed(b, weight)});
  whole =
      b.call(op::mul_Tensor, {whole, castTo(b, c.r.value("scales"), b.f32())});
  return castTo(b, whole, elementOf(c.result()));
}

const DecomposeFn decompositions::luFactor = many<::luFactor>;
const DecomposeFn decompositions::ldlFactor = many<::ldlFactor>;
const DecomposeFn decompositions::luParts = many<::luParts>;
const DecomposeFn decompositions::luSolve = one<::luSolve>;
const DecomposeFn decompositions::tensorSolve = one<::tensorSolve>;
const DecomposeFn decompositions::tensorInverse = one<::tensorInverse>;
const DecomposeFn decompositions::matrixRank = one<::matrixRank>;
const DecomposeFn decompositions::conditionByNorm = one<::conditionByNorm>;
const DecomposeFn decompositions::productAs = one<::productAs>;
const DecomposeFn decompositions::int8packMm = one<::int8packMm>;
