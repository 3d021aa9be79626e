// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of indexing.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, IndexingAsTorchDoes) {
  checkInference({
      {"aten.index.Tensor(f32[49,4], [i64[2401]])", "f32[2401,4]"},
      {"aten.index.Tensor(f32[8,18,28,28], [none, none, i64[56,1], i64[56]])",
       "f32[8,18,56,56]"},
      {"aten.index.Tensor(f32[8,18,28,28], [i64[3], none, i64[2,1]])",
       "f32[2,3,18,28]"},
      {"aten.index.Tensor(f32[8,18,5], [none, i64[3]])", "f32[8,3,5]"},
      {"aten.index.Tensor(f32[8,18,5], [i64[2,3], none, none])",
       "f32[2,3,18,5]"},
      {"aten.index.Tensor(f32[8,18,5], [i64[2,1], i64[3]])", "f32[2,3,5]"},
      {"aten._unsafe_index.Tensor(f32[8,18,28,28], [none, none, i64[56,1], "
       "i64[56]])",
       "f32[8,18,56,56]"},
      {"aten.index_put.default(f32[169,32], [i64[5]], f32[5,32], true)",
       "f32[169,32]"},
      {"aten.gather.default(f32[512,100], 1, i64[512,1])", "f32[512,1]"},
      {"aten.gather.default(f32[], 0, i64[1])", "f32[1]"},
      {"aten.take_along_dim.default(f32[3,5], i64[1,5], 0)", "f32[1,5]"},
      {"aten.take_along_dim.default(f32[3,5], i64[4], none)", "f32[4]"},
      {"aten.take_along_dim.default(f32[3,5], i64[2,4], none)", "f32[8]"},
      {"aten.index_select.default(f32[3,5], 1, i64[7])", "f32[3,7]"},
      {"aten.index_select.default(f32[3,5], 1, i64[])", "f32[3,1]"},
      {"aten.take.default(f32[3,5], i64[2,2])", "f32[2,2]"},
      {"aten.scatter.value(f32[512,30522], 1, i64[512,1], -1.0)",
       "f32[512,30522]"},
      {"aten.scatter_add.default(f32[3,4], 1, i64[3,2], f32[3,2])", "f32[3,4]"},
      {"aten.index_add.default(f32[3,4], 0, i64[2], f32[2,4])", "f32[3,4]"},
      {"aten.embedding.default(f32[30522,768], i64[1,512], 0)",
       "f32[1,512,768]"},
      {"aten.embedding.default(f32[100,8], i64[])", "f32[8]"},
      {"aten.embedding_dense_backward.default(f32[2,5,8], i64[2,5], 100, -1, "
       "false)",
       "f32[100,8]"},
      {"aten._embedding_bag.default(f32[10,4], i64[7], i64[3], false, 2)",
       "f32[3,4] i64[7] i64[3] i64[3,4]"},
      {"aten._embedding_bag_dense_backward.default(f32[3,4], i64[7], i64[7], "
       "i64[3], i64[0], 10, false, 0, none)",
       "f32[10,4]"},
      {"aten.nonzero_static.default(f32[3,4], size=6)", "i64[6,2]"},
  });
}

TEST(InferTest, IndexingOfUnknownSizes) {
  checkInference({
      {"aten.index.Tensor(f32[8,4], [b8[8]])", "f32[?,4]"},
      {"aten.index.Tensor(f32[8,4,5], [b8[8,4]])", "f32[?,5]"},
      {"aten.index.Tensor(f32[8,4], [none, b8[?]])", "f32[8,?]"},
      {"aten.index.Tensor(f32[?,4], [i64[?,3]])", "f32[?,3,4]"},
      {"aten._unsafe_masked_index.default(f32[5,4], b8[3], [i64[3]], 0)",
       "f32[3,4]"},
      {"aten.nonzero.default(b8[3,4])", "i64[?,2]"},
      {"aten.nonzero_static.default(b8[3,4], size=%?)", "i64[?,2]"},
      {"aten.masked_select.default(f32[3,4], b8[4])", "f32[?]"},
      {"aten.embedding.default(f32[9,?], i64[?,3])", "f32[?,3,?]"},
      {"aten._embedding_bag.default(f32[10,4], i64[?], i64[?])",
       "f32[?,4] i64[?] i64[?] i64[?]"},
      {"aten._embedding_bag.default(f32[10,4], i64[7], i64[3], false, 1, "
       "false, none, true)",
       "f32[2,4] i64[7] i64[2] i64[?]"},
      {"aten._embedding_bag_backward.default(f32[3,4], i64[7], i64[3], i64[7], "
       "i64[3], i64[0], 10, false, 0, false, none)",
       "f32[10,4]"},
      {"aten._embedding_bag_per_sample_weights_backward.default(f32[3,4], "
       "f32[10,4], i64[7], i64[3], i64[7], 0)",
       "f32[7]"},
      {"aten.embedding_dense_backward.default(f32[?,8], i64[?], %?, -1, false)",
       "f32[?,8]"},
  });
}

TEST(InferTest, IndexingErrorsNameTheValues) {
  checkInference({
      {"aten.index.Tensor(f32[4], [f32[2]])",
       "error: aten.index: indices must be integers, not 'f32'"},
      {"aten.index.Tensor(f32[4], [i64[2], i64[2]])",
       "error: aten.index: 2 indices for a tensor of rank 1"},
      {"aten.index.Tensor(f32[4], [b8[5]])",
       "error: aten.index: sizes of mask and tensor differ: 5 and 4"},
      {"aten.gather.default(f32[4,4], 0, i64[4])",
       "error: aten.gather: ranks of tensor and index differ: 2 and 1"},
      {"aten.take_along_dim.default(f32[4,4], i64[4], 0)",
       "error: aten.take_along_dim: ranks of tensor and indices differ: 2 and "
       "1"},
      {"aten.index_select.default(f32[4], 0, i64[2,2])",
       "error: aten.index_select: the index must have at most 1 dimension, not "
       "2"},
      {"aten.embedding.default(f32[4], i64[2])",
       "error: aten.embedding: argument 'weight' must have 2 dimensions, not "
       "1"},
      {"aten.embedding_dense_backward.default(f32[], i64[], 4, -1, false)",
       "error: aten.embedding_dense_backward: the gradient has no dimensions"},
      {"aten._embedding_bag.default(f32[10,4], i64[7], i64[3], false, 3)",
       "error: aten._embedding_bag: mode 3 is none of 0 (sum), 1 (mean), 2 "
       "(max)"},
  });
}

} // namespace
