// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of an attention op, for its forward and its backward.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_ATTENTION_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_ATTENTION_H

#include "Draws.h"
#include "Values.h"

namespace cutback::interpreter {

struct AttentionProblem {
  /// Reads query, key, value, attn_mask or attn_bias, is_causal and scale. An
  /// i1 mask says where to look if `truthMask`, else it is added.
  explicit AttentionProblem(const KernelCall &call, bool truthMask = false);

  Tensor query, key, value;
  std::optional<Tensor> mask;
  bool causal;
  double scale;
  /// L, E, S, F.
  int64_t length, width, keys, outWidth;
  /// Leading sizes of the output, and for each of its matrices that of an
  /// operand.
  Sizes heads;
  std::vector<int64_t> queryMap, keyMap, valueMap;
  std::vector<double> q, k, v;
  /// Added to the scores; empty, or one an element of weightSizes().
  std::vector<double> bias;

  int64_t matrices() const { return static_cast<int64_t>(queryMap.size()); }
  Sizes weightSizes() const; ///< [heads..., L, S]
  Sizes outputSizes() const; ///< [heads..., L, F]
  /// Row `row` of scale * q k^T + bias, with the causal mask.
  std::vector<double> scores(int64_t matrix, int64_t row) const;
};

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_ATTENTION_H
