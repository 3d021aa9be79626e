// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot product attention: the surface op, and one kernel family each for
// CPU (flash), GPU flash, memory-efficient and cudnn, with backwards.
//
// With query [B, H, L, E], key [B, G, S, E] and value [B, G, S, F] the output
// is [B, H, L, F]. The kernels add the log-sum-exp of each row in f32, shaped
// as each of them keeps it, and the state of the random generator for dropout.
// Result lists as torch 2.13's meta functions give them; cumulative sequence
// lengths are undefined (`none`) for dense tensors.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

namespace {

struct Attention {
  TensorShape query, key, value;
  Dims output;

  int64_t queryLength() const { return query.dims[query.dims.size() - 2]; }
  int64_t keyLength() const { return key.dims[key.dims.size() - 2]; }
  /// [B, H], or fewer or more dimensions in the surface op.
  ArrayRef<int64_t> heads() const {
    return ArrayRef<int64_t>(query.dims).drop_back(2);
  }
};

} // namespace

/// `rank` is 4 for the kernels, 0 for any of at least 2.
static LogicalResult getAttention(const InferCall &call, int64_t rank,
                                  Attention &a) {
  if (failed(call.tensor("query", a.query)) ||
      failed(call.tensor("key", a.key)) ||
      failed(call.tensor("value", a.value)))
    return failure();
  for (const TensorShape *t : {&a.query, &a.key, &a.value})
    if (rank != 0 ? t->rank() != rank : t->rank() < 2)
      return call.error("attention over a tensor of rank ", t->rank());
  if (a.query.element != a.key.element || a.query.element != a.value.element)
    return call.error(
        "element types of query, key and value differ: ", a.query.element, ", ",
        a.key.element, ", ", a.value.element);
  if (failed(checkSame(call, "widths of query and key", a.query.dims.back(),
                       a.key.dims.back())) ||
      failed(checkSame(call, "lengths of key and value", a.keyLength(),
                       a.value.dims[a.value.dims.size() - 2])))
    return failure();
  a.output = a.query.dims;
  a.output.back() = a.value.dims.back();
  return success();
}

/// [B, H, `length`].
static Dims rows(const Attention &a, int64_t length) {
  Dims dims(a.heads());
  dims.push_back(length);
  return dims;
}

LogicalResult infer::sdpa(const InferCall &call, Results &results) {
  Attention a;
  bool grouped = false;
  if (failed(getAttention(call, 0, a)) ||
      failed(call.boolean("enable_gqa", grouped)))
    return failure();
  // Heads broadcast, unless each key head serves several query heads.
  Dims heads(a.heads());
  if (!grouped &&
      (failed(broadcastInto(call, heads,
                            ArrayRef<int64_t>(a.key.dims).drop_back(2))) ||
       failed(broadcastInto(call, heads,
                            ArrayRef<int64_t>(a.value.dims).drop_back(2)))))
    return failure();
  heads.push_back(a.queryLength());
  heads.push_back(a.value.dims.back());
  return push(call, results, heads, a.query.element);
}

LogicalResult infer::sdpaMath(const InferCall &call, Results &results) {
  Attention a;
  if (failed(sdpa(call, results)) || failed(getAttention(call, 0, a)))
    return failure();
  Dims weights(cast<RankedTensorType>(results.back()).getShape());
  weights.back() = a.keyLength();
  return push(call, results, weights, a.query.element);
}

LogicalResult infer::sdpaFlashCpu(const InferCall &call, Results &results) {
  Attention a;
  if (failed(getAttention(call, 4, a)) ||
      failed(push(call, results, a.output, a.query.element)))
    return failure();
  return push(call, results, rows(a, a.queryLength()),
              statisticsType(a.query.element));
}

/// (cum_seq_q, cum_seq_k, max_q, max_k), as both GPU kernels have them.
static void pushLengths(const InferCall &call, Results &results) {
  pushNone(call, results);
  pushNone(call, results);
  results.append(2, IndexType::get(call.getContext()));
}

LogicalResult infer::sdpaFlash(const InferCall &call, Results &results) {
  Attention a;
  bool debug = false;
  if (failed(getAttention(call, 4, a)) ||
      failed(call.boolean("return_debug_mask", debug)) ||
      failed(push(call, results, a.output, a.query.element)) ||
      failed(push(call, results, rows(a, a.queryLength()), floatType(call))))
    return failure();
  pushLengths(call, results);
  Type word = IntegerType::get(call.getContext(), 64, IntegerType::Unsigned);
  if (failed(push(call, results, {2}, word)) ||
      failed(push(call, results, {}, word)))
    return failure();
  // The mask is padded to the kernel's blocks.
  Dims mask = {0};
  if (debug) {
    mask = rows(a, a.queryLength());
    mask.push_back(kUnknown);
  }
  return push(call, results, mask, a.query.element);
}

LogicalResult infer::sdpaEfficient(const InferCall &call, Results &results) {
  Attention a;
  bool logSumExp = false;
  if (failed(getAttention(call, 4, a)) ||
      failed(call.boolean("compute_log_sumexp", logSumExp)))
    return failure();
  // Rows are padded to a multiple of 32.
  int64_t length = mulSizes(ceilDivSize(a.queryLength(), 32), 32);
  if (failed(push(call, results, a.output, a.query.element)) ||
      failed(push(call, results, rows(a, logSumExp ? length : 0),
                  floatType(call))) ||
      failed(push(call, results, {}, intType(call))))
    return failure();
  return push(call, results, {}, intType(call));
}

LogicalResult infer::sdpaCudnn(const InferCall &call, Results &results) {
  Attention a;
  if (failed(getAttention(call, 4, a)))
    return failure();
  Dims logSumExp = rows(a, a.queryLength());
  logSumExp.push_back(1);
  if (failed(push(call, results, a.output, a.query.element)) ||
      failed(push(call, results, logSumExp, floatType(call))))
    return failure();
  pushLengths(call, results);
  for (int i = 0; i < 2; ++i)
    if (failed(push(call, results, {}, intType(call))))
      return failure();
  pushNone(call, results);
  return success();
}

LogicalResult infer::sdpaBackward(const InferCall &call, Results &results) {
  Attention a;
  if (failed(getAttention(call, 4, a)))
    return failure();
  for (const TensorShape *t : {&a.query, &a.key, &a.value})
    if (failed(push(call, results, *t)))
      return failure();
  return success();
}

LogicalResult infer::sdpaEfficientBackward(const InferCall &call,
                                           Results &results) {
  Attention a;
  std::optional<TensorShape> bias;
  SmallVector<bool> mask;
  if (failed(getAttention(call, 4, a)) ||
      failed(call.optionalTensor("attn_bias", bias)) ||
      failed(call.booleans("grad_input_mask", mask)))
    return failure();
  if (mask.size() != 4)
    return call.error("grad_input_mask has ", mask.size(), " entries, not 4");
  // The kernel computes the first three in any case.
  for (const TensorShape *t : {&a.query, &a.key, &a.value})
    if (failed(push(call, results, *t)))
      return failure();
  if (bias && mask[3])
    return push(call, results, *bias);
  pushNone(call, results);
  return success();
}
