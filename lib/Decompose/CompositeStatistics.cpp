// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantiles, distances within a set, covariances, losses of rows, alignments of
// labels, places of true elements, and unpooling, in terms of ops that have
// gradients: none has a rule of its own. Sizes may be symbolic where the result
// does not depend on how many elements there are. What draws (dirichlet) draws
// by ops that get their seed later.

#include "FactorRules.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value times(CallBuilder &b, const Arg &x, const Arg &y) {
  return b.call(op::mul_Tensor, {x, y});
}

static Value minus(CallBuilder &b, const Arg &x, const Arg &y) {
  return b.call(op::sub_Tensor, {x, y});
}

//===----------------------------------------------------------------------===//
// Quantiles, covariances, distances
//===----------------------------------------------------------------------===//

Quantile::Quantile(Rewrite &c) : b(c.b), q(c.r.value("q")) {
  Value self = c.r.value("self");
  isAll = c.r.isNone("dim") || rankOf(self) == 0;
  keep = c.r.boolean("keepdim").value_or(false);
  rank = rankOf(self);
  dim = isAll ? 0 : wrapDim(*c.r.integer("dim"), rank);
  mode = c.r.string("interpolation");
  if (!llvm::is_contained({"linear", "lower", "higher", "midpoint", "nearest"},
                          mode))
    b.error("'" + c.packet() + "' has no interpolation '" + mode + "'");
  line = isAll ? viewAs(b, self, {b.numel(self)}) : self;
  hasMany = q && rankOf(q) == 1;
  if (!q)
    q = b.call(op::full, {{1}, c.r.arg("q")}, {{"dtype", elementOf(self)}});
  else if (!hasMany)
    q = b.call(op::unsqueeze, {q, 0});
}

Value Quantile::placeOf(Value at) const {
  const char *op = mode == "lower"     ? op::floor
                   : mode == "higher"  ? op::ceil
                   : mode == "nearest" ? op::round
                                       : nullptr;
  return op ? b.call(op, {at}) : at;
}

Value Quantile::shareOf(Value apart) const {
  return mode == "midpoint" ? b.call(op::full_like, {apart, 0.5}) : apart;
}

Value Quantile::shaped(Value values) const {
  if (!hasMany)
    values = b.call(op::squeeze_dim, {values, 0});
  int64_t first = hasMany ? 1 : 0;
  for (int64_t i = 0; keep && isAll && i < rank; ++i)
    values = b.call(op::unsqueeze, {values, first});
  return keep && !isAll ? b.call(op::unsqueeze, {values, first + dim}) : values;
}

/// The sorted elements at rank q (n - 1), or between two of them.
static Value quantile(Rewrite &c) {
  CallBuilder &b = c.b;
  Quantile call(c);
  if (b.failed())
    return {};
  Value line = call.line;
  int64_t dim = call.dim;
  Arg size = b.size(line, dim);
  Arg last = size.getInt() ? Arg(static_cast<double>(*size.getInt() - 1))
                           : Arg(b.call(op::operator_sub, {size, 1}));
  Value at = call.placeOf(b.call(op::mul_Scalar, {call.q, last}));
  Value below = castTo(b, b.call(op::floor, {at}), b.i64());
  Value above = castTo(b, b.call(op::ceil, {at}), b.i64());
  Value weight = call.shareOf(minus(b, at, below));
  Values sorted = b.callMany(op::sort, {line, dim, false});
  if (sorted.empty() || !weight)
    return {};
  auto pick = [&](Value index) {
    return b.call(op::index_select, {sorted[0], dim, index});
  };
  std::vector<Arg> shape(rankOf(line), Arg(int64_t(1)));
  shape[dim] = b.size(weight, 0);
  Value result = b.call(op::lerp_Tensor,
                        {pick(below), pick(above), viewAs(b, weight, shape)});
  // The ranks stand along `dim`: they come first, and `dim` goes or is 1.
  if (dim != 0)
    result = b.call(op::movedim_int, {result, dim, 0});
  return call.shaped(result);
}

static Value pdist(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t n = shapeOf(self)[0];
  if (ShapedType::isDynamic(n)) {
    c.b.error("'aten.pdist' of a number of rows that is not known");
    return {};
  }
  SmallVector<int64_t> sizes = {2, n * (n - 1) / 2};
  Value pairs = c.b.call(op::triu_indices, {n, n, 1});
  auto rows = [&](int64_t i) {
    return c.b.call(op::index_select,
                    {self, 0, c.b.call(op::select_int, {pairs, 0, i})});
  };
  return c.b.call(op::linalg_vector_norm,
                  {minus(c.b, rows(0), rows(1)), c.r.arg("p"), {-1}, false});
}

/// Of a matrix whose rows are variables.
static Value covarianceOf(Rewrite &c, double correction) {
  CallBuilder &b = c.b;
  Value self = castTo(b, c.r.value("self"), elementOf(c.result()));
  bool isScalar = rankOf(self) < 2;
  if (isScalar)
    self = viewAs(b, self, {Arg(int64_t(1)), b.numel(self)});
  int64_t count = shapeOf(self)[1];
  if (!c.r.isNone(optional("fweights")) || !c.r.isNone(optional("aweights"))) {
    b.error("'" + c.packet() + "' with weights is not supported");
    return {};
  }
  if (ShapedType::isDynamic(count)) {
    b.error("'" + c.packet() + "' over a size that is not known");
    return {};
  }
  Value centred = minus(b, self, b.call(op::mean_dim, {self, {1}, true}));
  Value products =
      matmul(b, centred, b.call(op::transpose_int, {centred, 0, 1}));
  double divisor = std::max(static_cast<double>(count) - correction, 0.0);
  Value result = b.call(op::div_Scalar, {products, divisor});
  return isScalar ? viewAs(b, result, {}) : result;
}

static Value covariance(Rewrite &c) {
  return covarianceOf(
      c, static_cast<double>(c.r.integer("correction").value_or(1)));
}

/// Divided by the deviations of both, and kept from -1 to 1.
static Value correlation(Rewrite &c) {
  CallBuilder &b = c.b;
  Value matrix = covarianceOf(c, 1);
  if (!matrix)
    return {};
  if (rankOf(matrix) == 0)
    return b.call(op::div_Tensor, {matrix, matrix});
  Value deviations = b.call(op::sqrt, {b.call(op::diagonal, {matrix})});
  matrix =
      b.call(op::div_Tensor, {matrix, b.call(op::unsqueeze, {deviations, 1})});
  matrix =
      b.call(op::div_Tensor, {matrix, b.call(op::unsqueeze, {deviations, 0})});
  return b.call(op::clamp, {matrix, -1, 1});
}

/// Slices along `dim` with a norm above the bound are scaled to it.
static Value renorm(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  SmallVector<int64_t> others = allDims(self);
  llvm::erase(others, wrapDim(*c.r.integer("dim"), rankOf(self)));
  double bound = c.r.number("maxnorm").value_or(0.0);
  Value norm =
      b.call(op::linalg_vector_norm, {self, c.r.arg("p"), others, true});
  Value scale = b.call(op::reciprocal, {b.call(op::add_Scalar, {norm, 1e-7})});
  scale = b.call(op::mul_Scalar, {scale, bound});
  Value isAbove = b.call(op::gt_Scalar, {norm, bound});
  return times(b, self, b.call(op::where_ScalarOther, {isAbove, scale, 1.0}));
}

/// The rows that `indices` name, with a norm above the bound, scaled to it.
static Value embeddingRenorm(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), indices = c.r.value("indices");
  double bound = c.r.number("max_norm").value_or(0.0);
  Value flat = viewAs(b, indices, {b.numel(indices)});
  Value isNamed = b.call(op::zeros, {{b.size(self, 0)}}, {{"dtype", b.i64()}});
  isNamed = b.call(op::index_fill_int_Scalar, {isNamed, 0, flat, 1});
  Value norm =
      b.call(op::linalg_vector_norm, {self, c.r.arg("norm_type"), {1}, false});
  Value isLong =
      b.call(op::logical_and, {isNamed, b.call(op::gt_Scalar, {norm, bound})});
  Value scale = b.call(op::reciprocal, {b.call(op::add_Scalar, {norm, 1e-7})});
  scale = b.call(op::mul_Scalar, {scale, bound});
  scale = b.call(op::where_ScalarOther, {isLong, scale, 1.0});
  return times(b, self, b.call(op::unsqueeze, {scale, 1}));
}

//===----------------------------------------------------------------------===//
// Losses of rows
//===----------------------------------------------------------------------===//

/// The sum over the classes, divided by their number, and the reduction.
static Value lossOfRows(Rewrite &c, Value elements, bool isRow) {
  CallBuilder &b = c.b;
  Value loss = b.call(op::mean_dim, {elements, {-1}});
  if (isRow)
    loss = b.call(op::squeeze_dim, {loss, 0});
  return reduceLoss(c, loss);
}

/// max(0, margin - x[y] + x[i])^p over the classes i that are not y.
static Value multiMargin(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), target = c.r.value("target");
  bool isRow = rankOf(self) < 2;
  if (isRow) {
    self = viewAs(b, self, {Arg(int64_t(1)), b.numel(self)});
    target = viewAs(b, target, {Arg(int64_t(1))});
  }
  Value column = b.call(op::unsqueeze, {target, 1});
  Value own = b.call(op::gather, {self, 1, column});
  Value apart =
      b.call(op::add_Scalar, {minus(b, self, own), c.r.arg("margin")});
  Value part = b.call(op::relu, {apart}); // at 0 the slope is 0
  if (c.r.number("p") == 2.0)
    part = times(b, part, part);
  if (Value weight = c.r.value("weight"))
    part = times(b, part,
                 b.call(op::unsqueeze,
                        {b.call(op::index_select, {weight, 0, target}), 1}));
  part = b.call(op::scatter_value, {part, 1, column, 0});
  return lossOfRows(c, part, isRow);
}

/// max(0, 1 - (x[y] - x[i])) over the classes y in front of the first -1 and
/// the classes i that are none of them. Behind it, too, a class is one, or -1.
static Value multilabelMargin(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), target = c.r.value("target");
  bool isRow = rankOf(self) < 2;
  if (isRow) {
    self = viewAs(b, self, {Arg(int64_t(1)), b.numel(self)});
    target = viewAs(b, target, {Arg(int64_t(1)), b.numel(target)});
  }
  Value isClass = castTo(b, b.call(op::ge_Scalar, {target, 0}), b.i64());
  Value counts = b.call(op::cumprod, {isClass, 1});
  Value isNone = b.call(op::eq_Scalar, {target, -1});
  Value index = b.call(op::masked_fill_Scalar, {target, isNone, 0});
  Value own = b.call(op::gather, {self, 1, index});
  // Whether class i is one of them: several places may say so.
  Value none = b.call(op::zeros_like, {target});
  Value isOwn = b.call(op::scatter_add, {none, 1, index, counts});
  Value apart = minus(b, b.call(op::unsqueeze, {own, 2}),
                      b.call(op::unsqueeze, {self, 1}));
  Value part = b.call(op::relu, {b.call(op::rsub_Scalar, {apart, 1})});
  Value isOther = b.call(op::eq_Scalar, {isOwn, 0});
  Value counted = times(b, b.call(op::unsqueeze, {counts, 2}),
                        b.call(op::unsqueeze, {isOther, 1}));
  Value sums = b.call(op::sum_dim_IntList, {times(b, part, counted), {1}});
  return lossOfRows(c, sums, isRow);
}

/// The lengths as a tensor.
static Value lengthsOf(Rewrite &c, StringRef param, Type type) {
  if (Value given = c.r.value(param))
    return castTo(c.b, given, type);
  std::vector<Arg> parts;
  for (const Arg &length : c.r.list(param))
    parts.push_back(c.b.call(op::full, {{1}, length}, {{"dtype", type}}));
  return c.b.call(op::cat, {parts});
}

static Value ctcLoss(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("log_probs"), targets = c.r.value("targets");
  bool isOne = rankOf(self) == 2;
  if (isOne) {
    self = b.call(op::unsqueeze, {self, 1});
    targets = b.call(op::unsqueeze, {targets, 0});
  }
  bool isList = c.op.getSchema().overload == "IntList";
  auto batch = [&](StringRef param) {
    Value given = c.r.value(param);
    return isOne && given ? Arg(viewAs(b, given, {Arg(int64_t(1))}))
                          : c.r.arg(param);
  };
  Values all = b.callMany(isList ? op::_ctc_loss : op::_ctc_loss_Tensor,
                          {self, targets, batch("input_lengths"),
                           batch("target_lengths"), c.r.arg("blank"),
                           c.r.arg("zero_infinity")});
  if (all.empty())
    return {};
  Value loss = all[0];
  if (c.r.boolean("zero_infinity").value_or(false)) {
    Value isInfinite =
        b.call(op::eq_Scalar, {loss, std::numeric_limits<double>::infinity()});
    loss = b.call(op::masked_fill_Scalar, {loss, isInfinite, 0.0});
  }
  if (c.r.integer("reduction") == 1) {
    Value lengths = lengthsOf(c, "target_lengths", elementOf(loss));
    if (isOne)
      lengths = viewAs(b, lengths, {Arg(int64_t(1))});
    loss = b.call(op::div_Tensor, {loss, b.call(op::clamp_min, {lengths, 1})});
  } else if (c.r.integer("reduction") == 0 && isOne) {
    return b.call(op::squeeze_dim, {loss, 0});
  }
  return reduceLoss(c, loss);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Zeros, but for the elements at the places that a pool took them from.
static Value maxUnpool(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), indices = c.r.value("indices");
  std::vector<Arg> space = c.r.list("output_size");
  int64_t first = rankOf(self) - static_cast<int64_t>(space.size());
  std::vector<Arg> lead = b.sizes(self).getList().take_front(first).vec();
  auto flat = [&](Value value) {
    std::vector<Arg> sizes = lead;
    sizes.push_back(countOf(b, value, first, rankOf(value)));
    return viewAs(b, value, sizes);
  };
  Arg whole(int64_t(1));
  for (const Arg &size : space)
    whole = b.times(whole, size);
  std::vector<Arg> sizes = lead;
  sizes.push_back(whole);
  Value zeros = b.call(op::zeros, {sizes}, {{"dtype", elementOf(self)}});
  Value filled =
      b.call(op::scatter_src, {zeros, first, flat(indices), flat(self)});
  sizes.pop_back();
  sizes.insert(sizes.end(), space.begin(), space.end());
  return viewAs(b, filled, sizes);
}

/// Each place of an element that is not zero, a dimension at a time.
static Values nonzeroByDim(Rewrite &c) {
  Value self = c.r.value(0);
  if (rankOf(self) == 0)
    self = c.b.call(op::unsqueeze, {self, 0});
  Value places = c.b.call(op::nonzero, {self});
  Values results;
  for (int64_t dim = 0; dim < rankOf(self) && !c.b.failed(); ++dim)
    results.push_back(c.b.call(op::select_int, {places, 1, dim}));
  return results;
}

static Value isin(Rewrite &c) {
  CallBuilder &b = c.b;
  Value elements = c.r.value(optional("elements")),
        among = c.r.value(optional("test_elements"));
  Value found;
  if (among && elements) {
    Value line = viewAs(b, among, {b.numel(among)});
    Value equal =
        b.call(op::eq_Tensor, {b.call(op::unsqueeze, {elements, -1}), line});
    found = b.call(op::any_dim, {equal, -1});
  } else if (!elements) {
    Value equal = b.call(op::eq_Scalar, {c.r.value(optional("test_elements")),
                                         c.r.arg(optional("element"))});
    found = b.call(op::any, {equal});
  } else {
    found =
        b.call(op::eq_Scalar, {elements, c.r.arg(optional("test_element"))});
  }
  return c.r.boolean("invert").value_or(false)
             ? b.call(op::logical_not, {found})
             : found;
}

/// x to the powers 0, 1, ...; `vander` begins with the highest.
static Value vander(Rewrite &c) {
  CallBuilder &b = c.b;
  Value x = c.r.value("x");
  if (rankOf(x) == 0)
    x = b.call(op::unsqueeze, {x, 0});
  int64_t count = c.r.integer("N").value_or(shapeOf(x).back());
  if (ShapedType::isDynamic(count)) {
    b.error("'" + c.packet() + "' of a size that is not known");
    return {};
  }
  bool rises = c.packet() == "aten.linalg_vander" ||
               c.r.boolean(optional("increasing")).value_or(false);
  std::vector<Arg> columns;
  Value power = b.call(op::ones_like, {x});
  for (int64_t i = 0; i < count; ++i) {
    columns.push_back(power);
    if (i + 1 < count)
      power = times(b, power, x);
  }
  if (!rises)
    std::reverse(columns.begin(), columns.end());
  return b.call(op::stack, {columns, -1});
}

/// Sum over j < p of lgamma(x - j / 2), and a constant.
static Value multiGamma(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = castTo(b, c.r.value("self"), elementOf(c.result())), sum;
  int64_t p = c.r.integer("p").value_or(1);
  for (int64_t j = 0; j < p; ++j) {
    Value shifted =
        j ? b.call(op::sub_Scalar, {self, static_cast<double>(j) / 2}) : self;
    Value part = b.call(op::lgamma, {shifted});
    sum = sum ? b.call(op::add_Tensor, {sum, part}) : part;
  }
  constexpr double logPi = 1.1447298858494001741;
  return b.call(op::add_Scalar,
                {sum, static_cast<double>(p * (p - 1)) / 4 * logPi});
}

/// Draws from gamma distributions, divided by their sum.
static Value dirichlet(Rewrite &c) {
  CallBuilder &b = c.b;
  Value draws = b.call(op::_standard_gamma, {c.r.value("self")});
  Value sum = b.call(op::sum_dim_IntList, {draws, {-1}, true});
  return b.call(op::div_Tensor, {draws, sum});
}

const DecomposeFn decompositions::quantile = one<::quantile>;
const DecomposeFn decompositions::pdist = one<::pdist>;
const DecomposeFn decompositions::covariance = one<::covariance>;
const DecomposeFn decompositions::correlation = one<::correlation>;
const DecomposeFn decompositions::renorm = one<::renorm>;
const DecomposeFn decompositions::embeddingRenorm = one<::embeddingRenorm>;
const DecomposeFn decompositions::multiMargin = one<::multiMargin>;
const DecomposeFn decompositions::multilabelMargin = one<::multilabelMargin>;
const DecomposeFn decompositions::ctcLoss = one<::ctcLoss>;
const DecomposeFn decompositions::maxUnpool = one<::maxUnpool>;
const DecomposeFn decompositions::nonzeroByDim = many<::nonzeroByDim>;
const DecomposeFn decompositions::isin = one<::isin>;
const DecomposeFn decompositions::vander = one<::vander>;
const DecomposeFn decompositions::dirichlet = one<::dirichlet>;
const DecomposeFn decompositions::multiGamma = one<::multiGamma>;
