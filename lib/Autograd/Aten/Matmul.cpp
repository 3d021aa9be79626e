// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of matrix products. For C = A B the gradients are dA = G B^T and
// dB = A^T G, so each reads the other factor only, and a factor whose gradient
// nobody wants costs nothing. Complex factors are conjugated.
//
// A grouped product is one product a group, with the groups along a batch
// dimension or cut out of a dimension by offsets; the four forms turn into each
// other when a factor is transposed:
//   rows:    [M, K] x [G, K, N] -> [M, N]     (M is cut)
//   columns: [G, M, K] x [K, N] -> [M, N]     (N is cut)
//   inner:   [M, K] x [K, N] -> [G, M, N]     (K is cut)
//   batch:   [G, M, K] x [G, K, N] -> [G, M, N]

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

/// The factor as it stands in a gradient.
static Value conj(Vjp &v, Value factor) {
  if (!factor || !isComplex(factor))
    return factor;
  return v.call(op::complex, {v.call(op::real, {factor}),
                              v.neg(v.call(op::imag, {factor}))});
}

/// The last two dimensions swapped, elements conjugated.
static Value adjoint(Vjp &v, Value matrix) {
  if (!matrix)
    return {};
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < rankOf(matrix); ++i)
    dims.push_back(i);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return conj(v, v.call(op::permute, {matrix, dims}));
}

/// `gradient` times the number that argument `param` holds.
static Value scaled(Vjp &v, Value gradient, ParamRef param) {
  if (v.in.number(param) == 1.0)
    return gradient;
  return v.mul(gradient, v.arg(param));
}

/// d(left right), with products called `product`.
static void product(Vjp &v, StringRef product, const char *left,
                    const char *right, Value gradient) {
  if (v.needs(left))
    v.set(left, v.call(product, {gradient, adjoint(v, v.value(right))}));
  if (v.needs(right))
    v.set(right, v.call(product, {adjoint(v, v.value(left)), gradient}));
}

/// beta self + alpha left right. The product is scaled, not the gradient
/// before it: as PyTorch does, and the smaller tensor more often than not.
static void scaledProduct(Vjp &v, StringRef product, const char *left,
                          const char *right) {
  if (v.needs("self"))
    v.set("self", scaled(v, v.grad(), "beta"));
  if (v.needs(left))
    v.set(left,
          scaled(v, v.call(product, {v.grad(), adjoint(v, v.value(right))}),
                 "alpha"));
  if (v.needs(right))
    v.set(right,
          scaled(v, v.call(product, {adjoint(v, v.value(left)), v.grad()}),
                 "alpha"));
}

static LogicalResult mm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  product(v, op::mm, "self", "mat2", v.grad());
  return v.done();
}

static LogicalResult bmm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  product(v, op::bmm, "self", "mat2", v.grad());
  return v.done();
}

static LogicalResult addmm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  scaledProduct(v, op::mm, "mat1", "mat2");
  return v.done();
}

static LogicalResult baddbmm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  scaledProduct(v, op::bmm, "batch1", "batch2");
  return v.done();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// column row^T.
static Value outerProduct(Vjp &v, Value column, Value row) {
  return v.mul(v.call(op::unsqueeze, {column, 1}),
               v.call(op::unsqueeze, {conj(v, row), 0}));
}

static Value matrixVector(Vjp &v, Value matrix, Value vector) {
  return v.call(op::mv, {matrix, vector});
}

static LogicalResult mv(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", outerProduct(v, v.grad(), v.value("vec")));
  if (v.needs("vec"))
    v.set("vec", matrixVector(v, adjoint(v, v.value("self")), v.grad()));
  return v.done();
}

static LogicalResult addmv(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", scaled(v, v.grad(), "beta"));
  if (v.needs("mat"))
    v.set("mat", scaled(v, outerProduct(v, v.grad(), v.value("vec")), "alpha"));
  if (v.needs("vec"))
    v.set("vec",
          scaled(v, matrixVector(v, adjoint(v, v.value("mat")), v.grad()),
                 "alpha"));
  return v.done();
}

static LogicalResult dot(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.mul(v.grad(), conj(v, v.value("tensor"))));
  if (v.needs("tensor"))
    v.set("tensor", v.mul(v.grad(), conj(v, v.value("self"))));
  return v.done();
}

/// sum of conj(self) other.
static LogicalResult vdot(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", v.mul(conj(v, v.grad()), v.value("other")));
  if (v.needs("other"))
    v.set("other", v.mul(v.grad(), v.value("self")));
  return v.done();
}

static LogicalResult outer(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (v.needs("self"))
    v.set("self", matrixVector(v, v.grad(), conj(v, v.value("vec2"))));
  if (v.needs("vec2"))
    v.set("vec2",
          matrixVector(v, adjoint(v, v.grad()), conj(v, v.value("self"))));
  return v.done();
}

//===----------------------------------------------------------------------===//
// Grouped products
//===----------------------------------------------------------------------===//

static LogicalResult groupedMm(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Arg offsets = v.arg("offs");
  Value self = v.value("self"), mat2 = v.value("mat2");
  // With `out_dtype` the result is wider than the factors.
  Value gradient = castTo(v.b, v.grad(), elementOf(self));
  if (v.needs("self"))
    v.set("self",
          v.call(op::_grouped_mm, {gradient, adjoint(v, mat2), offsets}));
  if (v.needs("mat2"))
    v.set("mat2",
          v.call(op::_grouped_mm, {adjoint(v, self), gradient, offsets}));
  return v.needs("bias")
             ? v.error("'aten._grouped_mm.default' has no gradient for its "
                       "bias")
             : v.done();
}

static LogicalResult groupedRows(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  SmallVector<Value> both = v.b.callMany(
      op::transformers_grouped_mm_fallback_backward,
      {v.value("input"), v.value("weight"), v.value("offs"), v.grad()});
  if (!both.empty()) {
    v.set("input", both[0]);
    v.set("weight", both[1]);
  }
  return v.done();
}

const VjpFn vjps::mm = ::mm;
const VjpFn vjps::bmm = ::bmm;
const VjpFn vjps::addmm = ::addmm;
const VjpFn vjps::baddbmm = ::baddbmm;
const VjpFn vjps::mv = ::mv;
const VjpFn vjps::addmv = ::addmv;
const VjpFn vjps::dot = ::dot;
const VjpFn vjps::vdot = ::vdot;
const VjpFn vjps::outer = ::outer;
const VjpFn vjps::groupedMm = ::groupedMm;
const VjpFn vjps::groupedRows = ::groupedRows;
