// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of attention, written out: products in each head, and the scores
// that the kernels keep to themselves.
#ifndef CUTBACK_LIB_AUTOGRAD_ATEN_ATTENTIONSCORES_H
#define CUTBACK_LIB_AUTOGRAD_ATEN_ATTENTIONSCORES_H

#include "Common.h"

namespace cutback::autograd {

/// left right of [B, H, M, K] and [B, H, K, N] in each head; each of them may
/// be given with its last two dimensions exchanged.
Value headProduct(Vjp &v, Value left, bool isLeftTurned, Value right,
                  bool isRightTurned);

/// The argument `scale`, by default 1 / sqrt(width of `query`); null after an
/// error.
Arg attentionScale(Vjp &v);

/// exp(scale Q K^T + mask - logsumexp), [B, H, L, S]; 0 above the diagonal if
/// causal, and in rows that look at nothing. `mask` may be null; `logSumExp` is
/// [B, H, L]. All of one type.
Value attentionWeights(Vjp &v, Value query, Value key, Value mask,
                       Value logSumExp);

} // namespace cutback::autograd

#endif // CUTBACK_LIB_AUTOGRAD_ATEN_ATTENTIONSCORES_H
