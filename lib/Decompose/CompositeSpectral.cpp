// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms, and what belongs to weights and grids. A transform is
// one of three ops: real to complex, complex to complex, complex to real; what
// the user writes adds sizes (the input is cut, or padded by zeros, at the end
// of each dimension) and a norm:
//
//             "backward" or none   "ortho"    "forward"
//   forward         1              1/sqrt(n)    1/n
//   inverse        1/n             1/sqrt(n)     1

#include "CoreRules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {
/// One transform, with its dimensions and sizes (None: as they are).
struct Transform {
  Value value;
  SmallVector<int64_t> dims;
  std::vector<Arg> sizes;
  bool isInverse = false;
  int64_t norm = 0; ///< 0 none, 1 by the root, 2 by the number
};
} // namespace

static Transform readTransform(Rewrite &c) {
  Transform t;
  t.value = c.r.value("self");
  StringRef name = c.packet();
  name.consume_front("aten.fft_");
  t.isInverse = name.starts_with("i");
  int64_t rank = rankOf(t.value);
  if (c.op.getSchema().find("n") >= 0) {
    t.dims = {c.r.integer("dim").value_or(-1)};
    t.sizes = {c.r.arg("n")};
  } else {
    t.sizes = c.r.list(optional("s"));
    t.dims = c.r.integers("dim").value_or(SmallVector<int64_t>());
    int64_t count = t.sizes.empty() ? rank : int64_t(t.sizes.size());
    if (t.dims.empty())
      t.dims = llvm::to_vector(llvm::seq<int64_t>(rank - count, rank));
    t.sizes.resize(t.dims.size());
  }
  for (int64_t &dim : t.dims)
    dim = wrapDim(dim, rank);
  StringRef norm = c.r.string("norm");
  bool whole = norm == "forward" ? !t.isInverse : t.isInverse;
  t.norm = norm == "ortho" ? 1 : whole ? 2 : 0;
  return t;
}

/// `value` with `size` elements along `dim`.
static Value resize(Rewrite &c, Value value, int64_t dim, const Arg &size) {
  std::optional<int64_t> wanted = size.getInt();
  if (size.isNone() || wanted == -1 || c.b.failed())
    return value;
  int64_t have = shapeOf(value)[dim];
  if (!wanted || ShapedType::isDynamic(have)) {
    c.b.error("'" + c.packet() + "' to a size that is not known");
    return {};
  }
  if (*wanted <= have)
    return *wanted == have ? value : sliceOf(c.b, value, dim, 0, *wanted);
  std::vector<Arg> pad(2 * (rankOf(value) - dim), Arg(int64_t(0)));
  pad.back() = Arg(*wanted - have);
  return c.b.call(op::constant_pad_nd, {value, pad});
}

static Value toComplex(CallBuilder &b, Value value) {
  if (!value || isa<ComplexType>(elementOf(value)))
    return value;
  Value zeros = b.call(op::zeros_like, {value});
  return b.call(op::complex, {value, zeros});
}

static Value complexTransform(Rewrite &c) {
  Transform t = readTransform(c);
  for (auto [dim, size] : llvm::zip_equal(t.dims, t.sizes))
    t.value = resize(c, t.value, dim, size);
  return c.b.call(op::_fft_c2c,
                  {toComplex(c.b, t.value), t.dims, t.norm, !t.isInverse});
}

static Value conjugate(CallBuilder &b, Value value) {
  return b.call(op::_conj_physical, {value});
}

static Value realTransform(Rewrite &c) {
  Transform t = readTransform(c);
  for (auto [dim, size] : llvm::zip_equal(t.dims, t.sizes))
    t.value = resize(c, t.value, dim, size);
  return c.b.call(op::_fft_r2c, {t.value, t.dims, t.norm, true});
}

/// The inverse of hfft: a real signal has a spectrum with this first half.
static Value halfInverse(Rewrite &c) {
  return conjugate(c.b, realTransform(c));
}

static Value inverseRealTransform(Rewrite &c) {
  Transform t = readTransform(c);
  int64_t last = t.dims.back();
  Arg size = t.sizes.back();
  if (size.isNone() || size.getInt() == -1) {
    Arg count = plus(c.b, c.b.size(t.value, last), Arg(int64_t(-1)));
    size = c.b.times(count, Arg(int64_t(2)));
  } else if (size.getInt()) {
    t.sizes.back() = Arg(*size.getInt() / 2 + 1);
  }
  for (auto [dim, wanted] : llvm::zip_equal(t.dims, t.sizes))
    t.value = resize(c, t.value, dim, wanted);
  Value value = toComplex(c.b, t.value);
  if (c.packet().starts_with("aten.fft_hfft"))
    value = conjugate(c.b, value);
  return c.b.call(op::_fft_c2r, {value, t.dims, t.norm, size});
}

/// Rolls each dimension by half of it; the inverse by the other half.
static Value shift(Rewrite &c) {
  Value self = c.r.value("self");
  bool inverse = c.packet() == "aten.fft_ifftshift";
  SmallVector<int64_t> dims =
      c.r.integers("dim").value_or(SmallVector<int64_t>());
  if (c.r.isNone("dim"))
    dims = allDims(self);
  std::vector<Arg> shifts;
  for (int64_t dim : dims) {
    Arg size = c.b.size(self, dim);
    shifts.push_back(
        floorDiv(c.b, inverse ? plus(c.b, size, Arg(int64_t(1))) : size, 2));
  }
  return c.b.call(op::roll, {self, shifts, dims});
}

//===----------------------------------------------------------------------===//
// Weights and grids
//===----------------------------------------------------------------------===//

/// The norm over all dimensions but `dim` (all of them, if it is -1).
static Value normExcept(CallBuilder &b, Value value, int64_t power,
                        int64_t dim) {
  if (dim == -1)
    return b.call(op::linalg_vector_norm, {value, static_cast<double>(power)});
  SmallVector<int64_t> others = allDims(value);
  llvm::erase(others, wrapDim(dim, rankOf(value)));
  return b.call(op::linalg_vector_norm,
                {value, static_cast<double>(power), others, true});
}

static Value normExceptDim(Rewrite &c) {
  return normExcept(c.b, c.r.value("v"), c.r.integer("pow").value_or(2),
                    c.r.integer("dim").value_or(0));
}

/// v g / |v|; 16-bit floats in f32, rounded once.
static Value weightNorm(Rewrite &c) {
  Value given = c.r.value("v");
  Value v = castTo(c.b, given, computeType(given));
  Value g = castTo(c.b, c.r.value("g"), computeType(c.r.value("g")));
  Value norm = normExcept(c.b, v, 2, c.r.integer("dim").value_or(0));
  Value scale = c.b.call(op::div_Tensor, {g, norm});
  Value result = c.b.call(op::mul_Tensor, {v, scale});
  return c.b.failed() ? Value() : castTo(c.b, result, elementOf(given));
}

/// Places from -1 to 1: of the corners, or of the middles of pixels.
static Value places(Rewrite &c, const Arg &size, Type type) {
  std::optional<int64_t> count = size.getInt();
  if (!count) {
    c.b.error("'aten.affine_grid_generator' of a size that is not known");
    return {};
  }
  if (*count <= 1)
    return c.b.call(op::zeros, {{size}}, {{"dtype", type}});
  Value line = c.b.call(op::linspace, {-1.0, 1.0, size}, {{"dtype", type}});
  if (c.r.boolean(optional("align_corners")).value_or(false))
    return line;
  auto steps = static_cast<double>(*count);
  return c.b.call(op::mul_Scalar, {line, (steps - 1.0) / steps});
}

/// Each place (x, y, 1) of a grid times the matrix of its sample.
static Value affineGrid(Rewrite &c) {
  Value theta = c.r.value("theta");
  Type type = elementOf(theta);
  std::vector<Arg> sizes = c.r.list("size");
  std::vector<Arg> space(sizes.begin() + 2, sizes.end());
  std::vector<Arg> axes, result = {sizes[0]};
  size_t count = space.size();
  // The last dimension is x, and comes first.
  for (size_t i = count; i-- > 0;) {
    std::vector<Arg> own(count, Arg(int64_t(1)));
    own[i] = space[i];
    Value line = places(c, space[i], type);
    if (!line)
      return {};
    axes.push_back(expandTo(c.b, viewAs(c.b, line, own), space));
  }
  axes.push_back(c.b.call(op::ones, {space}, {{"dtype", type}}));
  Value grid = c.b.call(op::stack, {axes, -1});
  if (c.b.failed())
    return {};
  Arg points = countOf(c.b, grid, 0, static_cast<int64_t>(count));
  grid = viewAs(c.b, grid, {points, Arg(int64_t(count) + 1)});
  Value moved = matmul(c.b, grid, c.b.call(op::transpose_int, {theta, 1, 2}));
  result.insert(result.end(), space.begin(), space.end());
  result.push_back(Arg(int64_t(count)));
  return viewAs(c.b, moved, result);
}

const DecomposeFn decompositions::complexTransform = one<::complexTransform>;
const DecomposeFn decompositions::realTransform = one<::realTransform>;
const DecomposeFn decompositions::inverseRealTransform =
    one<::inverseRealTransform>;
const DecomposeFn decompositions::halfInverse = one<::halfInverse>;
const DecomposeFn decompositions::shift = one<::shift>;
const DecomposeFn decompositions::normExceptDim = one<::normExceptDim>;
const DecomposeFn decompositions::weightNorm = one<::weightNorm>;
const DecomposeFn decompositions::affineGrid = one<::affineGrid>;
