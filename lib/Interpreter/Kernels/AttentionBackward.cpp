// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of attention.
//
// The weights are made again from the scores and the log-sum-exp that the
// forward kept: P = exp(scores - logsumexp). With W = P times the factors of
// dropout, D = rowsum(dO * O):
//   dV = W^T dO,  dP = dO V^T * factors,  dS = P * (dP - D)
//   dQ = scale * dS K,  dK = scale * dS^T Q,  dBias = dS
// Gradients of operands that were broadcast are summed. Rows that look at
// nothing have none.

#include "Attention.h"
#include "Kernels.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct Gradients {
  std::vector<double> query, key, value, bias;
};

/// Operands that only the backward has.
struct Saved {
  std::vector<double> gradient, output, logSumExp;
  /// Rows of logsumexp a matrix: padded for the efficient kernel.
  int64_t rows;
};

} // namespace

/// One row of weights: adds its part of all gradients.
static void addRow(const AttentionProblem &p, const Saved &s,
                   ArrayRef<double> keep, int64_t m, int64_t l, Gradients &g) {
  double norm = s.logSumExp[m * s.rows + l];
  if (norm == -std::numeric_limits<double>::infinity())
    return;
  std::vector<double> scores = p.scores(m, l);
  const double *dOut = s.gradient.data() + (m * p.length + l) * p.outWidth;
  const double *out = s.output.data() + (m * p.length + l) * p.outWidth;
  double dot = 0;
  for (int64_t e = 0; e < p.outWidth; ++e)
    dot += dOut[e] * out[e];
  int64_t queryRow = p.queryMap[m] * p.length + l;
  for (int64_t j = 0; j < p.keys; ++j) {
    int64_t at = (m * p.length + l) * p.keys + j;
    double weight = std::exp(scores[j] - norm);
    double factor = keep.empty() ? 1 : keep[at];
    int64_t valueRow = p.valueMap[m] * p.keys + j;
    double dWeight = 0;
    for (int64_t e = 0; e < p.outWidth; ++e) {
      dWeight += dOut[e] * p.v[valueRow * p.outWidth + e];
      g.value[valueRow * p.outWidth + e] += weight * factor * dOut[e];
    }
    double dScore = weight * (dWeight * factor - dot);
    g.bias[at] = dScore;
    int64_t keyRow = p.keyMap[m] * p.keys + j;
    for (int64_t e = 0; e < p.width; ++e) {
      g.query[queryRow * p.width + e] +=
          p.scale * dScore * p.k[keyRow * p.width + e];
      g.key[keyRow * p.width + e] +=
          p.scale * dScore * p.q[queryRow * p.width + e];
    }
  }
}

/// `dropout` is the probability that the forward had.
static LogicalResult differentiate(const KernelCall &call, StringRef gradient,
                                   double dropout, const RandomState &state) {
  AttentionProblem p(call);
  Tensor logSumExp = call.tensor("logsumexp");
  int64_t rows = logSumExp.rank() > 2 ? logSumExp.sizes[2] : p.length;
  int64_t outputs = product(p.outputSizes());
  Saved s{doubles(call, gradient, outputs), doubles(call, "out", outputs),
          doubles(call, "logsumexp", p.matrices() * std::max(rows, p.length)),
          std::max(rows, p.length)};
  std::vector<double> keep =
      keepFactors(state, dropout, product(p.weightSizes()));
  Gradients g{std::vector<double>(p.q.size()), std::vector<double>(p.k.size()),
              std::vector<double>(p.v.size()),
              std::vector<double>(product(p.weightSizes()))};
  for (int64_t m = 0; m < p.matrices(); ++m)
    for (int64_t l = 0; l < p.length; ++l)
      addRow(p, s, keep, m, l, g);
  if (call.wants(0))
    put(call, 0, p.query.sizes, g.query);
  if (call.wants(1))
    put(call, 1, p.key.sizes, g.key);
  if (call.wants(2))
    put(call, 2, p.value.sizes, g.value);
  if (call.wants(3) && p.mask) {
    std::vector<double> bias(p.mask->numel());
    for (auto [value, at] :
         llvm::zip_equal(g.bias, broadcastMap(p.mask->sizes, p.weightSizes())))
      bias[at] += value;
    put(call, 3, p.mask->sizes, bias);
  }
  return success();
}

/// The state that a forward returned as two results.
static RandomState stateOf(const KernelCall &call) {
  auto word = [&](aten::ParamRef param) {
    std::vector<int64_t> values = ints(call, param);
    return values.empty() ? 0 : static_cast<uint64_t>(values[0]);
  };
  return {word("philox_seed"), word("philox_offset")};
}

static LogicalResult flashForCpuBackward(const KernelCall &call) {
  return differentiate(call, "grad_out", /*dropout=*/0, {});
}

/// Flash keeps both words in `philox_seed`.
static LogicalResult flashBackward(const KernelCall &call) {
  RandomState state;
  std::vector<int64_t> words = ints(call, "philox_seed");
  if (words.size() == 2)
    state = {static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1])};
  else
    state = stateOf(call);
  return differentiate(call, "grad_out", call.number("dropout_p"), state);
}

static LogicalResult cudnnBackward(const KernelCall &call) {
  return differentiate(call, "grad_out", call.number("dropout_p"),
                       stateOf(call));
}

static LogicalResult efficientBackward(const KernelCall &call) {
  return differentiate(call, "grad_out_", call.number("dropout_p"),
                       stateOf(call));
}

const KernelFn kernels::flashForCpuBackward = ::flashForCpuBackward;
const KernelFn kernels::flashBackward = ::flashBackward;
const KernelFn kernels::cudnnBackward = ::cudnnBackward;
const KernelFn kernels::efficientBackward = ::efficientBackward;
