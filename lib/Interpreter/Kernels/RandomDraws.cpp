// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that draw from the generator. What an op draws is a function of the run's
// seed and of the name of its first result (Draws.h), element by element, so
// that it gives the same bits in the joint graph and in the half it lies in.
// The distributions are PyTorch's, the bits are not.

#include "Draws.h"

#include "Kernels.h"
#include "Parts.h"

#include "cutback/Dialect/Joint/Random.h"

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
  if (!call.isNone(optional("size")))
    return call.integers(optional("size"));
  if (call.isNone(optional("self")))
    return {};
  Tensor self = call.tensor(optional("self"));
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
  double low = call.number(optional("from"), 0),
         high = call.number(optional("to"), 1);
  // Rounding to half precision must not give 1.
  double step = type == DType::F16 ? 0x1p-11 : type == DType::BF16 ? 0x1p-8 : 0;
  return drawEach<double>(call, [=](Philox &generator, uint64_t i) {
    double value = generator.uniform(type, i);
    value = step == 0 ? value : std::floor(value / step) * step;
    return low + (high - low) * value;
  });
}

/// The elements of a parameter that is a number or a tensor.
std::vector<double> elementsOf(const KernelCall &call, ParamRef param,
                               ArrayRef<int64_t> sizes, double ifNone) {
  if (call.isNone(param) || call.isNumber(param))
    return std::vector<double>(1, call.number(param, ifNone));
  return call.tensor(param).expand(sizes).doubles();
}

LogicalResult normal(const KernelCall &call) {
  SmallVector<int64_t> sizes = sizesOf(call);
  for (ParamRef param : {optional("mean"), optional("std")})
    if (call.isNone(optional("size")) && !call.isNone(param) &&
        !call.isNumber(param)) {
      Tensor given = call.tensor(param);
      if (given.rank() >= static_cast<int64_t>(sizes.size()))
        sizes.assign(given.sizes.begin(), given.sizes.end());
    }
  std::vector<double> means = elementsOf(call, optional("mean"), sizes, 0);
  std::vector<double> deviations = elementsOf(call, optional("std"), sizes, 1);
  Tensor result = call.make(0, sizes);
  Philox generator = generatorOf(call);
  std::vector<double> values(result.numel());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = means[means.size() == 1 ? 0 : i] +
                deviations[deviations.size() == 1 ? 0 : i] *
                    generator.normal(result.type, i);
  result.assign(ArrayRef<double>(values));
  return success();
}

LogicalResult logNormal(const KernelCall &call) {
  double mean = call.number("mean"), deviation = call.number("std");
  return drawEach<double>(call, [=](Philox &generator, uint64_t i) {
    return std::exp(mean + deviation * generator.normal(DType::F64, i));
  });
}

/// By the inverse of the distribution function, of a number in (0, 1].
using InverseFn = double (*)(const KernelCall &call, double u);

double exponentialOf(const KernelCall &call, double u) {
  return -std::log(u) / call.number("lambd", 1);
}
double cauchyOf(const KernelCall &call, double u) {
  constexpr double pi = 3.14159265358979323846;
  return call.number("median") +
         call.number("sigma", 1) * std::tan(pi * (u - 0.5));
}
double geometricOf(const KernelCall &call, double u) {
  return std::max(1.0, std::ceil(std::log(u) / std::log1p(-call.number("p"))));
}

template <InverseFn inverse> LogicalResult invert(const KernelCall &call) {
  return drawEach<double>(call, [&](Philox &generator, uint64_t i) {
    return inverse(call, 1 - generator.uniform64(i));
  });
}

/// Integers that the element type holds exactly.
LogicalResult randomIntegers(const KernelCall &call) {
  int64_t bits = joint::numExactBits(
      cast<RankedTensorType>(call.op->getResult(0).getType()).getElementType());
  int64_t low = call.integer(optional("from"));
  int64_t high =
      call.integer(optional("to"), bits == 63 ? INT64_MAX : int64_t(1) << bits);
  if (low >= high)
    return call.error("there is no integer from " + Twine(low) + " to " +
                      Twine(high));
  return drawEach<int64_t>(call, [=](Philox &generator, uint64_t i) {
    return low + static_cast<int64_t>(generator.word64(i) %
                                      static_cast<uint64_t>(high - low));
  });
}

/// Counts events of a time, each after an exponential wait.
LogicalResult poisson(const KernelCall &call) {
  std::vector<double> rates = call.tensor("self").doubles();
  return drawEach<double>(call, [&](Philox &generator, uint64_t i) {
    return drawPoisson(generator, i, rates[i]);
  });
}

LogicalResult integers(const KernelCall &call) {
  int64_t low = call.integer(optional("low")),
          high = call.integer(optional("high"));
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
  bool each = call.isNone(optional("p")) || !call.isNumber(optional("p"));
  double p = each ? 0 : call.number(optional("p"));
  std::vector<double> probabilities;
  if (call.isNone(optional("p")))
    probabilities = call.tensor("self").doubles();
  else if (each)
    probabilities = call.tensor(optional("p")).expand(sizesOf(call)).doubles();
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
  double p = call.boolean("train") ? call.number(optional("p")) : 0;
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

/// (result, slopes): in training a slope is drawn for each element that is not
/// positive, and 1 elsewhere; else the mean, and the noise as it came.
LogicalResult rreluWithNoise(const KernelCall &call) {
  Tensor self = call.tensor("self");
  double lower = call.number("lower"), upper = call.number("upper");
  bool training = call.boolean("training");
  std::vector<double> values = self.doubles();
  std::vector<double> slopes = call.tensor("noise").doubles();
  slopes.resize(values.size());
  Philox generator = generatorOf(call);
  for (size_t i = 0; i < values.size(); ++i) {
    bool isPositive = values[i] > 0;
    if (training)
      slopes[i] =
          isPositive ? 1 : lower + (upper - lower) * generator.uniform64(i);
    if (!isPositive)
      values[i] *= training ? slopes[i] : (lower + upper) / 2;
  }
  call.make(0, self.sizes).assign(ArrayRef<double>(values));
  if (call.wants(1))
    call.make(1, self.sizes).assign(ArrayRef<double>(slopes));
  return success();
}

LogicalResult rreluWithNoiseBackward(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<double> values = call.tensor("grad_output").doubles();
  std::vector<double> x = self.doubles(),
                      slopes = call.tensor("noise").doubles();
  double lower = call.number("lower"), upper = call.number("upper");
  // A slope of 1 throughout needs no noise.
  bool isDrawn = call.boolean("training") && upper - lower > 1e-6;
  if (values.size() != x.size() || (isDrawn && slopes.size() != x.size()))
    return call.error("the gradient, the noise and the input have " +
                      Twine(values.size()) + ", " + Twine(slopes.size()) +
                      " and " + Twine(x.size()) + " elements");
  for (size_t i = 0; i < values.size(); ++i) {
    if (isDrawn)
      values[i] *= slopes[i];
    else if (!(x[i] > 0))
      values[i] *= (lower + upper) / 2;
  }
  call.make(0, self.sizes).assign(ArrayRef<double>(values));
  return success();
}

LogicalResult dropoutBackward(const KernelCall &call) {
  std::vector<double> factors = call.tensor("mask").doubles();
  double scale = call.number("scale");
  for (double &factor : factors)
    factor *= scale;
  return scaleBy(call, call.tensor("grad_output"), factors);
}

} // namespace

const KernelFn kernels::uniform = ::uniform;
const KernelFn kernels::normal = ::normal;
const KernelFn kernels::logNormal = ::logNormal;
const KernelFn kernels::exponential = invert<exponentialOf>;
const KernelFn kernels::cauchy = invert<cauchyOf>;
const KernelFn kernels::geometric = invert<geometricOf>;
const KernelFn kernels::randomIntegers = ::randomIntegers;
const KernelFn kernels::poisson = ::poisson;
const KernelFn kernels::bernoulli = ::bernoulli;
const KernelFn kernels::integers = ::integers;
const KernelFn kernels::permutation = ::permutation;
const KernelFn kernels::multinomial = ::multinomial;
const KernelFn kernels::nativeDropout = ::nativeDropout;
const KernelFn kernels::dropout = ::dropout;
const KernelFn kernels::featureDropout = ::featureDropout;
const KernelFn kernels::dropoutBackward = ::dropoutBackward;
const KernelFn kernels::rreluWithNoise = ::rreluWithNoise;
const KernelFn kernels::rreluWithNoiseBackward = ::rreluWithNoiseBackward;
