// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions with several names as the one that all lead to: variances by
// `correction`, norms by `linalg_vector_norm`. Norms of matrices that need
// singular values lead to those.
//
// Then differences, integrals by trapezoids, and the embedding ops, of which
// bags become the op that also tells what its gradient reads.

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

//===----------------------------------------------------------------------===//
// Variances and norms
//===----------------------------------------------------------------------===//

/// var, std, var_mean and std_mean with `unbiased` become those with
/// `correction`.
static LogicalResult variance(CallOp op, OpBuilder &builder,
                              SmallVectorImpl<Value> &results) {
  Rewrite c(op, builder);
  int64_t unbiased = c.r.boolean("unbiased").value_or(true);
  Arg keep = c.r.isNone(optional("keepdim")) ? Arg(false)
                                             : c.r.arg(optional("keepdim"));
  Arg dims = c.r.arg(optional("dim"));
  std::string name = (c.packet() + ".correction").str();
  llvm::append_range(results, c.b.callMany(name, {c.r.value("self"), dims},
                                           {{"correction", Arg(unbiased)},
                                            {"keepdim", keep}}));
  return c.b.result();
}

static Value vectorNorm(Rewrite &c, const Arg &order, const Arg &dims) {
  Value self = c.r.value("self");
  Arg keep = c.r.isNone(optional("keepdim")) ? Arg(false)
                                             : c.r.arg(optional("keepdim"));
  return c.b.call(op::linalg_vector_norm, {self, order, dims, keep},
                  {{"dtype", c.r.arg(optional("dtype"))}});
}

static Value norm(Rewrite &c) {
  return vectorNorm(c, c.r.isNone("p") ? Arg(2.0) : c.r.arg("p"),
                    c.r.arg(optional("dim")));
}

static Value frobeniusNorm(Rewrite &c) {
  return vectorNorm(c, 2.0, c.r.arg("dim"));
}

static Value matrixNorm(Rewrite &c);

/// Norms of vectors; with an order and two dimensions, of matrices.
static Value linalgNorm(Rewrite &c) {
  size_t dims =
      c.r.isNone("dim") ? rankOf(c.r.value("self")) : c.r.list("dim").size();
  if (!c.r.isNone("ord") && dims == 2)
    return matrixNorm(c);
  return vectorNorm(c, c.r.isNone("ord") ? Arg(2.0) : c.r.arg("ord"),
                    c.r.arg("dim"));
}

/// The largest (or smallest) sum of absolute values of a column, or of a row;
/// the largest (or smallest) singular value.
static Value matrixNorm(Rewrite &c) {
  Value self = c.r.value("self");
  double order = c.r.number("ord").value_or(0.0);
  SmallVector<int64_t> dims =
      c.r.isNone("dim") ? SmallVector<int64_t>({0, 1})
                        : c.r.integers("dim").value_or(SmallVector<int64_t>());
  bool bySums = std::fabs(order) == 1.0 || std::isinf(order);
  if ((!bySums && std::fabs(order) != 2.0) || dims.size() != 2) {
    c.b.error("a matrix has norms of order 1, 2 and infinity, and their "
              "negatives");
    return {};
  }
  if (!bySums) {
    if (Type type = c.r.dtype("dtype"))
      self = castTo(c.b, self, type);
    return singularNorm(c.b, self, dims[0], dims[1], order,
                        c.r.boolean("keepdim").value_or(false));
  }
  for (int64_t &dim : dims)
    dim = wrapDim(dim, rankOf(self));
  if (std::isinf(order))
    std::swap(dims[0], dims[1]);
  bool keep = c.r.boolean("keepdim").value_or(false);
  if (Type type = c.r.dtype("dtype"))
    self = castTo(c.b, self, type);
  Value sums =
      c.b.call(op::sum_dim_IntList,
               {c.b.call(op::abs, {self}), ArrayRef<int64_t>(dims[0]), keep});
  int64_t other = dims[1] - (!keep && dims[0] < dims[1] ? 1 : 0);
  return c.b.call(order > 0 ? op::amax : op::amin,
                  {sums, ArrayRef<int64_t>(other), keep});
}

static Value trace(Rewrite &c) {
  Value diagonal = c.b.call(op::diagonal, {c.r.value("self")});
  return c.b.call(op::sum, {diagonal});
}

/// Dimensions that the result lacks go; those of size 1 stay.
static Value sumToSize(Rewrite &c) {
  Value self = c.r.value("self");
  std::vector<Arg> sizes = c.r.list("size");
  int64_t added = rankOf(self) - static_cast<int64_t>(sizes.size());
  SmallVector<int64_t> leading, kept;
  for (int64_t dim = 0; dim < rankOf(self); ++dim) {
    if (dim < added)
      leading.push_back(dim);
    else if (sizes[dim - added].getInt() == 1 && shapeOf(self)[dim] != 1)
      kept.push_back(dim - added);
  }
  if (!leading.empty())
    self = c.b.call(op::sum_dim_IntList, {self, leading});
  return kept.empty() ? self
                      : c.b.call(op::sum_dim_IntList, {self, kept, true});
}

static Value countNonzero(Rewrite &c) {
  Value isNonzero = c.b.call(op::ne_Scalar, {c.r.value("self"), 0});
  if (c.r.isNone("dim"))
    return c.b.call(op::sum, {isNonzero});
  return c.b.call(op::sum_dim_IntList, {isNonzero, c.r.list("dim")});
}

static Value msort(Rewrite &c) {
  Values results = c.b.callMany(op::sort, {c.r.value("self"), 0, false});
  return results.empty() ? Value() : results.front();
}

//===----------------------------------------------------------------------===//
// Differences and integrals
//===----------------------------------------------------------------------===//

/// The elements but the first, and but the last.
static std::pair<Value, Value> neighbours(CallBuilder &b, Value value,
                                          int64_t dim) {
  Arg size = b.size(value, dim);
  Arg last = size.getInt() ? Arg(std::max<int64_t>(*size.getInt() - 1, 0))
                           : Arg(int64_t(-1));
  return {sliceOf(b, value, dim, 1, Arg()), sliceOf(b, value, dim, 0, last)};
}

static Value differences(CallBuilder &b, Value value, int64_t dim) {
  if (b.failed())
    return {};
  auto [next, previous] = neighbours(b, value, dim);
  return b.call(elementOf(value).isInteger(1) ? op::logical_xor
                                              : op::sub_Tensor,
                {next, previous});
}

static Value diff(Rewrite &c) {
  Value value = c.r.value("self");
  int64_t dim = wrapDim(c.r.integer("dim").value_or(-1), rankOf(value));
  if (c.r.integer("n") == 0) // nothing is joined to it then
    return c.b.call(op::clone, {value});
  std::vector<Arg> parts;
  for (const char *name : {"prepend", "self", "append"})
    if (Value part = c.r.value(name))
      parts.push_back(part);
  if (parts.size() > 1)
    value = c.b.call(op::cat, {parts, dim});
  for (int64_t n = c.r.integer("n").value_or(1); n > 0; --n)
    value = differences(c.b, value, dim);
  return value;
}

/// The area of each step: (y[i] + y[i+1]) / 2 times its width.
static Value trapezoid(Rewrite &c) {
  Value y = c.r.value("y"), x = c.r.value(optional("x"));
  CallBuilder &b = c.b;
  int64_t rank = rankOf(y),
          dim = wrapDim(c.r.integer("dim").value_or(-1), rank);
  bool cumulative = c.packet() == "aten.cumulative_trapezoid";
  auto [next, previous] = neighbours(b, y, dim);
  Value area = b.call(op::add_Tensor, {next, previous});
  double factor = 0.5;
  if (x) {
    bool line = rankOf(x) == 1;
    Value width = differences(b, x, line ? 0 : dim);
    if (line && rank > 1 && !b.failed()) {
      std::vector<Arg> sizes(rank, Arg(int64_t(1)));
      sizes[dim] = b.size(width, 0);
      width = viewAs(b, width, sizes);
    }
    area = b.call(op::mul_Tensor, {area, width});
  } else {
    factor *= c.r.number(optional("dx")).value_or(1.0);
  }
  area = cumulative
             ? b.call(op::cumsum, {area, dim})
             : b.call(op::sum_dim_IntList, {area, ArrayRef<int64_t>(dim)});
  return b.call(op::mul_Scalar, {area, factor});
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

static Values embeddingBag(Rewrite &c) {
  Arg padding = c.r.isNone(optional("padding_idx"))
                    ? Arg(int64_t(-1))
                    : c.r.arg(optional("padding_idx"));
  // Negative places count from the end of the table.
  if (!c.r.isNone(optional("padding_idx")) && padding.getInt().value_or(0) < 0)
    padding = plus(c.b, c.b.size(c.r.value("weight"), 0), padding);
  return c.b.callMany(
      op::_embedding_bag,
      {c.r.value("weight"), c.r.value("indices"), c.r.value("offsets"),
       c.r.arg("scale_grad_by_freq"), c.r.arg("mode"), c.r.arg("sparse"),
       c.r.arg("per_sample_weights"), c.r.arg("include_last_offset"), padding});
}

static Value oneHot(Rewrite &c) {
  Value self = c.r.value("self");
  if (c.r.integer("num_classes").value_or(0) < 0) {
    c.b.error("'aten.one_hot' needs the number of classes");
    return {};
  }
  // What is no class is an error of the scatter.
  std::vector<Arg> sizes = c.b.sizes(self).getList().vec();
  sizes.push_back(c.r.arg("num_classes"));
  Value none = c.b.call(op::zeros, {sizes}, {{"dtype", c.b.i64()}});
  return c.b.call(op::scatter_value,
                  {none, -1, c.b.call(op::unsqueeze, {self, -1}), 1});
}

/// `reduce`: "add" or "multiply".
static Value scatterReduce(Rewrite &c) {
  Value self = c.r.value("self"), index = c.r.value("index");
  Value source = c.r.value(optional("src"));
  if (!source)
    source = c.b.call(op::full_like, {index, c.r.arg(optional("value"))},
                      {{"dtype", elementOf(self)}});
  if (c.r.string("reduce") == "add")
    return c.b.call(op::scatter_add, {self, c.r.arg("dim"), index, source});
  return c.b.call(op::scatter_reduce_two,
                  {self, c.r.arg("dim"), index, source, "prod"});
}

const DecomposeFn decompositions::variance = ::variance;
const DecomposeFn decompositions::norm = one<::norm>;
const DecomposeFn decompositions::frobeniusNorm = one<::frobeniusNorm>;
const DecomposeFn decompositions::linalgNorm = one<::linalgNorm>;
const DecomposeFn decompositions::matrixNorm = one<::matrixNorm>;
const DecomposeFn decompositions::trace = one<::trace>;
const DecomposeFn decompositions::sumToSize = one<::sumToSize>;
const DecomposeFn decompositions::countNonzero = one<::countNonzero>;
const DecomposeFn decompositions::msort = one<::msort>;
const DecomposeFn decompositions::diff = one<::diff>;
const DecomposeFn decompositions::trapezoid = one<::trapezoid>;
const DecomposeFn decompositions::embeddingBag = many<::embeddingBag>;
const DecomposeFn decompositions::oneHot = one<::oneHot>;
const DecomposeFn decompositions::scatterReduce = one<::scatterReduce>;
