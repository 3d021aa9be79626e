// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of linear algebra (^H is the conjugate transpose, G the gradient that
// arrives, A^-H the inverse of the conjugate transpose):
//
//   inverse       -X^H G X^H
//   solve         dB = A^-H G, dA = -dB X^H
//   determinants  g conj(det) A^-H, (g + i Im(h conj(sign))) A^-H, where h is
//                 the gradient of a complex sign
//   Cholesky      L^-H phi(L^H G) L^-1, phi the Hermitian part of the lower
//                 triangle
//   QR            (dQ + Q c(M)) R^-H, M = R dR^H - dQ^H Q, c the Hermitian
//                 matrix with the lower triangle of M
//   singular values, eigenvalues: by the differences of their squares, or of
//                 themselves; a gradient through vectors of equal values is
//                 not defined, and not finite here
//   pseudo-inverse  of the matrix and it alone, see pseudoInverse
//   LU            see luFactor
//   eigenvalues of any matrix, see eigenvectors
//   exponential   the upper right block of exp [A^H G; 0 A^H]
// A wide matrix has the QR factors of its first columns, Q^H times the rest.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static Value transposed(Vjp &v, Value matrix) {
  return v.call(op::transpose_int, {matrix, -2, -1});
}

/// The conjugate transpose.
static Value adjoint(Vjp &v, Value matrix) {
  return transposed(v, v.conj(matrix).getValue());
}

static Value product(Vjp &v, Value a, Value b) {
  return v.call(op::matmul, {a, b});
}

static Value solve(Vjp &v, Value matrix, Value right, bool left = true) {
  SmallVector<Value> all =
      v.b.callMany(op::_linalg_solve_ex, {matrix, right}, {{"left", left}});
  return all.empty() ? Value() : all.front();
}

static Value unsqueeze(Vjp &v, Value x, int64_t dim) {
  return v.call(op::unsqueeze, {x, dim});
}

static Value triangle(Vjp &v, Value x, bool upper, int64_t diagonal = 0) {
  return v.call(upper ? op::triu : op::tril, {x, diagonal});
}

/// x with its diagonal halved.
static Value halfDiagonal(Vjp &v, Value x) {
  return v.scale(v.add(triangle(v, x, false), triangle(v, x, false, -1)), 0.5);
}

static Value diagonalMatrix(Vjp &v, Value x) {
  return v.call(op::diag_embed, {x});
}

//===----------------------------------------------------------------------===//
// Inverses, equations, determinants
//===----------------------------------------------------------------------===//

static void inverse(Vjp &v) {
  if (!v.grad(0) || !v.needs("A"))
    return;
  Value turned = adjoint(v, v.result());
  v.set("A", v.neg(product(v, product(v, turned, v.grad()), turned)));
}

static void solveEquations(Vjp &v) {
  if (!v.grad(0) || (!v.needs("A") && !v.needs("B")))
    return;
  Value matrix = v.value("A"), right = v.value("B");
  bool left = v.in.boolean("left").value_or(true);
  ArrayRef<int64_t> a = aten::shapeOf(matrix), b = aten::shapeOf(right);
  bool isVector = b.size() == 1 ||
                  (b.size() == a.size() - 1 && llvm::equal(b, a.drop_back()));
  Value gradient = v.grad(), solution = v.result();
  if (isVector) {
    gradient = unsqueeze(v, gradient, -1);
    solution = unsqueeze(v, solution, -1);
  }
  Value forRight = solve(v, adjoint(v, matrix), gradient, left);
  if (v.needs("A")) {
    Value turned = adjoint(v, solution);
    v.set("A", v.neg(left ? product(v, forRight, turned)
                          : product(v, turned, forRight)));
  }
  v.set("B", isVector ? v.call(op::squeeze_dim, {forRight, -1}) : forRight);
}

/// `scale` A^-T.
static Value scaledInverse(Vjp &v, Value matrix, Value scale) {
  scale = unsqueeze(v, unsqueeze(v, scale, -1), -1);
  Value one = v.call(op::eye, {v.b.size(matrix, -1)},
                     {{"dtype", aten::elementOf(matrix)}});
  return solve(v, adjoint(v, matrix), v.mul(scale, one));
}

static void determinant(Vjp &v) {
  if (v.grad(0) && v.needs("A"))
    v.set("A", scaledInverse(v, v.value("A"),
                             v.mul(v.grad(0), v.conj(v.result(0)))));
}

static void logDeterminant(Vjp &v) {
  if (!v.needs("A"))
    return;
  Value scale = v.grad(1);
  if (v.grad(0) && isComplex(v.result(0))) {
    Value turn = v.un("imag", v.mul(v.grad(0), v.conj(v.result(0))));
    Value along = scale ? scale : v.zerosLike(turn);
    scale = v.un2("complex", along, turn);
  }
  v.set("A", scale ? scaledInverse(v, v.value("A"), scale) : Value());
}

//===----------------------------------------------------------------------===//
// Triangular matrices
//===----------------------------------------------------------------------===//

static Value solveTriangle(Vjp &v, Value matrix, Value right, bool upper,
                           bool left = true, bool unit = false) {
  return v.call(op::linalg_solve_triangular, {matrix, right},
                {{"upper", upper}, {"left", left}, {"unitriangular", unit}});
}

static void solveTriangular(Vjp &v) {
  if (!v.needs("self") && !v.needs("B"))
    return;
  Value matrix = v.value("self");
  bool upper = v.in.boolean("upper").value_or(false);
  bool left = v.in.boolean("left").value_or(true);
  bool unit = v.in.boolean("unitriangular").value_or(false);
  Value forRight =
      solveTriangle(v, adjoint(v, matrix), v.grad(), !upper, left, unit);
  if (v.needs("self")) {
    Value turned = adjoint(v, v.result());
    Value whole = v.neg(left ? product(v, forRight, turned)
                             : product(v, turned, forRight));
    v.set("self", triangle(v, whole, upper, unit ? (upper ? 1 : -1) : 0));
  }
  v.set("B", forRight);
}

static void cholesky(Vjp &v) {
  if (!v.grad(0) || !v.needs("self"))
    return;
  bool upper = v.in.boolean("upper").value_or(false);
  Value factor = upper ? adjoint(v, v.result()) : v.result();
  Value gradient = upper ? adjoint(v, v.grad()) : v.grad();
  Value turned = adjoint(v, factor);
  Value inner = product(v, turned, gradient);
  Value below = adjoint(v, triangle(v, inner, false, -1));
  Value symmetric = v.scale(v.add(triangle(v, inner, false), below), 0.5);
  Value half = solveTriangle(v, turned, symmetric, /*upper=*/true);
  v.set("self", solveTriangle(v, factor, half, false, /*left=*/false));
}

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// Q and R have as many columns as each other, R is square.
static Value tallQr(Vjp &v, Value q, Value r, Value forQ, Value forR) {
  Value m;
  if (forR)
    m = product(v, r, adjoint(v, forR));
  if (forQ) {
    Value inner = product(v, adjoint(v, forQ), q);
    m = m ? v.sub(m, inner) : v.neg(inner);
  }
  Value half = halfDiagonal(v, m);
  Value symmetric = v.add(half, adjoint(v, half));
  Value whole = product(v, q, symmetric);
  if (forQ)
    whole = v.add(forQ, whole);
  return solveTriangle(v, adjoint(v, r), whole, /*upper=*/false,
                       /*left=*/false);
}

static void qr(Vjp &v) {
  if (!v.needs("A"))
    return;
  Value a = v.value("A"), q = v.result(0), r = v.result(1);
  ArrayRef<int64_t> shape = aten::shapeOf(a);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns)) {
    v.b.error("the gradient of a QR factorization needs sizes that are "
              "numbers");
    return;
  }
  StringRef mode = v.in.string("mode");
  if (mode == "r" || (mode == "complete" && rows > columns)) {
    v.b.error("the gradient of a QR factorization needs its reduced factors: "
              "mode='reduced'");
    return;
  }
  if (rows >= columns) {
    v.set("A", tallQr(v, q, r, v.grad(0), v.grad(1)));
    return;
  }
  auto part = [&](Value x, int64_t from, int64_t to) {
    return x ? v.call(op::slice_Tensor, {x, -1, from, to}) : Value();
  };
  Value forQ = v.grad(0), forRest = part(v.grad(1), rows, columns);
  if (forRest) {
    Value rest = product(v, part(a, rows, columns), adjoint(v, forRest));
    forQ = forQ ? v.add(forQ, rest) : rest;
  }
  Value first = tallQr(v, q, part(r, 0, rows), forQ, part(v.grad(1), 0, rows));
  Value last =
      forRest ? product(v, q, forRest) : v.zerosLike(part(a, rows, columns));
  v.set("A", v.call(op::cat, {{first, last}, -1}));
}

//===----------------------------------------------------------------------===//
// Spectra
//===----------------------------------------------------------------------===//

/// x[j] - x[i] at (i, j), and 1 on the diagonal.
static Value differences(Vjp &v, Value x) {
  Value apart = v.sub(unsqueeze(v, x, -2), unsqueeze(v, x, -1));
  return v.add(apart, diagonalMatrix(v, v.call(op::ones_like, {x})));
}

/// x - x^H.
static Value skew(Vjp &v, Value x) { return v.sub(x, adjoint(v, x)); }

/// What is left of `x` beside the columns of `basis`.
static Value outside(Vjp &v, Value basis, Value x) {
  return v.sub(x, product(v, basis, product(v, adjoint(v, basis), x)));
}

/// What full vectors have beside those of singular values has no gradient: it
/// is any basis of the rest.
static void svd(Vjp &v) {
  if (!v.needs("A"))
    return;
  Value a = v.value("A"), u = v.result(0), s = v.result(1), vh = v.result(2);
  ArrayRef<int64_t> shape = aten::shapeOf(a);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (!v.in.boolean("compute_uv").value_or(true)) {
    v.b.error("the gradient of singular values needs the vectors: "
              "compute_uv=True");
    return;
  }
  Value forU = v.grad(0), forV = v.grad(2);
  if (v.in.boolean("full_matrices").value_or(false)) {
    auto first = [&](Value x, int64_t dim) {
      return x ? v.call(op::slice_Tensor, {x, dim, 0, v.b.size(s, -1)}) : x;
    };
    forU = first(forU, -1);
    u = first(u, -1);
    forV = first(forV, -2);
    vh = first(vh, -2);
  }
  auto diagonal = [&](Value x) {
    return castTo(v.b, diagonalMatrix(v, x), aten::elementOf(a));
  };
  Value inner = v.grad(1) ? diagonal(v.grad(1)) : Value();
  Value e = forU || forV ? differences(v, v.mul(s, s)) : Value();
  auto add = [&](Value part) { inner = inner ? v.add(inner, part) : part; };
  if (forU) {
    Value turn = skew(v, product(v, adjoint(v, u), forU));
    add(v.mul(v.div(turn, e), unsqueeze(v, s, -2)));
    // Both vectors of a pair turn by one phase.
    if (forV && isComplex(a)) {
      Value phase = v.call(op::diagonal, {turn, 0, -2, -1});
      add(diagonal(v.div(phase, v.scale(s, 2.0))));
    }
  }
  if (forV) {
    Value turn = v.div(skew(v, product(v, vh, adjoint(v, forV))), e);
    add(v.mul(unsqueeze(v, s, -1), turn));
  }
  Value whole = product(v, product(v, u, inner), vh);
  if (forU && !(rows <= columns && !ShapedType::isDynamic(rows) &&
                !ShapedType::isDynamic(columns))) {
    Value scaled = v.div(forU, unsqueeze(v, s, -2));
    whole = v.add(whole, product(v, outside(v, u, scaled), vh));
  }
  if (forV && !(columns <= rows && !ShapedType::isDynamic(rows) &&
                !ShapedType::isDynamic(columns))) {
    Value scaled = adjoint(v, v.div(forV, unsqueeze(v, s, -1)));
    Value rest = outside(v, adjoint(v, vh), scaled);
    whole = v.add(whole, product(v, u, adjoint(v, rest)));
  }
  v.set("A", whole);
}

static void eigh(Vjp &v) {
  if (!v.needs("A"))
    return;
  Value values = v.result(0), vectors = v.result(1);
  if (!v.in.boolean("compute_v").value_or(true)) {
    v.b.error("the gradient of eigenvalues needs the eigenvectors: "
              "compute_v=True");
    return;
  }
  Value inner;
  if (v.grad(1)) {
    // What turns the vectors is skew: the rest of the gradient would change
    // their lengths.
    Value turn = skew(v, product(v, adjoint(v, vectors), v.grad(1)));
    inner = v.div(v.scale(turn, 0.5), differences(v, values));
  }
  if (v.grad(0)) {
    Value diagonal =
        castTo(v.b, diagonalMatrix(v, v.grad(0)), aten::elementOf(vectors));
    inner = inner ? v.add(inner, diagonal) : diagonal;
  }
  v.set("A", product(v, product(v, vectors, inner), adjoint(v, vectors)));
}

/// -P^H G P^H + (1 - A P) G^H P P^H + P^H P G^H (1 - P A) of P = A^+, with
/// products of the smaller size (Golub and Pereyra 1973). No singular value
/// divides, so that equal ones are like others.
static void pseudoInverse(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value a = v.value("self"), p = v.result();
  Value g = adjoint(v, v.grad()), turned = adjoint(v, p);
  ArrayRef<int64_t> shape = aten::shapeOf(a);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool isTall = !ShapedType::isDynamic(rows) &&
                !ShapedType::isDynamic(columns) && rows > columns;
  Value k = isTall ? product(v, p, g) : product(v, g, p);
  Value direct = adjoint(v, isTall ? product(v, k, p) : product(v, p, k));
  Value near = isTall ? product(v, turned, k) : product(v, k, turned);
  if (isTall) {
    Value left = v.sub(g, product(v, a, k));
    left = product(v, left, product(v, p, turned));
    Value right = v.sub(near, product(v, product(v, near, p), a));
    v.set("self", v.sub(v.add(left, right), direct));
    return;
  }
  Value left = v.sub(near, product(v, product(v, a, p), near));
  Value right = v.sub(g, product(v, k, a));
  right = product(v, product(v, turned, p), right);
  v.set("self", v.sub(v.add(left, right), direct));
}

static void exponential(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value turned = adjoint(v, v.value("self"));
  Value top = v.call(op::cat, {{turned, v.grad()}, -1});
  Value bottom = v.call(op::cat, {{v.zerosLike(turned), turned}, -1});
  Value block = v.call(op::cat, {{top, bottom}, -2});
  Value whole = v.call(op::linalg_matrix_exp, {block});
  Arg size = v.b.size(turned, -1);
  Value upper = v.call(op::slice_Tensor, {whole, -2, 0, size});
  v.set("self", v.call(op::slice_Tensor, {upper, -1, size, Arg()}));
}

//===----------------------------------------------------------------------===//
// LU factors
//===----------------------------------------------------------------------===//

/// Rows and columns of a matrix, which must be known.
static std::optional<std::pair<int64_t, int64_t>> sizesOf(Vjp &v,
                                                          Value matrix) {
  ArrayRef<int64_t> shape = aten::shapeOf(matrix);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(columns))
    return std::pair(rows, columns);
  v.b.error("the gradient of LU factors needs sizes that are numbers");
  return std::nullopt;
}

static SmallVector<Value> unpacked(Vjp &v, Value factors, Value pivots) {
  return v.b.callMany(op::lu_unpack, {factors, pivots});
}

static Value part(Vjp &v, Value x, int64_t dim, int64_t from, int64_t to) {
  return v.call(op::slice_Tensor, {x, dim, from, to});
}

/// P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H, where both factors are
/// square. Of a wide matrix the further columns of U are L^-1 times those of
/// the matrix: their gradient is L^-H gU, and gL has -L^-H gU U^H more. Of a
/// tall one the further rows of L are those of the matrix times U^-1.
static void luFactor(Vjp &v) {
  auto sizes = sizesOf(v, v.value("A"));
  if (!v.grad(0) || !v.needs("A") || !sizes)
    return;
  auto [rows, columns] = *sizes;
  int64_t size = std::min(rows, columns);
  SmallVector<Value> parts = unpacked(v, v.result(0), v.result(1));
  if (parts.empty())
    return;
  Value lower = adjoint(v, part(v, parts[1], -2, 0, size));
  Value upper = adjoint(v, part(v, parts[2], -1, 0, size));
  Value square = part(v, part(v, v.grad(0), -2, 0, size), -1, 0, size);
  Value below = product(v, lower, triangle(v, square, false, -1));
  Value above = product(v, triangle(v, square, true), upper);
  Value further;
  if (columns > size) {
    further = part(v, v.grad(0), -1, size, columns);
    Value rest = adjoint(v, part(v, parts[2], -1, size, columns));
    below = v.sub(below, product(v, further, rest));
  } else if (rows > size) {
    further = part(v, v.grad(0), -2, size, rows);
    Value rest = adjoint(v, part(v, parts[1], -2, size, rows));
    above = v.sub(above, product(v, rest, further));
  }
  Value inner = v.add(triangle(v, below, false, -1), triangle(v, above, true));
  inner = solveTriangle(v, upper, inner, /*upper=*/false, /*left=*/false);
  if (columns > size)
    inner = v.call(op::cat, {{inner, further}, -1});
  inner = solveTriangle(v, lower, inner, /*upper=*/true, /*left=*/true,
                        /*unit=*/true);
  if (rows > size) {
    further = solveTriangle(v, upper, further, /*upper=*/false, /*left=*/false);
    inner = v.call(op::cat, {{inner, further}, -2});
  }
  v.set("A", product(v, parts[0], inner));
}

static void luUnpack(Vjp &v) {
  v.endsAt(0); // a permutation
  if (!v.needs("LU_data"))
    return;
  auto sizes = sizesOf(v, v.value("LU_data"));
  if (!sizes)
    return;
  auto [rows, columns] = *sizes;
  int64_t size = std::min(rows, columns);
  auto padded = [&](Value x, int64_t right, int64_t below) {
    return right + below == 0
               ? x
               : v.call(op::constant_pad_nd, {x, {0, right, 0, below}});
  };
  Value whole;
  if (v.grad(1))
    whole = triangle(v, padded(v.grad(1), columns - size, 0), false, -1);
  if (v.grad(2)) {
    Value upper = triangle(v, padded(v.grad(2), 0, rows - size), true);
    whole = whole ? v.add(whole, upper) : upper;
  }
  if (whole)
    v.set("LU_data", whole);
}

//===----------------------------------------------------------------------===//
// Eigenvalues of any matrix
//===----------------------------------------------------------------------===//

/// A X = B in complex numbers, as real equations of twice the size.
static Value solveComplex(Vjp &v, Value matrix, Value right) {
  auto join = [&](Value a, Value b, int64_t dim) {
    return v.call(op::cat, {{a, b}, dim});
  };
  Value real = v.un("real", matrix), imaginary = v.un("imag", matrix);
  Value top = join(real, v.neg(imaginary), -1);
  Value whole = join(top, join(imaginary, real, -1), -2);
  Value both =
      solve(v, whole, join(v.un("real", right), v.un("imag", right), -2));
  Arg size = v.b.size(matrix, -1);
  return v.un2("complex", v.call(op::slice_Tensor, {both, -2, 0, size}),
               v.call(op::slice_Tensor, {both, -2, size, Arg()}));
}

/// V^-H (diag(gL) + M / conj(L_j - L_i)) V^H with M = V^H gV - V^H V
/// diag(Re V^H gV) off the diagonal: a vector keeps its length.
static void eigenvectors(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value values = v.result(0), vectors = v.result(1), inner;
  Value turned = transposed(v, v.conj(vectors).getValue());
  if (v.grad(1)) {
    Value along = product(v, turned, v.grad(1));
    Value lengths = v.un("real", v.call(op::diagonal, {along, 0, -2, -1}));
    Value scaled = v.mul(vectors, unsqueeze(v, lengths, -2));
    along = v.sub(along, product(v, turned, scaled));
    Value apart = differences(v, v.call(op::_conj_physical, {values}));
    along = v.div(along, apart);
    inner = v.add(triangle(v, along, true, 1), triangle(v, along, false, -1));
  }
  if (v.grad(0)) {
    Value diagonal = diagonalMatrix(v, v.grad(0));
    inner = inner ? v.add(inner, diagonal) : diagonal;
  }
  v.set("self", solveComplex(v, turned, product(v, inner, turned)));
}

const VjpFn vjps::inverse = vjpAny<::inverse>;
const VjpFn vjps::solveEquations = vjpAny<::solveEquations>;
const VjpFn vjps::determinant = vjpAny<::determinant>;
const VjpFn vjps::logDeterminant = vjpAny<::logDeterminant>;
const VjpFn vjps::solveTriangular = vjpAny<::solveTriangular>;
const VjpFn vjps::cholesky = vjpAny<::cholesky>;
const VjpFn vjps::qr = vjpAny<::qr>;
const VjpFn vjps::svd = vjpAny<::svd>;
const VjpFn vjps::eigh = vjpAny<::eigh>;
const VjpFn vjps::exponential = vjpAny<::exponential>;
const VjpFn vjps::pseudoInverse = vjpAny<::pseudoInverse>;
const VjpFn vjps::luFactor = vjpAny<::luFactor>;
const VjpFn vjps::luUnpack = vjpAny<::luUnpack>;
const VjpFn vjps::eigenvectors = vjpAny<::eigenvectors>;
