// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions and their gradients. Each formula is PyTorch's, with its
// side of every boundary: what is decided there for NaN and for the points
// where a derivative jumps follows from which comparison is written. All are
// computed in double precision and rounded once.

#include "Kernels.h"
#include "Pointwise.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;
constexpr double kPi = 3.14159265358979323846;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// NaN stays NaN.
double bounded(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

template <double (*fn)(double)>
LogicalResult activation(const KernelCall &call) {
  return Elementwise(call, {"self"}).real<1>(fn);
}

template <double (*fn)(double, double)>
LogicalResult gradient(const KernelCall &call, aten::ParamRef of) {
  return Elementwise(call, {"grad_output", of}).real<2>(fn);
}

//===----------------------------------------------------------------------===//
// Piecewise linear
//===----------------------------------------------------------------------===//

LogicalResult relu(const KernelCall &call) {
  return Elementwise(call, {"self"}).ordered<1>([](auto x) {
    using V = decltype(x);
    return x < V(0) ? V(0) : x;
  });
}

LogicalResult clampBetween(const KernelCall &call, double low, double high) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([=](int64_t x) {
      return static_cast<int64_t>(bounded(static_cast<double>(x), low, high));
    });
  return loop.real<1>([=](double x) { return bounded(x, low, high); });
}

LogicalResult relu6(const KernelCall &call) { return clampBetween(call, 0, 6); }

LogicalResult hardtanh(const KernelCall &call) {
  return clampBetween(call, call.number("min_val", -1),
                      call.number("max_val", 1));
}

LogicalResult hardtanhBackward(const KernelCall &call) {
  double low = call.number("min_val"), high = call.number("max_val");
  return Elementwise(call, {"grad_output", "self"})
      .real<2>(
          [=](double g, double x) { return x <= low || x >= high ? 0 : g; });
}

LogicalResult leakyRelu(const KernelCall &call) {
  double slope = call.number("negative_slope");
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    return x > 0 ? x : x * slope;
  });
}

LogicalResult leakyReluBackward(const KernelCall &call) {
  double slope = call.number("negative_slope");
  return Elementwise(call, {"grad_output", "self"})
      .real<2>([=](double g, double x) { return x > 0 ? g : g * slope; });
}

LogicalResult threshold(const KernelCall &call) {
  double limit = call.number("threshold"), value = call.number("value");
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([=](int64_t x) {
      return static_cast<double>(x) <= limit ? static_cast<int64_t>(value) : x;
    });
  return loop.real<1>([=](double x) { return x <= limit ? value : x; });
}

LogicalResult thresholdBackward(const KernelCall &call) {
  double limit = call.number("threshold");
  Elementwise loop(call, {"grad_output", "self"});
  return loop.ordered<2>([=](auto g, auto x) {
    using V = decltype(g);
    return static_cast<double>(x) <= limit ? V(0) : g;
  });
}

double hardswish(double x) { return x * bounded(x + 3, 0, 6) / 6; }
double hardsigmoid(double x) { return bounded(x + 3, 0, 6) / 6; }

LogicalResult hardswishBackward(const KernelCall &call) {
  return Elementwise(call, {"grad_output", "self"})
      .real<2>([](double g, double x) {
        if (x <= -3)
          return 0.0;
        return x < 3 ? g * (x / 3 + 0.5) : g;
      });
}

LogicalResult hardsigmoidBackward(const KernelCall &call) {
  return Elementwise(call, {"grad_output", "self"})
      .real<2>([](double g, double x) { return x > -3 && x < 3 ? g / 6 : 0; });
}

/// 0 in [-lambd, lambd]; outside, x, or what it exceeds the bound by (`soft`).
template <bool soft> LogicalResult shrink(const KernelCall &call) {
  double bound = call.number("lambd");
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    if (x >= -bound && x <= bound)
      return 0.0;
    return !soft ? x : x > bound ? x - bound : x + bound;
  });
}

LogicalResult shrinkBackwardOf(const KernelCall &call, const char *gradient) {
  double bound = call.number("lambd");
  return Elementwise(call, {gradient, "self"}).real<2>([=](double g, double x) {
    return x >= -bound && x <= bound ? 0.0 : g;
  });
}
LogicalResult hardshrinkBackward(const KernelCall &call) {
  return shrinkBackwardOf(call, "grad_out");
}
LogicalResult softshrinkBackward(const KernelCall &call) {
  return shrinkBackwardOf(call, "grad_output");
}

LogicalResult prelu(const KernelCall &call) {
  return Elementwise(call, {"self", "weight"}).real<2>([](double x, double w) {
    return x > 0 ? x : w * x;
  });
}

/// Gradients of `self` and, not summed, of `weight`.
LogicalResult preluBackward(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<double> x = self.doubles();
  std::vector<double> w = call.tensor("weight").expand(self.sizes).doubles();
  std::vector<double> g =
      call.tensor("grad_output").expand(self.sizes).doubles();
  std::vector<double> ofWeight(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ofWeight[i] = x[i] > 0 ? 0 : x[i] * g[i];
    g[i] = x[i] > 0 ? g[i] : w[i] * g[i];
  }
  call.make(0, self.sizes).assign(ArrayRef<double>(g));
  call.make(1, self.sizes).assign(ArrayRef<double>(ofWeight));
  return success();
}

//===----------------------------------------------------------------------===//
// Smooth
//===----------------------------------------------------------------------===//

double silu(double x) { return x / (1 + std::exp(-x)); }
double siluGradient(double g, double x) {
  double s = sigmoid(x);
  return g * s * (1 + x * (1 - s));
}

double mish(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
double mishGradient(double g, double x) {
  double t = std::tanh(std::log1p(std::exp(x)));
  return g * (t + x * sigmoid(x) * (1 - t * t));
}

double logSigmoid(double x) {
  return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x)));
}
double logSigmoidGradient(double g, double x) { return g * sigmoid(-x); }

double geluErf(double x) { return 0.5 * x * (1 + std::erf(x * kSqrtHalf)); }
double geluErfGradient(double g, double x) {
  double cdf = 0.5 * (1 + std::erf(x * kSqrtHalf));
  double pdf = std::exp(-0.5 * x * x) / std::sqrt(2 * kPi);
  return g * (cdf + x * pdf);
}

double geluTanh(double x) {
  double inner = kSqrtTwoOverPi * (x + kGeluCubic * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}
double geluTanhGradient(double g, double x) {
  double t = std::tanh(kSqrtTwoOverPi * (x + kGeluCubic * x * x * x));
  double slope = kSqrtTwoOverPi * (1 + 3 * kGeluCubic * x * x);
  return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
}

LogicalResult gelu(const KernelCall &call) {
  return call.string("approximate") == "tanh" ? activation<geluTanh>(call)
                                              : activation<geluErf>(call);
}

LogicalResult geluBackward(const KernelCall &call) {
  return call.string("approximate") == "tanh"
             ? gradient<geluTanhGradient>(call, "self")
             : gradient<geluErfGradient>(call, "self");
}

template <double (*fn)(double, double)>
LogicalResult gradientOfSelf(const KernelCall &call) {
  return gradient<fn>(call, "self");
}

double sigmoidGradient(double g, double y) { return g * (1 - y) * y; }
double tanhGradient(double g, double y) { return g * (1 - y * y); }

/// From the result, which may be complex.
template <bool ofTanh> LogicalResult gradientOfOutput(const KernelCall &call) {
  Elementwise loop(call, {"grad_output", "output"});
  if (loop.domain() != Domain::Complex)
    return loop.real<2>(ofTanh ? tanhGradient : sigmoidGradient);
  return loop.in<Complex, 2>([](Complex g, Complex y) {
    return g * std::conj(ofTanh ? 1.0 - y * y : (1.0 - y) * y);
  });
}

//===----------------------------------------------------------------------===//
// Exponential units
//===----------------------------------------------------------------------===//

/// x < 0: negative * (exp(input * x) - 1), else positive * x.
LogicalResult exponentialUnit(const KernelCall &call, double negative,
                              double positive, double input) {
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    return x < 0 ? negative * std::expm1(input * x) : positive * x;
  });
}

LogicalResult elu(const KernelCall &call) {
  double scale = call.number("scale", 1);
  return exponentialUnit(call, call.number("alpha", 1) * scale, scale,
                         call.number("input_scale", 1));
}

LogicalResult selu(const KernelCall &call) {
  return exponentialUnit(call, kSeluAlpha * kSeluScale, kSeluScale, 1);
}

LogicalResult celu(const KernelCall &call) {
  double alpha = call.number("alpha", 1);
  return exponentialUnit(call, alpha, 1, 1 / alpha);
}

LogicalResult eluBackward(const KernelCall &call) {
  double scale = call.number("scale"), input = call.number("input_scale");
  double negative = call.number("alpha") * scale;
  bool isResult = call.boolean("is_result");
  return Elementwise(call, {"grad_output", "self_or_result"})
      .real<2>([=](double g, double x) {
        if (x > 0)
          return g * scale;
        return isResult ? g * input * (x + negative)
                        : g * input * negative * std::exp(x * input);
      });
}

LogicalResult softplus(const KernelCall &call) {
  double beta = call.number("beta", 1), limit = call.number("threshold", 20);
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    return x * beta > limit ? x : std::log1p(std::exp(x * beta)) / beta;
  });
}

LogicalResult softplusBackward(const KernelCall &call) {
  double beta = call.number("beta"), limit = call.number("threshold");
  return Elementwise(call, {"grad_output", "self"})
      .real<2>([=](double g, double x) {
        double z = std::exp(x * beta);
        return x * beta > limit ? g : g * z / (z + 1);
      });
}

//===----------------------------------------------------------------------===//
// More than the same element
//===----------------------------------------------------------------------===//

/// The two halves of a tensor along `dim`, as positions of elements.
struct Halves {
  Halves(const Tensor &self, int64_t dim) {
    for (int64_t i = 0; i < self.rank(); ++i)
      (i < dim ? outer : inner) *= self.sizes[i];
    inner /= 2;
  }
  int64_t outer = 1, inner = 1; ///< inner: elements of one half of one row
};

LogicalResult glu(const KernelCall &call) {
  Tensor self = call.tensor("self");
  int64_t dim = call.dim("dim", self.rank());
  std::vector<double> x = self.doubles();
  Halves halves(self, dim);
  std::vector<double> result;
  result.reserve(x.size() / 2);
  for (int64_t o = 0; o < halves.outer; ++o)
    for (int64_t i = 0; i < halves.inner; ++i) {
      const double *row = &x[2 * o * halves.inner];
      result.push_back(row[i] * sigmoid(row[i + halves.inner]));
    }
  self.sizes[dim] /= 2;
  call.make(0, self.sizes).assign(ArrayRef<double>(result));
  return success();
}

LogicalResult gluBackward(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<double> x = self.doubles(),
                      g = call.tensor("grad_output").doubles();
  Halves halves(self, call.dim("dim", self.rank()));
  std::vector<double> result(x.size());
  for (int64_t o = 0; o < halves.outer; ++o)
    for (int64_t i = 0; i < halves.inner; ++i) {
      int64_t a = 2 * o * halves.inner + i, b = a + halves.inner;
      double s = sigmoid(x[b]), gradient = g[o * halves.inner + i];
      result[a] = gradient * s;
      result[b] = gradient * s * (1 - s) * x[a];
    }
  call.make(0, self.sizes).assign(ArrayRef<double>(result));
  return success();
}

} // namespace

const KernelFn kernels::relu = ::relu;
const KernelFn kernels::relu6 = ::relu6;
const KernelFn kernels::hardtanh = ::hardtanh;
const KernelFn kernels::hardtanhBackward = ::hardtanhBackward;
const KernelFn kernels::leakyRelu = ::leakyRelu;
const KernelFn kernels::leakyReluBackward = ::leakyReluBackward;
const KernelFn kernels::threshold = ::threshold;
const KernelFn kernels::thresholdBackward = ::thresholdBackward;
const KernelFn kernels::hardshrink = shrink<false>;
const KernelFn kernels::hardshrinkBackward = ::hardshrinkBackward;
const KernelFn kernels::softshrink = shrink<true>;
const KernelFn kernels::softshrinkBackward = ::softshrinkBackward;
const KernelFn kernels::preluKernel = ::prelu;
const KernelFn kernels::preluBackward = ::preluBackward;
const KernelFn kernels::hardswish = activation<::hardswish>;
const KernelFn kernels::hardswishBackward = ::hardswishBackward;
const KernelFn kernels::hardsigmoid = activation<::hardsigmoid>;
const KernelFn kernels::hardsigmoidBackward = ::hardsigmoidBackward;
const KernelFn kernels::silu = activation<::silu>;
const KernelFn kernels::siluBackward = gradientOfSelf<siluGradient>;
const KernelFn kernels::mish = activation<::mish>;
const KernelFn kernels::mishBackward = gradientOfSelf<mishGradient>;
const KernelFn kernels::logSigmoid = activation<::logSigmoid>;
const KernelFn kernels::logSigmoidBackward = gradientOfSelf<logSigmoidGradient>;
const KernelFn kernels::gelu = ::gelu;
const KernelFn kernels::geluBackward = ::geluBackward;
const KernelFn kernels::sigmoidBackward = gradientOfOutput<false>;
const KernelFn kernels::tanhBackward = gradientOfOutput<true>;
const KernelFn kernels::elu = ::elu;
const KernelFn kernels::eluBackward = ::eluBackward;
const KernelFn kernels::selu = ::selu;
const KernelFn kernels::celu = ::celu;
const KernelFn kernels::softplus = ::softplus;
const KernelFn kernels::softplusBackward = ::softplusBackward;
const KernelFn kernels::glu = ::glu;
const KernelFn kernels::gluBackward = ::gluBackward;
