// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite differences, lines, padded sequences, and other names of special
// functions and transforms. A call is decomposed and run; beside it stands what
// torch 2.13 computes, as one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, DifferencesAreWhatTorchComputes) {
  check({
      {"aten.gradient.scalarint(f64[5])", 1.51929950014},
      {"aten.gradient.scalarint(f64[4,5], spacing=0.5)", 4.72235062624},
      {"aten.gradient.scalarint(f64[4,5], spacing=2.0, dim=-1, edge_order=2)",
       0.529929284171},
      {"aten.gradient.array(f64[4,5], dim=[1, 0])", 1.82403681302},
      {"aten.gradient.scalararray(f64[4,5], spacing=0.5, dim=[0])",
       1.15788434712},
      {"aten.gradient.scalarrayint(f64[4,5], spacing=[0.5, 2.0])",
       2.0490009169},
      {"aten.gradient.scalarrayarray(f64[4,5], spacing=[0.5, 2.0], dim=[1, 0], "
       "edge_order=2)",
       1.90807222238},
      {"aten.gradient.tensorarrayint(f64[5], spacing=[f64[5]])", 42.1720193435},
      {"aten.gradient.tensorarrayint(f64[4,3], spacing=[f64[4]], dim=0, "
       "edge_order=2)",
       3.31453418596},
      {"aten.gradient.tensorarray(f64[4,5], spacing=[f64[5], f64[4]], dim=[1, "
       "0])",
       73.5090404743},
      {"aten.gradient.tensorarray(f64[2,5], spacing=[f64[5]], dim=[-1], "
       "edge_order=2)",
       -25.0064813056},
  });
}

TEST(CompositesTest, LinesAndSequencesAreWhatTorchComputes) {
  check({
      {"aten.linspace.Tensor_Tensor(f64[], f64[], 6, dtype=:f64)",
       -1.68034280408},
      {"aten.linspace.Tensor_Scalar(f64[], 2.5, 5, dtype=:f64)", -2.8800416539},
      {"aten.linspace.Scalar_Tensor(-1, f64[], 1, dtype=:f64)",
       -0.540302305868},
      {"aten.logspace.Tensor_Tensor(f64[], f64[], 4, 2.0, dtype=:f64)",
       -0.293573175583},
      {"aten.logspace.Scalar_Tensor(0.5, f64[], 4, dtype=:f64)",
       0.844672114258},
      {"aten.logspace.Tensor_Scalar(f64[], 2, 4, dtype=:f64)", -53.3728385288},
      {"aten.pad_sequence.default([f64[2,3], f64[4,3], f64[1,3]])",
       -3.31896325805},
      {"aten.pad_sequence.default([f64[2], f64[4]], true, 0.5)",
       0.569088666245},
      {"aten.pad_sequence.default([f64[2,2], f64[3,2]], true, 1.5, 'left')",
       -0.482679093139},
      {"aten.searchsorted.Scalar(f64[5], 0.3)", 0.540302305868},
      {"aten.bucketize.Scalar(0.3, f64[5], right=true)", 0.540302305868},
  });
}

TEST(CompositesTest, TransformsOfHalfSpectraAreWhatTorchComputes) {
  check({
      {"aten.fft_hfft2.default(f64[3,4])", -9.64563082032},
      {"aten.fft_hfftn.default(f64[2,3,4], [3, 5], [0, 2])", 8.99505790853},
      {"aten.fft_ihfft2.default(f64[3,6], norm='ortho')", 0.523618659656},
      {"aten.fft_ihfftn.default(f64[2,4,3])", -0.0485051192216},
  });
}

TEST(CompositesTest, PseudoInversesWithTensorsAreWhatTorchComputes) {
  check({
      {"+aten.linalg_pinv.atol_rtol_tensor(f64[2,4,3], atol=f64[2], "
       "rtol=f64[2])",
       -0.407565326139},
      {"aten.linalg_pinv.atol_rtol_tensor(f64[4,3], rtol=f64[])",
       -0.155651667274},
      {"+aten.linalg_pinv.atol_rtol_tensor(f64[4,3], atol=f64[])",
       -0.407565326139},
      {"+aten.linalg_pinv.rcond_tensor(f64[2,3,4], f64[2])", 0.0244001182819},
  });
}

TEST(CompositesTest, PolynomialsOfANumberAreWhatTorchComputes) {
  check({
      {"aten.special_legendre_polynomial_p.n_scalar(f64[5], 3)",
       -0.199695602309},
      {"aten.special_hermite_polynomial_h.x_scalar(0.5, i64[4])",
       0.394696662511},
      {"aten.special_chebyshev_polynomial_t.n_scalar(f64[3], 4)",
       0.30068126223},
      {"aten.special_modified_bessel_i0.default(f64[3])", 0.596079169303},
      {"aten.special_modified_bessel_i1.default(f64[3])", 0.104457979345},
  });
}

} // namespace
