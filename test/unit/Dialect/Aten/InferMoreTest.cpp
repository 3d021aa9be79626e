// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of less common units, and of ops that write in place.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, MorePointwiseAsTorchDoes) {
  checkInference({
      {"aten.max.other(f32[3,1], f32[4])", "f32[3,4]"},
      {"aten.min.other(i32[3], i64[3])", "i64[3]"},
      {"aten.logaddexp2.default(f32[3], f32[1])", "f32[3]"},
      {"aten.__and__.Tensor(b8[3,1], b8[4])", "b8[3,4]"},
      {"aten.__or__.Scalar(i32[3], 4)", "i32[3]"},
      {"aten.__xor__.Tensor(i32[3], b8[3])", "i32[3]"},
      {"aten.__lshift__.Scalar(i32[3], 2)", "i32[3]"},
      {"aten.bitwise_and.Scalar_Tensor(3, i32[4])", "i32[4]"},
      {"aten.gcd.default(i32[3], i64[1])", "i64[3]"},
      {"aten.heaviside.default(f32[3], f32[3])", "f32[3]"},
      {"aten.copysign.Tensor(i64[3], f32[3])", "f32[3]"},
      {"aten.copysign.Scalar(i64[3], 2)", "f32[3]"},
      {"aten.xlogy.Scalar_Self(2, i64[3])", "f32[3]"},
      {"aten.xlogy.Scalar_Other(f32[3], 2.0)", "f32[3]"},
      {"aten.sgn.default(c64[3])", "c64[3]"},
      {"aten.frac.default(f32[3])", "f32[3]"},
      {"aten.hardshrink.default(f32[3])", "f32[3]"},
      {"aten.softshrink.default(f32[3], 0.2)", "f32[3]"},
      {"aten.hardshrink_backward.default(f32[3], f32[3], 0.5)", "f32[3]"},
      {"aten.softshrink_backward.default(f32[3], f32[3], 0.5)", "f32[3]"},
      {"aten._prelu_kernel.default(f32[2,3], f32[1,3])", "f32[2,3]"},
      {"aten._prelu_kernel_backward.default(f32[2,3], f32[2,3], f32[1,3])",
       "f32[2,3] f32[2,3]"},
      {"aten.prelu.default(f32[2,3], f32[3])", "f32[2,3]"},
      {"aten.i0.default(f32[3])", "f32[3]"},
      {"aten.special_i1.default(i64[3])", "f32[3]"},
      {"aten.deg2rad.default(i64[3])", "f32[3]"},
      {"aten.isposinf.default(f32[3])", "b8[3]"},
      {"aten.isclose.default(f32[3], f32[1])", "b8[3]"},
      {"aten.signbit.default(f32[3])", "b8[3]"},
      {"aten.subtract.Tensor(f32[3], i64[1], alpha=2)", "f32[3]"},
      {"aten.multiply.Scalar(i64[3], 0.5)", "f32[3]"},
      {"aten.divide.Tensor(i64[3], i64[3])", "f32[3]"},
      {"aten.divide.Scalar_mode(i64[3], 2, rounding_mode='floor')", "i64[3]"},
      {"aten.clip.default(f32[3], 0.0)", "f32[3]"},
      {"aten.clip.Tensor(f32[3], f32[2,1])", "f32[2,3]"},
      {"aten.arctan2.default(i64[3], i64[3])", "f32[3]"},
      {"aten.float_power.Tensor_Scalar(f32[3], 2)", "f64[3]"},
      {"aten.float_power.Scalar(2, i64[3])", "f64[3]"},
      {"aten.ldexp.Tensor(f32[3], i64[3])", "f32[3]"},
      {"aten.negative.default(f32[3])", "f32[3]"},
      {"aten.absolute.default(c64[3])", "f32[3]"},
      {"aten.fix.default(f32[3])", "f32[3]"},
      {"aten.arcsin.default(i64[3])", "f32[3]"},
      {"aten.special_expit.default(i64[3])", "f32[3]"},
      {"aten.special_logit.default(f32[3], 0.1)", "f32[3]"},
      {"aten.special_round.default(f32[3], decimals=1)", "f32[3]"},
      {"aten.greater.Tensor(f32[3,1], f32[4])", "b8[3,4]"},
      {"aten.not_equal.Scalar(f32[3], 2)", "b8[3]"},
      {"aten.special_softmax.default(f32[3,4], 1)", "f32[3,4]"},
      {"aten.special_log_softmax.default(f32[3,4], 1, dtype=:f64)", "f64[3,4]"},
      {"aten.special_logsumexp.default(f32[3,4], [1])", "f32[3]"},
  });
}

TEST(InferTest, MoreUnitsAsTorchDoes) {
  checkInference({
      {"aten.max_pool1d_with_indices.default(f32[2,3,8], [2])",
       "f32[2,3,4] i64[2,3,4]"},
      {"aten.adaptive_avg_pool3d.default(f32[2,3,8,8,8], [2,3,4])",
       "f32[2,3,2,3,4]"},
      {"aten.adaptive_max_pool3d.default(f32[2,3,8,8,8], [2,3,4])",
       "f32[2,3,2,3,4] i64[2,3,2,3,4]"},
      {"aten.adaptive_max_pool3d_backward.default(f32[2,3,2,2,2], "
       "f32[2,3,4,4,4], i64[2,3,2,2,2])",
       "f32[2,3,4,4,4]"},
      {"aten._upsample_nearest_exact1d.default(f32[2,3,4], [8])", "f32[2,3,8]"},
      {"aten._upsample_nearest_exact2d.vec(f32[2,3,4,4], none, [2.0,1.5])",
       "f32[2,3,8,6]"},
      {"aten._upsample_nearest_exact3d.default(f32[2,3,2,2,2], [4,4,4])",
       "f32[2,3,4,4,4]"},
      {"aten._upsample_bilinear2d_aa.default(f32[2,3,4,4], [8,2], false)",
       "f32[2,3,8,2]"},
      {"aten._upsample_bicubic2d_aa.vec(f32[2,3,4,4], [8,2], false, none)",
       "f32[2,3,8,2]"},
      {"aten.upsample_nearest3d_backward.default(f32[2,3,4,4,4], [4,4,4], "
       "[2,3,2,2,2])",
       "f32[2,3,2,2,2]"},
      {"aten.upsample_trilinear3d_backward.default(f32[2,3,4,4,4], [4,4,4], "
       "[2,3,2,2,2], false)",
       "f32[2,3,2,2,2]"},
      {"aten._upsample_nearest_exact2d_backward.default(f32[2,3,4,4], [4,4], "
       "[2,3,2,2])",
       "f32[2,3,2,2]"},
      {"aten._upsample_bilinear2d_aa_backward.default(f32[2,3,4,4], [4,4], "
       "[2,3,2,2], false)",
       "f32[2,3,2,2]"},
      {"aten.grid_sampler.default(f32[2,3,4,4], f32[2,5,6,2], 0, 0, false)",
       "f32[2,3,5,6]"},
      {"aten.grid_sampler_2d_backward.default(f32[2,3,5,6], f32[2,3,4,4], "
       "f32[2,5,6,2], 0, 0, false, [true,true])",
       "f32[2,3,4,4] f32[2,5,6,2]"},
      {"aten.reflection_pad3d_backward.default(f32[2,3,6,6,6], f32[2,3,4,4,4], "
       "[1,1,1,1,1,1])",
       "f32[2,3,4,4,4]"},
      {"aten.replication_pad3d_backward.default(f32[2,3,6,6,6], "
       "f32[2,3,4,4,4], [1,1,1,1,1,1])",
       "f32[2,3,4,4,4]"},
      {"aten.scatter.reduce(f32[3,4], 0, i64[1,4], f32[1,4], reduce='add')",
       "f32[3,4]"},
      {"aten.scatter.value_reduce(f32[3,4], 0, i64[1,4], 2.0, "
       "reduce='multiply')",
       "f32[3,4]"},
      {"aten.index_reduce.default(f32[3,4], 0, i64[2], f32[2,4], 'prod')",
       "f32[3,4]"},
      {"aten.embedding_renorm.default(f32[3,4], i64[2], 1.0, 2.0)", "f32[3,4]"},
      {"aten.uniform.default(f32[3,4])", "f32[3,4]"},
      {"aten.random.default(i64[3])", "i64[3]"},
      {"aten.random.from(f32[3], 0, 5)", "f32[3]"},
      {"aten.exponential.default(f32[3])", "f32[3]"},
      {"aten.bernoulli.Tensor(f32[3], f32[3])", "f32[3]"},
      {"aten.poisson.default(f32[3])", "f32[3]"},
      {"aten.normal.Tensor_float(f32[3])", "f32[3]"},
      {"aten.normal.float_Tensor(0.0, f32[3])", "f32[3]"},
      {"aten.normal.Tensor_Tensor(f32[3,1], f32[4])", "f32[3,4]"},
      {"aten.normal.float_float(0.0, 1.0, [3,4])", "f32[3,4]"},
      {"aten.alpha_dropout.default(f32[3], 0.5, true)", "f32[3]"},
      {"aten.feature_alpha_dropout.default(f32[3,4], 0.5, true)", "f32[3,4]"},
      {"aten.rrelu.default(f32[3])", "f32[3]"},
      {"aten.rnn_tanh.input(f32[5,2,3], f32[1,2,4], [f32[4,3], f32[4,4], "
       "f32[4], f32[4]], true, 1, 0.0, true, false, false)",
       "f32[5,2,4] f32[1,2,4]"},
      {"aten.rnn_relu.input(f32[2,5,3], f32[2,2,4], [f32[4,3], f32[4,4], "
       "f32[4,3], f32[4,4]], false, 1, 0.0, true, true, true)",
       "f32[2,5,8] f32[2,2,4]"},
      {"aten.lstm_cell.default(f32[2,3], [f32[2,4], f32[2,4]], f32[16,3], "
       "f32[16,4], f32[16], f32[16])",
       "f32[2,4] f32[2,4]"},
      {"aten.gru_cell.default(f32[2,3], f32[2,4], f32[12,3], f32[12,4])",
       "f32[2,4]"},
      {"aten.rnn_tanh_cell.default(f32[2,3], f32[2,4], f32[4,3], f32[4,4])",
       "f32[2,4]"},
      {"aten.rnn_relu_cell.default(f32[2,3], f32[2,4], f32[4,3], f32[4,4], "
       "f32[4], f32[4])",
       "f32[2,4]"},
  });
}

TEST(InferTest, InPlaceKeepsSelf) {
  checkInference({
      {"aten.add_.Tensor(f32[3,4], i64[4], alpha=2)", "f32[3,4]"},
      {"aten.mul_.Scalar(bf16[3], 2.0)", "bf16[3]"},
      {"aten.copy_.default(f32[3,4], bf16[4])", "f32[3,4]"},
      {"aten.zero_.default(i64[3])", "i64[3]"},
      {"aten.fill_.Scalar(f32[3], 2)", "f32[3]"},
      {"aten.fill_.Tensor(f32[3], i64[])", "f32[3]"},
      {"aten.clamp_.default(f32[3], 0.0, 1.0)", "f32[3]"},
      {"aten.masked_fill_.Scalar(f32[3,4], b8[4], 2.0)", "f32[3,4]"},
      {"aten.index_put_.default(f32[3,4], [i64[2]], f32[2,4], true)",
       "f32[3,4]"},
      {"aten.eq_.Tensor(f32[3], f32[3])", "f32[3]"},
      {"aten.__iand__.Tensor(b8[3], b8[1])", "b8[3]"},
      {"aten.pow_.Tensor(f32[3], f32[3])", "f32[3]"},
      {"aten.cumsum_.default(f32[3,4], 1)", "f32[3,4]"},
      {"aten.dropout_.default(f32[3], 0.5, true)", "f32[3]"},
      {"aten.bernoulli_.float(f32[3], 0.25)", "f32[3]"},
      {"aten.uniform_.default(f32[3])", "f32[3]"},
      {"aten.normal_.default(f32[3])", "f32[3]"},
      {"aten.tril_.default(f32[3,3])", "f32[3,3]"},
      {"aten.fill_diagonal_.default(f32[3,3], 1)", "f32[3,3]"},
      {"aten.floor_divide_.Scalar(i64[3], 2)", "i64[3]"},
      {"aten.unsqueeze_.default(f32[3,4], 1)", "f32[3,1,4]"},
      {"aten.squeeze_.dim(f32[3,1], 1)", "f32[3]"},
      {"aten.squeeze_.dims(f32[1,3,1], [0,2])", "f32[3]"},
      {"aten.transpose_.default(f32[3,4], 0, 1)", "f32[4,3]"},
      {"aten.t_.default(f32[3,4])", "f32[4,3]"},
      {"aten.swapaxes_.default(f32[3,4,5], 0, 2)", "f32[5,4,3]"},
      {"aten.as_strided_.default(f32[12], [2,3], [3,1])", "f32[2,3]"},
      {"aten.detach_.default(f32[3])", "f32[3]"},
      {"aten.requires_grad_.default(f32[3])", "f32[3]"},
  });
}

TEST(InferTest, TransformsAsTorchDoes) {
  checkInference({
      {"aten.fft_fft.default(f32[3,5])", "c64[3,5]"},
      {"aten.fft_fft.default(c64[3,5], 8, 0)", "c64[8,5]"},
      {"aten.fft_ifft.default(f64[3,5], 4)", "c128[3,4]"},
      {"aten.fft_rfft.default(f32[3,5])", "c64[3,3]"},
      {"aten.fft_rfft.default(f32[3,5], 6, 0, 'ortho')", "c64[4,5]"},
      {"aten.fft_irfft.default(c64[3,5])", "f32[3,8]"},
      {"aten.fft_irfft.default(c64[3,5], 7)", "f32[3,7]"},
      {"aten.fft_fft2.default(f32[2,3,5], [4,4])", "c64[2,4,4]"},
      {"aten.fft_ifft2.default(c64[2,3,5])", "c64[2,3,5]"},
      {"aten.fft_rfft2.default(f32[2,3,5])", "c64[2,3,3]"},
      {"aten.fft_irfft2.default(c64[2,3,5], [4,6])", "f32[2,4,6]"},
      {"aten.fft_fftn.default(f32[2,3,5])", "c64[2,3,5]"},
      {"aten.fft_ifftn.default(c64[2,3,5], [3,4])", "c64[2,3,4]"},
      {"aten.fft_rfftn.default(f32[2,3,5], none, [0,2])", "c64[2,3,3]"},
      {"aten.fft_irfftn.default(c64[2,3,5])", "f32[2,3,8]"},
      {"aten.fft_fftshift.default(f32[2,3,5])", "f32[2,3,5]"},
      {"aten._weight_norm.default(f32[4,3,2], f32[4,1,1])", "f32[4,3,2]"},
      {"aten.norm_except_dim.default(f32[4,3,2], 2, 1)", "f32[1,3,1]"},
      {"aten.norm_except_dim.default(f32[4,3,2], 2, -1)", "f32[]"},
      {"aten.affine_grid_generator.default(f32[2,2,3], [2,3,4,5], false)",
       "f32[2,4,5,2]"},
      {"aten.affine_grid_generator.default(f32[2,3,4], [2,3,4,5,6], true)",
       "f32[2,4,5,6,3]"},
  });
}

TEST(InferTest, TransformsOfUnknownSizesAndErrors) {
  checkInference({
      {"aten.fft_rfft.default(f32[?,6], 4, 0)", "c64[3,6]"},
      {"aten.fft_irfft.default(c64[3,?])", "f32[3,?]"},
      {"aten.fft_fft.default(f32[3], %?)", "c64[?]"},
      {"aten.fft_fft.default(f32[])", "error: aten.fft_fft: a tensor without "
                                      "dimensions has no transform"},
      {"aten.affine_grid_generator.default(f32[2,2,3], [2,3], false)",
       "error: aten.affine_grid_generator: a grid of 2 sizes, not 4 or 5"},
  });
}

} // namespace
