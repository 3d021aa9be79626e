// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of transforms, recurrent layers, collectives and symbolic
// scalars.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, OtherAsTorchDoes) {
  checkInference({
      {"aten._fft_c2c.default(c64[1,512,768], [1,2], 0, true)",
       "c64[1,512,768]"},
      {"aten._fft_r2c.default(f32[4,9], [0,1], 0, true)", "c64[4,5]"},
      {"aten._fft_r2c.default(f64[4,9], [1,0], 0, true)", "c128[3,9]"},
      {"aten._fft_r2c.default(f32[4,9], [1], 0, false)", "c64[4,9]"},
      {"aten._fft_c2r.default(c64[4,5], [1], 0, 9)", "f32[4,9]"},
      {"aten.lstm.input(f32[5,2,8], [f32[2,2,16], f32[2,2,16]], [f32[64,8], "
       "f32[64,16], f32[64], f32[64], f32[64,8], f32[64,16], f32[64], "
       "f32[64]], true, 1, 0.0, true, true, false)",
       "f32[5,2,32] f32[2,2,16] f32[2,2,16]"},
      {"aten.gru.input(f32[2,5,8], f32[1,2,16], [f32[48,8], f32[48,16], "
       "f32[48], f32[48]], true, 1, 0.0, true, false, true)",
       "f32[2,5,16] f32[1,2,16]"},
      {"aten.sym_size.int(f32[2,3], 1)", "index"},
      {"aten.sym_numel.default(f32[2,3])", "index"},
      {"aten.item.default(f32[])", "f64"},
      {"aten.item.default(i64[1,1])", "index"},
      {"aten._local_scalar_dense.default(b8[])", "i1"},
  });
}

TEST(InferTest, OtherOfUnknownSizes) {
  checkInference({
      {"aten._fft_r2c.default(f32[?], [0], 0, true)", "c64[?]"},
      {"_c10d_functional.all_gather_into_tensor.default(f32[?,4], 8, 'g')",
       "f32[?,4]"},
      {"_c10d_functional.all_gather_into_tensor.default(f32[3,4], 8, 'g')",
       "f32[24,4]"},
      {"_c10d_functional.reduce_scatter_tensor.default(f32[16,4], 'sum', 8, "
       "'g')",
       "f32[2,4]"},
      {"_c10d_functional.all_to_all_single.default(f32[16,4], [4,5], [8,8], "
       "'g')",
       "f32[9,4]"},
      {"_c10d_functional.all_to_all_single.default(f32[16,4], [], [], 'g')",
       "f32[16,4]"},
      {"_c10d_functional.all_reduce.default(f32[16,4], 'sum', 'g')",
       "f32[16,4]"},
      {"operator.add(%?, 3)", "index"},
      {"operator.mul(%?, 2.0)", "f64"},
      {"operator.floordiv(%?, %?)", "index"},
      {"operator.truediv(%?, %?)", "f64"},
      {"operator.neg(%f)", "f64"},
      {"operator.eq(%?, 3)", "i1"},
      {"torch.sym_float(%?)", "f64"},
      {"torch.sym_max(%?, %f)", "f64"},
      {"torch.sym_not(%b)", "i1"},
      {"torch.sym_ite(%b, %?, %?)", "index"},
      {"torch.sym_ite(%b, %f, %?)", "f64"},
      {"torch.sym_ite(%b, %b, %b)", "i1"},
      {"torch.sym_sum([%?, %?])", "index"},
      {"math.trunc(%f)", "index"},
      {"builtins.round(%f)", "index"},
      {"builtins.round(%f, 2)", "f64"},
      {"aten._assert_async.msg(b8[], 'x')", ""},
      {"aten.item.default(f32[?])", "f64"},
      {"aten.sym_size.int(f32[?,3], -1)", "index"},
  });
}

TEST(InferTest, OtherErrorsNameTheValues) {
  checkInference({
      {"aten._fft_c2c.default(f32[4], [0], 0, true)",
       "error: aten._fft_c2c: only complex numbers are transformed, not 'f32'"},
      {"aten._fft_r2c.default(i64[4], [0], 0, true)",
       "error: aten._fft_r2c: only real numbers are transformed, not 'i64'"},
      {"aten._fft_r2c.default(f32[4], [], 0, true)",
       "error: aten._fft_r2c: a transform along no dimension"},
      {"aten.lstm.input(f32[5,2,8], [f32[2,2,16]], [], true, 1, 0.0, true, "
       "true, false)",
       "error: aten.lstm: hx has 1 states, not 2"},
      {"aten.gru.input(f32[2,5,8], f32[2,16], [], true, 1, 0.0, true, false, "
       "true)",
       "error: aten.gru: a state must have 3 dimensions, not 2"},
      {"_c10d_functional.all_gather_into_tensor.default(f32[], 8, 'g')",
       "error: _c10d_functional.all_gather_into_tensor: the input has no "
       "dimension to gather or scatter"},
      {"_c10d_functional.all_gather_into_tensor.default(f32[4], 0, 'g')",
       "error: _c10d_functional.all_gather_into_tensor: group_size must be "
       "positive, not 0"},
      {"_c10d_functional.reduce_scatter_tensor.default(f32[15], 'sum', 8, 'g')",
       "error: _c10d_functional.reduce_scatter_tensor: size 15 cannot be "
       "scattered to a group of 8"},
      {"_c10d_functional.all_to_all_single.default(f32[], [4,5], [8,8], 'g')",
       "error: _c10d_functional.all_to_all_single: the input has no dimension "
       "to exchange"},
      {"aten.sym_size.int(f32[], 0)",
       "error: aten.sym_size: a tensor without dimensions has no size 0"},
      {"operator.add('x', 3)",
       "error: operator.add: argument 'a' must be a number, not \"x\""},
      {"aten.item.default(f32[2])",
       "error: aten.item: a tensor of 2 elements is no number"},
      {"aten.item.default(c64[])",
       "error: aten.item: a complex number is no symbolic scalar"},
  });
}

} // namespace
