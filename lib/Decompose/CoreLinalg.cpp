// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pseudo-inverses as products: V diag(1/S) U^T of the singular values S that
// are above max(atol, rtol * the largest); of a symmetric matrix (hermitian)
// V diag(1/L) V^T of the eigenvalues L, by their absolute values. By default
// rtol = max(m, n) epsilon, and 0 where an atol above 0 is given.
//
// Gradients come before: they are made of the matrix and its pseudo-inverse
// alone (lib/Autograd/Aten/Linalg.cpp), where those of singular vectors
// would divide by differences of singular values. A matrix of unknown size,
// without elements, or of complex numbers stays as it is.

#include "CoreRules.h"
#include "FactorRules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {
/// Singular values or eigenvalues, with their vectors as columns.
struct Spectrum {
  Value left, values, right;
};
} // namespace

static Spectrum spectrumOf(CallBuilder &b, Value matrix, bool isHermitian) {
  Values all =
      isHermitian
          ? b.callMany("aten._linalg_eigh.default", {matrix, "L", true})
          : b.callMany("aten._linalg_svd.default", {matrix, false, true});
  if (all.empty())
    return {};
  if (isHermitian)
    return {all[1], all[0], all[1]};
  return {all[0], all[1], transposed(b, all[2])};
}

/// What counts is above it: one number a matrix, in a last dimension of 1.
static Value boundOf(Rewrite &c, Value sizes) {
  CallBuilder &b = c.b;
  Value largest = b.call("aten.amax.default", {sizes, {-1}, true});
  auto type = cast<FloatType>(elementOf(largest));
  auto tolerance = [&](const char *name) {
    Value given = c.r.value(name);
    return given
               ? castTo(b, b.call("aten.unsqueeze.default", {given, -1}), type)
               : given;
  };
  Value absolute = tolerance("atol"), relative = tolerance("rtol");
  ArrayRef<int64_t> shape = shapeOf(c.r.value("self")).take_back(2);
  double epsilon = std::ldexp(1.0, 1 - int(type.getFPMantissaWidth()));
  Value bound =
      relative ? b.call("aten.mul.Tensor", {largest, relative})
               : b.call("aten.mul.Scalar",
                        {largest, epsilon * static_cast<double>(
                                                std::max(shape[0], shape[1]))});
  if (!absolute)
    return bound;
  if (!relative)
    bound = b.call("aten.where.ScalarOther",
                   {b.call("aten.le.Scalar", {absolute, 0.0}), bound, 0.0});
  return b.call("aten.maximum.default", {bound, absolute});
}

static Value pseudoInverse(Rewrite &c) {
  CallBuilder &b = c.b;
  Spectrum spectrum = spectrumOf(b, c.r.value("self"),
                                 c.r.boolean("hermitian").value_or(false));
  if (b.failed())
    return {};
  Value sizes = b.call("aten.abs.default", {spectrum.values});
  Value counts = b.call("aten.gt.Tensor", {sizes, boundOf(c, sizes)});
  Value safe = b.call("aten.where.ScalarOther", {counts, spectrum.values, 1.0});
  Value factor =
      b.call("aten.where.ScalarOther",
             {counts, b.call("aten.reciprocal.default", {safe}), 0.0});
  Value scaled =
      b.call("aten.mul.Tensor",
             {spectrum.right, b.call("aten.unsqueeze.default", {factor, -2})});
  return matmul(b, scaled, transposed(b, spectrum.left));
}

/// Real, with elements, of known size.
static bool hasSpectrum(CallOp op) {
  Value matrix = CallReader(op).value("self");
  return isa<FloatType>(elementOf(matrix)) &&
         llvm::all_of(shapeOf(matrix).take_back(2), [](int64_t size) {
           return !ShapedType::isDynamic(size) && size > 0;
         });
}

const CoreRule units::pseudoInverse = {one<::pseudoInverse>, ::hasSpectrum};
