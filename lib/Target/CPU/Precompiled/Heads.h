// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and results of attention with their strides, as the functions of
// AttentionBlocks.h look them up: of the head that blockIdx.z names.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_HEADS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_HEADS_H

#include "AttentionBlocks.h"

#include "cutback/Target/CPU/PrecompiledCalls.h"

namespace {

namespace precompiled = cutback::precompiled;
using cutback::precompiled::Attention;
using cutback::precompiled::HeadTensor;

/// Where a tensor has element (row, element) of a head.
struct HeadPlace {
  void *memory = nullptr;
  int64_t at = 0, row = 0, element = 0, type = precompiled::F32;

  HeadPlace(const HeadTensor &tensor, void **operands, int64_t heads) {
    if (tensor.operand < 0)
      return;
    const int64_t number = blockIdx.z;
    memory = operands[tensor.operand];
    at = tensor.at + number / heads * tensor.batch +
         number % heads * tensor.head;
    row = tensor.row, element = tensor.element, type = tensor.type;
  }
  template <typename E> E &of(int i, int e) const {
    return static_cast<E *>(memory)[at + i * row + e * element];
  }
};

/// Reads elements of one type, E.
template <typename E> struct HeadReader {
  HeadPlace place;
  using Element = E;
  E get(int i, int e) const { return place.of<E>(i, e); }
  float operator()(int i, int e) const { return toFloat(get(i, e)); }
};

/// Those of 16 bits where few sizes are worth a function for each type.
struct Half;
template <> struct HeadReader<Half> {
  HeadPlace place;
  float operator()(int i, int e) const {
    return place.type == precompiled::BF16 ? toFloat(place.of<bf16>(i, e))
                                           : toFloat(place.of<f16>(i, e));
  }
};

/// Writes results; those that nobody reads are dropped.
struct HeadWriter {
  HeadPlace place;
  void operator()(int i, int e, float x) const {
    if (!place.memory)
      return;
    if (place.type == precompiled::BF16)
      place.of<bf16>(i, e) = toBf16(x);
    else if (place.type == precompiled::F16)
      place.of<f16>(i, e) = toF16(x);
    else
      place.of<float>(i, e) = x;
  }
};

/// Logarithms of the sums of rows.
struct LogSums {
  HeadPlace place;
  float operator()(int i) const { return place.of<float>(i, 0); }
  void operator()(int i, float x) const {
    if (place.memory)
      place.of<float>(i, 0) = x;
  }
};

/// What is added to a score: -infinity where a query does not look.
struct Bias {
  HeadPlace mask;
  bool isCausal;
  float operator()(int i, int j) const {
    if (isCausal && j > i)
      return lowest();
    if (!mask.memory)
      return 0.0f;
    switch (mask.type) {
    case precompiled::Bool:
      return mask.of<bool>(i, j) ? 0.0f : lowest();
    case precompiled::BF16:
      return toFloat(mask.of<bf16>(i, j));
    case precompiled::F16:
      return toFloat(mask.of<f16>(i, j));
    default:
      return mask.of<float>(i, j);
    }
  }
  cutback_host::Sight sight(int query, int queries, int key, int keys) const {
    if (isCausal && key >= query + queries)
      return cutback_host::Sight::None;
    return mask.memory || (isCausal && key + keys - 1 > query)
               ? cutback_host::Sight::Some
               : cutback_host::Sight::All;
  }
};

/// A head of a call.
struct Head {
  const Attention &call;
  void **operands;

  HeadPlace place(const HeadTensor &tensor) const {
    return {tensor, operands, call.heads};
  }
  template <typename E> HeadReader<E> reader(const HeadTensor &tensor) const {
    return {place(tensor)};
  }
  HeadWriter writer(const HeadTensor &tensor) const { return {place(tensor)}; }
  LogSums logSums() const { return {place(call.logSum)}; }
  Bias bias() const { return {place(call.mask), call.isCausal != 0}; }
  float scale() const { return float(call.scale); }
  int queries() const { return int(call.queries); }
  int keys() const { return int(call.keys); }
  int width() const { return int(call.width); }
  int outWidth() const { return int(call.outWidth); }
};

/// What all kinds of attention read and write; of elements E.
template <typename E> struct HeadOperands {
  HeadReader<E> query, key, value, gradient, out;
  Bias bias;
  LogSums logSums;
  HeadWriter result, otherResult;

  explicit HeadOperands(const Head &head)
      : query(head.reader<E>(head.call.query)),
        key(head.reader<E>(head.call.key)),
        value(head.reader<E>(head.call.value)),
        gradient(head.reader<E>(head.call.gradient)),
        out(head.reader<E>(head.call.out)), bias(head.bias()),
        logSums(head.logSums()),
        result(head.writer(head.call.kind == Attention::Forward
                               ? head.call.out
                               : head.call.result)),
        otherResult(head.writer(head.call.otherResult)) {}
};

/// What a body is given.
struct Heads {
  const Attention *call;
  void **operands;
};

inline void runHeads(const Attention *call, void **operands, int64_t *cells,
                     void (*body)(void *)) {
  Heads heads = {call, operands};
  cutback_host::runBodies(unsigned(call->batch * call->heads), body, &heads,
                          cells);
  cells[0] = 0;
}

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_HEADS_H
