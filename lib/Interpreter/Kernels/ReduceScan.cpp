// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running combinations along a dimension, and ops that order its elements.
//
// The dimension is moved behind the others, rows are worked on one by one, and
// results are written through the same move. Sorting is stable in both
// directions, with NaN greater than every number.

#include "Kernels.h"
#include "Pointwise.h"
#include "Reduce.h"

#include "llvm/ADT/SmallBitVector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The rows of `self` along `dim`, or along the first dimension (`msort`).
class Rows {
public:
  explicit Rows(const KernelCall &call, const char *param = "self")
      : self(call.tensor(param)),
        dim(call.dim(aten::optional("dim"), self.rank())), last(self.rank()) {
    if (self.rank() > 0)
      last.set(dim);
    length = self.rank() == 0 ? 1 : self.sizes[dim];
  }

  /// Calls f(row, results...) for every row; results are rows of tensors with
  /// `self`'s sizes but `width` along the dimension.
  template <typename V, typename F> void each(F f) const {
    Tensor moved = moveBehind(self, last);
    ElementCursor cursor(moved);
    std::vector<V> row(length);
    for (int64_t i = 0, n = length ? self.numel() / length : 0; i < n; ++i) {
      cursor.read(row.data(), length);
      f(row);
    }
  }
  /// Where the rows of a result are written, in the order of `each`.
  ElementCursor writer(const Tensor &result) const {
    return ElementCursor(moveBehind(result, last));
  }
  SmallVector<int64_t> sizes(int64_t width) const {
    SmallVector<int64_t> all(self.sizes.begin(), self.sizes.end());
    if (!all.empty())
      all[dim] = width;
    return all;
  }

  Tensor self;
  int64_t dim, length;

private:
  llvm::SmallBitVector last;
};

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

template <typename V, typename F>
LogicalResult scanIn(const KernelCall &call, V start, F combine) {
  Rows rows(call);
  Tensor result = call.make(0, rows.sizes(rows.length));
  ElementCursor writer = rows.writer(result);
  rows.each<V>([&](std::vector<V> &row) {
    V total = start;
    for (V &value : row)
      value = total = combine(total, value);
    writer.write(row.data(), rows.length);
  });
  return success();
}

template <typename F>
LogicalResult scan(const KernelCall &call, int start, F combine) {
  switch (domainOf(call.resultType())) {
  case Domain::Integer:
    return scanIn<int64_t>(call, start, combine);
  case Domain::Real:
    return scanIn<double>(call, start, combine);
  case Domain::Complex:
    break;
  }
  return scanIn<Complex>(call, Complex(start), combine);
}

LogicalResult cumsum(const KernelCall &call) {
  return scan(call, 0, [](auto a, auto b) { return plus(a, b); });
}
LogicalResult cumprod(const KernelCall &call) {
  return scan(call, 1, [](auto a, auto b) { return times(a, b); });
}
LogicalResult logcumsumexp(const KernelCall &call) {
  if (isComplex(call.tensor(0u).type))
    return call.error("is executed for real numbers only");
  return scanIn<double>(call, -HUGE_VAL, [](double a, double b) {
    double high = std::max(a, b), low = std::min(a, b);
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    return std::isinf(high) && high == low
               ? high
               : high + std::log1p(std::exp(low - high));
  });
}

/// The last of equal elements counts; NaN stays.
template <typename V, bool least>
LogicalResult runningIn(const KernelCall &call) {
  Rows rows(call);
  Tensor values = call.make(0, rows.sizes(rows.length));
  Tensor indices = call.make(1, rows.sizes(rows.length));
  ElementCursor valueWriter = rows.writer(values);
  ElementCursor indexWriter = rows.writer(indices);
  std::vector<int64_t> places(rows.length);
  rows.each<V>([&](std::vector<V> &row) {
    int64_t place = 0;
    for (int64_t i = 0; i < rows.length; ++i) {
      V best = i == 0 ? row[0] : row[i - 1];
      bool isNan = row[i] != row[i], wasNan = best != best;
      if (isNan || (!wasNan && (least ? row[i] <= best : row[i] >= best)))
        place = i;
      else
        row[i] = best;
      places[i] = place;
    }
    valueWriter.write(row.data(), rows.length);
    indexWriter.write(places.data(), rows.length);
  });
  return success();
}

template <bool least> LogicalResult running(const KernelCall &call) {
  return isIntegral(call.resultType()) ? runningIn<int64_t, least>(call)
                                       : runningIn<double, least>(call);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Positions of the elements of a row in order.
template <typename V>
std::vector<int64_t> sortedPositions(const std::vector<V> &row,
                                     bool descending) {
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return descending ? isLess(row[b], row[a]) : isLess(row[a], row[b]);
  });
  return order;
}

/// The first `width` elements in order: values, then indices.
template <typename V>
LogicalResult orderIn(const KernelCall &call, int64_t width, bool descending,
                      bool withValues) {
  Rows rows(call);
  if (width > rows.length)
    return call.error("there are no " + Twine(width) + " of " +
                      Twine(rows.length) + " elements");
  width = width < 0 ? rows.length : width;
  std::optional<ElementCursor> valueWriter;
  if (withValues)
    valueWriter.emplace(rows.writer(call.make(0, rows.sizes(width))));
  ElementCursor indexWriter =
      rows.writer(call.make(withValues ? 1 : 0, rows.sizes(width)));
  std::vector<V> picked(width);
  rows.each<V>([&](std::vector<V> &row) {
    std::vector<int64_t> order = sortedPositions(row, descending);
    for (int64_t i = 0; i < width; ++i)
      picked[i] = row[order[i]];
    if (valueWriter)
      valueWriter->write(picked.data(), width);
    indexWriter.write(order.data(), width);
  });
  return success();
}

LogicalResult order(const KernelCall &call, int64_t width, bool descending,
                    bool withValues) {
  return isIntegral(call.tensor("self").type)
             ? orderIn<int64_t>(call, width, descending, withValues)
             : orderIn<double>(call, width, descending, withValues);
}

LogicalResult sort(const KernelCall &call) {
  return order(call, -1, call.boolean("descending"), /*withValues=*/true);
}
/// Along the first dimension, without the places.
template <typename V> void sortFirstIn(const KernelCall &call) {
  Rows rows(call);
  ElementCursor writer = rows.writer(call.make(0, rows.sizes(rows.length)));
  rows.each<V>([&](std::vector<V> &row) {
    std::stable_sort(row.begin(), row.end(),
                     [](V a, V b) { return isLess(a, b); });
    writer.write(row.data(), rows.length);
  });
}
LogicalResult sortFirst(const KernelCall &call) {
  if (isIntegral(call.resultType()))
    sortFirstIn<int64_t>(call);
  else
    sortFirstIn<double>(call);
  return success();
}

LogicalResult argsort(const KernelCall &call) {
  return order(call, -1, call.boolean("descending"), /*withValues=*/false);
}
LogicalResult topk(const KernelCall &call) {
  return order(call, call.integer("k"), call.boolean("largest", true),
               /*withValues=*/true);
}

//===----------------------------------------------------------------------===//
// Places in sorted data
//===----------------------------------------------------------------------===//

/// How many of `sorted` stand before `value`: those less than it, and with
/// `right` those equal too. What is not comparable (NaN) stands before too, as
/// in PyTorch, whose middles these are.
int64_t placeOf(ArrayRef<double> sorted, double value, bool right) {
  size_t begin = 0, end = sorted.size();
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    double at = sorted[middle];
    if (right ? at > value : at >= value)
      end = middle;
    else
      begin = middle + 1;
  }
  return static_cast<int64_t>(begin);
}

LogicalResult searchSorted(const KernelCall &call) {
  Tensor sequence = call.tensor("sorted_sequence"), self = call.tensor("self");
  bool right = call.boolean("right") || call.string("side") == "right";
  int64_t length = sequence.rank() ? sequence.sizes.back() : 1;
  int64_t width = self.rank() ? self.sizes.back() : 1;
  std::vector<double> sorted = sequence.doubles(), values = self.doubles();
  if (auto sorter = call.optionalTensor("sorter")) {
    std::vector<double> unsorted = sorted;
    std::vector<int64_t> order = sorter->ints();
    for (size_t i = 0; i < sorted.size(); ++i) {
      int64_t from = static_cast<int64_t>(i) / length * length + order[i];
      if (order[i] < 0 || order[i] >= length)
        return call.error("the sorter holds " + Twine(order[i]));
      sorted[i] = unsorted[from];
    }
  }
  bool isShared = sequence.rank() <= 1;
  std::vector<int64_t> places;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t row = isShared ? 0 : i / width;
    places.push_back(placeOf(ArrayRef(sorted).slice(row * length, length),
                             values[i], right));
  }
  call.make(0, self.sizes).assign(ArrayRef<int64_t>(places));
  return success();
}

LogicalResult bucketize(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<double> boundaries = call.tensor("boundaries").doubles();
  std::vector<int64_t> places;
  for (double value : self.doubles())
    places.push_back(placeOf(boundaries, value, call.boolean("right")));
  call.make(0, self.sizes).assign(ArrayRef<int64_t>(places));
  return success();
}

LogicalResult binCount(const KernelCall &call) {
  std::vector<int64_t> values = call.tensor("self").ints();
  int64_t bins = call.integer("minlength");
  for (int64_t value : values) {
    if (value < 0)
      return call.error("cannot count " + Twine(value));
    bins = std::max(bins, value + 1);
  }
  std::optional<Tensor> weights = call.optionalTensor("weights");
  std::vector<double> sums(bins);
  for (auto [i, value] : llvm::enumerate(values))
    sums[value] += weights ? weights->getDouble(i) : 1;
  call.make(0, {bins}).assign(ArrayRef<double>(sums));
  return success();
}

} // namespace

const KernelFn kernels::cumsum = ::cumsum;
const KernelFn kernels::cumprod = ::cumprod;
const KernelFn kernels::logcumsumexp = ::logcumsumexp;
const KernelFn kernels::cummax = running<false>;
const KernelFn kernels::cummin = running<true>;
const KernelFn kernels::sort = ::sort;
const KernelFn kernels::sortFirst = ::sortFirst;
const KernelFn kernels::argsort = ::argsort;
const KernelFn kernels::topk = ::topk;
const KernelFn kernels::searchSorted = ::searchSorted;
const KernelFn kernels::bucketize = ::bucketize;
const KernelFn kernels::binCount = ::binCount;
