// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of 16-bit floats in the order of sums that tensor cores have: in
// groups of 32 others, of 16 where heads are wide. As Attention.cpp else: the
// functions of AttentionBlocks.h, for three widths of blocks. Sums do not
// depend on the width of a block, but on the group, which the description says.

#include "Heads.h"

template <typename E> static bool attendOf(const Head &head) {
  using cutback_host::TileOrder;
  if (head.call.group == 16)
    return runHead<TileOrder<E, 16>, 160, E>(head);
  if (std::max(head.call.width, head.call.outWidth) <= 64)
    return runHead<TileOrder<E, 32>, 64, E>(head);
  return runHead<TileOrder<E, 32>, 128, E>(head);
}

static bool attendAny(const Head &head) {
  return head.call.query.type == precompiled::BF16 ? attendOf<bf16>(head)
                                                   : attendOf<f16>(head);
}

extern "C" void cutback_attention_by_tiles(void **operands, int64_t *cells,
                                           const Attention *call) {
  runHeads<attendAny>(operands, cells, call);
}
