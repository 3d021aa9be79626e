// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of any sizes, compiled with Cutback and not with a model: the
// functions that a text would call (cutback_cpu_attention.h), for the few
// widths that blocks of heads have. Sums do not depend on the width of a block.
// The order of sums is that of a warp a row; AttentionTiles.cpp has the other
// one.

#include "Heads.h"

template <typename E, int kHeld> static void attendOne(const Head &head) {
  const Attention &call = head.call;
  const auto q = head.reader<E>(call.query), k = head.reader<E>(call.key),
             v = head.reader<E>(call.value);
  const Bias bias = head.bias();
  const LogSums logSums = head.logSums();
  if (call.kind == Attention::Forward) {
    attend<kHeld>(0, head.queries(), head.keys(), head.width(), head.outWidth(),
                  head.scale(), q, k, v, bias, head.writer(call.out), logSums);
    return;
  }
  const auto dOut = head.reader<E>(call.gradient),
             out = head.reader<E>(call.out);
  const HeadWriter result = head.writer(call.result);
  if (call.kind == Attention::QueryGradient)
    attendQueryGradient<kHeld>(0, head.queries(), head.keys(), head.width(),
                               head.outWidth(), head.scale(), q, k, v, bias,
                               dOut, out, logSums, result);
  else if (call.kind == Attention::KeyGradient)
    attendKeyGradient<kHeld>(0, head.keys(), head.queries(), head.width(),
                             head.outWidth(), head.scale(), q, k, v, bias, dOut,
                             out, logSums, result,
                             head.writer(call.otherResult));
  else
    attendBiasGradient<kHeld>(0, head.queries(), head.keys(), head.width(),
                              head.outWidth(), head.scale(), q, k, v, bias,
                              dOut, out, logSums, result);
}

static void attendAny(void *given) {
  const Heads &heads = *static_cast<Heads *>(given);
  const Head head = {*heads.call, heads.operands};
  const int width = std::max(head.width(), head.outWidth());
  if (heads.call->query.type != precompiled::F32)
    attendOne<Half, 8>(head); // where heads are wide, or for a bias's gradient
  else if (width <= 64)
    attendOne<float, 2>(head);
  else if (width <= 128)
    attendOne<float, 4>(head);
  else
    attendOne<float, 8>(head);
}

extern "C" void cutback_attention(void **operands, int64_t *cells,
                                  const Attention *call) {
  runHeads(call, operands, cells, attendAny);
}
