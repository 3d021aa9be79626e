// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of linear algebra, signals, statistics and quantization.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, FactorizationAsTorchDoes) {
  checkInference({
      {"aten.linalg_inv.default(f32[2,3,3])", "f32[2,3,3]"},
      {"aten.linalg_inv_ex.default(f64[2,3,3])", "f64[2,3,3] i32[2]"},
      {"aten._linalg_solve_ex.default(f32[2,3,3], f32[2,3])",
       "f32[2,3] f32[2,3,3] i32[2,3] i32[2]"},
      {"aten._linalg_solve_ex.default(f32[3,3], f32[4,2,3], left=false)",
       "f32[4,2,3] f32[3,3] i32[3] i32[]"},
      {"aten.linalg_solve.default(f32[2,3,3], f32[?,3,1])", "f32[2,3,1]"},
      {"aten._linalg_det.default(f32[2,3,3])", "f32[2] f32[2,3,3] i32[2,3]"},
      {"aten._linalg_slogdet.default(f32[3,3])", "f32[] f32[] f32[3,3] i32[3]"},
      {"aten.linalg_cond.default(c64[3,3])", "f32[]"},
      {"aten.linalg_cond.default(f32[4,3])", "f32[]"},
      {"aten.linalg_cond.default(f32[2,4,3], 1)",
       "error: aten.linalg_cond: rows and columns differ: 4 and 3"},
      {"aten.linalg_cholesky_ex.default(f32[?,?])", "f32[?,?] i32[]"},
      {"aten.cholesky_solve.default(f32[3,2], f32[5,3,3])", "f32[5,3,2]"},
      {"aten.triangular_solve.default(f32[3,2], f32[5,3,3])",
       "f32[5,3,2] f32[5,3,3]"},
      {"aten.linalg_qr.default(f32[2,3,5], 'complete')",
       "f32[2,3,3] f32[2,3,5]"},
      {"aten.linalg_qr.default(f32[5,3], 'r')", "f32[0] f32[3,3]"},
      {"aten.linalg_svd.default(f32[2,3,5])", "f32[2,3,3] f32[2,3] f32[2,5,5]"},
      {"aten._linalg_svd.default(c64[3,5])", "c64[3,3] f32[3] c64[3,5]"},
      {"aten._linalg_svd.default(f32[3,5], false, false)",
       "f32[0] f32[3] f32[0]"},
      {"aten.svd.default(f32[3,5])", "f32[3,3] f32[3] f32[5,3]"},
      {"aten._linalg_eigh.default(f32[2,3,3], 'L', false)", "f32[2,3] f32[0]"},
      {"aten.linalg_eigh.default(f32[3,3])", "f32[3] f32[3,3]"},
      {"aten.linalg_pinv.default(f32[2,3,5], 0.1)", "f32[2,5,3]"},
      {"aten.linalg_pinv.default(f32[3,5], 0.1, true)",
       "error: aten.linalg_pinv: rows and columns differ: 3 and 5"},
      {"aten.svd.default(f32[3,5], true, false)", "f32[3,3] f32[3] f32[5,5]"},
  });
}

TEST(InferTest, FactorizationErrors) {
  checkInference({
      {"aten.linalg_inv.default(f32[3])",
       "error: aten.linalg_inv: a matrix has 2 dimensions or more, not 1"},
      {"aten.linalg_inv.default(i64[3,3])",
       "error: aten.linalg_inv: matrices are of floating point, not of 'i64'"},
      {"aten.linalg_inv.default(f32[3,4])",
       "error: aten.linalg_inv: rows and columns differ: 3 and 4"},
      {"aten.linalg_qr.default(f32[3,4], 'full')",
       "error: aten.linalg_qr: mode is 'reduced', 'complete' or 'r', not "
       "'full'"},
      {"aten.linalg_solve.default(f32[3,3], f32[3], left=false)",
       "error: aten.linalg_solve: vectors are solved for from the left only"},
      {"aten.linalg_solve.default(f32[3,3], f32[4,1])",
       "error: aten.linalg_solve: sizes of A and B differ: 3 and 4"},
      {"aten.cholesky_solve.default(f32[4,2], f32[3,3])",
       "error: aten.cholesky_solve: sizes of the matrix and the right-hand "
       "side differ: 3 and 4"},
      {"aten.linalg_lstsq.default(f32[4,2], f32[2,4,1])",
       "error: aten.linalg_lstsq: the right-hand side has 3 dimensions, the "
       "matrix 2"},
      {"aten.linalg_lstsq.default(f32[4,2], f32[3,1])",
       "error: aten.linalg_lstsq: rows of the matrix and the right-hand side "
       "differ: 4 and 3"},
  });
}

TEST(InferTest, SignalAsTorchDoes) {
  checkInference({
      {"aten.hann_window.default(6)", "f32[6]"},
      {"aten.fft_rfftfreq.default(6, dtype=:f64)", "f64[4]"},
      {"aten.fft_hfft.default(c64[2,3])", "f32[2,4]"},
      {"aten.fft_ihfft.default(f32[2,5])", "c64[2,3]"},
      {"aten.stft.default(f32[2,12], 4, return_complex=true)", "c64[2,3,9]"},
      {"aten.stft.default(f32[12], 4, 2)", "f32[3,5,2]"},
      {"aten.stft.center(f32[2,?], 4, 2, return_complex=true)", "c64[2,3,?]"},
      {"aten.istft.default(c64[2,3,5], 4, 2)", "f32[2,8]"},
      {"aten.istft.default(c64[3,5], 4, 2, length=7)", "f32[7]"},
      {"aten.angle.default(c64[3])", "f32[3]"},
      {"aten.angle.default(i64[3])", "f32[3]"},
      {"quantized_decomposed.quantize_per_tensor.default(f32[3], 0.1, 0, 0, "
       "255, :u8)",
       "u8[3]"},
      {"quantized_decomposed.dequantize_per_tensor.default(u8[3], 0.1, 0, 0, "
       "255, :u8)",
       "f32[3]"},
      {"aten.hann_window.default(-1)", "error: aten.hann_window: a size of -1"},
      {"aten.stft.default(f32[12], 0)",
       "error: aten.stft: n_fft and hop_length are positive numbers"},
      {"aten.stft.default(f32[1,2,3], 2, 1)",
       "error: aten.stft: the signal has 1 or 2 dimensions, not 3"},
      {"aten.istft.default(c64[3], 4, 2)",
       "error: aten.istft: the spectrum has 2 or 3 dimensions, not 1"},
  });
}

TEST(InferTest, StatisticsAsTorchDoes) {
  checkInference({
      {"aten.quantile.default(f32[2,5], f32[3], 1, true)", "f32[3,2,1]"},
      {"aten.quantile.scalar(f32[2,5], 0.5)", "f32[]"},
      {"aten.pdist.default(f32[4,3])", "f32[6]"},
      {"aten.max_unpool2d.default(f32[1,2,2,2], i64[1,2,2,2], [4, 5])",
       "f32[1,2,4,5]"},
      {"aten.cov.default(i64[3,4])", "f32[3,3]"},
      {"aten.isin.Tensor_Scalar(i64[3,4], 1)", "b8[3,4]"},
      {"aten.vander.default(f32[3], 4)", "f32[3,4]"},
      {"aten.nonzero_numpy.default(i64[3,4])", "i64[?] i64[?]"},
      {"aten._unique2.default(f32[3,4], true, true)", "f32[?] i64[3,4] i64[0]"},
      {"aten.multi_margin_loss.default(f32[3,4], i64[3], reduction=0)",
       "f32[3]"},
      {"aten.ctc_loss.IntList(f32[5,2,3], i64[2,2], [5, 5], [2, 1])", "f32[]"},
      {"aten._ctc_loss.default(f32[5,2,3], i64[2,4], [5, 5], [2, 1])",
       "f32[2] f32[2,5,5]"},
      {"aten._ctc_loss.Tensor(f32[5,2,3], i64[2,4], i64[2], i64[2])",
       "f32[2] f32[2,5,?]"},
      {"aten.quantile.default(f32[2], f32[1,1])",
       "error: aten.quantile: q has 0 or 1 dimensions, not 2"},
      {"aten.max_unpool2d.default(f32[2], i64[2], [4, 5])",
       "error: aten.max_unpool2d: the input has fewer dimensions than "
       "output_size"},
      {"aten.cov.default(f32[2,2,2])",
       "error: aten.cov: the input has 2 dimensions or fewer, not 3"},
      {"aten.multi_margin_loss.default(f32[3,4,5], i64[3])",
       "error: aten.multi_margin_loss: the input has 2 dimensions at most, not "
       "3"},
      {"aten.ctc_loss.IntList(f32[5], i64[2], [5], [2])",
       "error: aten.ctc_loss: log_probs has 2 or 3 dimensions, not 1"},
  });
}

TEST(InferTest, FactorsAndTensorsAsMatricesAsTorchDoes) {
  checkInference({
      {"aten.linalg_lu_factor_ex.default(f32[2,4,3])",
       "f32[2,4,3] i32[2,3] i32[2]"},
      {"aten.linalg_lu_factor.default(f64[3,?])", "f64[3,?] i32[?]"},
      {"aten.linalg_lu.default(f32[2,4,3])",
       "f32[2,4,4] f32[2,4,3] f32[2,3,3]"},
      {"aten.lu_unpack.default(f32[3,4], i32[3], false)",
       "f32[3,3] f32[0] f32[0]"},
      {"aten.lu_unpack.default(f32[3,4], i32[3], true, false)",
       "f32[0] f32[3,3] f32[3,4]"},
      {"aten.linalg_lu_solve.default(f32[5,3,3], i32[5,3], f32[3,2])",
       "f32[5,3,2]"},
      {"aten.lu_solve.default(f32[3,2], f32[5,3,3], i32[5,3])", "f32[5,3,2]"},
      {"aten.linalg_tensorsolve.default(f32[2,3,6], f32[2,3])", "f32[6]"},
      {"aten.linalg_tensorsolve.default(f32[2,6,3], f32[2,3], [1])", "f32[6]"},
      {"aten.linalg_tensorsolve.default(f32[4,3,12], f32[3,4])", "f32[12]"},
      {"aten.linalg_tensorinv.default(f32[2,3,6])", "f32[6,2,3]"},
      {"aten.linalg_matrix_rank.atol_rtol_float(f32[2,3,4])", "i64[2]"},
      {"aten.linalg_cond.p_str(f32[2,3,3], 'fro')", "f32[2]"},
      {"aten._int_mm.default(i8[32,16], i8[16,8])", "i32[32,8]"},
      {"aten._weight_int8pack_mm.default(f32[4,16], i8[8,16], f32[8])",
       "f32[4,8]"},
      {"transformers.grouped_mm_fallback.default(f32[?,4], f32[3,4,5], i64[3])",
       "f32[?,5]"},
      {"aten._weight_norm_interface.default(f32[3,2,2], f32[3,1,1])",
       "f32[3,2,2] f32[3,1,1]"},
      {"aten.histc.default(f32[4,5], 7)", "f32[7]"},
      {"aten.isin.Scalar_Tensor(1, i64[4])", "b8[]"},
  });
}

TEST(InferTest, DifferencesAndSequences) {
  checkInference({
      {"aten.gradient.scalarint(f32[4,5])", "f32[4,5] f32[4,5]"},
      {"aten.gradient.scalarint(i64[4,5], dim=-1)", "f32[4,5]"},
      {"aten.gradient.array(f32[4,5], dim=[1])", "f32[4,5]"},
      {"aten.pad_sequence.default([f32[2,3], f32[5,3]])", "f32[5,2,3]"},
      {"aten.pad_sequence.default([f32[2,3], f32[5,3]], true)", "f32[2,5,3]"},
      {"aten.pad_sequence.default([f32[2], f32[?]])", "f32[?,2]"},
      {"aten.linspace.Tensor_Scalar(f32[], 3, 7)", "f32[7]"},
      {"aten.fractional_max_pool2d.default(f32[2,3,8,9], 2, [3,4], f32[2,3,2])",
       "f32[2,3,3,4] i64[2,3,3,4]"},
      {"aten.special_legendre_polynomial_p.n_scalar(f64[5], 3)", "f64[5]"},
  });
}

TEST(InferTest, DifferencesAndSequencesErrors) {
  checkInference({
      {"aten.gradient.scalarint(f32[4,2], edge_order=2)",
       "error: aten.gradient: differences of order 2 at the edges of 2 "
       "elements"},
      {"aten.pad_sequence.default([f32[]])",
       "error: aten.pad_sequence: there is no sequence to pad"},
      {"aten.pad_sequence.default([f32[2], f32[2,2]])",
       "error: aten.pad_sequence: sequences of 1 and 2 dimensions"},
  });
}

TEST(InferTest, SegmentsUniqueSlicesAndPieces) {
  checkInference({
      {"aten.segment_reduce.default(f32[7,2], 'sum', lengths=i64[3])",
       "f32[3,2]"},
      {"aten.segment_reduce.default(f32[2,7], 'max', offsets=i64[2,4], axis=1)",
       "f32[2,3]"},
      {"aten.segment_reduce.default(f32[7,2], 'sum', lengths=i64[?])",
       "f32[?,2]"},
      {"aten._segment_reduce_backward.default(f32[3,2], f32[3,2], f32[7,2], "
       "'sum', lengths=i64[3])",
       "f32[7,2]"},
      {"aten.unique_dim.default(f32[4,3], -1)", "f32[4,?] i64[?] i64[?]"},
      {"aten.unique_dim.default(f32[4,3], 0, true, true)",
       "f32[?,3] i64[4] i64[?]"},
      {"aten.unique_consecutive.default(f32[4,3])", "f32[?] i64[0] i64[0]"},
      {"aten.unique_consecutive.default(f32[4,3], true, true)",
       "f32[?] i64[4,3] i64[?]"},
      {"aten._unique.default(f32[4], true, true)", "f32[?] i64[4]"},
      {"aten._convert_indices_from_coo_to_csr.default(i64[?], 5)", "i64[6]"},
      {"aten._convert_indices_from_csr_to_coo.default(i64[6], i64[7], "
       "out_int32=true)",
       "i32[2,7]"},
      {"aten.tensor_split.tensor_indices_or_sections(f32[5,3], i64[2])",
       "f32[?,3] f32[?,3] f32[?,3]"},
      {"aten.narrow.Tensor(f32[5,3], 0, i64[], 2)", "f32[2,3]"},
      {"aten.unfold_copy.default(f32[5,3], 0, 3, 1)", "f32[3,3,3]"},
      {"aten.split_copy.Tensor(f32[5,3], 2)", "f32[2,3] f32[2,3] f32[1,3]"},
      {"aten.frexp.Tensor(bf16[3])", "bf16[3] i32[3]"},
      {"aten.histogram.bins_tensor(f32[9], f32[?])", "f32[?] f32[?]"},
      {"aten.histogram.bin_ct(f32[9], 4)", "f32[4] f32[5]"},
      {"aten.conv_tbc.default(f32[?,2,3], f32[3,3,4], f32[4], 1)",
       "f32[?,2,4]"},
      {"aten.range.step(0, 1.0, 0.3)", "f32[4]"},
      {"aten.mm.dtype(bf16[2,3], bf16[3,4], :f32)", "f32[2,4]"},
      {"aten._sample_dirichlet.default(f32[2,3])", "f32[2,3]"},
      {"aten.binomial.default(f32[2,1], f32[3])", "f32[2,3]"},
      {"aten.masked_scatter.default(f32[3], b8[2,3], f32[6])", "f32[2,3]"},
      {"aten._euclidean_dist.default(f32[4,3], f32[2,3])", "f32[4,2]"},
      {"aten._pdist_backward.default(f32[6], f32[4,3], 2.0, f32[6])",
       "f32[4,3]"},
      {"aten.masked_scatter_backward.default(f32[4,3], b8[4,3], [2,%?])",
       "f32[2,?]"},
      {"aten.rrelu_with_noise_functional.default(f32[4], f32[4])",
       "f32[4] f32[4]"},
      {"aten.linalg_eig.default(f32[2,3,3])", "c64[2,3] c64[2,3,3]"},
      {"aten.linalg_eigvals.default(c128[?,3])", "c128[3]"},
      {"aten.geqrf.default(f32[2,4,3])", "f32[2,4,3] f32[2,3]"},
      {"aten.ormqr.default(f32[4,2], f32[2], f32[3,4], false)", "f32[3,4]"},
  });
}

TEST(InferTest, SegmentsUniqueSlicesAndPiecesErrors) {
  checkInference({
      {"aten.segment_reduce.default(f32[7], 'any', lengths=i64[3])",
       "error: aten.segment_reduce: segments are reduced by sum, mean, max, "
       "min "
       "or prod, not by 'any'"},
      {"aten.segment_reduce.default(f32[7], 'sum')",
       "error: aten.segment_reduce: neither lengths nor offsets say where "
       "segments end"},
      {"aten.segment_reduce.default(f32[7,2], 'sum', lengths=i64[3], axis=1)",
       "error: aten.segment_reduce: segments along dimension 1 need lengths of "
       "2 "
       "dimensions, not 1"},
      {"aten.unique_dim.default(f32[], 0)",
       "error: aten.unique_dim: a tensor without dimensions has no slices"},
      {"aten.tensor_split.tensor_indices_or_sections(f32[5], i64[])",
       "error: aten.tensor_split: the number of pieces must be known: a tensor "
       "of one dimension says where they end"},
      {"aten.frexp.Tensor(i64[3])",
       "error: aten.frexp: a mantissa is of floating point, not of 'i64'"},
      {"aten.histogramdd.TensorList_bins(f32[3,1], [f32[2,2]])",
       "error: aten.histogramdd: the edges of bins have 2 dimensions"},
      {"aten.histogramdd.default(f32[3], [2])",
       "error: aten.histogramdd: a histogram is of rows of a known length, "
       "up to 64"},
      {"aten.histogramdd.default(f32[3,2], [2])",
       "error: aten.histogramdd: bins for 1 of 2 elements"},
      {"aten._chunk_cat.default([f32[3,2], f32[3]], 1, 2)",
       "error: aten._chunk_cat: a tensor of 1 dimensions has no dimension 1"},
      {"aten._chunk_cat.default([f32[3,2]], 1, 0)",
       "error: aten._chunk_cat: 0 chunks of 1 tensors"},
      {"aten.combinations.default(f32[3], -1)",
       "error: aten.combinations: combinations of -1 elements"},
      {"aten.resize.default(f32[3], [2,2])",
       "error: aten.resize: 3 elements cannot be resized to 4, which would "
       "have no value"},
      {"aten.hash_tensor.default(c64[3])",
       "error: aten.hash_tensor: elements must be real, not 'complex<f32>'"},
      {"aten.histogram.bin_ct(f32[9], 0)",
       "error: aten.histogram: the number of bins is 0"},
      {"aten.range.default(2, 1)",
       "error: aten.range: there is no step of 1.000000e+00 from 2.000000e+00 "
       "to 1.000000e+00"},
      {"aten._trilinear.default(f32[2], f32[2], f32[2], [7], [], [], [])",
       "error: aten._trilinear: expand1 puts a dimension at 7 of 1"},
  });
}

TEST(InferTest, FactorsAndTensorsAsMatricesErrors) {
  checkInference({
      {"aten.linalg_lu_factor.default(f32[3,3], pivot=false)",
       "error: aten.linalg_lu_factor: LU factors without pivots are not "
       "supported"},
      {"aten.linalg_lu_solve.default(f32[3,3], i32[3], f32[4,2])",
       "error: aten.linalg_lu_solve: sizes of the factors and the right-hand "
       "side differ: 3 and 4"},
      {"aten.linalg_tensorsolve.default(f32[2,3,6], f32[2,3], [3])",
       "error: aten.linalg_tensorsolve: dims names a dimension that is not "
       "there"},
      {"aten.linalg_tensorsolve.default(f32[2], f32[2,3])",
       "error: aten.linalg_tensorsolve: the tensor has 1 dimensions, its "
       "right-hand side 2"},
      {"aten.linalg_tensorsolve.default(f32[2,3,6], f32[2,4])",
       "error: aten.linalg_tensorsolve: elements of the tensor and its "
       "right-hand side differ: 6 and 8"},
      {"aten.linalg_tensorinv.default(f32[2,3], 3)",
       "error: aten.linalg_tensorinv: ind is 3, and the tensor has 2 "
       "dimensions"},
      {"aten.histc.default(f32[4], 0)",
       "error: aten.histc: the number of bins is 0"},
      {"aten._int_mm.default(i8[2,3], i8[4,2])",
       "error: aten._int_mm: columns and rows differ: 3 and 4"},
      {"aten._weight_int8pack_mm.default(f32[4,16], i8[8,15], f32[8])",
       "error: aten._weight_int8pack_mm: columns of both differ: 16 and 15"},
  });
}

} // namespace
