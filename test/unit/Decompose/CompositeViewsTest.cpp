// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views, arrangements, elementwise ops and Fourier transforms.
// A call is decomposed and run; beside it stands what torch 2.13 computes, as
// one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include <gtest/gtest.h>

using namespace cutback::test;

namespace {

TEST(CompositesTest, ViewsAreWhatTorchComputes) {
  check({
      {"aten.reshape.default(f64[2,6], [3,-1])", 0.686345190109},
      {"aten.reshape.default(f64[2,6], [2,6])", 0.686345190109},
      {"aten.flatten.using_ints(f64[2,3,4], 1)", -0.188105559633},
      {"aten.flatten.using_ints(f64[2,3,4], 0, 1)", -0.188105559633},
      {"aten.flatten.using_ints(f64[])", 0.15967024909},
      {"aten.unflatten.int(f64[2,6], 1, [3,-1])", 0.686345190109},
      {"aten.view_as.default(f64[6], f64[2,3])", 1.62451585643},
      {"aten.reshape_as.default(f64[6], f64[2,3])", 1.62451585643},
      {"aten.expand_as.default(f64[1,3], f64[2,3])", -1.51369624938},
      {"aten.broadcast_to.default(f64[3,1], [2,3,4])", -4.51940059049},
      {"aten.ravel.default(f64[3,4])", 0.686345190109},
      {"aten.swapaxes.default(f64[2,3,4], 0, -1)", 0.271798555692},
      {"aten.swapdims.default(f64[2,3,4], 0, 1)", -0.188097189066},
      {"aten.mT.default(f64[2,3,4])", -3.00759332173},
      {"aten.adjoint.default(f64[2,3,4])", -3.00759332173},
      {"aten.mT.default(f64[])", 0.15967024909},
      {"aten.adjoint.default(f64[])", 0.15967024909},
      {"aten.numpy_T.default(f64[2,3])", 0.657027889112},
      {"aten.movedim.int(f64[2,3,4], 0, 2)", -3.74878217083},
      {"aten.movedim.intlist(f64[2,3,4,5], [0,1], [2,0])", 3.11311381195},
      {"aten.moveaxis.int(f64[2,3,4], -1, 0)", 0.0770124288674},
      {"aten.narrow.default(f64[2,6], 1, 2, 3)", -0.664752302482},
      {"aten.narrow.default(f64[2,6], 1, -4, 3)", -0.664752302482},
      {"aten.rot90.default(f64[2,3,4])", -0.0857379564752},
      {"aten.rot90.default(f64[2,3,4], 2, [1,2])", 1.27815957472},
      {"aten.rot90.default(f64[2,3,4], -1, [2,0])", -0.0468909794128},
      {"aten.flipud.default(f64[2,3])", -1.60707490467},
      {"aten.fliplr.default(f64[2,3])", 1.52150231777},
      {"aten.atleast_1d.default(f64[])", 0.15967024909},
      {"aten.atleast_2d.default(f64[3])", 0.200202930355},
      {"aten.atleast_3d.default(f64[3])", 0.200202930355},
      {"aten.atleast_3d.default(f64[3,4])", 0.686345190109},
      {"aten.atleast_2d.Sequence([f64[], f64[3], f64[2,2,2]])", 1.45646065657},
      {"aten.chunk.default(f64[2,10], 4, 1)", 5.03201596389},
      {"aten.chunk.default(f64[2,10], 6, 1)", 4.61456137158},
      {"aten.unsafe_chunk.default(f64[7,2], 3)", -0.452734252914},
      {"aten.split.sizes(f64[7,2], [3,4])", -0.452734252914},
      {"aten.unsafe_split.Tensor(f64[7,2], 3)", -0.452734252914},
      {"aten.unsafe_split_with_sizes.default(f64[7,2], [3,4])",
       -0.452734252914},
      {"aten.tensor_split.sections(f64[7,2], 3)", -0.452734252914},
      {"aten.tensor_split.sections(f64[2,7], 9, 1)", -2.61771032672},
      {"aten.tensor_split.indices(f64[7,2], [-3,2,5])", 2.59714558221},
      {"aten.hsplit.int(f64[4,6], 3)", 0.487407201262},
      {"aten.hsplit.array(f64[4,6], [1,4])", -5.89183109087},
      {"aten.hsplit.int(f64[6], 2)", 1.62451585643},
      {"aten.vsplit.int(f64[4,6], 2)", -0.188105559633},
      {"aten.dsplit.array(f64[2,3,4], [1,9])", -2.23052784012},
      {"aten.linalg_diagonal.default(f64[2,3,4])", -0.543395093182},
  });
}

TEST(CompositesTest, ArrangementsAreWhatTorchComputes) {
  check({
      {"aten.hstack.default([f64[], f64[3]])", 0.614900545546},
      {"aten.hstack.default([f64[2,3], f64[2,4]])", 3.3258607276},
      {"aten.vstack.default([f64[3], f64[2,3]])", 1.54928032383},
      {"aten.row_stack.default([f64[3], f64[3]])", 0.130580039457},
      {"aten.dstack.default([f64[3], f64[3]])", -0.03382211831},
      {"aten.dstack.default([f64[2,3], f64[2,3,4]])", 1.25561769604},
      {"aten.column_stack.default([f64[3], f64[3,2], f64[3]])", 1.7117428277},
      {"aten.concat.default([f64[2,3], f64[2,4]], 1)", 3.3258607276},
      {"aten.broadcast_tensors.default([f64[2,1], f64[3]])", -3.19819576376},
      {"aten.meshgrid.default([f64[2], f64[3]])", -3.19819576376},
      {"aten.meshgrid.indexing([f64[2], f64[3], f64[4]], indexing='xy')",
       -3.45770984991},
      {"aten.cartesian_prod.default([f64[2], f64[3], f64[4]])", -4.18362902027},
      {"aten.block_diag.default([f64[2,3], f64[4], f64[]])", 1.00685727463},
      {"aten.pad.default(f64[2,3,4], [1,2])", -0.264452343396},
      {"aten.pad.default(f64[2,3,4], [1,2,-1,1], 'constant', 0.5)",
       0.154002493323},
      {"aten.pad.default(f64[2,3,4], [1,2], 'reflect')", -2.84167877225},
      {"aten.pad.default(f64[2,3,4,4], [1,2,2,1], 'replicate')", 4.44969782563},
      {"aten.pad.default(f64[2,3,4,4], [1,2,2,1], 'circular')", 4.6929348033},
      {"aten.pad.default(f64[1,3,4,4], [-1,1,-2,1], 'circular')",
       -0.887895883333},
      {"aten.pad.default(f64[2,5], [2,-1], 'circular')", -0.795161828428},
      {"aten.repeat_interleave.self_int(f64[2,3], 2)", -1.80232350823},
      {"aten.repeat_interleave.self_int(f64[2,3], 2, 1)", -1.80232350823},
      {"aten.repeat_interleave.self_Tensor(f64[2,3], i64[3], 1)",
       2.62362526478},
      {"aten.tile.default(f64[2,3], [2])", -0.746677822984},
      {"aten.tile.default(f64[3], [2,2])", -3.05777017147},
      {"aten.diag_embed.default(f64[2,3], -1, 0, 2)", -0.270757183067},
      {"aten.diag_embed.default(f64[2,3])", -2.36298416969},
      {"aten.diag.default(f64[3], -2)", -0.0827501220819},
      {"aten.diag.default(f64[3,4], 1)", 0.511605900754},
      {"aten.diagflat.default(f64[2,2], 1)", -0.0373057772491},
      {"aten.to.dtype(f64[3], :f32)", 0.200202934717},
      {"aten.to.dtype(f64[3], :f64, false, true)", 0.200202930355},
      {"aten.to.other(f64[3], f32[1])", 0.200202934717},
      {"aten.type_as.default(f64[3], i64[1])", 0},
      {"aten.contiguous.default(f64[3])", 0.200202930355},
      {"aten.one_hot.default(i64[2,3], 4)", -0.189954687261},
  });
}

TEST(CompositesTest, ElementwiseAreWhatTorchComputes) {
  check({
      {"aten.subtract.Tensor(f64[3], f64[1], alpha=2)", -0.838859566473},
      {"aten.multiply.Scalar(f64[3], 0.5)", 0.100101465178},
      {"aten.divide.Tensor_mode(f64[3], f64[3], rounding_mode='floor')",
       0.935144058891},
      {"aten.true_divide.Tensor(f64[3], f64[3])", 1.19016507825},
      {"aten.clip.default(f64[3], 0.0)", 0.200202930355},
      {"aten.max.other(f64[3,1], f64[4])", -3.70045812479},
      {"aten.min.other(f64[3,1], f64[4])", 0.36667818932},
      {"aten.__and__.Tensor(b8[3,1], b8[4])", -1.92366268296},
      {"aten.__xor__.Scalar(i64[4], 1)", -0.478342850283},
      {"aten.arctan2.default(f64[3], f64[3])", 0.0646035121804},
      {"aten.greater_equal.Tensor(f64[3], f64[1])", 0.199449720998},
      {"aten.not_equal.Scalar(i64[3], 1)", 0.371904857919},
      {"aten.special_expit.default(f64[3])", 0.334444558618},
      {"aten.special_round.default(f64[5], decimals=1)", 0.691002779334},
      {"+aten.special_xlog1py.default(f64[3], f64[3])", 0.175621344103},
      {"aten.where.Scalar(b8[3], 2.0, 1.0)", 1.31110660578},
      {"aten.where.ScalarSelf(b8[3], 2.0, f64[3])", 1.58253936107},
      {"aten.where.ScalarOther(b8[3], f64[3], 2)", 0.202218812496},
      {"aten.prelu.default(f64[2,3], f64[3])", -0.326207083844},
      {"aten.prelu.default(f64[2,3,4], f64[1])", -0.276046120972},
      {"aten.rrelu.default(f64[3])", 0.200202930355},
      {"aten.float_power.Tensor_Scalar(f64[3], 2)", 0.0949690713764},
      {"aten.float_power.Tensor_Tensor(i64[3], f64[3])", 0.0892582635614},
      {"aten.float_power.Scalar(2, i64[3])", 0.265611956067},
      {"aten.ldexp.Tensor(f64[3], i64[3])", -0.0499888971579},
  });
}

TEST(CompositesTest, TransformsAreWhatTorchComputes) {
  check({
      {"aten.fft_fft.default(f64[3,5])", -2.46000186885},
      {"aten.fft_fft.default(c128[3,5], 8, 0)", 0.856103912322},
      {"aten.fft_ifft.default(c128[3,5], none, -1, 'forward')", -6.32843930991},
      {"aten.fft_rfft.default(f64[3,5])", 3.36872764225},
      {"aten.fft_rfft.default(f64[3,5], 6, 0, 'ortho')", 1.12343219658},
      {"aten.fft_irfft.default(c128[3,5])", -1.13604007696},
      {"aten.fft_irfft.default(c128[3,5], 7)", -0.596170081092},
      {"aten.fft_fft2.default(f64[2,3,5], [4,4])", -8.60258090666},
      {"aten.fft_ifft2.default(c128[2,3,5])", 0.0949215734},
      {"aten.fft_rfft2.default(f64[2,3,5], none, [-2,-1], 'forward')",
       0.234824025072},
      {"aten.fft_irfft2.default(c128[2,3,5], [4,6])", 0.0695655608018},
      {"aten.fft_fftn.default(f64[2,3,5])", 5.09544768572},
      {"aten.fft_ifftn.default(c128[2,3,5], [3,4])", -0.105338004743},
      {"aten.fft_rfftn.default(f64[2,3,5], none, [0,2])", 7.19168979913},
      {"aten.fft_irfftn.default(c128[2,3,4])", -1.48328097249},
      {"aten.fft_fftshift.default(f64[2,3,5])", -0.0535782149455},
      {"aten.fft_ifftshift.default(f64[2,3,5], [1])", -0.810125207505},
      {"aten._weight_norm.default(f64[4,3,2], f64[4,1,1])", 1.30686574539},
      {"aten._weight_norm.default(f64[4,3,2], f64[1,1,2], 2)",
       -0.00961933802311},
      {"aten.norm_except_dim.default(f64[4,3,2], 2, 1)", 1.13521801139},
      {"aten.norm_except_dim.default(f64[4,3,2], 2, -1)", 1.88622833698},
      {"aten.affine_grid_generator.default(f64[2,2,3], [2,3,4,5], false)",
       -0.10132047511},
      {"aten.affine_grid_generator.default(f64[2,3,4], [2,3,4,1,6], true)",
       1.43566492537},
  });
}

} // namespace
