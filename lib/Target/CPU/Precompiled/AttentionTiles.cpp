// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of 16-bit floats in the order of sums that tensor cores have: in
// groups of 32 others, of 16 where heads are wide. As Attention.cpp else: the
// functions of AttentionBlocks.h, for three widths of blocks. Sums do not
// depend on the width of a block, but on the group, which the description says.

#include "Heads.h"

template <typename E, int kTileWidth, int kGroup>
static void attendOne(const Head &head) {
  const HeadOperands<E> of(head);
  switch (head.call.kind) {
  case Attention::Forward:
    tileAttend<kTileWidth, kGroup>(0, head.queries(), head.keys(), 0,
                                   head.width(), head.outWidth(), head.scale(),
                                   of.query, of.key, of.value, of.bias,
                                   of.result, of.logSums);
    return;
  case Attention::QueryGradient:
    tileQueryGradient<kTileWidth, kGroup>(
        0, head.queries(), head.keys(), 0, head.width(), head.outWidth(),
        head.scale(), of.query, of.key, of.value, of.bias, of.gradient, of.out,
        of.logSums, of.result);
    return;
  default:
    tileKeyGradient<kTileWidth, kGroup>(
        0, head.keys(), head.queries(), 0, head.width(), head.outWidth(),
        head.scale(), of.query, of.key, of.value, of.bias, of.gradient, of.out,
        of.logSums, of.result, of.otherResult);
  }
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
