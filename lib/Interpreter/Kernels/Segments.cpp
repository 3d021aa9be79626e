// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, means, extremes and products of segments, which lie behind each other
// along a dimension, and their gradients.
//
// Lengths or offsets name the segments, for each place in the dimensions before
// that one. A segment begins with `initial`, which stands alone where it is
// empty; without one an empty segment gives what the reduction begins with, and
// a mean NaN. The gradient of an extreme is shared by all elements equal to it;
// PyTorch gives each of them the whole one where that is negative.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

enum class Reduction { Sum, Mean, Max, Min, Product };

/// The data [outer, length, inner] and where each of its segments begins and
/// ends.
struct Segments {
  Reduction reduction = Reduction::Sum;
  std::optional<double> initial;
  int64_t outer = 1, length = 0, inner = 1, count = 0;
  std::vector<int64_t> bounds; ///< [outer, count, 2]
  Sizes sizes;                 ///< of the result

  /// Calls `fn` with the place of each result, that of its segment's first
  /// element, and the number of elements; elements are `inner` apart.
  template <typename Fn> void forEach(Fn fn) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t s = 0; s < count; ++s)
        for (int64_t n = 0; n < inner; ++n) {
          int64_t segment = o * count + s, start = bounds[2 * segment];
          fn(segment * inner + n, (o * length + start) * inner + n,
             bounds[2 * segment + 1] - start);
        }
  }
};

} // namespace

static FailureOr<Segments> segmentsOf(const KernelCall &call,
                                      const Tensor &data) {
  Segments s;
  StringRef name = call.string("reduce");
  if (name == "mean")
    s.reduction = Reduction::Mean;
  else if (name == "max")
    s.reduction = Reduction::Max;
  else if (name == "min")
    s.reduction = Reduction::Min;
  else if (name == "prod")
    s.reduction = Reduction::Product;
  if (!call.isNone("initial"))
    s.initial = call.number("initial");
  bool hasLengths = !call.isNone("lengths");
  Tensor given = call.dense(hasLengths ? "lengths" : "offsets");
  int64_t axis = call.dim("axis", data.rank());
  Along along(data.sizes, axis);
  s.outer = along.outer;
  s.length = along.length;
  s.inner = along.inner;
  int64_t entries = given.rank() > 0 ? given.sizes.back() : 0;
  s.count = hasLengths ? entries : entries - 1;
  std::vector<int64_t> numbers = given.ints();
  if (s.count < 0 || static_cast<int64_t>(numbers.size()) != s.outer * entries)
    return call.error("the segments of " + Twine(s.outer) +
                      " rows are given by " + Twine(numbers.size()) +
                      " numbers");
  for (int64_t o = 0; o < s.outer; ++o) {
    int64_t end = 0;
    for (int64_t i = 0; i < s.count; ++i) {
      int64_t at = o * entries + i;
      int64_t start = hasLengths ? end : numbers[at];
      end = hasLengths ? start + numbers[at] : numbers[at + 1];
      if (start < 0 || end < start || end > s.length)
        return call.error("a segment from " + Twine(start) + " to " +
                          Twine(end) + " of " + Twine(s.length) + " elements");
      s.bounds.push_back(start);
      s.bounds.push_back(end);
    }
  }
  s.sizes.assign(data.sizes.begin(), data.sizes.end());
  s.sizes[axis] = s.count;
  return s;
}

static double beginning(Reduction reduction) {
  switch (reduction) {
  case Reduction::Max:
    return -kInfinity;
  case Reduction::Min:
    return kInfinity;
  case Reduction::Product:
    return 1;
  default:
    return 0;
  }
}

static double reduced(Reduction reduction, double sum, double x) {
  switch (reduction) {
  case Reduction::Max:
    return std::isnan(x) || x > sum ? x : sum;
  case Reduction::Min:
    return std::isnan(x) || x < sum ? x : sum;
  case Reduction::Product:
    return sum * x;
  default:
    return sum + x;
  }
}

static LogicalResult reduceSegments(const KernelCall &call) {
  Tensor data = call.dense("data");
  FailureOr<Segments> segments = segmentsOf(call, data);
  if (failed(segments))
    return failure();
  const Segments &s = *segments;
  std::vector<double> x = data.doubles(), result(product(s.sizes));
  s.forEach([&](int64_t to, int64_t from, int64_t length) {
    double sum = s.initial.value_or(beginning(s.reduction));
    for (int64_t i = 0; i < length; ++i)
      sum = reduced(s.reduction, sum, x[from + i * s.inner]);
    if (s.reduction == Reduction::Mean && length > 0)
      sum /= static_cast<double>(length);
    else if (s.reduction == Reduction::Mean && !s.initial)
      sum = kNaN;
    result[to] = sum;
  });
  put(call, 0, s.sizes, result);
  return success();
}

static LogicalResult reduceSegmentsBackward(const KernelCall &call) {
  Tensor data = call.dense("data");
  FailureOr<Segments> segments = segmentsOf(call, data);
  if (failed(segments))
    return failure();
  const Segments &s = *segments;
  std::vector<double> grad = doubles(call, "grad", product(s.sizes));
  std::vector<double> output = doubles(call, "output", product(s.sizes));
  if (call.failed())
    return failure();
  std::vector<double> x = data.doubles(), result(x.size());
  bool isExtreme =
      s.reduction == Reduction::Max || s.reduction == Reduction::Min;
  s.forEach([&](int64_t of, int64_t from, int64_t length) {
    auto isTaken = [&](double value) {
      return std::isnan(value) || value == output[of];
    };
    double share = grad[of];
    if (s.reduction == Reduction::Mean)
      share /= static_cast<double>(length);
    int64_t ties = 0;
    for (int64_t i = 0; isExtreme && i < length; ++i)
      ties += isTaken(x[from + i * s.inner]);
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = from + i * s.inner;
      if (isExtreme) {
        result[at] = isTaken(x[at]) ? share / static_cast<double>(ties) : 0.0;
      } else if (s.reduction == Reduction::Product) {
        double others = s.initial.value_or(1);
        for (int64_t k = 0; k < length; ++k)
          others *= k == i ? 1 : x[from + k * s.inner];
        result[at] = share * others;
      } else {
        result[at] = share;
      }
    }
  });
  put(call, 0, data.sizes, result);
  return success();
}

const KernelFn kernels::reduceSegments = ::reduceSegments;
const KernelFn kernels::reduceSegmentsBackward = ::reduceSegmentsBackward;
