// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot product attention, forward, as one function for all kernels.
//
// With query [..., H, L, E], key [..., G, S, E], value [..., G, S, F] each row
// of the output is softmax(scale * q k^T + bias) v; the bias is the mask (an
// i1 mask of the surface op is 0 where it is true, else -infinity; the kernels
// add it as a number), and -infinity above the
// diagonal if the call is causal. Leading dimensions broadcast; where G heads
// serve H, head h reads head h * G / H. A row that may look at nothing is 0.
// Dropout zeroes weights behind the softmax and divides the others by 1 - p.
// The kernels of devices differ in what they return beside the output:
//   CPU flash      logsumexp [B, H, L]
//   flash, cudnn   the same, lengths, and the state of the generator
//   efficient      logsumexp with rows padded to a multiple of 32
// The scores of a row are kept, so memory is O(S) beside the operands.

#include "Attention.h"
#include "Kernels.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Shapes and masks
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> leading(const Tensor &tensor) {
  return ArrayRef<int64_t>(tensor.sizes).drop_back(2);
}

/// The matrix of an operand for each matrix of the result.
static std::vector<int64_t> matricesOf(ArrayRef<int64_t> from,
                                       ArrayRef<int64_t> to) {
  if (from.empty() || from.back() == to.back() || from.back() == 1)
    return broadcastMap(from, to);
  // Each head of `from` serves several.
  Sizes source(from), target(to);
  source.push_back(1);
  target.back() = from.back();
  target.push_back(to.back() / from.back());
  std::vector<int64_t> map = broadcastMap(source, target);
  map.resize(product(to)); // heads that are no multiple: inference refuses
  return map;
}

static std::vector<double> biasOf(const std::optional<Tensor> &mask,
                                  ArrayRef<int64_t> sizes, bool isTruth) {
  std::vector<double> bias;
  if (!mask)
    return bias;
  std::vector<double> values = mask->doubles();
  bool truth = isTruth && mask->type == DType::Bool;
  for (int64_t at : broadcastMap(mask->sizes, sizes))
    bias.push_back(!truth ? values[at] : (values[at] != 0 ? 0 : -kInfinity));
  return bias;
}

AttentionProblem::AttentionProblem(const KernelCall &call, bool truthMask)
    : query(call.dense("query")), key(call.dense("key")),
      value(call.dense("value")), causal(call.boolean("is_causal")) {
  length = query.sizes[query.rank() - 2];
  width = query.sizes.back();
  keys = key.sizes[key.rank() - 2];
  outWidth = value.sizes.back();
  scale = call.number("scale", 1 / std::sqrt(static_cast<double>(width)));
  // Heads that others serve stand in the query alone.
  heads = Sizes(leading(query));
  auto join = [&](ArrayRef<int64_t> other) {
    Sizes sizes(other);
    if (!sizes.empty() && !heads.empty() && sizes.back() < heads.back())
      sizes.back() = 1;
    heads = broadcastSizes(heads, sizes);
  };
  join(leading(key));
  join(leading(value));
  queryMap = matricesOf(leading(query), heads);
  keyMap = matricesOf(leading(key), heads);
  valueMap = matricesOf(leading(value), heads);
  q = query.doubles();
  k = key.doubles();
  v = value.doubles();
  mask = call.optionalTensor(
      optional(call.isNone(optional("attn_bias")) ? "attn_mask" : "attn_bias"));
  bias = biasOf(mask, weightSizes(), truthMask);
}

Sizes AttentionProblem::weightSizes() const {
  Sizes sizes(heads);
  sizes.push_back(length);
  sizes.push_back(keys);
  return sizes;
}

Sizes AttentionProblem::outputSizes() const {
  Sizes sizes(heads);
  sizes.push_back(length);
  sizes.push_back(outWidth);
  return sizes;
}

std::vector<double> AttentionProblem::scores(int64_t matrix,
                                             int64_t row) const {
  std::vector<double> result(keys);
  const double *left = q.data() + (queryMap[matrix] * length + row) * width;
  for (int64_t j = 0; j < keys; ++j) {
    const double *right = k.data() + (keyMap[matrix] * keys + j) * width;
    double sum = 0;
    for (int64_t e = 0; e < width; ++e)
      sum += left[e] * right[e];
    result[j] = sum * scale;
    if (!bias.empty())
      result[j] += bias[(matrix * length + row) * keys + j];
    if (causal && j > row)
      result[j] = -kInfinity;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

namespace {

struct Forward {
  std::vector<double> output, logSumExp, weights;
};

} // namespace

/// `keep` is empty, or a factor for each weight.
static Forward attend(const AttentionProblem &p, ArrayRef<double> keep) {
  Forward f;
  f.output.resize(p.matrices() * p.length * p.outWidth);
  for (int64_t m = 0; m < p.matrices(); ++m)
    for (int64_t l = 0; l < p.length; ++l) {
      std::vector<double> row = p.scores(m, l);
      double top = -kInfinity, sum = 0;
      for (double score : row)
        top = score > top || std::isnan(score) ? score : top;
      for (double &score : row)
        sum += score = top == -kInfinity ? 0 : std::exp(score - top);
      f.logSumExp.push_back(top == -kInfinity ? -kInfinity
                                              : top + std::log(sum));
      double *out = f.output.data() + (m * p.length + l) * p.outWidth;
      for (int64_t j = 0; j < p.keys; ++j) {
        double weight = sum == 0 ? 0 : row[j] / sum;
        if (!keep.empty())
          weight *= keep[(m * p.length + l) * p.keys + j];
        f.weights.push_back(weight);
        const double *v =
            p.v.data() + (p.valueMap[m] * p.keys + j) * p.outWidth;
        for (int64_t e = 0; e < p.outWidth; ++e)
          out[e] += weight * v[e];
      }
    }
  return f;
}

/// Factors of the weights under dropout; empty without.
static std::vector<double> drawn(const KernelCall &call,
                                 const AttentionProblem &p,
                                 const RandomState &state) {
  return keepFactors(state, call.number("dropout_p"), product(p.weightSizes()));
}

/// Results 0 (output) and 1 (weights, for the ops that return them).
template <bool surface> static LogicalResult math(const KernelCall &call) {
  AttentionProblem p(call, /*truthMask=*/surface);
  std::optional<Tensor> given = call.optionalTensor(optional("dropout_mask"));
  double kept = 1 - call.number("dropout_p");
  std::vector<double> keep;
  if (given)
    for (double value : given->doubles())
      keep.push_back(value / kept);
  else
    keep = drawn(call, p, randomState(call));
  Forward f = attend(p, keep);
  // Under a mask that is given, PyTorch scales the value, not the weights.
  if (given)
    for (double &weight : f.weights)
      weight *= kept;
  put(call, 0, p.outputSizes(), f.output);
  if (call.wants(1))
    put(call, 1, p.weightSizes(), f.weights);
  return success();
}

/// [B, H, `rows`] with what `values` has of it.
static void putLogSumExp(const KernelCall &call, const AttentionProblem &p,
                         ArrayRef<double> values, int64_t rows,
                         bool column = false) {
  Sizes sizes(p.heads);
  sizes.push_back(rows);
  if (column)
    sizes.push_back(1);
  std::vector<double> padded(p.matrices() * rows);
  for (int64_t m = 0; m < p.matrices(); ++m)
    for (int64_t l = 0; l < std::min(rows, p.length); ++l)
      padded[m * rows + l] = values[m * p.length + l];
  put(call, 1, sizes, padded);
}

static LogicalResult flashForCpu(const KernelCall &call) {
  // Its backward could not know what was dropped.
  if (call.number("dropout_p") != 0)
    return call.error("this kernel has no dropout");
  AttentionProblem p(call);
  Forward f = attend(p, {});
  put(call, 0, p.outputSizes(), f.output);
  putLogSumExp(call, p, f.logSumExp, p.length);
  return success();
}

/// Seed and stream of the draws: result `first` with both, or it and the next
/// with one each.
static void putState(const KernelCall &call, unsigned first,
                     const RandomState &state, bool together) {
  auto seed = static_cast<int64_t>(state.seed);
  auto stream = static_cast<int64_t>(state.stream);
  Sizes sizes = together ? Sizes{2} : Sizes{};
  if (call.wants(first)) {
    Tensor words = call.make(first, sizes);
    words.setInt(0, seed);
    if (together)
      words.setInt(1, stream);
  }
  if (call.wants(first + 1))
    call.make(first + 1, {}).setInt(0, together ? 0 : stream);
}

/// Flash and cudnn attention of GPUs.
template <bool cudnn> static LogicalResult flash(const KernelCall &call) {
  AttentionProblem p(call);
  RandomState state = randomState(call);
  Forward f = attend(p, drawn(call, p, state));
  put(call, 0, p.outputSizes(), f.output);
  putLogSumExp(call, p, f.logSumExp, p.length, /*column=*/cudnn);
  call.set(4, p.length);
  call.set(5, p.keys);
  putState(call, 6, state, /*together=*/!cudnn);
  if (call.wants(8)) {
    // The mask of a call that asks for one: the weights.
    if (call.boolean("return_debug_mask"))
      put(call, 8, p.weightSizes(), f.weights);
    else
      call.make(8, {0});
  }
  return success();
}

static LogicalResult efficient(const KernelCall &call) {
  AttentionProblem p(call);
  RandomState state = randomState(call);
  Forward f = attend(p, drawn(call, p, state));
  put(call, 0, p.outputSizes(), f.output);
  bool wanted = call.boolean("compute_log_sumexp");
  putLogSumExp(call, p, f.logSumExp, wanted ? (p.length + 31) / 32 * 32 : 0);
  putState(call, 2, state, /*together=*/false);
  return success();
}

const KernelFn kernels::scaledDotProductAttention = math<true>;
const KernelFn kernels::scaledDotProductAttentionMath = math<false>;
const KernelFn kernels::flashForCpu = ::flashForCpu;
const KernelFn kernels::scaledDotProductFlashAttention = flash<false>;
const KernelFn kernels::scaledDotProductCudnnAttention = flash<true>;
const KernelFn kernels::efficient = ::efficient;
