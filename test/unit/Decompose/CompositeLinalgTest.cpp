// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear algebra, signals, statistics, quantization.
// A call is decomposed and run; beside it stands what torch 2.13 computes, as
// one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, LinearAlgebraIsWhatTorchComputes) {
  check({
      {"+aten.linalg_inv.default(f64[3,3])", 0.228448429649},
      {"+aten.inverse.default(f64[2,2,2])", -1.44272977116},
      {"+aten.linalg_solve.default(f64[3,3], f64[3,2])", -1.79696047404},
      {"+aten.linalg_solve.default(f64[2,3,3], f64[2,3])", 1.09678968309},
      {"+aten.linalg_solve.default(f64[3,3], f64[2,3], left=false)",
       -0.0653282003691},
      {"+aten.linalg_det.default(f64[2,3,3])", 0.155765508059},
      {"+aten.det.default(f64[3,3])", 0.1358508482},
      {"+aten.linalg_slogdet.default(f64[2,2,2])", -0.328371149247},
      {"+aten.slogdet.default(f64[3,3])", 0.264947759408},
      {"+aten.cholesky_solve.default(f64[3,2], f64[3,3])", -0.00409035670019},
      {"+aten.cholesky_solve.default(f64[3,2], f64[3,3], true)",
       -2.40138488843},
      {"+aten.cholesky_inverse.default(f64[3,3])", 3.26738536441},
      {"+aten.triangular_solve.default(f64[3,2], f64[3,3])", -4.89492129878},
      {"+aten.triangular_solve.default(f64[3,2], f64[3,3], false, true, true)",
       -1.71210690528},
      {"aten.qr.default(f64[3,2])", 1.98220081116},
      {"aten.qr.default(f64[3,2], false)", 0.861628367262},
      {"aten.linalg_householder_product.default(f64[4,2], f64[2])",
       -1.80546431999},
      {"aten.linalg_svdvals.default(f64[2,3])", 1.01650746468},
      {"aten.linalg_eigvalsh.default(f64[3,3])", -0.634758843087},
      {"+aten.linalg_pinv.default(f64[3,2], 1e-10)", -0.218363602516},
      {"+aten.linalg_pinv.atol_rtol_float(f64[2,3])", 0.176528906651},
      {"+aten.pinverse.default(f64[3,2])", -0.218363602516},
      {"aten.linalg_pinv.default(f64[3,3], 1e-10, true)", -7.36201577029},
      {"aten.linalg_pinv.default(f64[2,3,3], 0.5)", -0.186457642391},
      {"aten.linalg_pinv.atol_rtol_float(f64[3,3], atol=0.5, rtol=0.1, "
       "hermitian=true)",
       0.281619628203},
      {"aten.linalg_pinv.atol_rtol_float(f64[2,3], atol=0.5)", 0.126958233297},
      {"+aten.linalg_pinv.rcond_tensor(f64[2,3,3], f64[2], true)",
       0.486098898681},
      {"aten.pinverse.default(f64[3,0])", 0.0},
      {"aten.svd.default(f64[4,2], true, false)", 1.82353086369},
      {"aten.linalg_matrix_norm.default(f64[2,3,2], 2.0)", 1.15786711387},
      {"aten.linalg_matrix_norm.default(f64[2,3,2], -2.0, [0, 2], true)",
       0.334167476333},
      {"aten.linalg_matrix_norm.str_ord(f64[2,3], 'nuc')", 1.13941013792},
      {"aten.linalg_matrix_norm.str_ord(f64[2,3,2], 'fro')", 1.28082548091},
      {"aten.nuclear_norm.default(f64[2,3])", 1.13941013792},
      {"aten.nuclear_norm.dim(f64[2,3,2], [0, 1], true)", 1.64122822189},
      {"aten.linalg_norm.ord_str(f64[2,3], 'nuc')", 1.13941013792},
      {"aten.linalg_norm.default(f64[2,3], 2.0)", 0.944591026378},
      {"+aten.linalg_cond.default(f64[2,2])", 1.20672047209},
      {"+aten.linalg_cond.default(f64[2,2], -2.0)", 0.241917319279},
      {"+aten.linalg_cond.default(f64[4,3])", 6.10745223365},
      {"+aten.linalg_cond.default(f64[2,3,4], -2)", 0.0382668980583},
      {"+aten.linalg_cond.default(f64[2,3,3], 1)", 26.9338493061},
      {"+aten.linalg_cond.default(f64[3,3], -1)", 2.36724576517},
      {"aten.matrix_exp.default(f64[2,3,3])", 2.10530138063},
      {"aten.matrix_power.default(f64[3,3], 5)", 0.00769782210142},
      {"+aten.linalg_matrix_power.default(f64[3,3], -2)", -5.14640033383},
      {"aten.linalg_matrix_power.default(f64[2,2,2], 0)", -1.66330396313},
      {"aten.matrix_power.default(f64[2,2], 1)", 0.127744465345},
      {"aten.matrix_H.default(c128[2,3])", -0.675361712645},
      {"aten.mH.default(f64[2,2,3])", -0.0800347666862},
      {"aten.vander.default(f64[3])", -4.40558224472},
      {"aten.vander.default(f64[3], 4, true)", -3.49563438632},
      {"aten.linalg_vander.default(f64[2,3])", -2.93069335352},
  });
}

TEST(CompositesTest, SignalsAreWhatTorchComputes) {
  check({
      {"aten.hann_window.default(6, dtype=:f64)", -1.42109633783},
      {"aten.hann_window.periodic(5, false, dtype=:f64)", -0.325398993602},
      {"aten.hann_window.default(1, dtype=:f64)", 0.540302305868},
      {"aten.hamming_window.default(6, dtype=:f64)", -1.44252064825},
      {"aten.hamming_window.periodic(5, true, dtype=:f64)", -0.813283774686},
      {"aten.hamming_window.periodic_alpha(5, false, 0.6, dtype=:f64)",
       -0.4017228914},
      {"aten.hamming_window.periodic_alpha_beta(5, true, 0.6, 0.3, "
       "dtype=:f64)",
       -0.711591330861},
      {"aten.blackman_window.default(6, dtype=:f64)", -1.21520637242},
      {"aten.blackman_window.periodic(5, false, dtype=:f64)", -0.275158498993},
      {"aten.bartlett_window.default(6, dtype=:f64)", -1.40450678127},
      {"aten.bartlett_window.periodic(5, false, dtype=:f64)", -0.325398993602},
      {"aten.kaiser_window.default(6, dtype=:f64)", -1.05169864283},
      {"aten.kaiser_window.periodic(5, false, dtype=:f64)", -0.236132481925},
      {"aten.kaiser_window.beta(5, true, 3.0, dtype=:f64)", -0.9069015289},
      {"aten.fft_fftfreq.default(5, 0.5, dtype=:f64)", 0.671430078775},
      {"aten.fft_fftfreq.default(4, dtype=:f64)", 0.2624243573},
      {"aten.fft_rfftfreq.default(5, dtype=:f64)", -0.0274690349801},
      {"aten.fft_hfft.default(c128[2,3])", 2.25447350101},
      {"aten.fft_hfft.default(c128[3,2], 5, 0, 'ortho')", -0.446480303465},
      {"aten.fft_ihfft.default(f64[2,5])", 0.128284492952},
      {"aten.fft_ihfft.default(f64[4], none, -1, 'forward')", 0.827876004235},
      {"aten.stft.default(f64[2,12], 4, 2, 4, f64[4], false, true, true)",
       0.722795539132},
      {"aten.stft.default(f64[12], 4, 3, 2, f64[2], true, false, true)",
       0.409947940891},
      {"aten.stft.default(f64[2,12], 4, none, none, none, false, none, false)",
       2.11926692628},
      {"aten.stft.center(f64[2,12], 4, 2, 4, f64[4], true, 'reflect', "
       "false, true, true)",
       0.430512933964},
      {"+aten.istft.default(c128[2,3,5], 4, 2, 4, f64[4])", -1.91445887318},
      {"+aten.istft.default(c128[3,5], 4, 2, 4, f64[4], true, true, none, 11)",
       -0.660981379754},
  });
}

TEST(CompositesTest, StatisticsAndQuantizationAreWhatTorchComputes) {
  check({
      {"aten.quantile.scalar(f64[2,5], 0.3)", -0.0358877745109},
      {"aten.quantile.scalar(f64[2,5], 0.3, 1, true)", 0.0174921277686},
      {"aten.quantile.scalar(f64[2,5], 0.75, 0)", -0.774362129412},
      {"aten.quantile.scalar(f64[2,5], 0.5, none, true)", 0.163998383085},
      {"aten.pdist.default(f64[4,3])", -2.89819175768},
      {"aten.pdist.default(f64[4,3], 1.0)", -4.61555404913},
      {"aten._pdist_forward.default(f64[4,3], 3.0)", -2.56660367447},
      {"aten.cov.default(f64[3,4])", 0.0775290289938},
      {"aten.cov.default(f64[4], correction=0)", 0.0642612007869},
      {"aten.corrcoef.default(f64[3,4])", 0.519680821856},
      {"aten.corrcoef.default(f64[4])", 0.540302305868},
      {"aten.renorm.default(f64[3,2,2], 2, 0, 1.0)", 0.560124675097},
      {"aten.renorm.default(f64[3,2,2], 1, -1, 2.0)", 0.381193843268},
      {"aten.embedding_renorm.default(f64[4,3], i64[2,2], 1.0, 2.0)",
       0.427324420741},
      {"aten.multi_margin_loss.default(f64[4,3], i64[4])", 0.286724595639},
      {"aten.multi_margin_loss.default(f64[4,3], i64[4], 2, 0.5, f64[3], 2)",
       -0.55464642368},
      {"aten.multi_margin_loss.default(f64[4,3], i64[4], 1, 1, none, 0)",
       0.677496691542},
      {"aten.multi_margin_loss.default(f64[3], i64[])", 0.577080330704},
      {"aten.multilabel_margin_loss.default(f64[4,3], i64[4,3])", 0},
      {"aten.multilabel_margin_loss.default(f64[4,3], i64[4,3], 0)", 0},
      {"aten.multilabel_margin_loss.default(f64[3], i64[3], 2)", 0},
      {"+aten.ctc_loss.IntList(f64[4,2,3], i64[2,1], [4, 3], [1, 1])",
       -2.65601237598},
      {"+aten.ctc_loss.IntList(f64[4,2,3], i64[2,2], [4, 3], [2, 1], 1, "
       "0, true)",
       -4.20891656189},
      {"+aten.ctc_loss.IntList(f64[4,3], i64[1], [4], [1], 1, 2)",
       -2.83135080744},
      {"aten.max_unpool2d.default(f64[1,2,2,1], i64[1,2,2,1], [2, 3])",
       -0.385025426398},
      {"aten.max_unpool3d.default(f64[1,2,1,1], i64[1,2,1,1], [1, 2, 3], "
       "[1, 1, 1], [0, 0, 0])",
       0.345565184745},
      {"aten.where.default(b8[2,3])", -2.54077620727},
      {"aten.nonzero_numpy.default(i64[5])", 0.265611956067},
      {"aten.isin.Tensor_Tensor(i64[2,3], i64[1])", 0.0268494935642},
      {"aten.isin.Tensor_Tensor(i64[2,3], i64[2], invert=true)", -1.1261846855},
      {"aten.isin.Tensor_Scalar(i64[2,3], 1)", -0.589565026232},
      {"+aten.mvlgamma.default(f64[2,3], 1)", -0.165547122164},
      {"+aten.special_multigammaln.default(f64[2,3], 1)", -0.165547122164},
      {"aten.fake_quantize_per_tensor_affine.default(f32[2,5], 0.1, 1, -4, 3)",
       1.04325818458},
      {"+aten.fake_quantize_per_tensor_affine.default(f32[2,5], 0.25, 0, "
       "0, 255)",
       -4.18918025951},
      {"aten.special_erfinv.default(f64[3])", 0.225160276159},
      {"aten.special_i0.default(f64[3])", 0.596079169303},
      {"+aten.special_polygamma.default(1, f64[3])", 2.72854057712},
      {"+aten.special_gammainc.default(f64[3], f64[3])", 0.4377666424},
      {"+aten.special_gammaincc.default(f64[3], f64[3])", 0.133587936516},
      {"aten.floor_divide.Scalar(f64[3], 0.3)", 0.261554267095},
      {"aten.true_divide.Scalar(f64[3], 0.3)", 0.667343101184},
      {"+aten.special_xlogy.other_scalar(f64[3], 0.3)", -0.378617958423},
      {"+aten.special_xlogy.self_scalar(0.3, f64[3])", -0.109487186729},
  });
}

} // namespace
