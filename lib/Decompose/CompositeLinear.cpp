// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layers and products, as products of two matrices (`mm`) or of two
// batches of matrices (`bmm`).
//
// `matmul` follows PyTorch: where one factor has at most two dimensions, the
// other's leading dimensions are rows of one large matrix, so that the small
// factor is not repeated and its gradient is one product; else the batches are
// expanded to each other. `linear` is the same with the bias added by `addmm`.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// All but the last dimension as rows: [.., K] becomes [rows, K].
static Value asRows(CallBuilder &b, Value value) {
  int64_t rank = rankOf(value);
  if (rank == 2)
    return value;
  return viewAs(b, value, {countOf(b, value, 0, rank - 1), b.size(value, -1)});
}

/// The sizes of `value` but the last, and then `last`.
static std::vector<Arg> withLast(CallBuilder &b, Value value, const Arg &last) {
  std::vector<Arg> sizes = b.sizes(value).getList().vec();
  sizes.back() = last;
  return sizes;
}

Value decompose::linear(CallBuilder &b, Value input, Value weight, Value bias) {
  if (rankOf(weight) == 1) {
    Value product = matmul(b, input, weight);
    return bias ? b.call(op::add_Tensor, {product, bias}) : product;
  }
  Value rows =
      rankOf(input) == 1 ? b.call(op::unsqueeze, {input, 0}) : asRows(b, input);
  Value transposed = b.call(op::t, {weight});
  Value product = bias ? b.call(op::addmm, {bias, rows, transposed})
                       : b.call(op::mm, {rows, transposed});
  if (rankOf(input) == 1)
    return b.call(op::squeeze_dim, {product, 0});
  return rankOf(input) == 2
             ? product
             : viewAs(b, product, withLast(b, input, b.size(weight, 0)));
}

static Value linearRule(Rewrite &c) {
  return linear(c.b, c.r.value("input"), c.r.value("weight"),
                c.r.value("bias"));
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// The leading factor has three or more dimensions, the other one or two.
static Value foldedMatmul(CallBuilder &b, Value left, Value right) {
  Value rows = asRows(b, left);
  std::vector<Arg> sizes = b.sizes(left).getList().vec();
  sizes.pop_back();
  if (rankOf(right) == 1)
    return viewAs(b, b.call(op::mv, {rows, right}), sizes);
  sizes.push_back(b.size(right, 1));
  return viewAs(b, b.call(op::mm, {rows, right}), sizes);
}

/// left @ right = (rightᵀ @ leftᵀ)ᵀ, for a small left factor.
static Value foldedRight(CallBuilder &b, Value left, Value right) {
  Value large = b.call(op::transpose_int, {right, -2, -1});
  large = b.call(op::clone, {large}, {{"memory_format", "contiguous_format"}});
  if (rankOf(left) == 1)
    return foldedMatmul(b, large, left);
  Value product = foldedMatmul(b, large, b.call(op::t, {left}));
  return b.call(op::transpose_int, {product, -2, -1});
}

/// The size that two sizes broadcast to.
static Arg broadcastSize(const Arg &a, const Arg &c) {
  return a.getInt() == 1 ? c : a;
}

/// `value` [batch.., M, K] as [batches, M, K], after expanding the batch.
static Value asBatch(CallBuilder &b, Value value, std::vector<Arg> batch,
                     const Arg &count) {
  int64_t rank = rankOf(value);
  batch.push_back(b.size(value, rank - 2));
  batch.push_back(b.size(value, rank - 1));
  Value expanded = expandTo(b, value, batch);
  std::vector<Arg> sizes = {count, batch[batch.size() - 2], batch.back()};
  // What is repeated is copied, as no strides can say it in one dimension.
  if (expanded != value && batch.size() != 3) {
    expanded =
        b.call(op::clone, {expanded}, {{"memory_format", "contiguous_format"}});
    return b.call(op::_unsafe_view, {expanded, sizes});
  }
  return batch.size() == 3 ? expanded : viewAs(b, expanded, sizes);
}

static Value batchedMatmul(CallBuilder &b, Value left, Value right) {
  std::vector<Arg> first = b.sizes(left).getList().vec();
  std::vector<Arg> second = b.sizes(right).getList().vec();
  if (b.failed())
    return {};
  Arg rows = first[first.size() - 2], columns = second.back();
  first.resize(first.size() - 2);
  second.resize(second.size() - 2);
  bool longer = first.size() >= second.size();
  std::vector<Arg> batch = longer ? first : second;
  const std::vector<Arg> &other = longer ? second : first;
  size_t added = batch.size() - other.size();
  Arg count(int64_t(1));
  for (size_t i = 0; i < batch.size(); ++i) {
    if (i >= added)
      batch[i] = broadcastSize(batch[i], other[i - added]);
    count = b.times(count, batch[i]);
  }
  Value product = b.call(op::bmm, {asBatch(b, left, batch, count),
                                   asBatch(b, right, batch, count)});
  batch.push_back(rows);
  batch.push_back(columns);
  return batch.size() == 3 ? product : viewAs(b, product, batch);
}

Value decompose::matmul(CallBuilder &b, Value left, Value right) {
  if (b.failed() || !left || !right)
    return {};
  int64_t m = rankOf(left), n = rankOf(right);
  if (m == 1 && n == 1)
    return b.call(op::dot, {left, right});
  if (m == 2 && n == 1)
    return b.call(op::mv, {left, right});
  if (m == 2 && n == 2)
    return b.call(op::mm, {left, right});
  if (m == 1 && n == 2) {
    Value row = b.call(op::unsqueeze, {left, 0});
    return b.call(op::squeeze_dim, {b.call(op::mm, {row, right}), 0});
  }
  if (n <= 2)
    return foldedMatmul(b, left, right);
  if (m <= 2)
    return foldedRight(b, left, right);
  return batchedMatmul(b, left, right);
}

static Value matmulRule(Rewrite &c) {
  return matmul(c.b, c.r.value("self"), c.r.value("other"));
}

//===----------------------------------------------------------------------===//
// Other products
//===----------------------------------------------------------------------===//

static Value chainMatmul(Rewrite &c) {
  Value product;
  for (const Arg &factor : c.r.list(0))
    product =
        product ? matmul(c.b, product, factor.getValue()) : factor.getValue();
  return product;
}

/// beta · self + alpha · product, as numbers allow.
static Value addScaled(Rewrite &c, Value product) {
  Value self = c.r.value("self");
  if (c.r.number("alpha") != 1.0)
    product = c.b.call(op::mul_Scalar, {product, c.r.arg("alpha")});
  if (c.r.number("beta") == 0.0)
    return expandTo(c.b, product, c.b.sizes(c.result()).getList().vec());
  if (c.r.number("beta") != 1.0)
    self = c.b.call(op::mul_Scalar, {self, c.r.arg("beta")});
  return c.b.call(op::add_Tensor, {self, product});
}

static Value addbmm(Rewrite &c) {
  Value product = c.b.call(op::bmm, {c.r.value("batch1"), c.r.value("batch2")});
  return addScaled(c, c.b.call(op::sum_dim_IntList, {product, {0}}));
}

static Value outerOf(CallBuilder &b, Value column, Value row) {
  return b.call(op::mul_Tensor, {b.call(op::unsqueeze, {column, 1}), row});
}

static Value outer(Rewrite &c) {
  return outerOf(c.b, c.r.value("self"), c.r.value("vec2"));
}

static Value addr(Rewrite &c) {
  return addScaled(c, outerOf(c.b, c.r.value("vec1"), c.r.value("vec2")));
}

/// [a0, 1, a1, 1] times [1, b0, 1, b1], as [a0 b0, a1 b1].
static Value kron(Rewrite &c) {
  Value a = c.r.value(0), other = c.r.value(1);
  int64_t rank = std::max(rankOf(a), rankOf(other));
  std::vector<Arg> left, right, sizes;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t atLeft = i - (rank - rankOf(a)),
            atRight = i - (rank - rankOf(other));
    Arg l = atLeft < 0 ? Arg(1) : c.b.size(a, atLeft);
    Arg r = atRight < 0 ? Arg(1) : c.b.size(other, atRight);
    left.insert(left.end(), {l, Arg(1)});
    right.insert(right.end(), {Arg(1), r});
    sizes.push_back(c.b.times(l, r));
  }
  Value product = c.b.call(op::mul_Tensor,
                           {viewAs(c.b, a, left), viewAs(c.b, other, right)});
  return viewAs(c.b, product, sizes);
}

static Value vecdot(Rewrite &c) {
  Value left = c.r.value(0);
  if (isa<ComplexType>(elementOf(left)))
    left = c.b.call(op::_conj_physical, {left});
  Value product = c.b.call(op::mul_Tensor, {left, c.r.value(1)});
  return c.b.call(op::sum_dim_IntList,
                  {product, std::vector<Arg>{c.r.arg("dim")}});
}

/// (a × b)[i] = a[i+1] b[i+2] - a[i+2] b[i+1], by rolling.
static Value cross(Rewrite &c) {
  Value a = c.r.value(0), other = c.r.value(1);
  int64_t rank = rankOf(c.result());
  std::optional<int64_t> dim = c.r.integer("dim");
  if (!dim)
    for (int64_t i = 0; i < rank && !dim; ++i)
      if (shapeOf(c.result())[i] == 3)
        dim = i;
  if (!dim) {
    c.b.error("'" + c.packet() + "' finds no dimension of size 3");
    return {};
  }
  int64_t along = wrapDim(*dim, rank) - rank;
  auto rolled = [&](Value value, int64_t by) {
    return c.b.call(op::roll, {value, {by}, {along + rankOf(value)}});
  };
  Value plus = c.b.call(op::mul_Tensor, {rolled(a, -1), rolled(other, -2)});
  Value minus = c.b.call(op::mul_Tensor, {rolled(a, -2), rolled(other, -1)});
  return c.b.call(op::sub_Tensor, {plus, minus});
}

const DecomposeFn decompositions::linearRule = one<::linearRule>;
const DecomposeFn decompositions::matmulRule = one<::matmulRule>;
const DecomposeFn decompositions::chainMatmul = one<::chainMatmul>;
const DecomposeFn decompositions::addbmm = one<::addbmm>;
const DecomposeFn decompositions::addr = one<::addr>;
const DecomposeFn decompositions::outer = one<::outer>;
const DecomposeFn decompositions::kron = one<::kron>;
const DecomposeFn decompositions::vecdot = one<::vecdot>;
const DecomposeFn decompositions::cross = one<::cross>;
