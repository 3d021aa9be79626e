// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch, instance and group norm, and their gradients.
//
// All three normalize groups of elements of an input [N, C, ...]: the elements
// of a channel over the batch, of a channel of a sample, of several channels
// of a sample. With n elements a group, x' = (x - mean) * rstd,
//   y  = x' * weight[c] + bias[c]
//   dx = rstd * (g - mean(g) - x' * mean(g * x')),  g = dy * weight[c]
// and dx = rstd * g where the statistics were given (evaluation). Running
// statistics take momentum times the new ones, the variance with n - 1. Where
// a call changes them in place, that has been made a value before: only
// `_functional` overloads return them.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Which group, and which channel, an element is in.
struct Groups {
  int64_t batch, channels, plane;
  /// Groups a sample; 0 if a group is a channel over the batch.
  int64_t perSample;

  static Groups ofChannels(ArrayRef<int64_t> sizes) {
    return {sizes[0], sizes[1], product(sizes.drop_front(2)), 0};
  }
  int64_t count() const {
    return perSample == 0 ? channels : batch * perSample;
  }
  /// Elements a group.
  int64_t length() const {
    return perSample == 0 ? batch * plane : channels / perSample * plane;
  }
  int64_t channel(int64_t i) const { return i / plane % channels; }
  int64_t group(int64_t i) const {
    if (perSample == 0)
      return channel(i);
    int64_t sample = i / (plane * channels);
    return sample * perSample + channel(i) / (channels / perSample);
  }
};

struct Statistics {
  std::vector<double> mean, variance, rstd;

  void finish(double eps) {
    for (double value : variance)
      rstd.push_back(1 / std::sqrt(value + eps));
  }
};

struct Affine {
  std::vector<double> weight, bias;
};

} // namespace

static Affine getAffine(const KernelCall &call, const Groups &groups) {
  return {optionalDoubles(call, "weight", groups.channels),
          optionalDoubles(call, "bias", groups.channels)};
}

static Statistics measure(ArrayRef<double> x, const Groups &groups,
                          double eps) {
  Statistics s;
  double n = static_cast<double>(groups.length());
  s.mean.resize(groups.count());
  s.variance.resize(groups.count());
  for (auto [i, value] : llvm::enumerate(x))
    s.mean[groups.group(i)] += value;
  for (double &value : s.mean)
    value /= n;
  for (auto [i, value] : llvm::enumerate(x)) {
    double apart = value - s.mean[groups.group(i)];
    s.variance[groups.group(i)] += apart * apart;
  }
  for (double &value : s.variance)
    value /= n;
  s.finish(eps);
  return s;
}

/// The running statistics as those of the groups.
static Statistics given(const KernelCall &call, const Groups &groups,
                        double eps) {
  Statistics s;
  std::vector<double> mean =
      doubles(call, optional("running_mean"), groups.channels);
  std::vector<double> variance =
      doubles(call, optional("running_var"), groups.channels);
  for (int64_t i = 0; i < groups.count(); ++i) {
    s.mean.push_back(mean[i % groups.channels]);
    s.variance.push_back(variance[i % groups.channels]);
  }
  s.finish(eps);
  return s;
}

static std::vector<double> normalize(ArrayRef<double> x, const Groups &groups,
                                     const Statistics &s,
                                     const Affine &affine) {
  std::vector<double> y(x.size());
  for (auto [i, value] : llvm::enumerate(x)) {
    int64_t group = groups.group(i), channel = groups.channel(i);
    double unit = (value - s.mean[group]) * s.rstd[group];
    unit = affine.weight.empty() ? unit : unit * affine.weight[channel];
    y[i] = affine.bias.empty() ? unit : unit + affine.bias[channel];
  }
  return y;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Result `i`: one statistic a channel, or none of them where the declared
/// type leaves that open and the kernel that PyTorch runs keeps none.
static void putStatistic(const KernelCall &call, unsigned i, bool keep,
                         ArrayRef<double> values) {
  if (!call.wants(i))
    return;
  auto type = dyn_cast<RankedTensorType>(call.op->getResult(i).getType());
  if (!keep && type && (type.isDynamicDim(0) || type.getDimSize(0) == 0))
    call.make(i, {0});
  else
    put(call, i, {static_cast<int64_t>(values.size())}, values);
}

/// Results `i`, `i` + 1: the running statistics after this batch.
static void putRunning(const KernelCall &call, unsigned i, const Groups &groups,
                       const Statistics &s, bool training) {
  std::vector<double> mean =
      doubles(call, optional("running_mean"), groups.channels);
  std::vector<double> variance =
      doubles(call, optional("running_var"), groups.channels);
  double momentum = call.number(optional("momentum"), 0.1);
  double n = static_cast<double>(groups.length());
  // Nothing is learnt from an empty batch.
  if (training && groups.length() != 0)
    for (int64_t c = 0; c < groups.channels; ++c) {
      mean[c] = momentum * s.mean[c] + (1 - momentum) * mean[c];
      variance[c] = momentum * s.variance[c] * (n / (n - 1)) +
                    (1 - momentum) * variance[c];
    }
  if (call.wants(i))
    put(call, i, {groups.channels}, mean);
  if (call.wants(i + 1))
    put(call, i + 1, {groups.channels}, variance);
}

static LogicalResult batchNormWith(const KernelCall &call, bool training,
                                   double eps) {
  Tensor input = call.dense("input");
  Groups groups = Groups::ofChannels(input.sizes);
  std::vector<double> x = load<double>(input);
  Statistics s = training ? measure(x, groups, eps) : given(call, groups, eps);
  put(call, 0, input.sizes, normalize(x, groups, s, getAffine(call, groups)));
  putStatistic(call, 1, training, s.mean);
  putStatistic(call, 2, training, s.rstd);
  switch (call.op->getNumResults()) {
  case 4: // bytes that cudnn reserves
    if (call.wants(3))
      call.make(3, {0});
    break;
  case 5:
    putRunning(call, 3, groups, s, training);
    break;
  default:
    break;
  }
  return success();
}

static LogicalResult batchNorm(const KernelCall &call) {
  return batchNormWith(call, call.boolean("training"), call.number("eps"));
}
static LogicalResult cudnnBatchNorm(const KernelCall &call) {
  return batchNormWith(call, call.boolean("training"), call.number("epsilon"));
}
static LogicalResult batchNormEvaluating(const KernelCall &call) {
  return batchNormWith(call, /*training=*/false, call.number("eps"));
}

static LogicalResult instanceNorm(const KernelCall &call) {
  Tensor input = call.dense("input");
  Groups groups = Groups::ofChannels(input.sizes);
  groups.perSample = groups.channels;
  double eps = call.number("eps");
  std::vector<double> x = load<double>(input);
  Statistics s = call.boolean("use_input_stats") ? measure(x, groups, eps)
                                                 : given(call, groups, eps);
  put(call, 0, input.sizes, normalize(x, groups, s, getAffine(call, groups)));
  return success();
}

static LogicalResult groupNorm(const KernelCall &call) {
  Tensor input = call.dense("input");
  bool native = !call.isNone(optional("group"));
  Groups groups = Groups::ofChannels(input.sizes);
  groups.perSample = call.integer(native ? "group" : "num_groups");
  if (failed(checkGroups(call, groups.channels, groups.perSample)))
    return failure();
  std::vector<double> x = load<double>(input);
  Statistics s = measure(x, groups, call.number("eps"));
  if (groups.length() == 0) // as PyTorch's; the deviation is no number
    s.mean.assign(s.mean.size(), 0);
  put(call, 0, input.sizes, normalize(x, groups, s, getAffine(call, groups)));
  if (call.wants(1))
    put(call, 1, {groups.batch, groups.perSample}, s.mean);
  if (call.wants(2))
    put(call, 2, {groups.batch, groups.perSample}, s.rstd);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Results 0 to 2: gradients of input, weight, bias.
static LogicalResult backward(const KernelCall &call, const Groups &groups,
                              const Statistics &s, bool measured) {
  Tensor input = call.dense("input");
  std::vector<double> dy = doubles(call, "grad_out", input.numel());
  std::vector<double> x = load<double>(input);
  std::vector<double> weight = optionalDoubles(call, "weight", groups.channels);
  std::vector<double> sum(groups.count()), dot(groups.count());
  std::vector<double> dx(x.size()), dw(groups.channels), db(groups.channels);
  double n = static_cast<double>(groups.length());
  auto unitAt = [&](int64_t i) {
    int64_t group = groups.group(i);
    return (x[i] - s.mean[group]) * s.rstd[group];
  };
  auto weighted = [&](int64_t i) {
    return weight.empty() ? dy[i] : dy[i] * weight[groups.channel(i)];
  };
  int64_t count = static_cast<int64_t>(x.size());
  // PyTorch multiplies the sum of no elements with a deviation that is no
  // number.
  if (groups.plane == 0 && groups.perSample != 0)
    for (int64_t i = 0; i < groups.batch * groups.channels; ++i)
      dw[i % groups.channels] +=
          0 * s.rstd[i / (groups.channels / groups.perSample)];
  for (int64_t i = 0; i < count; ++i) {
    sum[groups.group(i)] += weighted(i);
    dot[groups.group(i)] += weighted(i) * unitAt(i);
    dw[groups.channel(i)] += dy[i] * unitAt(i);
    db[groups.channel(i)] += dy[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t group = groups.group(i);
    double g = weighted(i);
    if (measured)
      g -= sum[group] / n + unitAt(i) * dot[group] / n;
    dx[i] = s.rstd[group] * g;
  }
  if (call.wants(0))
    put(call, 0, input.sizes, dx);
  if (call.wants(1))
    put(call, 1, {groups.channels}, dw);
  if (call.wants(2))
    put(call, 2, {groups.channels}, db);
  return success();
}

static LogicalResult batchNormBackward(const KernelCall &call) {
  Groups groups = Groups::ofChannels(call.dense("input").sizes);
  bool training = call.boolean("train");
  Statistics s;
  if (training) {
    s.mean = doubles(call, "save_mean", groups.count());
    s.rstd = doubles(call, "save_invstd", groups.count());
  } else {
    s = given(call, groups, call.number("eps"));
  }
  return backward(call, groups, s, training);
}

static LogicalResult groupNormBackward(const KernelCall &call) {
  Groups groups = Groups::ofChannels(call.dense("input").sizes);
  groups.perSample = call.integer("group");
  if (failed(checkGroups(call, groups.channels, groups.perSample)))
    return failure();
  Statistics s;
  s.mean = doubles(call, "mean", groups.count());
  s.rstd = doubles(call, "rstd", groups.count());
  return backward(call, groups, s, /*measured=*/true);
}

const KernelFn kernels::batchNorm = ::batchNorm;
const KernelFn kernels::batchNormEvaluating = ::batchNormEvaluating;
const KernelFn kernels::cudnnBatchNorm = ::cudnnBatchNorm;
const KernelFn kernels::batchNormBackward = ::batchNormBackward;
const KernelFn kernels::instanceNorm = ::instanceNorm;
const KernelFn kernels::groupNorm = ::groupNorm;
const KernelFn kernels::groupNormBackward = ::groupNormBackward;
