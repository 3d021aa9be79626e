// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing at computed places: index_put, scatter and their kin.
//
// The result is a copy of `self` with values written, or combined, in the
// order of the elements of the index; where two write to one place, the last
// one stays. Writes copy bits; sums are made in double, int64_t or complex and
// rounded once at the end, not after each term.

#include "Kernels.h"
#include "Places.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Fails unless `source` has all elements that `from` names.
static LogicalResult checkSource(const KernelCall &call, const Tensor &source,
                                 ArrayRef<int64_t> from) {
  for (int64_t which : from)
    if (failed(checkIndex(call, which, source.numel())))
      return failure();
  return success();
}

/// Result 0: `self` with element `from[i]` of `source` at place `at[i]`.
static LogicalResult write(const KernelCall &call, const Tensor &self,
                           ArrayRef<int64_t> at, const Tensor &source,
                           ArrayRef<int64_t> from) {
  if (failed(checkSource(call, source, from)))
    return failure();
  Tensor result = copyAsResult(call, self);
  for (auto [to, which] : llvm::zip_equal(at, from))
    copyRun(source, which, result, to);
  return success();
}

/// The same with `alpha` times the elements added.
static LogicalResult add(const KernelCall &call, const Tensor &self,
                         ArrayRef<int64_t> at, const Tensor &source,
                         ArrayRef<int64_t> from, double alpha = 1) {
  if (failed(checkSource(call, source, from)))
    return failure();
  return withAccumulator(self.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> sums = load<T>(self), terms = load<T>(source);
    for (auto [to, which] : llvm::zip_equal(at, from))
      sums[to] += static_cast<T>(alpha) * terms[which];
    store<T>(call.make(0, self.sizes), sums);
    return success();
  });
}

/// One element of the type of `self`: the value of a number or of a tensor.
static Tensor single(const KernelCall &call, const Tensor &self,
                     aten::ParamRef param) {
  Tensor element = Tensor::zeros(self.type, {});
  Tensor given = call.tensor(param);
  if (succeeded(checkCount(call, param, given.numel(), 1)))
    copyElements(given, element);
  return element;
}

//===----------------------------------------------------------------------===//
// index_put
//===----------------------------------------------------------------------===//

static LogicalResult indexPut(const KernelCall &call) {
  Tensor self = call.dense("self"), values = call.dense("values");
  FailureOr<Places> places = placesOfIndices(call, self.sizes);
  if (failed(places))
    return failure();
  std::vector<int64_t> from = broadcastMap(values.sizes, places->sizes);
  return call.boolean("accumulate")
             ? add(call, self, places->at, values, from)
             : write(call, self, places->at, values, from);
}

/// Adds the values under a true mask.
static LogicalResult maskedIndexPut(const KernelCall &call) {
  Tensor self = call.dense("self"), values = call.dense("values");
  Tensor mask = call.dense("mask");
  FailureOr<Places> places = placesOfIndices(call, self.sizes, /*clamp=*/true);
  if (failed(places))
    return failure();
  std::vector<int64_t> keep = mask.ints(), at, from;
  std::vector<int64_t> maskMap = broadcastMap(mask.sizes, places->sizes);
  std::vector<int64_t> valueMap = broadcastMap(values.sizes, places->sizes);
  for (auto [place, m, v] : llvm::zip_equal(places->at, maskMap, valueMap))
    if (keep[m] != 0) {
      at.push_back(place);
      from.push_back(v);
    }
  return add(call, self, at, values, from);
}

static LogicalResult putElements(const KernelCall &call) {
  Tensor self = call.dense("self"), source = call.dense("source");
  std::vector<int64_t> at = ints(call, "index"), from;
  for (int64_t &i : at) {
    if (failed(wrapIndex(call, i, self.numel())))
      return failure();
    from.push_back(static_cast<int64_t>(from.size()));
  }
  return call.boolean("accumulate") ? add(call, self, at, source, from)
                                    : write(call, self, at, source, from);
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

static FailureOr<Places> scatterPlaces(const KernelCall &call,
                                       const Tensor &self) {
  return placesAlong(call, self.sizes, call.integer("dim"),
                     call.dense("index"));
}

static LogicalResult scatter(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<Places> places = scatterPlaces(call, self);
  if (failed(places))
    return failure();
  if (!call.isNone(optional("value")))
    return write(call, self, places->at, single(call, self, optional("value")),
                 std::vector<int64_t>(places->at.size(), 0));
  Tensor source = call.dense(optional("src"));
  return write(call, self, places->at, source,
               cornerMap(source.sizes, places->sizes));
}

static LogicalResult scatterAdd(const KernelCall &call) {
  Tensor self = call.dense("self"), source = call.dense("src");
  FailureOr<Places> places = scatterPlaces(call, self);
  if (failed(places))
    return failure();
  return add(call, self, places->at, source,
             cornerMap(source.sizes, places->sizes));
}

namespace {

/// How `scatter_reduce` and `index_reduce` combine.
enum class Combine { Sum, Product, Mean, Max, Min };

} // namespace

static Combine combineOf(StringRef name) {
  if (name == "prod" || name == "multiply")
    return Combine::Product;
  if (name == "mean")
    return Combine::Mean;
  if (name == "amax")
    return Combine::Max;
  return name == "amin" ? Combine::Min : Combine::Sum;
}

template <typename T> static T combined(Combine how, T a, T b) {
  if (how == Combine::Product)
    return a * b;
  if constexpr (!std::is_same_v<T, Complex>) {
    bool isNan = b != b; // NaN wins
    if (how == Combine::Max)
      return a != a ? a : (isNan || b > a ? b : a);
    if (how == Combine::Min)
      return a != a ? a : (isNan || b < a ? b : a);
  }
  return a + b;
}

/// Integers are divided towards -infinity.
template <typename T> static T quotient(T sum, int64_t count) {
  if constexpr (std::is_same_v<T, int64_t>) {
    int64_t rest = sum % count;
    return sum / count - (rest < 0 ? 1 : 0);
  } else {
    return sum / static_cast<double>(count);
  }
}

/// Result 0 where element `from[i]` of `source` is combined at place `at[i]`.
/// Places that nothing comes to keep the element of `self`.
static LogicalResult reduce(const KernelCall &call, const Tensor &self,
                            ArrayRef<int64_t> at, const Tensor &source,
                            ArrayRef<int64_t> from, Combine how,
                            bool includeSelf) {
  if (failed(checkSource(call, source, from)))
    return failure();
  return withAccumulator(self.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = load<T>(self), terms = load<T>(source);
    std::vector<int64_t> counts(values.size(), includeSelf ? 1 : 0);
    for (auto [to, which] : llvm::zip_equal(at, from)) {
      values[to] = counts[to] == 0 ? terms[which]
                                   : combined(how, values[to], terms[which]);
      ++counts[to];
    }
    if (how == Combine::Mean)
      for (auto [value, count] : llvm::zip_equal(values, counts))
        if (count > 1)
          value = quotient(value, count);
    store<T>(call.make(0, self.sizes), values);
    return success();
  });
}

static LogicalResult scatterReduce(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<Places> places = scatterPlaces(call, self);
  if (failed(places))
    return failure();
  Combine how = combineOf(call.string("reduce"));
  bool includeSelf = call.boolean(optional("include_self"), true);
  if (!call.isNone(optional("value")))
    return reduce(call, self, places->at, single(call, self, optional("value")),
                  std::vector<int64_t>(places->at.size(), 0), how, includeSelf);
  Tensor source = call.dense(optional("src"));
  return reduce(call, self, places->at, source,
                cornerMap(source.sizes, places->sizes), how, includeSelf);
}

//===----------------------------------------------------------------------===//
// Slices along a dimension
//===----------------------------------------------------------------------===//

/// For each element of the slices of `self` that a 1-d `index` names along
/// `dim`, in the order of the elements of `source`.
static FailureOr<std::vector<int64_t>> slicePlaces(const KernelCall &call,
                                                   const Tensor &self,
                                                   bool isWrapped = false) {
  Along along(self.sizes, call.integer("dim"));
  std::vector<int64_t> chosen = ints(call, "index"), at;
  for (int64_t &i : chosen)
    if (failed(isWrapped ? wrapIndex(call, i, along.length)
                         : checkIndex(call, i, along.length)))
      return failure();
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i : chosen)
      for (int64_t n = 0; n < along.inner; ++n)
        at.push_back(along.at(o, i, n));
  return at;
}

/// 0, 1, 2, ...: `source` has an element for each place.
static std::vector<int64_t> inOrder(size_t count) {
  std::vector<int64_t> from(count);
  for (auto [i, value] : llvm::enumerate(from))
    value = static_cast<int64_t>(i);
  return from;
}

static LogicalResult indexAdd(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<std::vector<int64_t>> at = slicePlaces(call, self);
  if (failed(at))
    return failure();
  return add(call, self, *at, call.dense("source"), inOrder(at->size()),
             call.number("alpha", 1));
}

static LogicalResult indexCopy(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<std::vector<int64_t>> at = slicePlaces(call, self);
  if (failed(at))
    return failure();
  return write(call, self, *at, call.dense("source"), inOrder(at->size()));
}

/// The one op of slices that takes negative indices.
static LogicalResult indexFill(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<std::vector<int64_t>> at = slicePlaces(call, self, true);
  if (failed(at))
    return failure();
  return write(call, self, *at, single(call, self, "value"),
               std::vector<int64_t>(at->size(), 0));
}

static LogicalResult indexReduce(const KernelCall &call) {
  Tensor self = call.dense("self");
  FailureOr<std::vector<int64_t>> at = slicePlaces(call, self);
  if (failed(at))
    return failure();
  return reduce(call, self, *at, call.dense("source"), inOrder(at->size()),
                combineOf(call.string("reduce")),
                call.boolean("include_self", true));
}

/// Elements under the mask take those of `source`, one after the other.
static LogicalResult maskedScatter(const KernelCall &call) {
  Tensor self = call.tensor("self"), source = call.dense("source");
  Tensor given = call.tensor("mask");
  Sizes sizes = broadcastSizes(self.sizes, given.sizes);
  self = self.expand(sizes).contiguous();
  std::vector<int64_t> mask = given.expand(sizes).ints();
  std::vector<int64_t> at;
  for (auto [i, value] : llvm::enumerate(mask))
    if (value != 0)
      at.push_back(static_cast<int64_t>(i));
  if (static_cast<int64_t>(at.size()) > source.numel())
    return call.error("the mask has " + Twine(at.size()) +
                      " elements, the source " + Twine(source.numel()));
  return write(call, self, at, source, inOrder(at.size()));
}

/// What stands under the mask goes to the first places, the rest is zero.
static LogicalResult maskedScatterBackward(const KernelCall &call) {
  Tensor gradient = call.dense("grad_output");
  Tensor result = call.make(0, call.integers("sizes"));
  int64_t to = 0;
  for (auto [i, value] :
       llvm::enumerate(call.tensor("mask").expand(gradient.sizes).ints())) {
    if (value == 0)
      continue;
    if (to == result.numel())
      return call.error("the mask has more elements than the source, " +
                        Twine(to));
    copyRun(gradient, static_cast<int64_t>(i), result, to++);
  }
  return success();
}

const KernelFn kernels::indexPut = ::indexPut;
const KernelFn kernels::maskedIndexPut = ::maskedIndexPut;
const KernelFn kernels::putElements = ::putElements;
const KernelFn kernels::scatter = ::scatter;
const KernelFn kernels::scatterReduce = ::scatterReduce;
const KernelFn kernels::scatterAdd = ::scatterAdd;
const KernelFn kernels::indexAdd = ::indexAdd;
const KernelFn kernels::indexCopy = ::indexCopy;
const KernelFn kernels::indexFill = ::indexFill;
const KernelFn kernels::indexReduce = ::indexReduce;
const KernelFn kernels::maskedScatter = ::maskedScatter;
const KernelFn kernels::maskedScatterBackward = ::maskedScatterBackward;
