// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws from gamma and binomial distributions, and how a draw from a gamma
// distribution changes with its shape.
//
// A gamma variable is drawn by the method of Marsaglia and Tsang: a cube of a
// shifted normal number, accepted with a probability near 1; a shape a below 1
// is that of a + 1, times a power of a uniform number. The slope of a draw x is
// that which keeps its quantile, -(dP/da) / p with the distribution function P
// and the density p of shape a. Up to a + 1 it is the sum over n >= 0 of
//   (psi(a + n + 1) - log x) x^(n + 1) / (a (a + 1) .. (a + n))
// and beyond, the integral over u >= 0 of
//   (log(x + u) - psi(a)) (1 + u / x)^(a - 1) exp(-u)
// by the trapezoidal rule in t, u = exp(t - exp(-t)). Neither cancels.
//
// By hand: draws are functions of a seed and a stream, which no library's
// distributions are, and Boost.Math has no derivative by the shape.

#include "Draws.h"

#include "Kernels.h"
#include "Pointwise.h"
#include "SpecialFunctions.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Streams of their own for the numbers that element `i` draws.
static Philox streamOf(const RandomState &state, uint64_t i, uint64_t which) {
  return {state.seed, state.stream + i * 0x9E3779B97F4A7C15ull + which};
}

static double drawGamma(double shape, Philox normals, Philox uniforms) {
  double boost = 1;
  if (shape < 1) {
    boost = std::pow(1 - uniforms.uniform64(0), 1 / shape);
    shape += 1;
  }
  double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint64_t k = 1; k < 10000; ++k) {
    double x = normals.normal(DType::F64, k);
    double t = 1 + c * x, v = t * t * t;
    if (v > 0 && std::log(1 - uniforms.uniform64(k)) <
                     x * x / 2 + d * (1 - v + std::log(v)))
      return boost * d * v;
  }
  return kNaN;
}

static LogicalResult standardGamma(const KernelCall &call) {
  Tensor self = call.tensor("self");
  RandomState state = randomState(call);
  std::vector<double> values = self.doubles();
  for (auto [i, value] : llvm::enumerate(values))
    value = drawGamma(value, streamOf(state, i, 1), streamOf(state, i, 2));
  put(call, 0, self.sizes, values);
  return success();
}

/// One by one: counts are small where models draw them.
static LogicalResult binomial(const KernelCall &call) {
  Tensor count = call.tensor("count"), prob = call.tensor("prob");
  Sizes sizes = broadcastSizes(count.sizes, prob.sizes);
  RandomState state = randomState(call);
  Philox generator(state.seed, state.stream);
  std::vector<double> values = count.expand(sizes).doubles();
  std::vector<double> p = prob.expand(sizes).doubles();
  for (auto [i, value] : llvm::enumerate(values))
    value = drawBinomial(generator, i, value, p[i]);
  put(call, 0, sizes, values);
  return success();
}

//===----------------------------------------------------------------------===//
// The slope of a draw
//===----------------------------------------------------------------------===//

static double slopeNear(double a, double x) {
  double term = x / a, psi = digamma(a + 1), sum = 0;
  for (int64_t n = 1; n < 1000000; ++n) {
    double part = term * (psi - std::log(x));
    sum += part;
    if (std::fabs(term) * (1 + std::fabs(psi)) < 1e-17 * std::fabs(sum))
      break;
    term *= x / (a + static_cast<double>(n));
    psi += 1 / (a + static_cast<double>(n));
  }
  return sum;
}

static double slopeBeyond(double a, double x) {
  constexpr double step = 1.0 / 32;
  double psi = digamma(a), sum = 0, most = 0;
  for (int64_t i = -160; i < 2000; ++i) {
    double t = step * static_cast<double>(i), u = std::exp(t - std::exp(-t));
    double weight = (a - 1) * std::log1p(u / x) - u;
    double part =
        (std::log(x + u) - psi) * std::exp(weight) * u * (1 + std::exp(-t));
    sum += part;
    most = std::max(most, part);
    if (u > 1 && part < 1e-18 * most)
      break;
  }
  return step * sum;
}

static LogicalResult standardGammaGrad(const KernelCall &call) {
  return Elementwise(call, {"self", "output"}).real<2>([](double a, double x) {
    if (!(a > 0) || !(x >= 0) || std::isinf(x))
      return kNaN;
    if (x == 0)
      return 0.0;
    return x < a + 1 ? slopeNear(a, x) : slopeBeyond(a, x);
  });
}

const KernelFn kernels::standardGamma = ::standardGamma;
const KernelFn kernels::standardGammaGrad = ::standardGammaGrad;
const KernelFn kernels::binomial = ::binomial;
