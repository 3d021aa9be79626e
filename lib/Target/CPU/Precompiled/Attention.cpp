// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of any sizes, compiled with Cutback and not with a model: the
// functions of AttentionBlocks.h, for the few widths that blocks of heads have.
// Sums do not depend on the width of a block. The order of sums is that of a
// warp a row; AttentionTiles.cpp has the other one.

#include "Heads.h"

template <typename E, int kHeld> static void attendOne(const Head &head) {
  const HeadOperands<E> of(head);
  switch (head.call.kind) {
  case Attention::Forward:
    attend<kHeld>(0, head.queries(), head.keys(), head.width(), head.outWidth(),
                  head.scale(), of.query, of.key, of.value, of.bias, of.result,
                  of.logSums);
    return;
  case Attention::QueryGradient:
    attendQueryGradient<kHeld>(0, head.queries(), head.keys(), head.width(),
                               head.outWidth(), head.scale(), of.query, of.key,
                               of.value, of.bias, of.gradient, of.out,
                               of.logSums, of.result);
    return;
  case Attention::KeyGradient:
    attendKeyGradient<kHeld>(0, head.keys(), head.queries(), head.width(),
                             head.outWidth(), head.scale(), of.query, of.key,
                             of.value, of.bias, of.gradient, of.out, of.logSums,
                             of.result, of.otherResult);
    return;
  default:
    attendBiasGradient<kHeld>(0, head.queries(), head.keys(), head.width(),
                              head.outWidth(), head.scale(), of.query, of.key,
                              of.value, of.bias, of.gradient, of.out,
                              of.logSums, of.result);
  }
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
