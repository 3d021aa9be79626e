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
  void readRow(float *to, int row, int width) const {
    const E *from = &place.of<E>(row, 0);
    if (place.element == 1)
      for (int e = 0; e < width; ++e)
        to[e] = toFloat(from[e]);
    else
      for (int e = 0; e < width; ++e)
        to[e] = toFloat(from[e * place.element]);
  }
};

/// Those of 16 bits where few sizes are worth a function for each type.
struct Half;
template <> struct HeadReader<Half> {
  HeadPlace place;
  void readRow(float *to, int row, int width) const {
    if (place.type == precompiled::BF16)
      HeadReader<bf16>{place}.readRow(to, row, width);
    else
      HeadReader<f16>{place}.readRow(to, row, width);
  }
};

/// Writes results; those that nobody reads are dropped.
struct HeadWriter {
  HeadPlace place;
  explicit operator bool() const { return place.memory; }
  void writeRow(int row, const float *from, int width) const {
    if (place.type == precompiled::F32 && place.element == 1)
      std::memcpy(&place.of<float>(row, 0), from, width * sizeof(float));
    else
      for (int e = 0; e < width; ++e)
        (*this)(row, e, from[e]);
  }
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
  cutback_host::HeadSizes sizes() const {
    return {int(call.queries), int(call.keys), int(call.width),
            int(call.outWidth), float(call.scale)};
  }
};

/// What all kinds of attention read and write; of elements E.
template <typename E> struct HeadOperands {
  HeadReader<E> query, key, value, gradient, out;
  Bias bias;
  LogSums logSums;
  HeadWriter result, keyGradient, valueGradient;

  explicit HeadOperands(const Head &head)
      : query(head.reader<E>(head.call.query)),
        key(head.reader<E>(head.call.key)),
        value(head.reader<E>(head.call.value)),
        gradient(head.reader<E>(head.call.gradient)),
        out(head.reader<E>(head.call.out)),
        bias{head.place(head.call.mask), head.call.isCausal != 0},
        logSums{head.place(head.call.logSum)},
        result(head.writer(head.call.kind == Attention::Forward
                               ? head.call.out
                               : head.call.result)),
        keyGradient(head.writer(head.call.keyGradient)),
        valueGradient(head.writer(head.call.valueGradient)) {}
};

/// False: there is no memory.
template <typename Order, int kWidth, typename E>
bool runHead(const Head &head) {
  const HeadOperands<E> of(head);
  switch (head.call.kind) {
  case Attention::Forward:
    cutback_host::attendHead<Order, kWidth>(head.sizes(), of);
    return true;
  case Attention::Gradients:
    return cutback_host::gradientsOfHead<Order, kWidth>(head.sizes(), of);
  default:
    return cutback_host::biasGradientOfHead<Order, kWidth>(head.sizes(), of);
  }
}

/// What a body is given.
struct Heads {
  const Attention *call;
  void **operands;
  bool hasMemory;
};

/// Runs `Of`, which says of a head whether there was memory for it.
template <bool (*Of)(const Head &)>
inline void runHeads(void **operands, int64_t *cells, const Attention *call) {
  Heads heads = {call, operands, true};
  cutback_host::runBodies(
      unsigned(call->batch * call->heads),
      [](void *given) {
        Heads &heads = *static_cast<Heads *>(given);
        heads.hasMemory &= Of({*heads.call, heads.operands});
      },
      &heads, cells);
  cells[0] = heads.hasMemory ? 0 : cutback_host::kNoMemory;
}

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_HEADS_H
