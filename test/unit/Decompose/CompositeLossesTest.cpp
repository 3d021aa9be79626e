// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses, reductions, pools, embeddings and recurrent layers.
// A call is decomposed and run; beside it stands what torch 2.13 computes, as
// one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, SoftmaxAndClassesAreWhatTorchComputes) {
  check({
      {"aten.softmax.int(f64[2,3], 1)", -0.529748541798},
      {"aten.softmax.int(f64[2,3], -1, :f64)", -0.529748541798},
      {"aten.log_softmax.int(f64[2,3], 0)", 3.39110466241},
      {"aten.special_softmax.default(f64[2,3], 1)", -0.529748541798},
      {"aten.special_log_softmax.default(f64[2,3], 1)", 2.17022470714},
      {"aten.nll_loss.default(f64[4,3], i64[4])", -0.189153479593},
      {"aten.nll_loss_nd.default(f64[4,3,5], i64[4,5], f64[3], 2)",
       0.537089645651},
      {"aten.nll_loss_nd.default(f64[4,3,5], i64[4,5], f64[3], 0)",
       -0.015400320567},
      {"aten.nll_loss_nd.default(f64[4,3,2,2], i64[4,2,2])", 0.0402122982375},
      {"aten.nll_loss_nd.default(f64[3], i64[])", -0.15967024909},
      {"aten.nll_loss2d.default(f64[4,3,2,2], i64[4,2,2], none, 1, 1)",
       0.0194712023957},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4])", 0.543321082263},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4], none, 1, 1)",
       0.473615927342},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4], none, 2)",
       2.17328432905},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4], none, 0)",
       0.743016040843},
      {"+aten.cross_entropy_loss.default(f64[4,3], i64[4], f64[3], 1, 2)",
       0.61692361721},
      {"aten.cross_entropy_loss.default(f64[4,3,5], i64[4,5])", 0.716978693379},
      {"aten.cross_entropy_loss.default(f64[4,3,2,2,2], i64[4,2,2,2], none, 0, "
       "1)",
       -1.03614357327},
      {"aten.cross_entropy_loss.default(f64[3], i64[])", 0.830846309572},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4], none, 1, -100, 0.1)",
       0.555365620384},
      {"aten.cross_entropy_loss.default(f64[4,3], i64[4], none, 1, 1, 0.1)",
       0.492799986103},
      {"+aten.cross_entropy_loss.default(f64[4,3], i64[4], f64[3], 1, 1, 0.1)",
       0.580514131876},
      {"+aten.cross_entropy_loss.default(f64[4,3,2], i64[4,2], f64[3], 2, 1, "
       "0.2)",
       3.05794508774},
      {"+aten.cross_entropy_loss.default(f64[4,3,2], i64[4,2], f64[3], 0, 1, "
       "0.2)",
       -2.3614025999},
      {"+aten.cross_entropy_loss.default(f64[4,3], f64[4,3])", 1.71195563518},
      {"+aten.cross_entropy_loss.default(f64[4,3], f64[4,3], f64[3], 2, -100, "
       "0.1)",
       5.99689676669},
      {"+aten.cross_entropy_loss.default(f64[4,3,2], f64[4,3,2], f64[3], 1, "
       "-100, 0.1)",
       1.48698525424},
      {"+aten.cross_entropy_loss.default(f64[4,3], f64[4,3], none, 0)",
       -0.101451510389},
      {"+aten.cross_entropy_loss.default(f64[3], f64[3])", 1.56105399654},
  });
}

// torch.nn.functional.linear_cross_entropy, in pieces of the batch.
TEST(CompositesTest, LossesOfLinearMapsAreWhatTorchComputes) {
  check({
      {"torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default("
       "f64[4,3], f64[5,3], i64[4], f64[5], none, 1, 2, 'compact', :f64)",
       0.810129798752},
      {"torch_nn._linear_cross_entropy_batch_chunked.default(f64[3,4], "
       "f64[5,4], i64[3], f64[5], none, 'mean', -100, 0.0, 2, 'compact', :f64, "
       "true, true, true, true)",
       0.788518581468},
      {"torch_nn._linear_cross_entropy_batch_chunked.default(f64[3,4], "
       "f64[5,4], i64[3], f64[5], f64[5], 'mean', 1, 0.0, 2, 'compact', :f64, "
       "true, true, true, true)",
       -1.0816509519},
  });
}

TEST(CompositesTest, LossesOfVectorsAreWhatTorchComputes) {
  check({
      {"aten.cosine_similarity.default(f64[3,1,5], f64[3,4,5], -1)",
       1.48402068646},
      {"aten.cosine_similarity.default(f64[3,5], f64[5], 1)", -0.200072431394},
      {"aten.cosine_similarity.default(f64[1,2,3], f64[2,1,3], -2)",
       1.19717180786},
      {"aten.cosine_similarity.default(f64[3], f64[4,3], 0)", 0.0682278306407},
      {"aten.cosine_similarity.default(f64[], f64[], 0)", 0.540302305868},
      {"aten.pairwise_distance.default(f64[3,5], f64[1,5])", 1.508231151},
      {"aten.pairwise_distance.default(f64[3,5], f64[5], 1.0, 0.000001, true)",
       2.96036800792},
      {"aten.triplet_margin_loss.default(f64[3,5], f64[3,5], f64[3,5], "
       "reduction=0)",
       -0.0209261457882},
      {"aten.triplet_margin_loss.default(f64[3,5], f64[3,5], f64[3,5], "
       "swap=true)",
       0.474052423484},
      {"aten.cosine_embedding_loss.default(f64[3,5], f64[3,5], i64[3], 0.5, 0)",
       0.259159400518},
      {"aten.margin_ranking_loss.default(f64[3,5], f64[3,5], f64[5], 0.5, 0)",
       0.796337101929},
      {"aten.margin_ranking_loss.default(f64[3], f64[3], f64[3], 0.5, 2)",
       1.5690038724},
      {"+aten.poisson_nll_loss.default(f64[3,5], f64[5], true, false, "
       "0.00000001, 0)",
       -3.24902601804},
      {"+aten.poisson_nll_loss.default(f64[3,5], f64[3,5], false, true, "
       "0.00000001, 1)",
       0.631016439763},
      {"aten.hinge_embedding_loss.default(f64[3,5], i64[3,5])", 0.3653774819},
      {"aten.hinge_embedding_loss.default(f64[3,5], i64[3,5], 2.0, 0)",
       -2.31730544785},
  });
}

TEST(CompositesTest, ReductionsAreWhatTorchComputes) {
  check({
      {"aten.var.default(f64[3,4])", 0.270553701232},
      {"aten.var.dim(f64[3,4], [1], false, true)", 0.037719694084},
      {"aten.std.default(f64[3,4], false)", 0.366058815288},
      {"aten.std.dim(f64[3,4], [0])", 0.263004498517},
      {"aten.var_mean.dim(f64[3,4], [0], false)", -0.223434888994},
      {"aten.std_mean.default(f64[3,4])", 0.407699191932},
      {"aten.norm.Scalar(f64[3,4])", 1.2902086298},
      {"aten.norm.ScalarOpt_dim(f64[3,4], none, [1], true)", 0.736319342788},
      {"aten.norm.ScalarOpt_dtype(f32[3,4], 3, dtype=:f64)", 0.910578969482},
      {"aten.frobenius_norm.dim(f64[2,3,4], [1,2])", 1.79813065164},
      {"aten.linalg_norm.default(f64[3,4])", 1.2902086298},
      {"aten.linalg_norm.default(f64[3,4], 1, [1])", 1.27304103514},
      {"aten.count_nonzero.default(i64[3,4])", 4.32241844695},
      {"aten.trace.default(f64[3,4])", -0.311316774092},
      {"aten.trace.default(i64[3,3])", 1.6209069176},
      {"aten.sum_to_size.default(f64[2,3,4], [1,4])", -0.373336053328},
      {"aten.linalg_matrix_norm.default(f64[2,3,4], 1)", 2.05663087125},
      {"aten.linalg_matrix_norm.default(f64[2,3,4], -1, [0,2], true)",
       0.62551664126},
      {"aten.linalg_matrix_norm.default(f64[2,3,4], inf, [2,0])",
       0.84060540462},
      {"aten.count_nonzero.dim_IntList(i64[3,4], [1])", 1.17376143088},
      {"aten.msort.default(f64[4,3])", -0.934637043197},
      {"aten.diff.default(f64[3,5])", 0.120743612743},
      {"aten.diff.default(f64[3,5], 2, 0)", 4.49553164008},
      {"aten.diff.default(f64[3,5], 0, 1, f64[3,2], f64[3,1])",
       -0.127001611685},
      {"aten.diff.default(f64[3,5], 1, 1, f64[3,2], f64[3,1])",
       -0.120061282517},
      {"aten.trapezoid.x(f64[3,5], f64[5])", -0.850938010033},
      {"aten.trapezoid.dx(f64[3,5], dx=0.5, dim=0)", -0.732553840997},
      {"aten.trapz.dx(f64[3,5])", 1.40317052756},
      {"aten.cumulative_trapezoid.dx(f64[3,5], dim=0)", -0.38587709221},
      {"aten.cumulative_trapezoid.x(f64[3,5], f64[3,5])", 3.87859406482},
  });
}

TEST(CompositesTest, PoolsAreWhatTorchComputes) {
  check({
      {"aten.max_pool1d.default(f64[2,3,8], [2])", 0.0756292703631},
      {"aten.max_pool1d.default(f64[2,3,8], [3], [2], [1], [1], true)",
       -1.3693559641},
      {"aten.max_pool1d_with_indices.default(f64[2,3,8], [3], [2])",
       4.45322995861},
      {"aten.max_pool2d.default(f64[2,3,6,6], [2,3], [2,2], [1,1])",
       -0.0864120867468},
      {"aten.max_pool3d.default(f64[1,2,4,4,4], [2,2,2])", -0.684466852444},
      {"aten.avg_pool1d.default(f64[2,3,8], [3], [2], [1])", 0.385128517226},
      {"aten.adaptive_avg_pool1d.default(f64[2,3,8], [3])", 0.258045946566},
      {"aten.adaptive_avg_pool2d.default(f64[2,3,6,6], [1,1])",
       0.0561388590379},
      {"aten.adaptive_avg_pool2d.default(f64[2,3,6,6], [4,2])",
       -0.0790814505457},
      {"aten.adaptive_avg_pool3d.default(f64[1,2,4,4,4], [2,3,2])",
       0.0226991103268},
      {"aten.adaptive_max_pool1d.default(f64[2,3,8], [3])", 1.69082420243},
      {"aten.upsample_nearest1d.vec(f64[2,3,4], none, [1.5])", 0.484401092771},
      {"aten.upsample_nearest2d.vec(f64[2,3,4,4], [8,6], none)", -3.6903254964},
      {"aten.upsample_nearest2d.vec(f64[2,3,4,4], none, [2.0,1.3])",
       -30.8533851769},
      {"aten.upsample_bilinear2d.vec(f64[2,3,4,4], [8,6], true, none)",
       0.573519124439},
      {"aten.upsample_bilinear2d.vec(f64[2,3,4,4], none, false, [2.0,1.6])",
       -0.63645900438},
      {"aten.upsample_linear1d.vec(f64[2,3,4], none, false, [2.0])",
       9.95007594698},
      {"aten.upsample_bicubic2d.vec(f64[2,3,4,4], [8,6], false, none)",
       0.000879751120192},
      {"aten.grid_sampler.default(f64[2,3,4,4], f64[2,5,6,2], 0, 0, false)",
       -5.64240102105},
  });
}

TEST(CompositesTest, EmbeddingsAndCellsAreWhatTorchComputes) {
  check({
      {"aten.scatter.reduce(f64[3,4], 0, i64[2,4], f64[2,4], reduce='add')",
       0.715190053463},
      {"aten.scatter.reduce(f64[3,4], 0, i64[2,4], f64[2,4], "
       "reduce='multiply')",
       -0.923301724232},
      {"aten.scatter.value_reduce(f64[3,4], 1, i64[3,2], 2.0, "
       "reduce='multiply')",
       1.80313657259},
      {"aten.embedding_bag.default(f64[5,3], i64[6], i64s[3])", -1.48124928414},
      {"aten.embedding_bag.padding_idx(f64[5,3], i64[6], i64s[3], false, 1, "
       "false, none, false, 0)",
       -0.361096427958},
      {"aten.embedding_bag.padding_idx(f64[5,3], i64[6], i64s[3], false, 0, "
       "false, f64[6], false, -4)",
       -2.33016687729},
      {"aten.lstm_cell.default(f64[2,3], [f64[2,4], f64[2,4]], f64[16,3], "
       "f64[16,4], f64[16], f64[16])",
       1.20653863683},
      {"aten.gru_cell.default(f64[2,3], f64[2,4], f64[12,3], f64[12,4], "
       "f64[12], f64[12])",
       0.978613580137},
      {"aten.rnn_tanh_cell.default(f64[2,3], f64[2,4], f64[4,3], f64[4,4])",
       -0.367327744296},
      {"aten.rnn_relu_cell.default(f64[2,3], f64[2,4], f64[4,3], f64[4,4], "
       "f64[4], f64[4])",
       -5.27700110157},
      {"aten.rnn_tanh.input(f64[5,2,3], f64[1,2,4], [f64[4,3], f64[4,4], "
       "f64[4], f64[4]], true, 1, 0.0, true, false, false)",
       -0.223947277321},
      {"aten.rnn_relu.input(f64[2,5,3], f64[2,2,4], [f64[4,3], f64[4,4], "
       "f64[4,3], f64[4,4]], false, 1, 0.0, true, true, true)",
       14.0640698937},
      {"aten.gru.input(f64[3,2,3], f64[2,2,4], [f64[12,3], f64[12,4], f64[12], "
       "f64[12], f64[12,4], f64[12,4], f64[12], f64[12]], true, 2, 0.0, true, "
       "false, false)",
       -0.541415665},
      {"aten.lstm.input(f64[3,2,3], [f64[2,2,4], f64[2,2,4]], [f64[16,3], "
       "f64[16,4], f64[16], f64[16], f64[16,4], f64[16,4], f64[16], f64[16]], "
       "true, 2, 0.5, false, false, false)",
       -0.608537664212},
      {"aten.lstm.input(f64[2,3,3], [f64[2,2,4], f64[2,2,4]], [f64[16,3], "
       "f64[16,4], f64[16,3], f64[16,4]], false, 1, 0.0, true, true, true)",
       0.553359908575},
      {"aten.lstm.input(f64[3,2,3], [f64[1,2,2], f64[1,2,4]], [f64[16,3], "
       "f64[16,2], f64[16], f64[16], f64[2,4]], true, 1, 0.0, true, false, "
       "false)",
       -0.883045190449},
  });
}

} // namespace
