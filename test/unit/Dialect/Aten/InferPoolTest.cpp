// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of pooling and resampling.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, PoolAsTorchDoes) {
  checkInference({
      {"aten.avg_pool2d.default(f32[4,128,56,56], [2,2], [2,2])",
       "f32[4,128,28,28]"},
      {"aten.avg_pool2d.default(f32[4,128,57,57], [3,2], [2], [1,0], true)",
       "f32[4,128,29,29]"},
      {"aten.avg_pool1d.default(f32[4,8,57], [3])", "f32[4,8,19]"},
      {"aten.avg_pool3d.default(f32[1,2,8,8,8], [2,2,2])", "f32[1,2,4,4,4]"},
      {"aten.avg_pool2d_backward.default(f32[4,5,28,28], f32[4,5,56,56], "
       "[2,2], [2,2], [0,0], false, true, none)",
       "f32[4,5,56,56]"},
      {"aten.max_pool2d.default(f32[4,8,15,15], [3,3], [2,2], [1,1], [1,1], "
       "true)",
       "f32[4,8,8,8]"},
      {"aten.max_pool2d_with_indices.default(f32[4,64,112,112], [3,3], [2,2], "
       "[1,1])",
       "f32[4,64,56,56] i64[4,64,56,56]"},
      {"aten.max_pool2d_with_indices.default(f32[64,12,12], [3,3], [2,2], "
       "[1,1], [2,2], true)",
       "f32[64,6,6] i64[64,6,6]"},
      {"aten.max_pool2d_with_indices.default(f32[1,1,4,4], [2,2], [3,3], "
       "[1,1], [1,1], true)",
       "f32[1,1,2,2] i64[1,1,2,2]"},
      {"aten.max_pool3d_with_indices.default(f32[1,2,8,8,8], [2,2,2])",
       "f32[1,2,4,4,4] i64[1,2,4,4,4]"},
      {"aten.max_pool1d.default(f32[1,2,8], [2])", "f32[1,2,4]"},
      {"aten.max_pool2d_with_indices_backward.default(f32[4,64,56,56], "
       "f32[4,64,112,112], [3,3], [2,2], [1,1], [1,1], false, i64[4,64,56,56])",
       "f32[4,64,112,112]"},
      {"prims._low_memory_max_pool_with_offsets.default(f32[4,16,32,32], "
       "[3,3], [2,2], [1,1], [1,1], false)",
       "f32[4,16,16,16] i8[4,16,16,16]"},
      {"prims._low_memory_max_pool_offsets_to_indices.default(i8[4,16,16,16], "
       "[3,3], [32,32], [2,2], [1,1], [1,1])",
       "i64[4,16,16,16]"},
      {"aten._adaptive_avg_pool2d.default(f32[4,16,32,32], [7,5])",
       "f32[4,16,7,5]"},
      {"aten._adaptive_avg_pool2d_backward.default(f32[4,16,7,5], "
       "f32[4,16,32,32])",
       "f32[4,16,32,32]"},
      {"aten.adaptive_avg_pool1d.default(f32[4,16,32], [7])", "f32[4,16,7]"},
      {"aten.adaptive_max_pool2d.default(f32[4,16,32,32], [7,5])",
       "f32[4,16,7,5] i64[4,16,7,5]"},
      {"aten.upsample_nearest2d.default(f32[4,16,8,8], [16,20])",
       "f32[4,16,16,20]"},
      {"aten.upsample_nearest2d.vec(f32[4,16,8,8], none, [2.0,2.5])",
       "f32[4,16,16,20]"},
      {"aten.upsample_bilinear2d.vec(f32[4,16,8,8], [16,20], false, none)",
       "f32[4,16,16,20]"},
      {"aten.upsample_linear1d.default(f32[4,16,8], [16], false)",
       "f32[4,16,16]"},
      {"aten.upsample_bilinear2d_backward.default(f32[4,16,16,20], [16,20], "
       "[4,16,8,8], false)",
       "f32[4,16,8,8]"},
      {"aten.im2col.default(f32[2,3,8,8], [3,3], [1,1], [1,1], [2,2])",
       "f32[2,27,16]"},
      {"aten.im2col.default(f32[3,8,8], [3,3], [1,1], [1,1], [2,2])",
       "f32[27,16]"},
      {"aten.col2im.default(f32[2,27,16], [8,8], [3,3], [1,1], [1,1], [2,2])",
       "f32[2,3,8,8]"},
      {"aten.pixel_shuffle.default(f32[2,12,4,5], 2)", "f32[2,3,8,10]"},
      {"aten.pixel_unshuffle.default(f32[2,3,4,6], 2)", "f32[2,12,2,3]"},
      {"aten.grid_sampler_2d.default(f32[2,3,4,5], f32[2,7,8,2], 0, 0, false)",
       "f32[2,3,7,8]"},
  });
}

TEST(InferTest, PoolOfUnknownSizes) {
  checkInference({
      {"aten.max_pool2d_with_indices.default(f32[?,64,?,112], [3,3], [2,2], "
       "[1,1])",
       "f32[?,64,?,56] i64[?,64,?,56]"},
      {"aten._adaptive_avg_pool2d.default(f32[?,16,?,?], [%?,5])",
       "f32[?,16,?,5]"},
      {"aten.upsample_nearest2d.vec(f32[4,16,?,8], none, [2.0,%f])",
       "f32[4,16,?,?]"},
      {"aten.pixel_shuffle.default(f32[?,?,4,?], 2)", "f32[?,?,8,?]"},
  });
}

TEST(InferTest, PoolErrorsNameTheValues) {
  checkInference({
      {"aten.avg_pool2d.default(f32[4,4], [2,2])",
       "error: aten.avg_pool2d: a tensor of rank 2 has not 2 spatial "
       "dimensions"},
      {"aten.avg_pool2d.default(f32[1,4,4], [0,2])",
       "error: aten.avg_pool2d: a window of 0 with stride 0, padding 0 and "
       "dilation 1"},
      {"aten.avg_pool2d.default(f32[1,4,4], [5,2])",
       "error: aten.avg_pool2d: a pooling window over 5 elements does not fit "
       "in 4"},
      {"aten.avg_pool2d.default(f32[1,4,4], [2,2,2])",
       "error: aten.avg_pool2d: argument 'kernel_size' must have 2 values, not "
       "3"},
      {"aten.upsample_nearest2d.vec(f32[4,16,8,8], none, [2.0])",
       "error: aten.upsample_nearest2d: 1 scale factors for 2 spatial "
       "dimensions"},
      {"aten.upsample_nearest2d.vec(f32[4,16,8,8], none, [2.0,-1.0])",
       "error: aten.upsample_nearest2d: size 8 cannot be scaled by "
       "-1.000000e+00"},
      {"aten.upsample_nearest2d.default(f32[4,16], [2,2])",
       "error: aten.upsample_nearest2d: a tensor to resample needs at least 3 "
       "dimensions, not 2"},
      {"aten.grid_sampler_2d.default(f32[3,4,5], f32[7,8,2], 0, 0, false)",
       "error: aten.grid_sampler_2d: input of rank 3 and grid of rank 3"},
      {"aten.grid_sampler_2d.default(f32[3,4,5,5], f32[7,8,2,2], 0, 0, false)",
       "error: aten.grid_sampler_2d: batch sizes of input and grid differ: 3 "
       "and 7"},
      {"aten.col2im.default(f32[2,27,15], [8,8], [3,3], [1,1], [1,1], [2,2])",
       "error: aten.col2im: numbers of windows differ: 15 and 16"},
      {"aten.pixel_shuffle.default(f32[4,5], 2)",
       "error: aten.pixel_shuffle: an image needs at least 3 dimensions, not "
       "2"},
      {"aten.pixel_shuffle.default(f32[4,5,5], 0)",
       "error: aten.pixel_shuffle: a factor of 0"},
      {"aten.pixel_shuffle.default(f32[5,5,5], 2)",
       "error: aten.pixel_shuffle: size 5 is no multiple of 4"},
      {"aten.col2im.default(f32[2,27,15], [-9223372036854775807,8], [3,3], "
       "[1,1], [1,1], [2,2])",
       "error: aten.col2im: a pooling window over 3 elements does not fit in "
       "-9223372036854775805"},
  });
}

} // namespace
