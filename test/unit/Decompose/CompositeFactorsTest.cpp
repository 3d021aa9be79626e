// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LU factors, equations of tensors, ranks, products of integers, histograms.
// A call is decomposed and run; beside it stands what torch 2.13 computes, as
// one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, FactorsAndRanksAreWhatTorchComputes) {
  check({
      {"aten.linalg_lu_factor.default(f64[3,3])", -1.6466277547},
      {"aten.linalg_lu_factor.default(f64[2,4,2])", 5.74567879366},
      {"aten._lu_with_info.default(f64[2,3])", -0.601439136878},
      {"aten.linalg_lu.default(f64[3,3])", -4.81685805259},
      {"aten.linalg_lu.default(f64[2,4,2])", -1.37185166854},
      {"aten.linalg_lu.default(f64[2,3])", -4.70685825575},
      {"+aten.linalg_tensorsolve.default(f64[2,3,6], f64[2,3])",
       -0.181606201503},
      {"+aten.linalg_tensorsolve.default(f64[2,6,3], f64[2,3], [1])",
       0.740126732592},
      {"+aten.linalg_tensorinv.default(f64[2,3,6])", -2.68258005889},
      {"+aten.linalg_tensorinv.default(f64[6,2,3], 1)", -2.68258005889},
      {"+aten.linalg_cond.p_str(f64[2,3,3], 'fro')", 16.3793973002},
      {"+aten.linalg_cond.p_str(f64[3,3], 'nuc')", 13.2589395765},
      {"aten.linalg_matrix_rank.default(f64[4,3], 0.5)", 1.08060461174},
      {"aten.linalg_matrix_rank.default(c128[4,3], 0.5)", 1.08060461174},
      {"aten.linalg_matrix_rank.atol_rtol_float(c128[2,3,4])", 2.2192560806},
      {"aten.linalg_matrix_rank.default(f64[2,3,3], 0.1, true)", 1.67895377473},
      {"aten.linalg_matrix_rank.atol_rtol_float(f64[2,3,4])", 1.47950405373},
      {"aten.linalg_matrix_rank.atol_rtol_float(f64[3,4], atol=0.2, rtol=0.6)",
       0.540302305868},
      {"aten.linalg_matrix_rank.atol_rtol_float(f64[2,3,3], rtol=0.4, "
       "hermitian=true)",
       1.47950405373},
      {"aten.linalg_matrix_rank.tol_tensor(f64[2,3,4], f64[2])",
       0.939201747863},
      {"aten.linalg_matrix_rank.atol_rtol_tensor(f64[2,3,4], atol=f64[2], "
       "rtol=f64[2])",
       0.939201747863},
      {"aten._int_mm.default(i8[32,16], i8[16,8])", 8.77562004465},
  });
}

TEST(CompositesTest, HistogramsAreWhatTorchComputes) {
  check({
      {"+aten.nanquantile.scalar(f64[5], 0.3)", 0.310116988786},
      {"+aten.nanquantile.scalar(f64[2,3,4], 0.6, 1, true)", -3.10617528199},
      {"+aten.nanquantile.scalar(f64[2,3], 0.25, none, true)", 0.320713558417},
      {"aten.histc.default(f64[20], 6)", -5.73785089179},
      {"aten.histc.default(f64[4,5], 5, -0.5, 0.75)", -2.04555078076},
      {"aten.histc.default(f64[1], 4)", -0.168397447949},
      {"aten.logspace.default(-1, 2, 5, dtype=:f64)", -88.3984308011},
      {"aten.logspace.default(0.5, 3, 4, 2.0, dtype=:f64)", -3.59701682335},
      {"aten.isin.Scalar_Tensor(1, i64[4])", 0.540302305868},
      {"aten.isin.Scalar_Tensor(5, i64[4], invert=true)", 0.540302305868},
      {"+aten.special_xlog1py.self_scalar(1.5, f64[3])", 0.369739290518},
      {"+aten.special_xlog1py.other_scalar(f64[3], 0.5)", 0.127508172022},
      {"+aten.special_zeta.self_scalar(2.5, f64[3])", 3.45478908635},
  });
}

TEST(CompositesTest, HistogramsOfRowsAreWhatTorchComputes) {
  check({
      {"aten.histogramdd.default(f64[7,2], [3,2])", -0.384264356824},
      {"aten.histogramdd.default(f64[7,2], [3,2], [-0.5,0.5,-0.75,1.0], "
       "f64[7], true)",
       -1.69972600097},
      {"aten.histogramdd.int_bins(f64[3,4,2], 3)", -3.11656965404},
      {"aten._histogramdd_bin_edges.default(f64[7,2], [3,2])", -1.25081422002},
      {"aten._histogramdd_from_bin_cts.default(f64[7,2], [3,2], density=true)",
       -0.405230503038},
  });
}

TEST(CompositesTest, IndefiniteFactorsAreWhatTorchComputes) {
  check({
      {"aten.linalg_ldl_factor.default(f64[4,4])", 7.25428570356},
      {"aten.linalg_ldl_factor.default(f64[2,3,3])", -6.95348906558},
      {"aten.linalg_ldl_factor.default(c128[4,4])", 3.18510582265},
      {"aten.linalg_ldl_factor.default(c128[4,4], hermitian=true)",
       -3.70398678382},
      {"aten.linalg_ldl_factor_ex.default(f64[5,5])", 6.94349955043},
  });
}

} // namespace
