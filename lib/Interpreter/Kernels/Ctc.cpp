// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connectionist temporal classification: the probability of a sequence of
// labels is the sum over all paths that give it when repetitions and blanks
// are taken out (Graves et al., ICML 2006).
//
// A path goes through the 2 S + 1 places blank, label 1, blank, ..., label S,
// blank. alpha(t, s) is the logarithm of the sum over the beginnings of paths
// up to time t and place s; beta the same for what follows, time t included.
// Both take T * S steps a sequence. The gradient is PyTorch's: that of a model
// whose log-probabilities come out of a log-softmax.

#include "Kernels.h"
#include "Values.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b))
static double logAdd(double a, double b) {
  if (a < b)
    std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

/// A list of numbers, given as one or as a tensor.
static Sizes lengthsOf(const KernelCall &call, StringRef param) {
  if (call.op.getSchema().overload == "default") {
    SmallVector<int64_t> list = call.integers(param);
    return Sizes(list.begin(), list.end());
  }
  std::vector<int64_t> list = ints(call, param);
  return Sizes(list.begin(), list.end());
}

namespace {
/// The operands, checked.
class Sequences {
public:
  explicit Sequences(const KernelCall &call) : call(call) {}
  LogicalResult read();

  double at(int64_t t, int64_t n, int64_t label) const {
    return logs[(t * batch + n) * classes + label];
  }
  /// The label at a place: the blank at even ones.
  int64_t labelAt(int64_t n, int64_t place) const {
    return place % 2 ? labels[n][place / 2] : blank;
  }
  /// A path may come from two places before: over a blank between two labels
  /// that differ.
  bool skips(int64_t n, int64_t place) const {
    return place % 2 && place > 1 && labelAt(n, place) != labelAt(n, place - 2);
  }
  int64_t places(int64_t n) const { return 2 * labelLengths[n] + 1; }

  const KernelCall &call;
  Tensor logProbs;
  std::vector<double> logs;
  std::vector<std::vector<int64_t>> labels;
  Sizes inputLengths, labelLengths;
  int64_t steps = 0, batch = 0, classes = 0, blank = 0, most = 0;
};
} // namespace

LogicalResult Sequences::read() {
  logProbs = call.dense("log_probs");
  Tensor targets = call.dense("targets");
  if (logProbs.rank() != 3 || targets.rank() < 1 || targets.rank() > 2)
    return call.error(
        "runs on log_probs of 3 dimensions and targets of 1 or 2");
  logs = logProbs.doubles();
  steps = logProbs.sizes[0], batch = logProbs.sizes[1];
  classes = logProbs.sizes[2], blank = call.integer("blank");
  inputLengths = lengthsOf(call, "input_lengths");
  labelLengths = lengthsOf(call, "target_lengths");
  if (int64_t(inputLengths.size()) != batch ||
      int64_t(labelLengths.size()) != batch)
    return call.error("has lengths for another number of sequences");
  if (failed(checkIndex(call, blank, classes)))
    return failure();
  std::vector<int64_t> all = targets.ints();
  int64_t next = 0;
  for (int64_t n = 0; n < batch; ++n) {
    int64_t from = targets.rank() == 2 ? n * targets.sizes[1] : next;
    next += labelLengths[n];
    most = std::max(most, labelLengths[n]);
    bool fits = labelLengths[n] >= 0 && inputLengths[n] >= 0 &&
                inputLengths[n] <= steps &&
                (targets.rank() == 2 ? n < targets.sizes[0] &&
                                           labelLengths[n] <= targets.sizes[1]
                                     : next <= int64_t(all.size()));
    if (!fits)
      return call.error("has a length beyond its sequence");
    labels.emplace_back(all.begin() + from,
                        all.begin() + from + labelLengths[n]);
    for (int64_t label : labels.back())
      if (failed(checkIndex(call, label, classes)))
        return failure();
  }
  return success();
}

/// Beginnings of paths, for all times.
static std::vector<std::vector<double>> beginnings(const Sequences &s,
                                                   int64_t n) {
  int64_t places = s.places(n);
  std::vector<std::vector<double>> alpha(s.inputLengths[n],
                                         std::vector<double>(places, kNever));
  for (int64_t t = 0; t < s.inputLengths[n]; ++t)
    for (int64_t p = 0; p < places; ++p) {
      double before = kNever;
      if (t == 0) {
        before = p < 2 ? 0 : kNever;
      } else {
        before = alpha[t - 1][p];
        if (p > 0)
          before = logAdd(before, alpha[t - 1][p - 1]);
        if (s.skips(n, p))
          before = logAdd(before, alpha[t - 1][p - 2]);
      }
      alpha[t][p] = before + s.at(t, n, s.labelAt(n, p));
    }
  return alpha;
}

/// -log of the sum over all paths.
static double lossOf(const Sequences &s, int64_t n,
                     const std::vector<std::vector<double>> &alpha) {
  if (alpha.empty())
    return s.labelLengths[n] == 0 ? 0 : -kNever;
  const std::vector<double> &last = alpha.back();
  double sum = last.back();
  return -(last.size() > 1 ? logAdd(sum, last[last.size() - 2]) : sum);
}

static LogicalResult ctcLoss(const KernelCall &call) {
  Sequences s(call);
  if (failed(s.read()))
    return failure();
  int64_t width = 2 * s.most + 1;
  std::vector<double> losses, all(s.batch * s.steps * width, kNever);
  for (int64_t n = 0; n < s.batch; ++n) {
    auto alpha = beginnings(s, n);
    losses.push_back(lossOf(s, n, alpha));
    for (auto [t, row] : llvm::enumerate(alpha))
      std::copy(row.begin(), row.end(),
                all.begin() + (n * s.steps + int64_t(t)) * width);
  }
  put(call, 0, {s.batch}, losses);
  put(call, 1, {s.batch, s.steps, width}, all);
  return success();
}

/// For each time and class, the logarithm of the sum over the paths that are
/// at a place of that class, with the class counted twice.
static void addPaths(const Sequences &s, int64_t n, ArrayRef<double> alpha,
                     int64_t width, std::vector<double> &sums) {
  int64_t places = s.places(n), end = s.inputLengths[n];
  std::vector<double> beta(places, kNever), next;
  for (int64_t t = end - 1; t >= 0; --t) {
    next = beta;
    for (int64_t p = 0; p < places; ++p) {
      double behind = kNever;
      if (t == end - 1) {
        behind = p >= places - 2 ? 0 : kNever;
      } else {
        behind = next[p];
        if (p + 1 < places)
          behind = logAdd(behind, next[p + 1]);
        if (p + 2 < places && s.skips(n, p + 2))
          behind = logAdd(behind, next[p + 2]);
      }
      int64_t label = s.labelAt(n, p);
      beta[p] = behind + s.at(t, n, label);
      double &sum = sums[(t * s.batch + n) * s.classes + label];
      sum = logAdd(sum, alpha[(n * s.steps + t) * width + p] + beta[p]);
    }
  }
}

static LogicalResult ctcBackward(const KernelCall &call) {
  Sequences s(call);
  if (failed(s.read()))
    return failure();
  int64_t width = 2 * s.most + 1;
  std::vector<double> grads = doubles(call, "grad", s.batch);
  std::vector<double> losses = doubles(call, "neg_log_likelihood", s.batch);
  std::vector<double> alpha =
      doubles(call, "log_alpha", s.batch * s.steps * width);
  bool zeroInfinity = call.boolean("zero_infinity");
  std::vector<double> sums(s.logs.size(), kNever), result(s.logs.size());
  for (int64_t n = 0; n < s.batch; ++n) {
    if (zeroInfinity && std::isinf(losses[n]))
      continue;
    addPaths(s, n, alpha, width, sums);
    for (int64_t t = 0; t < s.inputLengths[n]; ++t)
      for (int64_t c = 0; c < s.classes; ++c) {
        int64_t i = (t * s.batch + n) * s.classes + c;
        double share = std::exp(sums[i] + losses[n] - s.logs[i]);
        result[i] = (std::exp(s.logs[i]) - share) * grads[n];
      }
  }
  put(call, 0, s.logProbs.sizes, result);
  return success();
}

const KernelFn kernels::ctcLoss = ::ctcLoss;
const KernelFn kernels::ctcBackward = ::ctcBackward;
