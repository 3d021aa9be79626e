// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of views, parts at places that tensors hold, histograms, convolutions
// over steps, attention with its weights, reflections. A call is decomposed and
// run; beside it stands what torch 2.13 computes, as one number
// (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, CopiesOfViewsAreWhatTorchComputes) {
  check({
      {"aten._reshape_alias_copy.default(f64[3,4], [2,6], [6,1])",
       0.686345190109},
      {"aten.alias_copy.default(f64[3])", 0.200202930355},
      {"aten.detach_copy.default(f64[3])", 0.200202930355},
      {"aten.diagonal_copy.default(f64[3,4], 1)", 0.511605900754},
      {"aten.expand_copy.default(f64[3,1], [2,3,4])", -4.51940059049},
      {"aten.narrow_copy.default(f64[3,4], 1, 1, 2)", 0.332760353115},
      {"aten.permute_copy.default(f64[2,3,4], [2,0,1])", 0.0770124288674},
      {"aten.select_copy.int(f64[3,4], 1, -1)", 0.256241415066},
      {"aten.slice_copy.Tensor(f64[3,4], 1, 1, 9, 2)", 0.535558904378},
      {"aten.split_copy.Tensor(f64[3,4], 3, 1)", -0.225013169199},
      {"aten.split_with_sizes_copy.default(f64[3,4], [1, 3], 1)",
       -0.719229173899},
      {"aten.squeeze_copy.default(f64[3,1,4])", 0.686345190109},
      {"aten.squeeze_copy.dim(f64[3,1,4], 1)", 0.686345190109},
      {"aten.squeeze_copy.dims(f64[3,1,1], [1,2])", 0.200202930355},
      {"aten.t_copy.default(f64[3,4])", -1.39741744316},
      {"aten.transpose_copy.int(f64[3,4,2], 0, -1)", 1.08493316824},
      {"aten.unbind_copy.int(f64[3,4], 1)", -1.39741744316},
      {"aten.unfold_copy.default(f64[3,6], 1, 3, 2)", 0.327947584643},
      {"aten.unsqueeze_copy.default(f64[3,4], 1)", 0.686345190109},
      {"aten.view_as_complex_copy.default(f64[3,2])", 1.62451585643},
      {"aten.view_as_real_copy.default(c128[3])", -1.03442068591},
      {"aten.view_copy.default(f64[3,4], [2,-1])", 0.686345190109},
      {"aten.view_copy.dtype(f64[3,4], :f64)", 0.686345190109},
      {"aten._conj_copy.default(c128[3])", -0.322314663303},
      {"aten._neg_view.default(f64[3])", -0.200202930355},
      {"aten._neg_view_copy.default(f64[3])", -0.200202930355},
      {"aten._lazy_clone.default(f64[3])", 0.200202930355},
      {"aten._stack.default([f64[3], f64[3]], 1)", -0.03382211831},
      {"aten.data.default(f64[3])", 0.200202930355},
  });
}

TEST(CompositesTest, PartsAtPlacesOfTensorsAreWhatTorchComputes) {
  check({
      {"aten.narrow.Tensor(f64[5,4], 0, i64[], 2)", 1.89276755574},
      {"aten.narrow.Tensor(f64[3,5], -1, i64[], 3)", 2.03406935596},
      {"aten.tensor_split.tensor_indices_or_sections(f64[4,3], i64[2])",
       0.686345190109},
      {"aten.tensor_split.tensor_indices_or_sections(f64[3,4], i64[3], 1)",
       -1.62072273271},
  });
}

TEST(CompositesTest, HistogramsAreWhatTorchComputes) {
  check({
      {"aten.histogram.bin_ct(f64[20], 5)", -1.71373058376},
      {"aten.histogram.bin_ct(f64[4,5], 3, range=[-0.5, 0.75])",
       0.452217759713},
      {"aten.histogram.bin_ct(f64[20], 4, range=[0.5, 0.5], weight=f64[20])",
       -2.55868079811},
      {"aten.histogram.bin_ct(f64[20], 4, weight=f64[20], density=true)",
       -2.21002737999},
      {"aten.histogram.bin_ct(f64[1], 2)", -0.204676674754},
  });
}

TEST(CompositesTest, QuantilesBetweenElementsAreWhatTorchComputes) {
  check({
      {"aten.quantile.scalar(f64[], 0.5, 0, true)", 0.15967024909},
      {"aten.quantile.default(f64[], f64[2], -1, true)", 0.218611671858},
      {"aten.nanquantile.default(f64[], f64[2], -1, true)", 0.218611671858},
      {"+aten.quantile.scalar(f64[3,5], 0.3, 1, interpolation='lower')",
       0.328629382882},
      {"aten.nanquantile.scalar(f64[3,6], 0.7, 0, true, interpolation='lower')",
       -0.247423629423},
      {"+aten.quantile.scalar(f64[3,5], 0.3, 1, interpolation='higher')",
       0.565964561242},
      {"aten.nanquantile.scalar(f64[3,6], 0.7, 0, true, "
       "interpolation='higher')",
       -1.06744660812},
      {"+aten.quantile.scalar(f64[3,5], 0.3, 1, interpolation='nearest')",
       0.328629382882},
      {"aten.nanquantile.scalar(f64[3,6], 0.7, 0, true, "
       "interpolation='nearest')",
       -0.247423629423},
      {"+aten.quantile.scalar(f64[3,5], 0.3, 1, interpolation='midpoint')",
       0.447296972062},
      {"aten.nanquantile.scalar(f64[3,6], 0.7, 0, true, "
       "interpolation='midpoint')",
       -0.657435118772},
  });
}

TEST(CompositesTest, ConvolutionsOverStepsAreWhatTorchComputes) {
  check({
      {"aten.conv_tbc.default(f64[5,2,3], f64[3,3,4], f64[4], 1)",
       3.37561456431},
      {"aten.conv_tbc.default(f64[5,2,3], f64[2,3,4], f64[4])",
       -0.039831043077},
      {"aten.conv_tbc_backward.default(f64[5,2,4], f64[5,2,3], f64[3,3,4], "
       "f64[4], 1)",
       -6.03205712702},
  });
}

TEST(CompositesTest, RangesAndProductsAreWhatTorchComputes) {
  check({
      {"aten.range.default(1, 4, dtype=:f64)", -1.6198018452},
      {"aten.range.step(0.5, 3.2, 0.7, dtype=:f64)", -1.14544164496},
      {"aten.range.step(3, -2, -2)", 1.98875408655},
      {"aten._trilinear.default(f64[2,3], f64[4,3,5], f64[2,5], [1, 3], [0], "
       "[1, 2], [2, 3])",
       2.25327351256},
      {"aten._trilinear.default(f64[2,3], f64[3], f64[2], [], [0], [1], [-1])",
       -0.10318357142},
  });
}

TEST(CompositesTest, ProductsInAnotherTypeAreThoseOfTheirCasts) {
  // torch 2.13 has these on GPUs alone: the numbers are those of mm and bmm.
  check({
      {"aten.mm.dtype(f32[2,3], f32[3,4], :f32)", -1.00861279005},
      {"aten.bmm.dtype(f64[2,2,3], f64[2,3,4], :f64)", -0.726796395503},
  });
}

TEST(CompositesTest, AttentionWithItsWeightsIsWhatTorchComputes) {
  check({
      {"aten._scaled_dot_product_attention_math.default(f64[2,2,3,4], "
       "f64[2,2,5,4], f64[2,2,5,4])",
       0.226063379157},
      {"aten._scaled_dot_product_attention_math.default(f64[2,3,4], "
       "f64[2,3,4], f64[2,3,4], none, 0.0, true)",
       -0.0594761549823},
      {"aten._scaled_dot_product_attention_math.default(f64[1,2,3,4], "
       "f64[1,2,3,4], f64[1,2,3,4], b8[3,3], 0.0, false, none, scale=0.3)",
       1.07111233177},
      {"aten._scaled_dot_product_attention_math.default(f64[1,4,3,4], "
       "f64[1,2,3,4], f64[1,2,3,4], none, 0.0, false, none, enable_gqa=true)",
       0.0598746088489},
      {"aten._scaled_dot_product_attention_math.default(f64[1,2,3,4], "
       "f64[1,2,3,4], f64[1,2,3,4], none, 0.25, false, b8[1,2,3,3])",
       1.67761006188},
  });
}

TEST(CompositesTest, ReflectionsAreWhatTorchComputes) {
  check({
      {"aten.orgqr.default(f64[4,2], f64[2])", -1.80546431999},
      {"aten.ormqr.default(f64[4,2], f64[2], f64[4,3])", -0.590980721083},
      {"aten.ormqr.default(f64[4,2], f64[2], f64[4,3], true, true)",
       -0.100372777108},
      {"aten.ormqr.default(f64[4,2], f64[2], f64[3,4], false)", -1.27847601798},
      {"aten.ormqr.default(f64[2,4,3], f64[2,3], f64[2,3,4], false, true)",
       1.03200269857},
      {"aten.linalg_eigvals.default(f64[2,2])", 0.719222777149},
  });
}

TEST(CompositesTest, ComplexReflectionsAreWhatTorchComputes) {
  check({
      {"aten.linalg_householder_product.default(c128[4,2], c128[2])",
       1.61848591806},
      {"aten.linalg_householder_product.default(c128[2,3,3], c128[2,2])",
       4.27712826906},
      {"aten.ormqr.default(c128[3,2], c128[2], c128[3,4])", 3.36478126915},
      {"aten.ormqr.default(c128[3,2], c128[2], c128[3,4], true, true)",
       3.42142848556},
      {"aten.ormqr.default(c128[3,2], c128[2], c128[4,3], false)",
       4.72467123486},
      {"aten.ormqr.default(c128[3,2], c128[2], c128[4,3], false, true)",
       -2.97303690063},
  });
}

TEST(CompositesTest, ListsAndChunksOfElementsAreWhatTorchComputes) {
  check({
      {"aten.logspace.Scalar_Tensor(2, f64[], 1, 2.0, dtype=:f64)",
       2.1612092234725598},
      {"aten.linalg_vander.default(f64[], N=3)", 0.584537210287},
      {"aten.vander.default(f64[4])", -3.08669700381},
      {"aten.chalf.default(f64[3])", -0.67849897763},
      {"aten.chalf.default(c128[3])", -1.03440915055},
      {"aten.combinations.default(f64[4])", -2.87369197077},
      {"aten.combinations.default(f64[4], 3, true)", 0.528899455131},
      {"aten.combinations.default(f64[4], 1)", 0.127744465345},
      {"aten.combinations.default(f64[2], 3)", 0},
      {"aten.combinations.default(f64[4], 0)", 0},
      {"aten._chunk_cat.default([f64[1,2,3], f64[1,2,3]], -1, 5)",
       -2.18826746138},
      {"aten._chunk_cat.default([f64[3,2], f64[5], f64[4,1,2]], 0, 2)",
       -0.900875448559},
      {"aten.resize.default(f64[3,4], [2,5])", 0.932869323746},
      {"aten.resize.default(f64[3,4], [12])", 0.686345190109},
      {"aten._batch_norm_with_update_functional.default(f64[4,3], f64[3], "
       "f64[3], f64[3], f64[3], 0.1, 0.001)",
       6.28878055283},
      {"+aten._batch_norm_no_update.default(f64[4,3], f64[3], f64[3], "
       "f64[3], f64[3], 0.1, 0.001)",
       -4.37398284482},
  });
}

} // namespace
