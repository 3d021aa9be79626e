// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear algebra in terms of the units that have a gradient: inverses,
// equations and determinants by an LU factorization, norms of matrices and
// pseudo-inverses by singular values, powers by repeated squaring.
//
// `linalg_lstsq` gives the solution alone: what else PyTorch returns depends on
// the driver and the data.

#include "FactorRules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

Value decompose::transposed(CallBuilder &b, Value matrix) {
  return b.call(op::transpose_int, {matrix, -2, -1});
}

Value decompose::adjoint(CallBuilder &b, Value matrix) {
  if (isa<ComplexType>(elementOf(matrix)))
    matrix = b.call(op::_conj_physical, {matrix});
  return transposed(b, matrix);
}

static Value firstOf(const Values &results) {
  return results.empty() ? Value() : results.front();
}

//===----------------------------------------------------------------------===//
// Inverses, equations, determinants
//===----------------------------------------------------------------------===//

static Value invert(CallBuilder &b, Value matrix) {
  return firstOf(b.callMany(op::linalg_inv_ex, {matrix}));
}

static Value inverse(Rewrite &c) { return invert(c.b, c.r.value(0)); }

static Values solve(Rewrite &c) {
  Values all = c.b.callMany(op::_linalg_solve_ex, {c.r.arg(0), c.r.arg(1)},
                            {{"left", c.r.arg("left")}});
  if (all.empty() || c.op.getSchema().results.size() == 1)
    all.resize(std::min<size_t>(all.size(), 1));
  else
    all = {all[0], all[3]};
  return all;
}

static Value determinant(Rewrite &c) {
  return firstOf(c.b.callMany(op::_linalg_det, {c.r.value(0)}));
}

static Values signAndLogarithm(Rewrite &c) {
  Values all = c.b.callMany(op::_linalg_slogdet, {c.r.value(0)});
  all.resize(std::min<size_t>(all.size(), 2));
  return all;
}

/// NaN where the determinant is negative.
static Value logdet(Rewrite &c) {
  Values all = signAndLogarithm(c);
  if (all.empty())
    return {};
  Value negative = c.b.call(op::eq_Scalar, {all[0], -1});
  return c.b.call(op::masked_fill_Scalar, {all[1], negative, NAN});
}

static Value choleskyOf(CallBuilder &b, Value matrix, const Arg &upper) {
  return firstOf(
      b.callMany(op::linalg_cholesky_ex, {matrix}, {{"upper", upper}}));
}

static Value cholesky(Rewrite &c) {
  return choleskyOf(c.b, c.r.value("self"), c.r.arg("upper"));
}

static Value solveTriangular(CallBuilder &b, Value matrix, Value right,
                             bool upper, const Arg &unit = Arg(false)) {
  return b.call(op::linalg_solve_triangular, {matrix, right},
                {{"upper", upper}, {"unitriangular", unit}});
}

/// L L^H x = b, with L (or its conjugate transpose) given.
static Value solveByFactor(CallBuilder &b, Value factor, Value right,
                           bool upper) {
  Value lower = upper ? adjoint(b, factor) : factor;
  Value higher = upper ? factor : adjoint(b, factor);
  return solveTriangular(b, higher, solveTriangular(b, lower, right, false),
                         true);
}

static Value choleskySolve(Rewrite &c) {
  return solveByFactor(c.b, c.r.value("input2"), c.r.value("self"),
                       c.r.boolean("upper").value_or(false));
}

/// The identity of the size and type of a square `matrix`.
static Value identityLike(CallBuilder &b, Value matrix) {
  return b.call(op::eye, {b.size(matrix, -1)}, {{"dtype", elementOf(matrix)}});
}

static Value choleskyInverse(Rewrite &c) {
  Value factor = c.r.value("self");
  return solveByFactor(c.b, factor, identityLike(c.b, factor),
                       c.r.boolean("upper").value_or(false));
}

static Values triangularSolve(Rewrite &c) {
  Value right = c.r.value("self"), matrix = c.r.value("A");
  bool upper = c.r.boolean("upper").value_or(true);
  bool isTransposed = c.r.boolean("transpose").value_or(false);
  Value solution =
      solveTriangular(c.b, isTransposed ? transposed(c.b, matrix) : matrix,
                      right, upper != isTransposed, c.r.arg("unitriangular"));
  return {solution, c.b.call(op::clone, {matrix})};
}

static Values orthogonal(Rewrite &c) {
  return c.b.callMany(op::linalg_qr,
                      {c.r.value("self"), c.r.boolean("some").value_or(true)
                                              ? "reduced"
                                              : "complete"});
}

/// `matrix` after the reflections 1 - tau v v^H, whose vectors are the columns
/// of `input` below its diagonal: from the last to the first one, or, as
/// adjoints, back.
static Value reflect(Rewrite &c, Value input, Value tau, Value matrix,
                     bool fromLast) {
  CallBuilder &b = c.b;
  int64_t count = shapeOf(tau).back();
  if (ShapedType::isDynamic(count)) {
    b.error("'" + c.packet() + "' of a size that is not known");
    return {};
  }
  Value ones = b.call(op::eye_m, {b.size(input, -2), b.size(input, -1)},
                      {{"dtype", elementOf(input)}});
  Value vectors = b.call(op::add_Tensor, {b.call(op::tril, {input, -1}), ones});
  if (!fromLast && isa<ComplexType>(elementOf(tau)))
    tau = b.call(op::_conj_physical, {tau});
  for (int64_t k = 0; k < count && !b.failed(); ++k) {
    int64_t i = fromLast ? count - 1 - k : k;
    Value v = sliceOf(b, vectors, rankOf(input) - 1, i, i + 1);
    Value scale = sliceOf(b, tau, rankOf(tau) - 1, i, i + 1);
    scale = b.call(op::unsqueeze, {scale, -1});
    Value part = matmul(b, adjoint(b, v), matrix);
    Value step =
        b.call(op::mul_Tensor, {scale, b.call(op::mul_Tensor, {v, part})});
    matrix = b.call(op::sub_Tensor, {matrix, step});
  }
  return matrix;
}

static Value householderProduct(Rewrite &c) {
  CallBuilder &b = c.b;
  Value input = c.r.value(0), tau = c.r.value(1);
  Value ones = b.call(op::eye_m, {b.size(input, -2), b.size(input, -1)},
                      {{"dtype", elementOf(input)}});
  return reflect(c, input, tau,
                 expandTo(b, ones, b.sizes(input).getList().vec()), true);
}

/// Q B, Q^H B, or from the right, which is the adjoint of these on B^H.
static Value timesHouseholder(Rewrite &c) {
  Value input = c.r.value("self"), tau = c.r.value("input2");
  Value matrix = c.r.value("input3");
  bool isLeft = c.r.boolean("left").value_or(true);
  bool isTurned = c.r.boolean("transpose").value_or(false);
  if (isLeft)
    return reflect(c, input, tau, matrix, !isTurned);
  Value turned = reflect(c, input, tau, adjoint(c.b, matrix), isTurned);
  return turned ? adjoint(c.b, turned) : turned;
}

static Value eigenvalues(Rewrite &c) {
  return firstOf(c.b.callMany(op::linalg_eig, {c.r.value("self")}));
}

//===----------------------------------------------------------------------===//
// Spectra
//===----------------------------------------------------------------------===//

static Values svdOf(CallBuilder &b, Value matrix, bool full = false) {
  return b.callMany(op::_linalg_svd, {matrix, full, true});
}

static Value singularValues(CallBuilder &b, Value matrix) {
  Values all = svdOf(b, matrix);
  return all.empty() ? Value() : all[1];
}

static Values svd(Rewrite &c) {
  bool isOld = c.packet() == "aten.svd";
  if (isOld && !c.r.boolean("compute_uv").value_or(true)) {
    Value self = c.r.value(0);
    auto zeros = [&](int64_t dim) {
      std::vector<Arg> sizes = c.b.sizes(self).getList().vec();
      sizes.back() = sizes[sizes.size() - 2] = c.b.size(self, dim);
      return c.b.call(op::zeros, {sizes}, {{"dtype", elementOf(self)}});
    };
    return {zeros(-2), singularValues(c.b, self), zeros(-1)};
  }
  bool full = isOld ? !c.r.boolean("some").value_or(true)
                    : c.r.boolean("full_matrices").value_or(true);
  Values all = svdOf(c.b, c.r.value(0), full);
  if (!all.empty() && isOld)
    all[2] = adjoint(c.b, all[2]);
  return all;
}

static Value svdvals(Rewrite &c) { return singularValues(c.b, c.r.value(0)); }

static Values eigh(Rewrite &c) {
  Values all = c.b.callMany(op::_linalg_eigh,
                            {c.r.value("self"), c.r.string("UPLO"), true});
  all.resize(std::min(all.size(), c.op.getSchema().results.size()));
  return all;
}

/// By the unit; tolerances are tensors, numbers or absent.
static Value pseudoInverse(CallBuilder &b, Value matrix, const Arg &atol,
                           const Arg &rtol, const Arg &hermitian = Arg(false)) {
  auto tolerance = [&](const Arg &given) {
    return given.isNone() || given.isValue()
               ? given
               : Arg(b.call(
                     op::full, {ArrayRef<int64_t>(), given},
                     {{"dtype", Float64Type::get(matrix.getContext())}}));
  };
  return b.call(op::linalg_pinv_atol_rtol_tensor, {matrix},
                {{"atol", tolerance(atol)},
                 {"rtol", tolerance(rtol)},
                 {"hermitian", hermitian}});
}

/// `rcond` is a relative tolerance.
static Value pinv(Rewrite &c) {
  bool hasRcond = c.op.getSchema().find("rcond") >= 0;
  bool hasHermitian = c.op.getSchema().find("hermitian") >= 0;
  return pseudoInverse(c.b, c.r.value("self"),
                       hasRcond ? Arg(0.0) : c.r.arg(optional("atol")),
                       c.r.arg(hasRcond ? "rcond" : "rtol"),
                       hasHermitian ? c.r.arg("hermitian") : Arg(false));
}

static Values lstsq(Rewrite &c) {
  Value matrix = c.r.value("self"), right = c.r.value("b");
  bool isVector = rankOf(right) == rankOf(matrix) - 1;
  if (isVector)
    right = c.b.call(op::unsqueeze, {right, -1});
  Value inverted = pseudoInverse(c.b, matrix, Arg(0.0), c.r.arg("rcond"));
  if (!inverted || c.b.failed())
    return {};
  Value solution = matmul(c.b, inverted, right);
  if (isVector)
    solution = c.b.call(op::squeeze_dim, {solution, -1});
  return {solution, Value(), Value(), Value()};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// A norm by singular values: their sum ("nuc"), largest (2), smallest (-2).
Value decompose::singularNorm(CallBuilder &b, Value matrix, int64_t row,
                              int64_t column, double order, bool keep) {
  int64_t rank = rankOf(matrix);
  row = wrapDim(row, rank);
  column = wrapDim(column, rank);
  SmallVector<int64_t> order_;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != row && dim != column)
      order_.push_back(dim);
  order_.append({row, column});
  if (row != rank - 2 || column != rank - 1)
    matrix = b.call(op::permute, {matrix, order_});
  Value values = singularValues(b, matrix);
  Value norm = order == 0 ? b.call(op::sum_dim_IntList, {values, {-1}, false})
                          : b.call(order > 0 ? op::amax : op::amin,
                                   {values, {-1}, false});
  if (!keep)
    return norm;
  norm = b.call(op::unsqueeze, {norm, std::min(row, column)});
  return b.call(op::unsqueeze, {norm, std::max(row, column)});
}

/// "fro" or "nuc" over two dimensions (all, if none are named).
static Value namedNorm(Rewrite &c) {
  Value self = c.r.value("self");
  StringRef order =
      c.op.getSchema().find("ord") < 0 ? "nuc" : c.r.string("ord");
  Arg keep = c.r.isNone("keepdim") ? Arg(false) : c.r.arg("keepdim");
  if (Type type = c.r.dtype(optional("dtype")))
    self = castTo(c.b, self, type);
  if (order == "fro")
    return c.b.call(op::linalg_vector_norm,
                    {self, 2.0, c.r.arg(optional("dim")), keep});
  SmallVector<int64_t> dims = {0, 1};
  if (!c.r.isNone(optional("dim")))
    dims = c.r.integers(optional("dim")).value_or(SmallVector<int64_t>());
  if (order != "nuc" || dims.size() != 2) {
    c.b.error("a norm called '" + order + "' is not supported");
    return {};
  }
  return singularNorm(
      c.b, self, dims[0], dims[1], 0,
      keep.getInt().value_or(c.r.boolean("keepdim").value_or(false)) != 0);
}

/// The largest singular value by the smallest, or the other way round.
static Value condition(Rewrite &c) {
  Value self = c.r.value("self");
  double p = c.r.number("p").value_or(2.0);
  if (std::fabs(p) == 1.0 || std::isinf(p)) {
    Values inverse = c.b.callMany(op::linalg_inv_ex, {self});
    if (inverse.empty())
      return {};
    Value left = c.b.call(op::linalg_matrix_norm, {self, p});
    Value right = c.b.call(op::linalg_matrix_norm, {inverse[0], p});
    return c.b.call(op::mul_Tensor, {left, right});
  }
  if (std::fabs(p) != 2.0) {
    c.b.error("'aten.linalg_cond' is supported for p = 1, 2 and inf");
    return {};
  }
  Value large = singularNorm(c.b, self, -2, -1, 2, false);
  Value small = singularNorm(c.b, self, -2, -1, -2, false);
  return p > 0 ? c.b.call(op::div_Tensor, {large, small})
               : c.b.call(op::div_Tensor, {small, large});
}

//===----------------------------------------------------------------------===//
// Functions of matrices
//===----------------------------------------------------------------------===//

static Value exponential(Rewrite &c) {
  return c.b.call(op::linalg_matrix_exp, {c.r.value("self")});
}

static Value power(Rewrite &c) {
  Value base = c.r.value("self"), result;
  CallBuilder &b = c.b;
  int64_t n = c.r.integer("n").value_or(1);
  if (n == 0)
    return b.call(op::clone, {expandTo(b, identityLike(b, base),
                                       b.sizes(base).getList().vec())});
  if (n < 0)
    base = invert(b, base);
  for (uint64_t left = n < 0 ? -uint64_t(n) : uint64_t(n);
       left > 0 && !b.failed(); left /= 2) {
    if (left % 2)
      result = result ? matmul(b, result, base) : base;
    if (left > 1)
      base = matmul(b, base, base);
  }
  return n == 1 ? b.call(op::clone, {result}) : result;
}

/// mH, matrix_H and adjoint: views.
static Value conjugateTransposed(Rewrite &c) {
  Value self = c.r.value("self");
  if (isa<ComplexType>(elementOf(self)))
    self = c.b.call(op::_conj, {self});
  return rankOf(self) == 0 ? self : transposed(c.b, self);
}

const DecomposeFn decompositions::inverse = one<::inverse>;
const DecomposeFn decompositions::solve = many<::solve>;
const DecomposeFn decompositions::determinant = one<::determinant>;
const DecomposeFn decompositions::logdet = one<::logdet>;
const DecomposeFn decompositions::signAndLogarithm = many<::signAndLogarithm>;
const DecomposeFn decompositions::cholesky = one<::cholesky>;
const DecomposeFn decompositions::choleskySolve = one<::choleskySolve>;
const DecomposeFn decompositions::choleskyInverse = one<::choleskyInverse>;
const DecomposeFn decompositions::triangularSolve = many<::triangularSolve>;
const DecomposeFn decompositions::orthogonal = many<::orthogonal>;
const DecomposeFn decompositions::householderProduct =
    one<::householderProduct>;
const DecomposeFn decompositions::timesHouseholder = one<::timesHouseholder>;
const DecomposeFn decompositions::eigenvalues = one<::eigenvalues>;
const DecomposeFn decompositions::svd = many<::svd>;
const DecomposeFn decompositions::svdvals = one<::svdvals>;
const DecomposeFn decompositions::eigh = many<::eigh>;
const DecomposeFn decompositions::pinv = one<::pinv>;
const DecomposeFn decompositions::lstsq = many<::lstsq>;
const DecomposeFn decompositions::namedNorm = one<::namedNorm>;
const DecomposeFn decompositions::condition = one<::condition>;
const DecomposeFn decompositions::exponential = one<::exponential>;
const DecomposeFn decompositions::power = one<::power>;
const DecomposeFn decompositions::conjugateTransposed =
    one<::conjugateTransposed>;
