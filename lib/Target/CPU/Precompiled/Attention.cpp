// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of any sizes, compiled with Cutback and not with a model: the
// functions of AttentionBlocks.h, for the few widths that blocks of heads have.
// Sums do not depend on the width of a block. The order of sums is that of a
// warp a row; AttentionTiles.cpp has the other one.

#include "Heads.h"

static bool attendAny(const Head &head) {
  const int width = std::max(int(head.call.width), int(head.call.outWidth));
  if (head.call.query.type != precompiled::F32) // wide heads, or of a bias
    return runHead<cutback_host::WarpOrder, 256, Half>(head);
  if (width <= 64)
    return runHead<cutback_host::WarpOrder, 64, float>(head);
  if (width <= 128)
    return runHead<cutback_host::WarpOrder, 128, float>(head);
  return runHead<cutback_host::WarpOrder, 256, float>(head);
}

extern "C" void cutback_attention(void **operands, int64_t *cells,
                                  const Attention *call) {
  runHeads<attendAny>(operands, cells, call);
}
