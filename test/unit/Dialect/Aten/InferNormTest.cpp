// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of normalizations, softmax and losses.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, NormAsTorchDoes) {
  checkInference({
      {"aten.layer_norm.default(f32[2,32,64], [64], f32[64], f32[64])",
       "f32[2,32,64]"},
      {"aten.native_layer_norm.default(f32[2,32,64], [64], f32[64], f32[64], "
       "1e-5)",
       "f32[2,32,64] f32[2,32,1] f32[2,32,1]"},
      {"aten.native_layer_norm.default(f32[2,32,64], [32,64], none, none, "
       "1e-5)",
       "f32[2,32,64] f32[2,1,1] f32[2,1,1]"},
      {"aten.native_layer_norm_backward.default(f32[2,32,64], f32[2,32,64], "
       "[64], f32[2,32,1], f32[2,32,1], f32[64], f32[64], [true,true,false])",
       "f32[2,32,64] f32[64] none"},
      {"aten.native_layer_norm_backward.default(f32[2,32,64], f32[2,32,64], "
       "[64], f32[2,32,1], f32[2,32,1], none, none, [true,false,false])",
       "f32[2,32,64] none none"},
      {"aten.rms_norm.default(f32[2,32,64], [64])", "f32[2,32,64]"},
      {"aten._fused_rms_norm.default(bf16[2,32,64], [64], bf16[64], 1e-5)",
       "bf16[2,32,64] f32[2,32,1]"},
      {"aten._fused_rms_norm_backward.default(f32[2,32,64], f32[2,32,64], "
       "[64], f32[2,32,1], f32[64], [true,true])",
       "f32[2,32,64] f32[64]"},
      {"aten.group_norm.default(f32[4,6,8,8], 2)", "f32[4,6,8,8]"},
      {"aten.native_group_norm.default(f32[4,6,8,8], f32[6], f32[6], 4, 6, 64, "
       "2, 1e-5)",
       "f32[4,6,8,8] f32[4,2] f32[4,2]"},
      {"aten.native_group_norm_backward.default(f32[4,6,8,8], f32[4,6,8,8], "
       "f32[4,2], f32[4,2], f32[6], 4, 6, 64, 2, [true,true,true])",
       "f32[4,6,8,8] f32[6] f32[6]"},
      {"aten.batch_norm.default(f32[4,6,8,8], f32[6], f32[6], f32[6], f32[6], "
       "true, 0.1, 1e-5, true)",
       "f32[4,6,8,8]"},
      {"torch_nn._linear_cross_entropy_batch_chunked.default(f32[4,3], "
       "f32[5,3], i64[4], none, none, 'sum', 1, 0.0, 2, 'compact', :f32, true, "
       "true, false, true)",
       "f32[] f32[4,3] f32[0,0] f32[5]"},
      {"torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default("
       "f32[4,3], f32[5,3], i64[4], none, none, 1, 2, 'compact', :f32)",
       "f32[4]"},
      {"torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default("
       "f32[4,3,2], f32[5,3], i64[4], none, none, 1, 2, 'compact', :f32)",
       "error: torch_nn._linear_cross_entropy_batch_chunked_no_reduction: "
       "input, weight and target have 2, 2 and 1 dimensions, not 3, 2 and 1"},
      {"aten.native_batch_norm.default(f32[4,6,8,8], f32[6], f32[6], f32[6], "
       "f32[6], true, 0.1, 1e-5)",
       "f32[4,6,8,8] f32[6] f32[6]"},
      {"aten._native_batch_norm_legit.no_stats(f32[4,6,8,8], f32[6], f32[6], "
       "true, 0.1, 1e-5)",
       "f32[4,6,8,8] f32[6] f32[6]"},
      {"aten._native_batch_norm_legit_functional.default(f32[4,6,8,8], f32[6], "
       "f32[6], f32[6], f32[6], true, 0.1, 1e-5)",
       "f32[4,6,8,8] f32[6] f32[6] f32[6] f32[6]"},
      {"aten.native_batch_norm_backward.default(f32[4,6,8,8], f32[4,6,8,8], "
       "f32[6], f32[6], f32[6], f32[6], f32[6], true, 1e-5, [true,true,true])",
       "f32[4,6,8,8] f32[6] f32[6]"},
      {"aten.softmax.int(f32[2,3], -1)", "f32[2,3]"},
      {"aten.softmax.int(f16[2,3], -1, :f32)", "f32[2,3]"},
      {"aten.log_softmax.int(f32[2,3], 0)", "f32[2,3]"},
      {"aten._softmax.default(f32[2,3], -1, false)", "f32[2,3]"},
      {"aten._safe_softmax.default(f32[2,3], -1)", "f32[2,3]"},
      {"aten._softmax_backward_data.default(f32[2,3], f32[2,3], -1, :f32)",
       "f32[2,3]"},
      {"aten.mse_loss.default(f32[5,7], f32[5,7])", "f32[]"},
      {"aten.mse_loss.default(f32[5,7], f64[7], 0)", "f64[5,7]"},
      {"aten.binary_cross_entropy_with_logits.default(f64[5,7], f32[5,7])",
       "f32[]"},
      {"aten.binary_cross_entropy_with_logits.default(f32[5,7], f32[5,7], "
       "none, none, 2)",
       "f32[]"},
      {"aten.mse_loss_backward.default(f32[], f32[5,7], f32[5,7], 1)",
       "f32[5,7]"},
      {"aten.cross_entropy_loss.default(f32[5,7], i64[5])", "f32[]"},
      {"aten.cross_entropy_loss.default(f32[5,7,3,3], i64[5,3,3], none, 0)",
       "f32[5,3,3]"},
      {"aten.cross_entropy_loss.default(f32[5,7,3,3], f32[5,7,3,3], none, 0)",
       "f32[5,3,3]"},
      {"aten.cross_entropy_loss.default(bf16[5,7], f32[5,7])", "f32[]"},
      {"aten.cross_entropy_loss.default(f32[7], i64[], none, 0)", "f32[]"},
      {"aten.nll_loss_nd.default(f32[5,7], i64[5], none, 0)", "f32[5]"},
      {"aten.nll_loss_forward.default(f32[5,7], i64[5], none, 1, -100)",
       "f32[] f32[]"},
      {"aten.nll_loss_forward.default(f32[5,7], i64[5], none, 0, -100)",
       "f32[5] f32[]"},
      {"aten.nll_loss2d_forward.default(f32[5,7,3,3], i64[5,3,3], none, 0, "
       "-100)",
       "f32[5,3,3] f32[]"},
      {"aten.nll_loss_backward.default(f32[], f32[5,7], i64[5], none, 1, -100, "
       "f32[])",
       "f32[5,7]"},
  });
}

TEST(InferTest, NormOfUnknownSizes) {
  checkInference({
      {"aten.native_layer_norm.default(bf16[?,32], [32], none, none, 1e-5)",
       "bf16[?,32] f32[?,1] f32[?,1]"},
      {"aten.native_batch_norm.default(f32[?,6,8], none, none, f32[6], f32[6], "
       "false, 0.1, 1e-5)",
       "f32[?,6,8] f32[?] f32[?]"},
      {"aten.cudnn_batch_norm.default(f16[?,6,8], f32[6], none, none, none, "
       "true, 0.1, 1e-5)",
       "f16[?,6,8] f32[6] f32[6] u8[?]"},
      {"aten.native_group_norm.default(f32[?,6,8], none, none, %?, 6, 8, 2, "
       "1e-5)",
       "f32[?,6,8] f32[?,2] f32[?,2]"},
      {"aten._softmax.default(f16[?,6], 1, true)", "f32[?,6]"},
      {"aten.cross_entropy_loss.default(f32[?,7], i64[5], none, 0)", "f32[5]"},
  });
}

TEST(InferTest, NormErrorsNameTheValues) {
  checkInference({
      {"aten.native_layer_norm.default(f32[2,4], [], none, none, 1e-5)",
       "error: aten.native_layer_norm: normalized_shape has 0 sizes, the input "
       "rank 2"},
      {"aten.native_layer_norm.default(f32[2,4], [5], none, none, 1e-5)",
       "error: aten.native_layer_norm: normalized sizes differ: 5 and 4"},
      {"aten.native_layer_norm_backward.default(f32[2,4], f32[2,4], [4], "
       "f32[2,1], f32[2,1], none, none, [true])",
       "error: aten.native_layer_norm_backward: output_mask has 1 entries, not "
       "3"},
      {"aten.native_batch_norm.default(f32[6], none, none, none, none, true, "
       "0.1, 1e-5)",
       "error: aten.native_batch_norm: batch norm of a tensor of rank 1"},
      {"aten.mse_loss.default(f32[2], f32[2], 3)",
       "error: aten.mse_loss: reduction 3 is none of 0 (none), 1 (mean), 2 "
       "(sum)"},
      {"aten.nll_loss.default(f32[], i64[])",
       "error: aten.nll_loss: the input has no dimension of classes"},
      {"aten.nll_loss.default(f32[2,3], f32[2])",
       "error: aten.nll_loss: the target must be class numbers, not 'f32'"},
      {"aten.nll_loss.default(f32[2,3], i64[2,3])",
       "error: aten.nll_loss: a target of rank 2 for input of rank 2"},
      {"aten.nll_loss.default(f32[2,3], i64[3])",
       "error: aten.nll_loss: numbers of samples differ: 2 and 3"},
      {"aten.cross_entropy_loss.default(f32[2,3], f32[3])",
       "error: aten.cross_entropy_loss: probabilities of rank 1 for input of "
       "rank 2"},
  });
}

} // namespace
