// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that draw from the generator. What an op draws is a function of the run's
// seed and of the name of its first result (Draws.h), element by element, so
// that it gives the same bits in the joint graph and in the half it lies in.
// The distributions are PyTorch's, the bits are not.

#include "../Philox.h"
#include "Draws.h"
#include "Kernels.h"
#include "Parts.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

Philox generatorOf(const KernelCall &call) {
  RandomState state = randomState(call);
  return {state.seed, state.stream};
}

/// `size`, else the sizes of `self`.
SmallVector<int64_t> sizesOf(const KernelCall &call) {
  if (!call.isNone("size"))
    return call.integers("size");
  if (call.isNone("self"))
    return {};
  Tensor self = call.tensor("self");
  return SmallVector<int64_t>(self.sizes.begin(), self.sizes.end());
}

/// Result 0 = draw(generator, i).
template <typename V, typename F>
LogicalResult drawEach(const KernelCall &call, F draw) {
  Tensor result = call.make(0, sizesOf(call));
  Philox generator = generatorOf(call);
  std::vector<V> values(result.numel());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = draw(generator, i);
  result.assign(ArrayRef<V>(values));
  return success();
}

LogicalResult uniform(const KernelCall &call) {
  DType type = call.resultType();
  // Rounding to half precision must not give 1.
  double step = type == DType::F16 ? 0x1p-11 : type == DType::BF16 ? 0x1p-8 : 0;
  return drawEach<double>(call, [=](Philox &generator, uint64_t i) {
    double value = generator.uniform(type, i);
    return step == 0 ? value : std::floor(value / step) * step;
  });
}

LogicalResult normal(const KernelCall &call) {
  DType type = call.resultType();
  double mean = call.number("mean", 0), deviation = call.number("std", 1);
  return drawEach<double>(call, [=](Philox &generator, uint64_t i) {
    return mean + deviation * generator.normal(type, i);
  });
}

LogicalResult integers(const KernelCall &call) {
  int64_t low = call.integer("low"), high = call.integer("high");
  if (low >= high)
    return call.error("there is no integer from " + Twine(low) + " to " +
                      Twine(high));
  auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return drawEach<int64_t>(call, [=](Philox &generator, uint64_t i) {
    return static_cast<int64_t>(static_cast<uint64_t>(low) +
                                generator.word64(i) % range);
  });
}

/// 1 with probability p, or with the probability that `self` holds.
LogicalResult bernoulli(const KernelCall &call) {
  bool each = call.isNone("p");
  double p = call.number("p", 0);
  std::vector<double> probabilities;
  if (each)
    probabilities = call.tensor("self").doubles();
  return drawEach<double>(call, [&](Philox &generator, uint64_t i) {
    return generator.uniform64(i) < (each ? probabilities[i] : p) ? 1.0 : 0.0;
  });
}

/// Fisher and Yates: each place from the last on changes with one before it.
LogicalResult permutation(const KernelCall &call) {
  std::vector<int64_t> places(call.integer("n"));
  std::iota(places.begin(), places.end(), 0);
  Philox generator = generatorOf(call);
  for (size_t i = places.size(); i > 1; --i)
    std::swap(places[i - 1], places[generator.word64(i) % i]);
  call.make(0, {static_cast<int64_t>(places.size())})
      .assign(ArrayRef<int64_t>(places));
  return success();
}

/// Draws rows of numbers 0 .. n - 1 in proportion to weights; one that is
/// drawn without replacement weighs nothing after that.
LogicalResult multinomial(const KernelCall &call) {
  Tensor self = call.tensor("self");
  int64_t samples = call.integer("num_samples"), n = self.sizes.back();
  bool replacement = call.boolean("replacement");
  std::vector<double> weights = self.doubles();
  SmallVector<int64_t> sizes(self.sizes.begin(), self.sizes.end());
  sizes.back() = samples;
  Philox generator = generatorOf(call);
  std::vector<int64_t> drawn;
  for (int64_t row = 0, rows = self.rank() == 2 ? self.sizes[0] : 1; row < rows;
       ++row) {
    double *weight = weights.data() + row * n;
    for (int64_t k = 0; k < samples; ++k) {
      double total = std::accumulate(weight, weight + n, 0.0);
      if (!(total > 0))
        return call.error("there is nothing left to draw");
      double target = generator.uniform64(drawn.size()) * total;
      int64_t pick = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (weight[i] <= 0)
          continue;
        pick = i;
        target -= weight[i];
        if (target < 0)
          break;
      }
      drawn.push_back(pick);
      weight[pick] = replacement ? weight[pick] : 0;
    }
  }
  call.make(0, sizes).assign(ArrayRef<int64_t>(drawn));
  return success();
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

LogicalResult scaleBy(const KernelCall &call, const Tensor &input,
                      ArrayRef<double> factors) {
  std::vector<double> values = input.doubles();
  for (auto [value, factor] : llvm::zip(values, factors))
    value *= factor;
  call.make(0, input.sizes).assign(ArrayRef<double>(values));
  return success();
}

/// Results (output, mask); without training, everything is kept.
LogicalResult nativeDropout(const KernelCall &call) {
  Tensor input = call.tensor("input");
  double p = call.boolean("train", true) ? call.number("p") : 0;
  std::vector<double> factors =
      keepFactors(randomState(call), p, input.numel());
  if (call.wants(1)) {
    Tensor mask = call.make(1, input.sizes);
    if (factors.empty())
      fill(mask, int64_t(1));
    else
      mask.assign(ArrayRef<double>(factors));
  }
  return scaleBy(call, input, factors);
}

LogicalResult dropout(const KernelCall &call) {
  Tensor input = call.tensor("input");
  double p = call.boolean("train") ? call.number("p") : 0;
  return scaleBy(call, input, keepFactors(randomState(call), p, input.numel()));
}

/// Drops whole channels: one factor for the first two dimensions.
LogicalResult featureDropout(const KernelCall &call) {
  Tensor input = call.tensor("input");
  if (input.rank() < 2)
    return call.error("a tensor of rank " + Twine(input.rank()) +
                      " has no channels");
  double p = call.boolean("train") ? call.number("p") : 0;
  int64_t channels = input.sizes[0] * input.sizes[1];
  int64_t inner = channels ? input.numel() / channels : 0;
  std::vector<double> factors;
  for (double factor : keepFactors(randomState(call), p, channels))
    factors.insert(factors.end(), inner, factor);
  return scaleBy(call, input, factors);
}

LogicalResult dropoutBackward(const KernelCall &call) {
  std::vector<double> factors = call.tensor("mask").doubles();
  double scale = call.number("scale");
  for (double &factor : factors)
    factor *= scale;
  return scaleBy(call, call.tensor("grad_output"), factors);
}

constexpr KernelEntry entries[] = {
    {"aten.rand.default", uniform},
    {"aten.rand_like.default", uniform},
    {"aten.randn.default", normal},
    {"aten.randn_like.default", normal},
    {"aten.normal_functional.default", normal},
    {"aten.randint.default", integers},
    {"aten.randint.low", integers},
    {"aten.randint_like.default", integers},
    {"aten.randint_like.low_dtype", integers},
    {"aten.randperm.default", permutation},
    {"aten.bernoulli.default", bernoulli},
    {"aten.bernoulli.p", bernoulli},
    {"aten.multinomial.default", multinomial},
    {"aten.native_dropout.default", nativeDropout},
    {"aten.dropout.default", dropout},
    {"aten.feature_dropout.default", featureDropout},
    {"aten.native_dropout_backward.default", dropoutBackward},
};

} // namespace

ArrayRef<KernelEntry> interpreter::randomKernels() { return entries; }
