// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that pick an element, or ask whether there is one: where several
// are equal, the first is taken (`mode`: the last, as PyTorch does). NaN is
// greater than all numbers, and the least element too where there is one. What
// needs an order sorts the positions, stably.

#include "Kernels.h"
#include "Reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Position of the least or greatest element; of the first NaN if there is one.
template <bool least, typename V> int64_t positionOf(ArrayRef<V> values) {
  size_t best = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i])
      return static_cast<int64_t>(i);
    if (least ? values[i] < values[best] : values[best] < values[i])
      best = i;
  }
  return static_cast<int64_t>(best);
}

LogicalResult checkNotEmpty(const KernelCall &call,
                            const Reduction &reduction) {
  if (reduction.count() == 0 && reduction.results() > 0)
    return call.error("nothing has no element to pick");
  return success();
}

template <bool least> LogicalResult argExtreme(const KernelCall &call) {
  Reduction reduction(call);
  if (failed(checkNotEmpty(call, reduction)))
    return failure();
  return isIntegral(reduction.type())
             ? reduction.reduce<int64_t>(positionOf<least, int64_t>)
             : reduction.reduce<double>(positionOf<least, double>);
}

/// Results (values, indices), where pick(values) gives the position.
template <typename V, typename F>
LogicalResult pickIn(const KernelCall &call, const Reduction &reduction,
                     F pick) {
  std::vector<V> picked(reduction.results());
  std::vector<int64_t> indices(reduction.results());
  reduction.each<V>([&](int64_t i, ArrayRef<V> values) {
    indices[i] = pick(values);
    picked[i] = values[indices[i]];
  });
  call.make(0, reduction.sizes()).assign(ArrayRef<V>(picked));
  call.make(1, reduction.sizes()).assign(ArrayRef<int64_t>(indices));
  return success();
}

template <typename F> LogicalResult pickEach(const KernelCall &call, F pick) {
  Reduction reduction(call);
  if (failed(checkNotEmpty(call, reduction)))
    return failure();
  return isIntegral(reduction.type()) ? pickIn<int64_t>(call, reduction, pick)
                                      : pickIn<double>(call, reduction, pick);
}

LogicalResult maxDim(const KernelCall &call) {
  return pickEach(call, [](auto values) { return positionOf<false>(values); });
}
LogicalResult minDim(const KernelCall &call) {
  return pickEach(call, [](auto values) { return positionOf<true>(values); });
}

/// Positions in ascending order of values, equal ones in their order.
template <typename V> std::vector<int64_t> sortedPositions(ArrayRef<V> values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return isLess(values[a], values[b]);
  });
  return order;
}

/// The lower of two middle elements.
LogicalResult median(const KernelCall &call) {
  return pickEach(call, [](auto values) {
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != values[i])
        return static_cast<int64_t>(i);
    return sortedPositions(values)[(values.size() - 1) / 2];
  });
}

/// Numbers only, unless there are none.
LogicalResult nanMedian(const KernelCall &call) {
  return pickEach(call, [](auto values) {
    std::vector<int64_t> order = sortedPositions(values);
    size_t count = 0;
    while (count < order.size() && values[order[count]] == values[order[count]])
      ++count;
    return order[count == 0 ? 0 : (count - 1) / 2];
  });
}

/// Of all elements, without a position.
template <bool skipNan> LogicalResult medianOfAll(const KernelCall &call) {
  Reduction reduction(call);
  if (failed(checkNotEmpty(call, reduction)))
    return failure();
  return reduction.reduce<double>([](ArrayRef<double> values) {
    std::vector<int64_t> order = sortedPositions(values);
    auto isNan = [&](int64_t i) { return std::isnan(values[i]); };
    size_t numbers = order.size() - llvm::count_if(order, isNan);
    if (numbers < order.size() && (!skipNan || numbers == 0))
      return values[order.back()];
    return values[order[(numbers - 1) / 2]];
  });
}

LogicalResult kthValue(const KernelCall &call) {
  int64_t k = call.integer("k");
  Reduction reduction(call);
  if (reduction.results() > 0 && (k < 1 || k > reduction.count()))
    return call.error("there is no element number " + Twine(k) + " of " +
                      Twine(reduction.count()));
  return pickEach(call,
                  [=](auto values) { return sortedPositions(values)[k - 1]; });
}

/// The least of the most frequent values, at its last place.
LogicalResult mode(const KernelCall &call) {
  return pickEach(call, [](auto values) {
    std::vector<int64_t> order = sortedPositions(values);
    size_t best = 0, longest = 0;
    for (size_t first = 0, i = 0; i < order.size(); ++i) {
      if (values[order[first]] != values[order[i]])
        first = i;
      if (i - first + 1 > longest) {
        longest = i - first + 1;
        best = i;
      }
    }
    return order[best];
  });
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

template <bool all, typename V> bool quantified(ArrayRef<V> values) {
  auto isTrue = [](V value) { return value != V(0); };
  return all ? llvm::all_of(values, isTrue) : llvm::any_of(values, isTrue);
}

template <bool all> LogicalResult quantify(const KernelCall &call) {
  Reduction reduction(call, /*emptyIsAll=*/false);
  switch (domainOf(reduction.type())) {
  case Domain::Integer:
    return reduction.reduce<int64_t>(quantified<all, int64_t>);
  case Domain::Real:
    return reduction.reduce<double>(quantified<all, double>);
  case Domain::Complex:
    break;
  }
  return reduction.reduce<Complex>(quantified<all, Complex>);
}

} // namespace

const KernelFn kernels::argmax = argExtreme<false>;
const KernelFn kernels::argmin = argExtreme<true>;
const KernelFn kernels::maxDim = ::maxDim;
const KernelFn kernels::minDim = ::minDim;
const KernelFn kernels::median = ::median;
const KernelFn kernels::medianOfAll = ::medianOfAll<false>;
const KernelFn kernels::nanMedianOfAll = ::medianOfAll<true>;
const KernelFn kernels::nanMedian = ::nanMedian;
const KernelFn kernels::kthValue = ::kthValue;
const KernelFn kernels::mode = ::mode;
const KernelFn kernels::any = quantify<false>;
const KernelFn kernels::all = quantify<true>;
