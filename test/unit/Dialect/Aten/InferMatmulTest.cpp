// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of matrix products.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, MatmulAsTorchDoes) {
  checkInference({
      {"aten.mm.default(f32[8,64], f32[64,10])", "f32[8,10]"},
      {"aten.addmm.default(f32[10], f32[8,64], f32[64,10])", "f32[8,10]"},
      {"aten.addmm.default(f32[8,1], f32[8,64], f32[64,10])", "f32[8,10]"},
      {"aten.bmm.default(bf16[6,49,32], bf16[6,32,49])", "bf16[6,49,49]"},
      {"aten.baddbmm.default(f32[1,49], f32[6,7,32], f32[6,32,49])",
       "f32[6,7,49]"},
      {"aten.matmul.default(f32[3], f32[3])", "f32[]"},
      {"aten.matmul.default(f32[2,3], f32[3])", "f32[2]"},
      {"aten.matmul.default(f32[3], f32[3,4])", "f32[4]"},
      {"aten.matmul.default(f32[3], f32[5,3,4])", "f32[5,4]"},
      {"aten.matmul.default(f32[2,1,4,3], f32[5,3,7])", "f32[2,5,4,7]"},
      {"aten.matmul.default(f32[5,2,3], f32[3])", "f32[5,2]"},
      {"aten.mv.default(f32[2,3], f32[3])", "f32[2]"},
      {"aten.addmv.default(f32[2], f32[2,3], f32[3])", "f32[2]"},
      {"aten.dot.default(f32[3], f32[3])", "f32[]"},
      {"aten.outer.default(f32[3], f64[2])", "f64[3,2]"},
      {"aten.linear.default(f32[2,32,64], f32[192,64], f32[192])",
       "f32[2,32,192]"},
      {"aten.linear.default(f32[64], f32[192,64])", "f32[192]"},
      {"aten.linear.default(f32[5,64], f32[64])", "f32[5]"},
      {"aten.einsum.default('bij,bjk->bik', [f32[2,3,4], f32[2,4,5]])",
       "f32[2,3,5]"},
      {"aten.einsum.default('b i j, b j k', [f32[2,3,4], f32[2,4,5]])",
       "f32[3,5]"},
      {"aten.einsum.default('...ij,jk->...ik', [f32[7,2,3,4], f32[4,5]])",
       "f32[7,2,3,5]"},
      {"aten.einsum.default('...ij,...jk', [f32[7,3,4], f32[1,4,5]])",
       "f32[7,3,5]"},
      {"aten.einsum.default('ii->i', [f32[3,3]])", "f32[3]"},
      {"aten.einsum.default('i,j->', [f32[3], f32[4]])", "f32[]"},
      {"aten.einsum.default('ba,cb', [f32[3,4], f32[5,3]])", "f32[4,5]"},
      {"aten._cdist_forward.default(f32[2,3,4], f32[2,5,4], 2.0, none)",
       "f32[2,3,5]"},
      {"aten._grouped_mm.default(bf16[16,8], bf16[4,8,32], i32[4])",
       "bf16[16,32]"},
      {"aten._grouped_mm.default(bf16[16,8], bf16[8,32], i32[4])",
       "bf16[4,16,32]"},
      {"aten._grouped_mm.default(bf16[4,16,8], bf16[8,32], i32[4])",
       "bf16[16,32]"},
      {"aten._grouped_mm.default(bf16[4,16,8], bf16[4,8,32])", "bf16[4,16,32]"},
  });
}

TEST(InferTest, MatmulOfUnknownSizes) {
  checkInference({
      {"aten.mm.default(f32[?,64], f32[?,10])", "f32[?,10]"},
      {"aten.bmm.default(f32[?,4,5], f32[6,5,?])", "f32[6,4,?]"},
      {"aten.addmm.default(f32[10], f32[?,64], f32[64,?])", "f32[?,10]"},
      {"aten.matmul.default(f32[?,1,4,3], f32[5,?,7])", "f32[?,5,4,7]"},
      {"aten.linear.default(f32[?,?,64], f32[?,64], f32[192])", "f32[?,?,192]"},
      {"aten.linear_backward.default(f32[2,8], f32[2,4], f32[4,8], "
       "[true,false,true])",
       "f32[2,8] none f32[4]"},
      {"aten._scaled_mm.default(f8e4m3fn[16,32], f8e4m3fn[32,16], f32[], "
       "f32[], out_dtype=:bf16)",
       "bf16[16,16]"},
      {"aten.einsum.default('ij,jk', [f32[?,3], f32[?,5]])", "f32[?,5]"},
  });
}

TEST(InferTest, MatmulErrorsNameTheValues) {
  checkInference({
      {"aten.mm.default(f32[2,3], f32[4,5])",
       "error: aten.mm: inner sizes differ: 3 and 4"},
      {"aten.mm.default(f32[2,3], f32[3])",
       "error: aten.mm: argument 'mat2' must have 2 dimensions, not 1"},
      {"aten.mm.default(f32[2,3], f16[3,4])",
       "error: aten.mm: the factors' element types differ: 'f32' and 'f16'"},
      {"aten.bmm.default(f32[2,3,4], f32[3,4,5])",
       "error: aten.bmm: batch sizes differ: 2 and 3"},
      {"aten.addmm.default(f32[3,8,10], f32[8,64], f32[64,10])",
       "error: aten.addmm: a term of rank 3 is added to a product of rank 2"},
      {"aten.addmm.default(f32[8,10], f32[1,64], f32[64,10])",
       "error: aten.addmm: a term of size 8 is added to size 1"},
      {"aten.matmul.default(f32[], f32[3])",
       "error: aten.matmul: factors need at least one dimension"},
      {"aten.linear.default(f32[], f32[4,3])",
       "error: aten.linear: input of rank 0 and weight of rank 2"},
      {"aten._grouped_mm.default(bf16[4], bf16[4,8])",
       "error: aten._grouped_mm: grouped factors have 2 or 3 dimensions, not 1 "
       "and 2"},
      {"aten.cdist.default(f32[4], f32[4])",
       "error: aten.cdist: points need at least 2 dimensions, not 1 and 1"},
      {"aten._cdist_backward.default(f32[4], f32[4], f32[4], 2.0, f32[4])",
       "error: aten._cdist_backward: points need at least 2 dimensions, not 1 "
       "and 1"},
      {"aten.cdist.default(f32[2,4], f32[2,5])",
       "error: aten.cdist: sizes of points differ: 4 and 5"},
      {"aten.einsum.default('ij', [f32[2,3], f32[2]])",
       "error: aten.einsum: the equation has 1 operands, 2 given"},
      {"aten.einsum.default('ij', [f32[2]])",
       "error: aten.einsum: subscripts 'ij' name 2 dimensions of a tensor of "
       "rank 1"},
      {"aten.einsum.default('...i...', [f32[2,3]])",
       "error: aten.einsum: '...' occurs twice in one operand"},
      {"aten.einsum.default('i+', [f32[2]])",
       "error: aten.einsum: subscript '+' is no letter"},
      {"aten.einsum.default('i->j', [f32[2]])",
       "error: aten.einsum: subscript 'j' of the result is in no operand"},
  });
}

} // namespace
