// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses that compare element with element, and their gradients.
//
// Each is a function of x (self), t (target) and a number (beta, delta) or a
// weight; operands broadcast. Reduction: 0 keeps the elements, 1 is their
// mean, 2 their sum. A gradient is the derivative in x times that of the
// result, divided by the number of elements for a mean.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Elements of an operand, broadcast to `sizes`.
static std::vector<double> spread(const Tensor &tensor,
                                  ArrayRef<int64_t> sizes) {
  std::vector<double> values = load<double>(tensor), result;
  for (int64_t at : broadcastMap(tensor.sizes, sizes))
    result.push_back(values[at]);
  return result;
}

/// Result 0 from one loss an element.
static LogicalResult reduced(const KernelCall &call, ArrayRef<int64_t> sizes,
                             ArrayRef<double> losses) {
  int64_t reduction = call.integer(optional("reduction"), 1);
  if (reduction == 0) {
    put(call, 0, sizes, losses);
    return success();
  }
  double sum = 0;
  for (double value : losses)
    sum += value;
  put(call, 0, {},
      {reduction == 1 ? sum / static_cast<double>(losses.size()) : sum});
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of x, t and a number
//===----------------------------------------------------------------------===//

static double squared(double x, double t, double) { return (x - t) * (x - t); }
static double absolute(double x, double t, double) { return std::abs(x - t); }
static double smooth(double x, double t, double beta) {
  double apart = std::abs(x - t);
  return apart < beta ? apart * apart / (2 * beta) : apart - beta / 2;
}
static double huber(double x, double t, double delta) {
  double apart = std::abs(x - t);
  return apart <= delta ? apart * apart / 2 : delta * (apart - delta / 2);
}
static double softMargin(double x, double t, double) {
  // log(1 + exp(-t * x)), without overflow.
  double z = -t * x;
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}
/// t * (log t - x); 0 where t is 0.
static double divergence(double x, double t, double) {
  if (std::isnan(t))
    return t;
  return (t == 0 ? 0 : t * std::log(t)) - t * x;
}
static double logDivergence(double x, double t, double) {
  return std::exp(t) * (t - x);
}

static double squaredSlope(double x, double t, double) { return 2 * (x - t); }
static double smoothSlope(double x, double t, double beta) {
  double apart = x - t;
  if (apart <= -beta)
    return -1;
  return apart >= beta ? 1 : apart / beta;
}
static double huberSlope(double x, double t, double delta) {
  double apart = x - t;
  if (apart <= -delta)
    return -delta;
  return apart >= delta ? delta : apart;
}
static double softMarginSlope(double x, double t, double) {
  return -t / (1 + std::exp(t * x));
}

using Function = double (*)(double, double, double);

/// The number that the loss has beside its operands.
static double parameterOf(const KernelCall &call) {
  return call.number(optional("beta"), call.number(optional("delta"), 0));
}

static LogicalResult compare(const KernelCall &call, Function fn) {
  Tensor self = call.dense("self"), target = call.dense("target");
  Sizes sizes = broadcastSizes(self.sizes, target.sizes);
  std::vector<double> x = spread(self, sizes), t = spread(target, sizes);
  double parameter = parameterOf(call);
  for (auto [u, v] : llvm::zip_equal(x, t))
    u = fn(u, v, parameter);
  return reduced(call, sizes, x);
}

template <Function fn> static LogicalResult loss(const KernelCall &call) {
  return compare(call, fn);
}

static LogicalResult klDiv(const KernelCall &call) {
  return compare(call, call.boolean("log_target") ? logDivergence : divergence);
}

template <Function slope>
static LogicalResult lossBackward(const KernelCall &call) {
  Tensor gradient = call.dense("grad_output");
  Tensor self = call.dense("self"), target = call.dense("target");
  Sizes sizes =
      broadcastSizes(broadcastSizes(self.sizes, target.sizes), gradient.sizes);
  std::vector<double> g = spread(gradient, sizes), x = spread(self, sizes);
  std::vector<double> t = spread(target, sizes);
  double parameter = parameterOf(call);
  double count =
      call.integer("reduction") == 1 ? static_cast<double>(self.numel()) : 1.0;
  for (auto [u, v, d] : llvm::zip_equal(x, t, g))
    d *= slope(u, v, parameter) / count;
  put(call, 0, sizes, g);
  return success();
}

//===----------------------------------------------------------------------===//
// Cross entropy of two classes
//===----------------------------------------------------------------------===//

/// `param` broadcast to `sizes`, 1 if it is None.
static std::vector<double> weights(const KernelCall &call, aten::ParamRef param,
                                   ArrayRef<int64_t> sizes) {
  if (std::optional<Tensor> weight = call.optionalTensor(param))
    return spread(*weight, sizes);
  return std::vector<double>(product(sizes), 1.0);
}

static LogicalResult binaryCrossEntropy(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<double> x = self.doubles();
  std::vector<double> t = doubles(call, "target", self.numel());
  std::vector<double> w = weights(call, "weight", self.sizes);
  // Logarithms end at -100, so that the loss stays finite.
  for (auto [u, v, factor] : llvm::zip_equal(x, t, w))
    u = factor * ((v - 1) * std::max(std::log1p(-u), -100.0) -
                  v * std::max(std::log(u), -100.0));
  return reduced(call, self.sizes, x);
}

static LogicalResult binaryCrossEntropyBackward(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<double> x = self.doubles();
  std::vector<double> t = doubles(call, "target", self.numel());
  std::vector<double> w = weights(call, "weight", self.sizes);
  std::vector<double> g = spread(call.dense("grad_output"), self.sizes);
  double count =
      call.integer("reduction") == 1 ? static_cast<double>(self.numel()) : 1.0;
  for (auto [u, v, factor, d] : llvm::zip_equal(x, t, w, g))
    d *= factor * (u - v) / std::max((1 - u) * u, 1e-12) / count;
  put(call, 0, self.sizes, g);
  return success();
}

static LogicalResult binaryCrossEntropyWithLogits(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<double> x = self.doubles();
  std::vector<double> t = doubles(call, "target", self.numel());
  std::vector<double> w = weights(call, "weight", self.sizes);
  std::vector<double> positive = weights(call, "pos_weight", self.sizes);
  for (auto [u, v, factor, p] : llvm::zip_equal(x, t, w, positive)) {
    double tail = std::log1p(std::exp(-std::abs(u))) + std::max(-u, 0.0);
    u = factor * ((1 - v) * u + ((p - 1) * v + 1) * tail);
  }
  return reduced(call, self.sizes, x);
}

const KernelFn kernels::mseLoss = loss<squared>;
const KernelFn kernels::l1Loss = loss<absolute>;
const KernelFn kernels::smoothL1Loss = loss<smooth>;
const KernelFn kernels::huberLoss = loss<huber>;
const KernelFn kernels::softMarginLoss = loss<softMargin>;
const KernelFn kernels::klDiv = ::klDiv;
const KernelFn kernels::mseLossBackward = lossBackward<squaredSlope>;
const KernelFn kernels::smoothL1LossBackward = lossBackward<smoothSlope>;
const KernelFn kernels::huberLossBackward = lossBackward<huberSlope>;
const KernelFn kernels::softMarginLossBackward = lossBackward<softMarginSlope>;
const KernelFn kernels::binaryCrossEntropy = ::binaryCrossEntropy;
const KernelFn kernels::binaryCrossEntropyBackward =
    ::binaryCrossEntropyBackward;
const KernelFn kernels::binaryCrossEntropyWithLogits =
    ::binaryCrossEntropyWithLogits;
