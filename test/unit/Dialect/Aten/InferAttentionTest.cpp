// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of attention.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, AttentionAsTorchDoes) {
  checkInference({
      {"aten.scaled_dot_product_attention.default(f32[2,4,32,16], "
       "f32[2,4,40,16], f32[2,4,40,8], none, 0.0, false)",
       "f32[2,4,32,8]"},
      {"aten.scaled_dot_product_attention.default(f32[2,4,32,16], "
       "f32[2,2,40,16], f32[2,2,40,16], none, 0.0, false, enable_gqa=true)",
       "f32[2,4,32,16]"},
      {"aten._scaled_dot_product_flash_attention_for_cpu.default(f32[2,4,32,16]"
       ", f32[2,4,40,16], f32[2,4,40,16], 0.0, true)",
       "f32[2,4,32,16] f32[2,4,32]"},
      {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default(f32["
       "2,4,32,16], f32[2,4,32,16], f32[2,4,40,16], f32[2,4,40,16], "
       "f32[2,4,32,16], f32[2,4,32], 0.0, false)",
       "f32[2,4,32,16] f32[2,4,40,16] f32[2,4,40,16]"},
      {"aten._scaled_dot_product_flash_attention.default(bf16[2,4,37,64], "
       "bf16[2,4,50,64], bf16[2,4,50,64])",
       "bf16[2,4,37,64] f32[2,4,37] none none index index u64[2] u64[] "
       "bf16[0]"},
      {"aten._scaled_dot_product_efficient_attention.default(f32[2,4,37,64], "
       "f32[2,4,50,64], f32[2,4,50,32], none, true)",
       "f32[2,4,37,32] f32[2,4,64] i64[] i64[]"},
      {"aten._scaled_dot_product_efficient_attention.default(f32[2,4,37,64], "
       "f32[2,4,50,64], f32[2,4,50,32], none, false)",
       "f32[2,4,37,32] f32[2,4,0] i64[] i64[]"},
      {"aten._scaled_dot_product_cudnn_attention.default(bf16[2,4,37,64], "
       "bf16[2,4,50,64], bf16[2,4,50,64], none, true)",
       "bf16[2,4,37,64] f32[2,4,37,1] none none index index i64[] i64[] none"},
      {"aten._scaled_dot_product_efficient_attention_backward.default(f32[2,4,"
       "37,64], f32[2,4,37,64], f32[2,4,50,64], f32[2,4,50,64], "
       "f32[2,4,37,50], f32[2,4,37,64], f32[2,4,64], i64[], i64[], 0.0, "
       "[true,true,true,true])",
       "f32[2,4,37,64] f32[2,4,50,64] f32[2,4,50,64] f32[2,4,37,50]"},
      {"aten._scaled_dot_product_attention_math.default(f32[2,4,32,16], "
       "f32[2,4,40,16], f32[2,4,40,16])",
       "f32[2,4,32,16] f32[2,4,32,40]"},
  });
}

TEST(InferTest, AttentionOfUnknownSizes) {
  checkInference({
      {"aten._scaled_dot_product_efficient_attention.default(f32[?,4,?,64], "
       "f32[?,4,50,64], f32[?,4,50,32], none, true)",
       "f32[?,4,?,32] f32[?,4,?] i64[] i64[]"},
      {"aten._scaled_dot_product_efficient_attention_backward.default(f32[2,4,"
       "37,64], f32[2,4,37,64], f32[2,4,50,64], f32[2,4,50,64], %none, "
       "f32[2,4,37,64], f32[2,4,64], i64[], i64[], 0.0, "
       "[true,false,true,true])",
       "f32[2,4,37,64] f32[2,4,50,64] f32[2,4,50,64] none"},
      {"aten._scaled_dot_product_flash_attention.default(bf16[2,4,37,64], "
       "bf16[2,4,50,64], bf16[2,4,50,64], 0.1, false, true)",
       "bf16[2,4,37,64] f32[2,4,37] none none index index u64[2] u64[] "
       "bf16[2,4,37,?]"},
      {"aten._scaled_dot_product_cudnn_attention_backward.default(bf16[2,4,37,"
       "64], bf16[2,4,37,64], bf16[2,4,50,64], bf16[2,4,50,64], "
       "bf16[2,4,37,64], f32[2,4,37,1], i64[], i64[], none, none, none, %?, "
       "%?, 0.0, false)",
       "bf16[2,4,37,64] bf16[2,4,50,64] bf16[2,4,50,64]"},
  });
}

TEST(InferTest, AttentionErrorsNameTheValues) {
  checkInference({
      {"aten._scaled_dot_product_flash_attention_for_cpu.default(f32[2,4,3], "
       "f32[2,4,3], f32[2,4,3])",
       "error: aten._scaled_dot_product_flash_attention_for_cpu: attention "
       "over a tensor of rank 3"},
      {"aten.scaled_dot_product_attention.default(f32[2,4], f16[2,4], "
       "f32[2,4])",
       "error: aten.scaled_dot_product_attention: element types of query, key "
       "and value differ: 'f32', 'f16', 'f32'"},
      {"aten.scaled_dot_product_attention.default(f32[2,4], f32[2,5], "
       "f32[2,5])",
       "error: aten.scaled_dot_product_attention: widths of query and key "
       "differ: 4 and 5"},
      {"aten.scaled_dot_product_attention.default(f32[2,4], f32[2,4], "
       "f32[3,4])",
       "error: aten.scaled_dot_product_attention: lengths of key and value "
       "differ: 2 and 3"},
      {"aten._scaled_dot_product_efficient_attention_backward.default(f32[2,4,"
       "3,8], f32[2,4,3,8], f32[2,4,5,8], f32[2,4,5,8], none, f32[2,4,3,8], "
       "f32[2,4,32], i64[], i64[], 0.0, [true])",
       "error: aten._scaled_dot_product_efficient_attention_backward: "
       "grad_input_mask has 1 entries, not 4"},
  });
}

} // namespace
