// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Negative log likelihood and cross entropy.
//
// Input [N, C, ...] or [C], one class number a sample. A sample of class t
// costs -weight[t] * x[t]; one whose class is `ignore_index` costs nothing.
// The mean divides by the sum of the weights of the samples that count.
// Cross entropy takes log_softmax first, and also probabilities instead of
// classes. Label smoothing s makes the target (1 - s) of the class and s / C
// of each.

#include "Kernels.h"
#include "Values.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Samples of an input with their classes.
struct Samples {
  /// Input [outer, length = C, inner].
  Along along;
  /// Sizes of one value a sample.
  Sizes sizes;
  std::vector<int64_t> classes;
  std::vector<double> weight;
  int64_t ignored;

  int64_t at(int64_t sample, int64_t c) const {
    return along.at(sample / along.inner, c, sample % along.inner);
  }
  bool counts(int64_t sample) const { return classes[sample] != ignored; }
  double weightOf(int64_t c) const { return weight.empty() ? 1.0 : weight[c]; }
};

} // namespace

static Sizes sampleSizes(ArrayRef<int64_t> input) {
  Sizes sizes(input);
  sizes.erase(sizes.begin() + (input.size() == 1 ? 0 : 1));
  return sizes;
}

static int64_t classDim(const Tensor &input) {
  return input.rank() > 1 ? 1 : 0;
}

/// Every class is checked, unless it is ignored.
static FailureOr<Samples> getSamples(const KernelCall &call,
                                     const Tensor &input) {
  Samples s{Along(input.sizes, classDim(input)),
            sampleSizes(input.sizes),
            {},
            {},
            call.integer("ignore_index", -100)};
  s.classes = ints(call, "target", product(s.sizes));
  s.weight = optionalDoubles(call, "weight", s.along.length);
  for (int64_t c : s.classes)
    if (c != s.ignored && failed(checkIndex(call, c, s.along.length)))
      return failure();
  return s;
}

/// Costs of the samples and the sum of the weights that count.
static std::vector<double> costs(const Samples &s, ArrayRef<double> x,
                                 double &total) {
  std::vector<double> result(s.classes.size());
  total = 0;
  for (auto [i, c] : llvm::enumerate(s.classes)) {
    if (!s.counts(i))
      continue;
    result[i] = -s.weightOf(c) * x[s.at(i, c)];
    total += s.weightOf(c);
  }
  return result;
}

static double sumOf(ArrayRef<double> values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum;
}

/// Results 0 and, if declared, 1: the total weight, 0 for a batch without
/// reduction.
static LogicalResult nllLoss(const KernelCall &call) {
  Tensor input = call.dense("self");
  FailureOr<Samples> s = getSamples(call, input);
  if (failed(s))
    return failure();
  double total = 0;
  std::vector<double> losses = costs(*s, load<double>(input), total);
  int64_t reduction = call.integer("reduction", 1);
  if (reduction == 0)
    put(call, 0, s->sizes, losses);
  else
    put(call, 0, {}, {reduction == 1 ? sumOf(losses) / total : sumOf(losses)});
  if (call.wants(1))
    put(call, 1, {}, {reduction == 0 && input.rank() > 1 ? 0.0 : total});
  return success();
}

static LogicalResult nllLossBackward(const KernelCall &call) {
  Tensor input = call.dense("self");
  FailureOr<Samples> s = getSamples(call, input);
  if (failed(s))
    return failure();
  int64_t reduction = call.integer("reduction", 1);
  std::vector<double> dx(input.numel());
  std::vector<double> g =
      doubles(call, "grad_output", reduction == 0 ? product(s->sizes) : 1);
  double total = reduction == 1 ? doubles(call, "total_weight", 1)[0] : 1.0;
  for (auto [i, c] : llvm::enumerate(s->classes))
    if (s->counts(i))
      dx[s->at(i, c)] = -s->weightOf(c) * g[reduction == 0 ? i : 0] / total;
  put(call, 0, input.sizes, dx);
  return success();
}

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

static std::vector<double> logSoftmax(std::vector<double> x,
                                      const Along &along) {
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < along.length; ++i)
        top = std::max(top, x[along.at(o, i, n)]);
      for (int64_t i = 0; i < along.length; ++i)
        sum += std::exp(x[along.at(o, i, n)] - top);
      for (int64_t i = 0; i < along.length; ++i)
        x[along.at(o, i, n)] -= top + std::log(sum);
    }
  return x;
}

static LogicalResult entropyOfClasses(const KernelCall &call,
                                      const Tensor &input) {
  FailureOr<Samples> s = getSamples(call, input);
  if (failed(s))
    return failure();
  std::vector<double> x = logSoftmax(load<double>(input), s->along);
  double total = 0, smoothing = call.number("label_smoothing");
  std::vector<double> losses = costs(*s, x, total);
  if (smoothing != 0)
    for (size_t i = 0; i < losses.size(); ++i) {
      double all = 0;
      for (int64_t c = 0; s->counts(i) && c < s->along.length; ++c)
        all -= s->weightOf(c) * x[s->at(i, c)];
      losses[i] = (1 - smoothing) * losses[i] +
                  smoothing / static_cast<double>(s->along.length) * all;
    }
  int64_t reduction = call.integer("reduction", 1);
  if (reduction == 0)
    put(call, 0, s->sizes, losses);
  else
    put(call, 0, {}, {reduction == 1 ? sumOf(losses) / total : sumOf(losses)});
  return success();
}

static LogicalResult entropyOfProbabilities(const KernelCall &call,
                                            const Tensor &input) {
  Along along(input.sizes, classDim(input));
  std::vector<double> x = logSoftmax(load<double>(input), along);
  std::vector<double> t = doubles(call, "target", input.numel());
  std::vector<double> weight = optionalDoubles(call, "weight", along.length);
  double smoothing = call.number("label_smoothing");
  std::vector<double> losses;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t n = 0; n < along.inner; ++n) {
      double sum = 0;
      for (int64_t c = 0; c < along.length; ++c) {
        int64_t at = along.at(o, c, n);
        double target = (1 - smoothing) * t[at] +
                        smoothing / static_cast<double>(along.length);
        sum -= target * x[at] * (weight.empty() ? 1.0 : weight[c]);
      }
      losses.push_back(sum);
    }
  int64_t reduction = call.integer("reduction", 1);
  double count = static_cast<double>(losses.size());
  if (reduction == 0)
    put(call, 0, sampleSizes(input.sizes), losses);
  else
    put(call, 0, {}, {reduction == 1 ? sumOf(losses) / count : sumOf(losses)});
  return success();
}

static LogicalResult crossEntropyLoss(const KernelCall &call) {
  Tensor input = call.dense("self");
  return isIntegral(call.dense("target").type)
             ? entropyOfClasses(call, input)
             : entropyOfProbabilities(call, input);
}

const KernelFn kernels::nllLoss = ::nllLoss;
const KernelFn kernels::nllLossBackward = ::nllLossBackward;
const KernelFn kernels::crossEntropyLoss = ::crossEntropyLoss;
