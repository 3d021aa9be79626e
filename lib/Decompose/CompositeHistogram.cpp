// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histograms, quantiles of what is not NaN, numbers at equal ratios, and
// logarithms times numbers.
//
// A bin has its lower edge, the last one both. Without edges they are the
// smallest and the greatest element, one apart from it each where all are
// equal. Quantiles sort NaN to the end and count what stands before it.

#include "FactorRules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value histc(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  int64_t bins = c.r.integer("bins").value_or(100);
  double low = c.r.number("min").value_or(0.0);
  double high = c.r.number("max").value_or(0.0);
  Type type = elementOf(self);
  Value line = viewAs(b, self, {b.numel(self)});
  auto number = [&](double value) {
    return b.call(op::full, {ArrayRef<int64_t>(), value}, {{"dtype", type}});
  };
  Value lower = number(low), upper = number(high);
  if (low == high) {
    lower = b.call(op::amin, {line});
    upper = b.call(op::amax, {line});
    Value same = castTo(b, b.call(op::eq_Tensor, {lower, upper}), type);
    lower = b.call(op::sub_Tensor, {lower, same});
    upper = b.call(op::add_Tensor, {upper, same});
  }
  Value place =
      b.call(op::mul_Scalar, {b.call(op::sub_Tensor, {line, lower}), bins});
  place =
      b.call(op::div_Tensor, {place, b.call(op::sub_Tensor, {upper, lower})});
  Value isInside =
      b.call(op::logical_and, {b.call(op::ge_Tensor, {line, lower}),
                               b.call(op::le_Tensor, {line, upper})});
  place = b.call(op::where_ScalarOther, {isInside, place, 0.0});
  place = b.call(op::clamp_max, {castTo(b, place, b.i64()), bins - 1});
  Value zeros = b.call(op::zeros, {{bins}}, {{"dtype", type}});
  return b.call(op::scatter_add, {zeros, 0, place, castTo(b, isInside, type)});
}

/// The edges of `count` bins of one width, for the elements of `line`: from and
/// to the numbers of `range`, or the smallest and the greatest element; from 0
/// to 1 where there is none.
static Value evenEdges(CallBuilder &b, Value line, ArrayRef<Arg> range,
                       const Arg &count) {
  Type type = elementOf(line);
  Arg edges = plus(b, count, Arg(int64_t(1)));
  bool isEmpty = range.size() != 2 && llvm::is_contained(shapeOf(line), 0);
  if (range.size() == 2 || isEmpty) {
    double low = isEmpty ? 0 : range[0].getNumber().value_or(0.0);
    double high = isEmpty ? 1 : range[1].getNumber().value_or(0.0);
    double apart = low == high ? 0.5 : 0.0;
    return b.call(op::linspace, {low - apart, high + apart, edges},
                  {{"dtype", type}});
  }
  Value low = b.call(op::amin, {line});
  Value high = b.call(op::amax, {line});
  Value apart = castTo(b, b.call(op::eq_Tensor, {low, high}), type);
  apart = b.call(op::mul_Scalar, {apart, 0.5});
  return b.call(op::linspace_Tensor_Tensor,
                {b.call(op::sub_Tensor, {low, apart}),
                 b.call(op::add_Tensor, {high, apart}), edges},
                {{"dtype", type}});
}

namespace {
/// The bin of each element, 0 for those outside.
struct Binned {
  Value place, isInside;
};
} // namespace

static Binned binsOf(CallBuilder &b, Value line, Value edges) {
  Value place =
      b.call(op::searchsorted_Tensor, {edges, line}, {{"right", true}});
  // What is at the last edge belongs to the last bin.
  Value last = b.call(op::slice_Tensor, {edges, 0, -1, Arg()});
  Value isInside =
      b.call(op::logical_and, {b.call(op::gt_Scalar, {place, 0}),
                               b.call(op::le_Tensor, {line, last})});
  place = b.call(op::sub_Scalar, {place, 1});
  Value isLast = b.call(op::eq_Tensor, {line, last});
  place = b.call(op::sub_Tensor, {place, castTo(b, isLast, b.i64())});
  return {b.call(op::where_ScalarOther, {isInside, place, 0}), isInside};
}

/// Sums of weights (or ones) in each of `count` bins.
static Value sumsOf(Rewrite &c, const Binned &bins, const Arg &count,
                    Type type) {
  CallBuilder &b = c.b;
  Value amount = castTo(b, bins.isInside, type);
  if (Value weight = c.r.value("weight"))
    amount =
        b.call(op::mul_Tensor, {amount, viewAs(b, weight, {b.numel(weight)})});
  Value zeros = b.call(op::zeros, {{count}}, {{"dtype", type}});
  return b.call(op::scatter_add, {zeros, 0, bins.place, amount});
}

/// Sums of weights (or ones) between edges, and the edges; a density is divided
/// by the sum of all and the widths.
static Values histogram(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = b.call(op::detach, {c.r.value("self")});
  Type type = elementOf(self);
  Value line = viewAs(b, self, {b.numel(self)}), edges = c.r.value("bins");
  if (!edges)
    edges = evenEdges(b, line, c.r.list(optional("range")), c.r.arg("bins"));
  if (b.failed())
    return {};
  Arg bins = b.size(c.result(), 0), count = b.size(edges, 0);
  if (!bins.getInt())
    bins = plus(b, count, Arg(int64_t(-1)));
  Value sums = sumsOf(c, binsOf(b, line, edges), bins, type);
  if (c.r.boolean("density").value_or(false)) {
    Value widths = b.call(op::diff, {edges});
    Value all = b.call(op::sum, {sums});
    sums =
        b.call(op::div_Tensor, {sums, b.call(op::mul_Tensor, {widths, all})});
  }
  return {sums, edges};
}

namespace {
/// The rows of a histogram of several dimensions: its columns and their edges.
struct Columns {
  Values lines, edges;
};
} // namespace

static Columns columnsOf(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = b.call(op::detach, {c.r.value("self")});
  if (b.failed())
    return {};
  int64_t last = rankOf(self) - 1, count = shapeOf(self)[last];
  std::vector<Arg> bins = c.r.list("bins"), range = c.r.list(optional("range"));
  if (bins.size() == 1)
    bins.resize(count, bins.front());
  Columns columns;
  for (int64_t i = 0; i < count && !b.failed(); ++i) {
    Value line = b.call(op::select_int, {self, last, i});
    line = b.call(op::reshape, {line, {b.numel(line)}});
    ArrayRef<Arg> own = range;
    own = own.empty() ? own : own.slice(2 * i, 2);
    columns.lines.push_back(line);
    columns.edges.push_back(bins[i].isValue()
                                ? bins[i].getValue()
                                : evenEdges(b, line, own, bins[i]));
  }
  return columns;
}

/// The bins of all columns as one number, counted along the last column first.
static Value histogramOfRows(Rewrite &c, const Columns &columns) {
  CallBuilder &b = c.b;
  Binned all;
  Arg count(int64_t(1));
  std::vector<Arg> sizes;
  for (auto [line, edges] : llvm::zip_equal(columns.lines, columns.edges)) {
    if (b.failed())
      return {};
    Binned own = binsOf(b, line, edges);
    Arg size = plus(b, b.size(edges, 0), Arg(int64_t(-1)));
    sizes.push_back(size);
    count = b.times(count, size);
    if (all.place) {
      own.place =
          b.call(op::add_Tensor,
                 {b.call(op::mul_Scalar, {all.place, size}), own.place});
      own.isInside = b.call(op::logical_and, {all.isInside, own.isInside});
    }
    all = own;
  }
  // A place counts only where all columns are inside.
  all.place = b.call(op::where_ScalarOther, {all.isInside, all.place, 0});
  Value sums =
      viewAs(b, sumsOf(c, all, count, elementOf(c.r.value("self"))), sizes);
  if (!c.r.boolean("density").value_or(false))
    return sums;
  sums = b.call(op::div_Tensor, {sums, b.call(op::sum, {sums})});
  for (auto [i, edges] : llvm::enumerate(columns.edges)) {
    std::vector<Arg> own(sizes.size(), Arg(int64_t(1)));
    own[i] = sizes[i];
    Value widths = b.call(op::diff, {edges});
    sums = b.call(op::div_Tensor, {sums, viewAs(b, widths, own)});
  }
  return sums;
}

static Values histogramOfRows(Rewrite &c) {
  Columns columns = columnsOf(c);
  if (columns.edges.empty())
    return {};
  bool isEdges = c.packet() == "aten._histogramdd_bin_edges";
  Values results;
  if (!isEdges)
    results.push_back(histogramOfRows(c, columns));
  if (isEdges || c.packet() == "aten.histogramdd")
    results.append(columns.edges);
  return results;
}

/// The places q (n - 1) among the n elements of each line that are not NaN.
static Value nanQuantile(Rewrite &c) {
  CallBuilder &b = c.b;
  Quantile call(c);
  if (b.failed())
    return {};
  Value line = call.line;
  int64_t last = rankOf(line) - 1;
  if (call.dim != last)
    line = b.call(op::movedim_int, {line, call.dim, last});
  Values sorted = b.callMany(op::sort, {line, last, false});
  if (sorted.empty())
    return {};
  Value isNumber = b.call(op::logical_not, {b.call(op::isnan, {line})});
  Value count = b.call(op::sum_dim_IntList, {isNumber, {last}, true});
  Value most = b.call(op::clamp_min, {b.call(op::sub_Scalar, {count, 1}), 0});
  Value at = call.placeOf(
      b.call(op::mul_Tensor, {castTo(b, most, elementOf(line)), call.q}));
  Value below = castTo(b, b.call(op::floor, {at}), b.i64());
  Value above = castTo(b, b.call(op::ceil, {at}), b.i64());
  auto pick = [&](Value index) {
    return b.call(op::gather, {sorted[0], last, index});
  };
  Value share = call.shareOf(b.call(op::sub_Tensor, {at, below}));
  Value result = b.call(op::lerp_Tensor, {pick(below), pick(above), share});
  // The places stand along the last dimension: they come first.
  if (last != 0)
    result = b.call(op::movedim_int, {result, last, 0});
  return call.shaped(result);
}

static Value logspace(Rewrite &c) {
  Value places = c.b.call(op::linspace,
                          {c.r.arg("start"), c.r.arg("end"), c.r.arg("steps")},
                          {{"dtype", elementOf(c.result())}});
  return c.b.call(op::pow_Scalar, {c.r.arg("base"), places});
}

/// x log(1 + y) of a tensor and a number.
static Value numberTimesLog(Rewrite &c) {
  Value other = c.r.value("other");
  if (!other)
    return c.b.call(
        op::xlogy_Scalar_Other,
        {c.r.value("self"), c.r.number("other").value_or(0.0) + 1.0});
  return c.b.call(op::xlogy_Scalar_Self,
                  {c.r.arg("self"), c.b.call(op::add_Scalar, {other, 1})});
}

const DecomposeFn decompositions::histc = one<::histc>;
const DecomposeFn decompositions::histogram = many<::histogram>;
const DecomposeFn decompositions::histogramOfRows = many<::histogramOfRows>;
const DecomposeFn decompositions::nanQuantile = one<::nanQuantile>;
const DecomposeFn decompositions::logspace = one<::logspace>;
const DecomposeFn decompositions::numberTimesLog = one<::numberTimesLog>;
