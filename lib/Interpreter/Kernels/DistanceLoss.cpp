// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances between rows of two tensors, and losses made of them.
//
//   pairwise_distance   the p-norm of x1 - x2 + eps along the last dimension
//   cosine_similarity   x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along dim
//   triplet margin      max(margin + d(a, p) - min(d(a, n), d(p, n) if swap),
//   0) cosine embedding    1 - cos where the target is 1, max(cos - margin, 0)
//                       where it is -1; 1e-12 is added to the squared lengths
//   margin ranking      max(-t * (x1 - x2) + margin, 0)
//   hinge embedding     x where t is not -1, plus max(margin - x, 0) where it
//                       is not 1
//   Poisson             exp(x) - t * x, or x - t * log(x + eps); `full` adds
//                       Stirling's term for t > 1

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Two operands, broadcast to one shape.
namespace {

struct Pair {
  Pair(const Tensor &a, const Tensor &b)
      : sizes(broadcastSizes(a.sizes, b.sizes)), x(a.expand(sizes).doubles()),
        y(b.expand(sizes).doubles()) {}
  Sizes sizes;
  std::vector<double> x, y;
};

/// One number a row.
struct Numbers {
  Sizes sizes;
  std::vector<double> values;
};

} // namespace

static Numbers distances(const Tensor &a, const Tensor &b, double p,
                         double eps) {
  Pair pair(a, b);
  int64_t width = pair.sizes.empty() ? 1 : pair.sizes.back();
  Numbers result{pair.sizes, {}};
  if (!result.sizes.empty())
    result.sizes.pop_back();
  for (int64_t r = 0, n = product(result.sizes); r < n; ++r) {
    double sum = 0;
    for (int64_t i = r * width; i < (r + 1) * width; ++i) {
      double apart = std::abs(pair.x[i] - pair.y[i] + eps);
      if (p == 0)
        sum += apart != 0;
      else if (std::isinf(p))
        sum = std::max(sum, apart);
      else
        sum += std::pow(apart, p);
    }
    result.values.push_back(p == 0 || std::isinf(p) ? sum
                                                    : std::pow(sum, 1 / p));
  }
  return result;
}

/// Result 0 from one loss an element.
static LogicalResult reduced(const KernelCall &call, const Numbers &losses) {
  int64_t reduction = call.integer(optional("reduction"), 1);
  if (reduction == 0) {
    put(call, 0, losses.sizes, losses.values);
    return success();
  }
  double sum = 0, count = static_cast<double>(losses.values.size());
  for (double value : losses.values)
    sum += value;
  put(call, 0, {}, {reduction == 1 ? sum / count : sum});
  return success();
}

static LogicalResult pairwiseDistance(const KernelCall &call) {
  Numbers result = distances(call.tensor("x1"), call.tensor("x2"),
                             call.number("p", 2), call.number("eps", 1e-6));
  if (call.boolean("keepdim"))
    result.sizes.push_back(1);
  put(call, 0, result.sizes, result.values);
  return success();
}

static LogicalResult cosineSimilarity(const KernelCall &call) {
  Pair pair(call.tensor("x1"), call.tensor("x2"));
  double eps = call.number("eps", 1e-8);
  int64_t dim =
      wrapped(call.integer("dim", 1), static_cast<int64_t>(pair.sizes.size()));
  Along along(pair.sizes, dim);
  std::vector<double> result;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      double dot = 0, xx = 0, yy = 0;
      for (int64_t i = 0; i < along.length; ++i) {
        double x = pair.x[along.at(o, i, n)], y = pair.y[along.at(o, i, n)];
        dot += x * y;
        xx += x * x;
        yy += y * y;
      }
      result.push_back(
          dot / (std::max(std::sqrt(xx), eps) * std::max(std::sqrt(yy), eps)));
    }
  Sizes sizes = pair.sizes;
  if (!sizes.empty())
    sizes.erase(sizes.begin() + dim);
  put(call, 0, sizes, result);
  return success();
}

static LogicalResult tripletMarginLoss(const KernelCall &call) {
  Tensor anchor = call.tensor("anchor"), positive = call.tensor("positive");
  Tensor negative = call.tensor("negative");
  Sizes sizes = broadcastSizes(broadcastSizes(anchor.sizes, positive.sizes),
                               negative.sizes);
  for (Tensor *tensor : {&anchor, &positive, &negative})
    *tensor = tensor->expand(sizes);
  double p = call.number("p", 2), eps = call.number("eps", 1e-6);
  Numbers near = distances(anchor, positive, p, eps);
  Numbers far = distances(anchor, negative, p, eps);
  if (call.boolean("swap")) {
    Numbers other = distances(positive, negative, p, eps);
    for (auto [value, swapped] : llvm::zip_equal(far.values, other.values))
      value = std::min(value, swapped);
  }
  double margin = call.number("margin", 1);
  for (auto [a, b] : llvm::zip_equal(near.values, far.values))
    a = std::max(margin + a - b, 0.0);
  return reduced(call, near);
}

static LogicalResult cosineEmbeddingLoss(const KernelCall &call) {
  Pair pair(call.tensor("input1"), call.tensor("input2"));
  double margin = call.number("margin");
  int64_t width = pair.sizes.empty() ? 1 : pair.sizes.back();
  int64_t rows = width == 0 ? 0 : product(pair.sizes) / width;
  Numbers losses{Sizes(call.tensor("target").sizes),
                 doubles(call, "target", rows)};
  for (auto [r, target] : llvm::enumerate(losses.values)) {
    double dot = 0, xx = 1e-12, yy = 1e-12;
    for (size_t i = r * width; i < (r + 1) * width; ++i) {
      dot += pair.x[i] * pair.y[i];
      xx += pair.x[i] * pair.x[i];
      yy += pair.y[i] * pair.y[i];
    }
    double cosine = dot / std::sqrt(xx * yy);
    if (target == 1)
      target = 1 - cosine;
    else
      target = target == -1 ? std::max(cosine - margin, 0.0) : 0.0;
  }
  return reduced(call, losses);
}

static LogicalResult marginRankingLoss(const KernelCall &call) {
  Pair pair(call.tensor("input1"), call.tensor("input2"));
  Tensor target = call.tensor("target");
  double margin = call.number("margin");
  Numbers losses{broadcastSizes(pair.sizes, target.sizes), {}};
  std::vector<int64_t> map = broadcastMap(pair.sizes, losses.sizes);
  for (auto [at, t] :
       llvm::zip_equal(map, target.expand(losses.sizes).doubles()))
    losses.values.push_back(
        std::max(-t * (pair.x[at] - pair.y[at]) + margin, 0.0));
  return reduced(call, losses);
}

static LogicalResult hingeEmbeddingLoss(const KernelCall &call) {
  Pair pair(call.tensor("self"), call.tensor("target"));
  double margin = call.number("margin", 1);
  for (auto [x, t] : llvm::zip_equal(pair.x, pair.y))
    x = (t != 1 ? std::max(margin - x, 0.0) : 0.0) + (t != -1 ? x : 0.0);
  return reduced(call, {pair.sizes, pair.x});
}

static LogicalResult poissonNllLoss(const KernelCall &call) {
  Pair pair(call.tensor("input"), call.tensor("target"));
  bool isLog = call.boolean("log_input"), full = call.boolean("full");
  double eps = call.number("eps");
  constexpr double pi = 3.14159265358979323846;
  for (auto [x, t] : llvm::zip_equal(pair.x, pair.y)) {
    x = isLog ? std::exp(x) - t * x : x - t * std::log(x + eps);
    if (full && t > 1)
      x += t * std::log(t) - t + 0.5 * std::log(2 * pi * t);
  }
  return reduced(call, {pair.sizes, pair.x});
}

const KernelFn kernels::pairwiseDistance = ::pairwiseDistance;
const KernelFn kernels::cosineSimilarity = ::cosineSimilarity;
const KernelFn kernels::tripletMarginLoss = ::tripletMarginLoss;
const KernelFn kernels::cosineEmbeddingLoss = ::cosineEmbeddingLoss;
const KernelFn kernels::marginRankingLoss = ::marginRankingLoss;
const KernelFn kernels::hingeEmbeddingLoss = ::hingeEmbeddingLoss;
const KernelFn kernels::poissonNllLoss = ::poissonNllLoss;
