// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms as products with the matrix of the transform, dimension by
// dimension: n m multiplications an element of a line where a fast transform
// has n log n, but by products of matrices, which have kernels on all targets.
// With w = exp(-2 pi i / n), element (j, k) of the matrix is w^(jk): its parts
// come from a table of n cosines and n sines, computed in double precision, at
// jk mod n. Transforms of more than kMost elements, or of a size that is not
// known, stay as they are.
//
// Of a real line half of the result says all, since X[n - k] is the conjugate
// of X[k]: the way back counts all but the first and the middle one twice.

#include "ComplexParts.h"
#include "CoreRules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static constexpr int64_t kMost = 2048;

/// The wrapped dimensions of a transform; nothing if a size is not known, or
/// too large. `last`: the size of the last one, where it is not the operand's.
static std::optional<SmallVector<int64_t>> dimsOf(const CallReader &call,
                                                  std::optional<int64_t> last) {
  Value self = call.value("self");
  auto given = call.integers("dim");
  if (!given || given->empty())
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (auto [i, dim] : llvm::enumerate(*given)) {
    dims.push_back(wrapDim(dim, rankOf(self)));
    int64_t size =
        i + 1 == given->size() && last ? *last : shapeOf(self)[dims.back()];
    if (ShapedType::isDynamic(size) || size < 1 || size > kMost)
      return std::nullopt;
  }
  return dims;
}
static std::optional<int64_t> lastSizeOf(const CallReader &call) {
  return call.integer("last_dim_size");
}
static bool isOfKnownSize(CallOp op) {
  CallReader call(op);
  return dimsOf(call, std::nullopt).has_value();
}
/// And from all of the half that says so many elements.
static bool isToKnownSize(CallOp op) {
  CallReader call(op);
  std::optional<int64_t> last = lastSizeOf(call);
  auto dims = last ? dimsOf(call, last) : std::nullopt;
  return dims && shapeOf(call.value("self"))[dims->back()] > *last / 2;
}

namespace {
/// Matrices and products of one transform; sums in the type of the parts.
class Transform {
public:
  Transform(Rewrite &c, Type part) : b(c.b), part(part) {}

  /// Parts of w^(jk), j < rows, k < columns, w = exp(2 pi i / n).
  ComplexParts matrix(int64_t rows, int64_t columns, int64_t n) {
    Type i64 = b.i64(), f64 = Float64Type::get(part.getContext());
    auto numbers = [&](int64_t count) {
      return b.call("aten.arange.default", {count}, {{"dtype", i64}});
    };
    Value places = b.call(
        "aten.remainder.Scalar",
        {b.call("aten.mul.Tensor",
                {b.call("aten.unsqueeze.default", {numbers(rows), 1}),
                 b.call("aten.unsqueeze.default", {numbers(columns), 0})}),
         n});
    places = b.call("aten.view.default",
                    {places, SmallVector<int64_t>{rows * columns}});
    Value angles =
        b.call("aten.mul.Scalar",
               {castTo(b, numbers(n), f64), 2 * M_PI / static_cast<double>(n)});
    auto table = [&](StringRef function) {
      Value values = castTo(b, b.call(function, {angles}), part);
      return b.call("aten.view.default",
                    {b.call("aten.index_select.default", {values, 0, places}),
                     SmallVector<int64_t>{rows, columns}});
    };
    return {table("aten.cos.default"), table("aten.sin.default")};
  }

  /// `x` times a matrix, along one dimension.
  Value along(Value x, int64_t dim, Value matrix) {
    SmallVector<int64_t> order, back(rankOf(x));
    for (int64_t other = 0; other < rankOf(x); ++other)
      if (other != dim)
        order.push_back(other);
    order.push_back(dim);
    for (auto [place, from] : llvm::enumerate(order))
      back[from] = static_cast<int64_t>(place);
    Value product =
        matmul(b, b.call("aten.permute.default", {x, order}), matrix);
    return b.call("aten.permute.default", {product, back});
  }

  /// All of a complex line, forward or back.
  ComplexParts whole(ComplexParts x, int64_t dim, bool isForward) {
    int64_t n = shapeOf(x.real)[dim];
    ComplexParts w = matrix(n, n, n);
    Value realCos = along(x.real, dim, w.real),
          realSin = along(x.real, dim, w.imaginary),
          otherCos = along(x.imaginary, dim, w.real),
          otherSin = along(x.imaginary, dim, w.imaginary);
    // (a + bi) (c - si), or with + si.
    return isForward ? ComplexParts{add(realCos, otherSin),
                                    subtract(otherCos, realSin)}
                     : ComplexParts{subtract(realCos, otherSin),
                                    add(otherCos, realSin)};
  }

  /// 0: as it is; 1: divided by the root of all sizes; 2: by all sizes.
  Value scaled(Value x, int64_t normalization, double all) {
    if (normalization == 0)
      return x;
    double factor = normalization == 1 ? 1 / std::sqrt(all) : 1 / all;
    return b.call("aten.mul.Scalar", {x, factor});
  }

  Value add(Value x, Value y) { return b.call("aten.add.Tensor", {x, y}); }
  Value subtract(Value x, Value y) { return b.call("aten.sub.Tensor", {x, y}); }

private:
  CallBuilder &b;
  Type part;
};
} // namespace

static double allOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  double all = 1;
  for (int64_t dim : dims)
    all *= static_cast<double>(shape[dim]);
  return all;
}

static Value complexTransform(Rewrite &c) {
  Value self = c.r.value("self");
  Transform transform(c, partTypeOf(self));
  ComplexParts x = partsOf(c.b, self, self);
  SmallVector<int64_t> dims = *dimsOf(c.r, std::nullopt);
  for (int64_t dim : dims)
    x = transform.whole(x, dim, c.r.boolean("forward").value_or(true));
  int64_t by = c.r.integer("normalization").value_or(0);
  double all = allOf(dims, shapeOf(self));
  return fromParts(c.b, transform.scaled(x.real, by, all),
                   transform.scaled(x.imaginary, by, all));
}

/// The last dimension first, which halves the others' work.
static Value realTransform(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  Transform transform(c, elementOf(self));
  SmallVector<int64_t> dims = *dimsOf(c.r, std::nullopt);
  int64_t last = dims.back(), n = shapeOf(self)[last];
  bool isHalf = c.r.boolean("onesided").value_or(true);
  ComplexParts w = transform.matrix(n, isHalf ? n / 2 + 1 : n, n);
  ComplexParts x = {
      transform.along(self, last, w.real),
      b.call("aten.neg.default", {transform.along(self, last, w.imaginary)})};
  for (int64_t dim : ArrayRef<int64_t>(dims).drop_back())
    x = transform.whole(x, dim, /*isForward=*/true);
  int64_t by = c.r.integer("normalization").value_or(0);
  double all = allOf(dims, shapeOf(self));
  return fromParts(b, transform.scaled(x.real, by, all),
                   transform.scaled(x.imaginary, by, all));
}

static Value inverseTransform(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  Transform transform(c, partTypeOf(self));
  int64_t n = *lastSizeOf(c.r);
  SmallVector<int64_t> dims = *dimsOf(c.r, n);
  ComplexParts x = partsOf(b, self, self);
  for (int64_t dim : ArrayRef<int64_t>(dims).drop_back())
    x = transform.whole(x, dim, /*isForward=*/false);
  int64_t last = dims.back(), half = n / 2 + 1;
  auto firstHalf = [&](Value part) {
    return shapeOf(part)[last] == half ? part : sliceOf(b, part, last, 0, half);
  };
  // 1, 2, 2, ... and 1 again in the middle of an even number.
  Value numbers = b.call("aten.arange.default", {half}, {{"dtype", b.i64()}});
  Value isOnce = b.call("aten.eq.Scalar",
                        {b.call("aten.remainder.Scalar",
                                {b.call("aten.mul.Scalar", {numbers, 2}), n}),
                         0});
  Value one = b.call("aten.unsqueeze.default", {isOnce, 1});
  ComplexParts w = transform.matrix(half, n, n);
  auto counted = [&](Value matrix) {
    return b.call("aten.where.self",
                  {one, matrix, b.call("aten.mul.Scalar", {matrix, 2.0})});
  };
  Value real = transform.subtract(
      transform.along(firstHalf(x.real), last, counted(w.real)),
      transform.along(firstHalf(x.imaginary), last, counted(w.imaginary)));
  double all = allOf(ArrayRef<int64_t>(dims).drop_back(), shapeOf(self)) *
               static_cast<double>(n);
  return transform.scaled(real, c.r.integer("normalization").value_or(0), all);
}

const CoreRule forms::complexTransform = {one<::complexTransform>,
                                          ::isOfKnownSize};
const CoreRule forms::realTransform = {one<::realTransform>, ::isOfKnownSize};
const CoreRule forms::inverseTransform = {one<::inverseTransform>,
                                          ::isToKnownSize};
