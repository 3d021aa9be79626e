// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of new and joined tensors.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, CreateAsTorchDoes) {
  checkInference({
      {"aten.full.default([2,3], 0)", "i64[2,3]"},
      {"aten.full.default([2,3], 0.5)", "f32[2,3]"},
      {"aten.full.default([2,3], true)", "b8[2,3]"},
      {"aten.full.default([2,3], 0, dtype=:f32)", "f32[2,3]"},
      {"aten.empty.memory_format([8,1,1])", "f32[8,1,1]"},
      {"aten.zeros.default([3], dtype=:i64)", "i64[3]"},
      {"aten.rand.default([2,32,64])", "f32[2,32,64]"},
      {"aten.scalar_tensor.default(0)", "f32[]"},
      {"aten.scalar_tensor.default(0, dtype=:f64)", "f64[]"},
      {"aten.new_full.default(f16[2], [3,4], 1)", "f16[3,4]"},
      {"aten.new_empty_strided.default(f32[8], [4,4], [4,1])", "f32[4,4]"},
      {"aten.arange.default(32)", "i64[32]"},
      {"aten.arange.default(3.5)", "f32[4]"},
      {"aten.arange.start(2, 10)", "i64[8]"},
      {"aten.arange.start_step(0, 16, 2, dtype=:f32)", "f32[8]"},
      {"aten.arange.start_step(10, 0, -3)", "i64[4]"},
      {"aten.arange.start_step(0, 1, 0.3)", "f32[4]"},
      {"aten.arange.start_step(5, 5, 1)", "i64[0]"},
      {"aten.linspace.default(0, 1, 5)", "f32[5]"},
      {"aten.randint.default(10, [3,4])", "i64[3,4]"},
      {"aten.randint.low(1, 10, [3])", "i64[3]"},
      {"aten.randperm.default(5)", "i64[5]"},
      {"aten.eye.default(3)", "f32[3,3]"},
      {"aten.eye.m(3, 4)", "f32[3,4]"},
      {"aten.slice_backward.default(f32[2,3], [2,8], 1, 0, 3, 1)", "f32[2,8]"},
      {"aten.select_backward.default(f32[2], [2,8], 1, 0)", "f32[2,8]"},
      {"aten.one_hot.default(i64[2,3], 5)", "i64[2,3,5]"},
      {"aten.cat.default([f32[8,1,768], f32[8,196,768]], 1)", "f32[8,197,768]"},
      {"aten.cat.default([f32[2,3], f32[0]])", "f32[2,3]"},
      {"aten.cat.default([f32[2,3], i64[4,3]])", "f32[6,3]"},
      {"aten.cat.default([bf16[2,3], f32[4,3]])", "f32[6,3]"},
      {"aten.cat.default([b8[2], i32[2]], -1)", "i32[4]"},
      {"aten.stack.default([f32[2,3], f32[2,3]], -1)", "f32[2,3,2]"},
      {"aten.stack.default([f32[], f32[]])", "f32[2]"},
      {"aten.constant_pad_nd.default(f32[8,3,224,224], [0,1,0,1], 0.0)",
       "f32[8,3,225,225]"},
      {"aten.constant_pad_nd.default(f32[8,5], [-1,-1])", "f32[8,3]"},
      {"aten.reflection_pad2d.default(f32[2,3,8,8], [1,1,2,2])",
       "f32[2,3,12,10]"},
      {"aten.pad.default(f32[2,3], [1,1], 'constant', 0.0)", "f32[2,5]"},
      {"aten.repeat.default(f32[2048,64], [1,1,1])", "f32[1,2048,64]"},
      {"aten.repeat.default(i64[128,1], [1,64])", "i64[128,64]"},
      {"aten.tile.default(f32[2,3], [2])", "f32[2,6]"},
      {"aten.tile.default(f32[3], [2,2])", "f32[2,6]"},
      {"aten.repeat_interleave.self_int(f32[2,3], 2, 1)", "f32[2,6]"},
      {"aten.repeat_interleave.self_int(f32[2,3], 2)", "f32[12]"},
      {"aten.repeat_interleave.self_Tensor(f32[2,3], i64[2], 0, output_size=0)",
       "f32[0,3]"},
      {"aten.repeat_interleave.Tensor(i64[3], output_size=0)", "i64[0]"},
      {"aten.broadcast_tensors.default([f32[3,1], i64[2]])",
       "f32[3,2] i64[3,2]"},
      {"aten.meshgrid.default([f32[3], f32[2]])", "f32[3,2] f32[3,2]"},
      {"aten.meshgrid.indexing([f32[3], f32[2], f32[]], indexing='xy')",
       "f32[2,3,1] f32[2,3,1] f32[2,3,1]"},
      {"aten.multinomial.default(f32[2,5], 3, true)", "i64[2,3]"},
      {"aten.multinomial.default(f32[5], 3)", "i64[3]"},
      {"aten.flip.default(f32[2,3], [0])", "f32[2,3]"},
      {"aten.roll.default(f32[2,3], [1], [0])", "f32[2,3]"},
      {"aten.slice_scatter.default(f32[8,10], f32[8,2], 1, 0, 2)", "f32[8,10]"},
      {"aten.copy.default(f32[2,3], f64[3])", "f32[2,3]"},
      {"prims.iota.default(56, start=0, step=1, dtype=:i64, device='cpu', "
       "requires_grad=false)",
       "i64[56]"},
      {"prims.rev.default(f32[2,3], [1])", "f32[2,3]"},
      {"prims.inductor_seed.default('cpu')", "i64[]"},
      {"prims.inductor_seeds.default(3, 'cpu')", "i64[3]"},
      {"prims.inductor_lookup_seed.default(i64[3], 1)", "i64[]"},
      {"prims.inductor_random.default([2,3], i64[], 'rand')", "f32[2,3]"},
      {"prims.inductor_randint.default(0, 9, [2,3], i64[])", "i64[2,3]"},
      {"prims.inductor_force_stride_order.default(bf16[2,3], [1,2])",
       "bf16[2,3]"},
  });
}

TEST(InferTest, CreateOfUnknownSizes) {
  checkInference({
      {"aten.full.default([%?,3], %f)", "f32[?,3]"},
      {"aten.full.default([%2,3], %?)", "i64[2,3]"},
      {"aten.scalar_tensor.default(%?)", "f32[]"},
      {"aten.arange.default(%?)", "i64[?]"},
      {"aten.arange.default(%7)", "i64[7]"},
      {"aten.arange.start_step(0, %7, 2)", "i64[4]"},
      {"aten.arange.default(%f)", "f32[?]"},
      {"prims.iota.default(%?, start=0, step=1, dtype=:i32, device='cpu', "
       "requires_grad=false)",
       "i32[?]"},
      {"aten.eye.default(%4)", "f32[4,4]"},
      {"aten.one_hot.default(i64[?])", "i64[?,?]"},
      {"aten.cat.default([f32[?,4], f32[2,?]])", "f32[?,4]"},
      {"aten.cat.default([f32[3,?], f32[2,4]])", "f32[5,4]"},
      {"aten.stack.default([f32[?], f32[4]])", "f32[2,4]"},
      {"aten.constant_pad_nd.default(f32[?,4], [1,%?])", "f32[?,?]"},
      {"aten.repeat.default(f32[?,4], [2,%3])", "f32[?,12]"},
      {"aten.repeat_interleave.Tensor(i64[3])", "i64[?]"},
      {"aten.repeat_interleave.self_Tensor(f32[2,3], i64[2], 0)", "f32[?,3]"},
      {"aten.repeat_interleave.self_int(f32[], 3, 0)", "f32[3]"},
      {"aten.new_zeros.default(f32[?], [%?])", "f32[?]"},
      {"aten.multinomial.default(f32[?,5], %?)", "i64[?,?]"},
  });
}

TEST(InferTest, CreateErrorsNameTheValues) {
  checkInference({
      {"aten.arange.start_step(0, 4, 0)", "error: aten.arange: the step is 0"},
      {"aten.arange.start(4, 0)",
       "error: aten.arange: no sequence from 4.000000e+00 to 0.000000e+00 by "
       "1.000000e+00"},
      {"aten.cat.default([])", "error: aten.cat: no tensors given"},
      {"aten.cat.default([f32[], f32[]])",
       "error: aten.cat: tensors without dimensions cannot be concatenated"},
      {"aten.cat.default([f32[2,3], f32[2]])",
       "error: aten.cat: tensors of rank 2 and 1 cannot be concatenated"},
      {"aten.cat.default([f32[2,3], f32[2,4]])",
       "error: aten.cat: sizes of tensors to join differ: 3 and 4"},
      {"aten.stack.default([f32[2], f32[2,2]])",
       "error: aten.stack: tensors of rank 1 and 2 cannot be stacked"},
      {"aten.stack.default([f32[2], f32[3]])",
       "error: aten.stack: sizes of tensors to stack differ: 2 and 3"},
      {"aten.meshgrid.default([f32[2,2]])",
       "error: aten.meshgrid: grid axes have one dimension, not 2"},
      {"aten.constant_pad_nd.default(f32[2], [1])",
       "error: aten.constant_pad_nd: 1 paddings for a tensor of rank 1"},
      {"aten.repeat.default(f32[2,3], [2])",
       "error: aten.repeat: 1 repeats for a tensor of rank 2"},
      {"aten.multinomial.default(f32[2,3,4], 2)",
       "error: aten.multinomial: probabilities have 1 or 2 dimensions, not 3"},
  });
}

} // namespace
