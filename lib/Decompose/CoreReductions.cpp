// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, gates and products with vectors as pointwise ops and sums:
//
//   logsumexp      m + log Σ exp(x - m), where m is the largest of a row, or 0
//                  where that is infinite
//   safe softmax   softmax, 0 in a row of nothing but -infinity
//   glu            a sigmoid(b) of the halves a and b of a dimension
//   weight norm    g v / |v|, with a norm for each place along a dimension
//   A v, a · b     Σ of products: a row of a product with one column is read
//                  once, which is what a reduction does
//   long columns   sums of chunks of them, and the sums of these: columns alone
//                  are too few to keep a device busy, and chunks are not
//
// 16-bit floats are computed in f32 and rounded once. The rules are of the list
// of core ops alone (CoreLosses.cpp says why).

#include "ComplexParts.h"
#include "CoreRules.h"
#include "Rules.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value product(CallBuilder &b, Value x, const Arg &y) {
  return b.call("aten.mul.Tensor", {x, y});
}
static Value difference(CallBuilder &b, Value x, const Arg &y) {
  return b.call("aten.sub.Tensor", {x, y});
}

//===----------------------------------------------------------------------===//
// Rows of powers
//===----------------------------------------------------------------------===//

static Value logSumExp(Rewrite &c) {
  CallBuilder &b = c.b;
  Value x = castTo(b, c.r.value("self"), computeType(c.result()));
  Arg dims = c.r.arg("dim");
  Value largest = b.call("aten.amax.default", {x, dims, true});
  Value size = b.call("aten.abs.default", {largest});
  Value isInfinite = b.call("aten.eq.Scalar", {size, kInfinity});
  Value offset = b.call("aten.where.ScalarSelf", {isInfinite, 0.0, largest});
  Value powers = b.call("aten.exp.default", {difference(b, x, offset)});
  Value sum = b.call("aten.sum.dim_IntList", {powers, dims, true});
  Value all =
      b.call("aten.add.Tensor", {b.call("aten.log.default", {sum}), offset});
  if (!c.r.boolean("keepdim").value_or(false)) {
    if (dims.getList().empty() && !dims.getInt())
      dims = Arg(allDims(x));
    all = b.call("aten.squeeze.dims", {all, dims});
  }
  return asResult(c, all);
}

static Value safeSoftmax(Rewrite &c) {
  CallBuilder &b = c.b;
  Value x = widen(b, castTo(b, c.r.value("self"), elementOf(c.result())));
  Arg dim = c.r.arg("dim");
  Value largest = b.call("aten.amax.default", {x, {dim}, true});
  Value powers = b.call("aten.exp.default", {difference(b, x, largest)});
  Value sum = b.call("aten.sum.dim_IntList", {powers, {dim}, true});
  Value isEmpty = b.call("aten.eq.Scalar", {largest, -kInfinity});
  Value shares = b.call("aten.div.Tensor", {powers, sum});
  return asResult(c, b.call("aten.where.ScalarSelf", {isEmpty, 0.0, shares}));
}

/// A row has a largest element, of real numbers.
static bool hasLargest(CallOp op) {
  Value self = CallReader(op).value("self");
  return rankOf(self) > 0 && !isa<ComplexType>(elementOf(self)) &&
         !llvm::is_contained(shapeOf(self), 0);
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

namespace {
/// What passes, and the gate, as two halves of a dimension.
struct Halves {
  explicit Halves(Rewrite &c)
      : b(c.b), dim(wrapDim(c.r.integer("dim").value_or(-1),
                            rankOf(c.r.value("self")))) {
    Value x = widen(b, c.r.value("self"));
    Arg middle = floorDiv(b, b.size(x, dim), 2);
    passing = sliceOf(b, x, dim, 0, middle);
    Value other = sliceOf(b, x, dim, middle, b.size(x, dim));
    gate = b.call("aten.sigmoid.default", {other});
  }

  CallBuilder &b;
  int64_t dim;
  Value passing, gate;
};
} // namespace

static Value gated(Rewrite &c) {
  Halves h(c);
  return asResult(c, product(c.b, h.passing, h.gate));
}

static Value gatedBackward(Rewrite &c) {
  Halves h(c);
  Value g = widen(c.b, c.r.value("grad_output"));
  Value passed = product(c.b, g, h.gate);
  Value shut = c.b.call("aten.rsub.Scalar", {h.gate, 1.0});
  Value ofGate = product(c.b, product(c.b, passed, shut), h.passing);
  return asResult(c, c.b.call("aten.cat.default", {{passed, ofGate}, h.dim}));
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

static Value distance(Rewrite &c) {
  return c.b.call(
      "aten.linalg_vector_norm.default",
      {difference(c.b, c.r.value("self"), c.r.value("other")), c.r.arg("p")});
}

/// All dimensions of `v` but one.
static SmallVector<int64_t> othersOf(Value v, int64_t dim) {
  SmallVector<int64_t> others = allDims(v);
  others.erase(others.begin() + wrapDim(dim, rankOf(v)));
  return others;
}

static Values weightNorm(Rewrite &c) {
  CallBuilder &b = c.b;
  Value v = c.r.value("v"), g = c.r.value("g");
  Value wide = widen(b, v);
  Value norm =
      b.call("aten.linalg_vector_norm.default",
             {wide, 2.0, othersOf(v, c.r.integer("dim").value_or(0)), true});
  Value direction = b.call("aten.div.Tensor", {widen(b, g), norm});
  return {asResult(c, product(b, wide, direction)), asResult(c, norm, 1)};
}

/// With s the sum of grad v: g / |v| (grad - v s / |v|²), and s / |v|.
static Values weightNormBackward(Rewrite &c) {
  CallBuilder &b = c.b;
  Value v = c.r.value("saved_v");
  auto wide = [&](const char *name) { return widen(b, c.r.value(name)); };
  Value grad = wide("grad_w"), x = wide("saved_v"), norm = wide("saved_norms");
  Value sum = b.call(
      "aten.sum.dim_IntList",
      {product(b, grad, x), othersOf(v, c.r.integer("dim").value_or(0)), true});
  Value along = b.call("aten.div.Tensor", {sum, product(b, norm, norm)});
  Value across = difference(b, grad, product(b, x, along));
  Value scale = b.call("aten.div.Tensor", {wide("saved_g"), norm});
  return {asResult(c, product(b, across, scale)),
          asResult(c, b.call("aten.div.Tensor", {sum, norm}), 1)};
}

/// Norms that are kept in the shape of the lengths.
static bool areNormsInPlace(CallOp op) {
  CallReader read(op);
  bool isForward = op.getSchema().find("v") >= 0;
  Value v = read.value(isForward ? "v" : "saved_v");
  Value g = read.value(isForward ? "g" : "saved_g");
  return rankOf(v) == rankOf(g) && rankOf(v) > 1 &&
         isa<FloatType>(elementOf(v));
}

//===----------------------------------------------------------------------===//
// Long columns
//===----------------------------------------------------------------------===//

namespace {
/// Sums over so many elements have two stages, where they are fewer than keep a
/// device busy; and chunks have so many elements.
constexpr int64_t kLongColumn = 2048, kManyColumns = 4096;
constexpr int64_t kShortestChunk = 128, kLongestChunk = 512;

/// How the dimensions of a sum are divided: some are of a chunk as a whole, of
/// one a part.
struct Chunks {
  SmallVector<int64_t> whole; ///< dimensions of a chunk
  int64_t divided = -1;       ///< the one that is divided, or -1
  int64_t part = 1;           ///< of it, in a chunk
  SmallVector<int64_t> outer; ///< dimensions of the second stage

  /// From the last dimension of the sum on; false if no divisor of a dimension
  /// makes a chunk. A function of the extents alone.
  bool find(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims);
};

bool Chunks::find(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  int64_t length = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    if (!outer.empty() || length * sizes[dim] > kLongestChunk) {
      bool isFirst = outer.empty();
      outer.insert(outer.begin(), dim);
      for (int64_t size = isFirst ? kLongestChunk / 2 / length : 0; size > 1;
           --size) {
        if (sizes[dim] % size)
          continue;
        divided = dim;
        part = size;
        length *= size;
        break;
      }
      continue;
    }
    whole.insert(whole.begin(), dim);
    length *= sizes[dim];
  }
  return length >= kShortestChunk && !outer.empty();
}
} // namespace

/// The dimensions of a sum, in their order.
static SmallVector<int64_t> dimsOfSum(const CallReader &call) {
  SmallVector<int64_t> dims;
  int64_t rank = rankOf(call.value("self"));
  if (auto given = call.integers("dim"))
    for (int64_t dim : *given)
      dims.push_back(wrapDim(dim, rank));
  llvm::sort(dims);
  return dims;
}

/// A long sum of floats whose neighbours in memory are of other sums; or one of
/// complex numbers.
static bool isOfLongColumns(CallOp op) {
  if (isComplexSum(op))
    return true;
  CallReader call(op);
  Value self = call.value("self");
  auto tensor = dyn_cast<RankedTensorType>(self.getType());
  SmallVector<int64_t> dims = dimsOfSum(call);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getRank() ||
      dims.empty() || !isa<FloatType>(elementOf(self)) ||
      !isa<FloatType>(elementOf(op->getResult(0))))
    return false;
  int64_t length = 1, last = tensor.getRank() - 1;
  for (int64_t dim : dims)
    length *= tensor.getDimSize(dim);
  while (last > 0 && tensor.getDimSize(last) == 1)
    --last;
  return length >= kLongColumn &&
         tensor.getNumElements() / length < kManyColumns &&
         !llvm::is_contained(dims, last) &&
         Chunks().find(tensor.getShape(), dims);
}

static Value longSum(Rewrite &c) {
  if (isComplexSum(c.op))
    return complexSum(c);
  CallBuilder &b = c.b;
  Value x = castTo(b, c.r.value("self"), computeType(c.result()));
  Chunks chunks;
  chunks.find(shapeOf(x), dimsOfSum(c.r));
  // With the divided dimension as two.
  SmallVector<int64_t> sizes, first, second;
  int64_t numSecond = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    int64_t number = static_cast<int64_t>(dim);
    bool isDivided = number == chunks.divided;
    if (llvm::is_contained(chunks.outer, number))
      second.push_back(numSecond);
    if (llvm::is_contained(chunks.whole, number))
      first.push_back(static_cast<int64_t>(sizes.size()));
    else
      ++numSecond;
    sizes.push_back(isDivided ? size / chunks.part : size);
    if (isDivided) {
      first.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(chunks.part);
    }
  }
  if (chunks.divided >= 0)
    x = b.call("aten.view.default", {x, sizes});
  Value parts = b.call("aten.sum.dim_IntList", {x, first});
  Value sum = asResult(c, b.call("aten.sum.dim_IntList", {parts, second}));
  if (!c.r.boolean("keepdim").value_or(false))
    return sum;
  return b.call("aten.view.default",
                {sum, SmallVector<int64_t>(shapeOf(c.result()))});
}

//===----------------------------------------------------------------------===//
// Products with vectors
//===----------------------------------------------------------------------===//

/// Sum of products along the last dimension, in the type of sums.
static Value sumOfProducts(Rewrite &c, Value a, Value x) {
  Value products = product(c.b, widen(c.b, a), widen(c.b, x));
  return c.b.call("aten.sum.dim_IntList", {products, {-1}});
}

static Value timesVector(Rewrite &c) {
  return asResult(c, sumOfProducts(c, c.r.value("self"), c.r.value("vec")));
}

/// β self + α A v; β 0 takes no part of `self`, NaN neither.
static Value plusTimesVector(Rewrite &c) {
  CallBuilder &b = c.b;
  Value sum = sumOfProducts(c, c.r.value("mat"), c.r.value("vec"));
  auto scaled = [&](Value value, double by) {
    return by == 1.0 ? value : b.call("aten.mul.Scalar", {value, by});
  };
  sum = scaled(sum, c.r.number("alpha").value_or(1.0));
  double beta = c.r.number("beta").value_or(1.0);
  if (beta != 0.0) {
    Value self = c.r.value("self");
    self = scaled(castTo(b, self, elementOf(sum)), beta);
    sum = b.call("aten.add.Tensor", {sum, self});
  }
  return asResult(c, sum);
}

static Value dotProduct(Rewrite &c) {
  const char *other = c.packet() == "aten.vdot" ? "other" : "tensor";
  return asResult(c, sumOfProducts(c, c.r.value("self"), c.r.value(other)));
}

static bool isOfFloats(CallOp op) {
  return llvm::all_of(op.getOperation()->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType());
  });
}

const CoreRule forms::logSumExp = {one<::logSumExp>, ::hasLargest};
const CoreRule forms::safeSoftmax = {one<::safeSoftmax>, ::hasLargest};
const CoreRule forms::gated = {one<::gated>, ::isOfFloats};
const CoreRule forms::gatedBackward = {one<::gatedBackward>, ::isOfFloats};
const CoreRule forms::longSum = {one<::longSum>, ::isOfLongColumns};
const CoreRule forms::distance = {one<::distance>, ::isOfFloats};
const CoreRule forms::weightNorm = {many<::weightNorm>, ::areNormsInPlace};
const CoreRule forms::weightNormBackward = {many<::weightNormBackward>,
                                            ::areNormsInPlace};
const CoreRule forms::timesVector = {one<::timesVector>, ::isOfFloats};
const CoreRule forms::plusTimesVector = {one<::plusTimesVector>, ::isOfFloats};
const CoreRule forms::dotProduct = {one<::dotProduct>, ::isOfFloats};
