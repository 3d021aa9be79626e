// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of Fourier transforms. A transform is linear, and its adjoint is the
// transform the other way with the same normalization; no value is read.
//
// * complex to complex: that.
// * real to complex: the real part of it. If only half of the spectrum was
//   kept, the other half has no gradient: it is filled up with zeros.
// * complex to real: the result depends on each value of the half spectrum
//   twice, directly and through its mirror image, but for those that are their
//   own: so all but these are doubled.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

static LogicalResult complexToComplex(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  bool forward = v.in.boolean("forward").value_or(true);
  v.set("self", v.call(op::_fft_c2c, {v.grad(), v.arg("dim"),
                                      v.arg("normalization"), !forward}));
  return v.done();
}

/// `[0, ..., 0, 0, amount]` for constant_pad_nd, which starts with the last
/// dimension: `amount` zeros behind dimension `dim`.
static std::vector<Arg> padding(int64_t rank, int64_t dim, const Arg &amount) {
  std::vector<Arg> pad(2 * (rank - dim), Arg(0));
  pad.back() = amount;
  return pad;
}

/// a - b.
static Arg minus(Vjp &v, const Arg &a, const Arg &b) {
  if (a.getInt() && b.getInt())
    return Arg(*a.getInt() - *b.getInt());
  return Arg(v.call(op::operator_sub, {a, b}));
}

/// The last of the transformed dimensions, which is the one cut in half.
static int64_t halvedDim(Vjp &v, int64_t rank) {
  std::optional<SmallVector<int64_t>> dims = v.in.integers("dim");
  return dims && !dims->empty() ? wrapDim(dims->back(), rank) : rank - 1;
}

static LogicalResult realToComplex(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  Value self = v.value("self"), gradient = v.grad();
  if (v.in.boolean("onesided").value_or(false)) {
    int64_t rank = rankOf(self), dim = halvedDim(v, rank);
    Arg missing = minus(v, v.b.size(self, dim), v.b.size(gradient, dim));
    gradient =
        v.call(op::constant_pad_nd, {gradient, padding(rank, dim, missing)});
  }
  Value full = v.call(op::_fft_c2c,
                      {gradient, v.arg("dim"), v.arg("normalization"), false});
  v.set("self", v.call(op::real, {full}));
  return v.done();
}

static LogicalResult complexToReal(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  int64_t dim = halvedDim(v, rankOf(v.grad()));
  Value half = v.call(op::_fft_r2c,
                      {v.grad(), v.arg("dim"), v.arg("normalization"), true});
  // [0, 1) once, [1, mirrored) twice, the middle of an even length once.
  Arg mirrored = minus(v, v.b.size(v.grad(), dim), v.b.size(half, dim));
  if (mirrored.getInt() != 0) {
    Arg end = mirrored.getInt() ? Arg(*mirrored.getInt() + 1)
                                : Arg(v.call(op::operator_add, {mirrored, 1}));
    Value twice = v.call(op::slice_Tensor, {half, dim, 1, end});
    half = v.call(op::slice_scatter, {half, v.mul(twice, 2.0), dim, 1, end});
  }
  v.set("self", half);
  return v.done();
}

const VjpFn vjps::complexToComplex = ::complexToComplex;
const VjpFn vjps::realToComplex = ::realToComplex;
const VjpFn vjps::complexToReal = ::complexToReal;
