// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of 16-bit floats in the order of sums that tensor cores have: in
// groups of 32 others, of 16 where heads are wide. As Attention.cpp else: the
// functions that a text would call (cutback_cpu_attention.h), for three widths
// of blocks. Sums do not depend on the width of a block, but on the group,
// which the description says.

#include "Heads.h"

template <typename E, int kTileWidth, int kGroup>
static void attendOne(const Head &head) {
  const Attention &call = head.call;
  const auto q = head.reader<E>(call.query), k = head.reader<E>(call.key),
             v = head.reader<E>(call.value);
  const Bias bias = head.bias();
  const LogSums logSums = head.logSums();
  if (call.kind == Attention::Forward) {
    tileAttend<kTileWidth, kGroup>(
        0, head.queries(), head.keys(), 0, head.width(), head.outWidth(),
        head.scale(), q, k, v, bias, head.writer(call.out), logSums);
    return;
  }
  const auto dOut = head.reader<E>(call.gradient),
             out = head.reader<E>(call.out);
  const HeadWriter result = head.writer(call.result);
  if (call.kind == Attention::QueryGradient)
    tileQueryGradient<kTileWidth, kGroup>(
        0, head.queries(), head.keys(), 0, head.width(), head.outWidth(),
        head.scale(), q, k, v, bias, dOut, out, logSums, result);
  else
    tileKeyGradient<kTileWidth, kGroup>(
        0, head.keys(), head.queries(), 0, head.width(), head.outWidth(),
        head.scale(), q, k, v, bias, dOut, out, logSums, result,
        head.writer(call.otherResult));
}

template <typename E> static void attendOf(const Head &head) {
  const int width = std::max(head.width(), head.outWidth());
  if (head.call.group == 16)
    attendOne<E, 160, 16>(head);
  else if (width <= 64)
    attendOne<E, 64, 32>(head);
  else
    attendOne<E, 128, 32>(head);
}

static void attendAny(void *given) {
  const Heads &heads = *static_cast<Heads *>(given);
  const Head head = {*heads.call, heads.operands};
  heads.call->query.type == precompiled::BF16 ? attendOf<bf16>(head)
                                              : attendOf<f16>(head);
}

extern "C" void cutback_attention_by_tiles(void **operands, int64_t *cells,
                                           const Attention *call) {
  runHeads(call, operands, cells, attendAny);
}
