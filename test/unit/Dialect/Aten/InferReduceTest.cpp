// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of reductions, scans and order.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, ReduceAsTorchDoes) {
  checkInference({
      {"aten.sum.default(b8[512])", "i64[]"},
      {"aten.sum.default(i32[3,4])", "i64[]"},
      {"aten.sum.default(f16[3,4])", "f16[]"},
      {"aten.sum.dim_IntList(f32[8,1000], [0], true)", "f32[1,1000]"},
      {"aten.sum.dim_IntList(f32[8,64,7,7], [0,2,3])", "f32[64]"},
      {"aten.sum.dim_IntList(f32[8,4], [])", "f32[]"},
      {"aten.sum.dim_IntList(f32[8,4], none)", "f32[]"},
      {"aten.sum.dim_IntList(f32[], [0])", "f32[]"},
      {"aten.sum.dim_IntList(f32[8,4], [-1], dtype=:f64)", "f64[8]"},
      {"aten.sum.dim_IntList(i64[8,4], [-1], dtype=:f32)", "f32[8]"},
      {"aten.prod.dim_int(f32[2,3], -1)", "f32[2]"},
      {"aten.prod.default(b8[2,3])", "i64[]"},
      {"aten.mean.default(f32[2,3])", "f32[]"},
      {"aten.mean.dim(f32[8,2048,7,7], [-1,-2], true)", "f32[8,2048,1,1]"},
      {"aten.mean.dim(i64[8], [0], dtype=:f32)", "f32[]"},
      {"aten.mean.dim(bf16[8,3], none)", "bf16[]"},
      {"aten.amax.default(f32[5,4,49,49], [-1], true)", "f32[5,4,49,1]"},
      {"aten.amax.default(i64[5,4])", "i64[]"},
      {"aten.max.default(i64[5,4])", "i64[]"},
      {"aten.min.default(f32[5,4])", "f32[]"},
      {"aten.any.default(f32[2,3])", "b8[]"},
      {"aten.any.dim(b8[2,3], -1, true)", "b8[2,1]"},
      {"aten.any.dims(b8[2,3])", "b8[]"},
      {"aten.any.dims(b8[2,3], [])", "b8[2,3]"},
      {"aten.any.dims(b8[2,3], [0,1])", "b8[]"},
      {"aten.all.dim(u8[2,3], 0)", "u8[3]"},
      {"aten.all.default(u8[2,3])", "u8[]"},
      {"aten.argmax.default(f32[2,3])", "i64[]"},
      {"aten.argmax.default(f32[2,3], -1)", "i64[2]"},
      {"aten.argmax.default(f32[2,3], -1, true)", "i64[2,1]"},
      {"aten.argmin.default(i32[2,3], none, true)", "i64[1,1]"},
      {"aten.var.correction(f32[2,3], [-1], correction=1.0)", "f32[2]"},
      {"aten.var.correction(c64[2,3], [-1], correction=1.0)", "f32[2]"},
      {"aten.var.default(f32[2,3])", "f32[]"},
      {"aten.std.dim(f32[2,3], [0], true, true)", "f32[1,3]"},
      {"aten.var_mean.correction(f32[8,64,112,112], [0,2,3], correction=0, "
       "keepdim=true)",
       "f32[1,64,1,1] f32[1,64,1,1]"},
      {"aten.var_mean.correction(c64[8,4])", "f32[] c64[]"},
      {"aten.linalg_vector_norm.default(f32[2,3])", "f32[]"},
      {"aten.linalg_vector_norm.default(c64[2,3], 2, [1])", "f32[2]"},
      {"aten.linalg_vector_norm.default(f16[2,3], 2, [1], true, dtype=:f32)",
       "f32[2,1]"},
      {"aten.norm.ScalarOpt_dim(f32[2,3], 2, [0], true)", "f32[1,3]"},
      {"aten.logsumexp.default(f32[2,3], [1], true)", "f32[2,1]"},
      {"aten.logsumexp.default(i64[2,3], [1])", "f32[2]"},
      {"aten.aminmax.default(f32[2,3], dim=0)", "f32[3] f32[3]"},
      {"aten.aminmax.default(i64[2,3])", "i64[] i64[]"},
      {"aten.max.dim(f32[5,7,12], 1)", "f32[5,12] i64[5,12]"},
      {"aten.min.dim(i64[5,7], -1, true)", "i64[5,1] i64[5,1]"},
      {"aten.median.dim(f32[5,7], 0)", "f32[7] i64[7]"},
      {"aten.mode.default(f32[5,7])", "f32[5] i64[5]"},
      {"aten.kthvalue.default(f32[5,7], 2)", "f32[5] i64[5]"},
      {"aten.cumsum.default(b8[5,7], 1)", "i64[5,7]"},
      {"aten.cumsum.default(f32[5,7], 1)", "f32[5,7]"},
      {"aten.cumsum.default(i32[5,7], 1, dtype=:f32)", "f32[5,7]"},
      {"aten.cumprod.default(i32[5,7], 0)", "i64[5,7]"},
      {"aten.logcumsumexp.default(f32[5], 0)", "f32[5]"},
      {"aten.cummax.default(f32[5,2], -1)", "f32[5,2] i64[5,2]"},
      {"aten.topk.default(f32[5,7], 3)", "f32[5,3] i64[5,3]"},
      {"aten.topk.default(i64[5,7], 2, 0)", "i64[2,7] i64[2,7]"},
      {"aten.topk.default(f32[], 1)", "f32[] i64[]"},
      {"aten.sort.default(f32[5,7])", "f32[5,7] i64[5,7]"},
      {"aten.sort.stable(i32[5,7], stable=true, dim=0)", "i32[5,7] i64[5,7]"},
      {"aten.argsort.default(f32[5,7])", "i64[5,7]"},
      {"aten.searchsorted.Tensor(f32[7], f32[3,4])", "i64[3,4]"},
      {"aten.searchsorted.Tensor(f32[7], f32[3,4], out_int32=true)",
       "i32[3,4]"},
      {"aten.bucketize.Tensor(f32[3,4], f32[7], out_int32=true)", "i32[3,4]"},
      {"aten.cumsum.default(f32[], 0)", "f32[]"},
  });
}

TEST(InferTest, ReduceOfUnknownSizes) {
  checkInference({
      {"aten.sum.dim_IntList(f32[?,8], [1], true)", "f32[?,1]"},
      {"aten.topk.default(f32[?,8], %?)", "f32[?,?] i64[?,?]"},
      {"aten.topk.default(f32[8], %3)", "f32[3] i64[3]"},
      {"aten.bincount.default(i64[9])", "i64[?]"},
      {"aten.bincount.default(i64[9], f32[9])", "f32[?]"},
      {"aten.bincount.default(i64[9], i64[9])", "f64[?]"},
  });
}

TEST(InferTest, ReduceErrorsNameTheValues) {
  checkInference({
      {"aten.mean.default(i64[2])",
       "error: aten.mean: elements must be floating-point, not 'i64'"},
      {"aten.var.correction(i64[2])",
       "error: aten.var: elements must be floating-point, not 'i64'"},
      {"aten.topk.default(f32[2], 3)",
       "error: aten.topk: cannot take 3 of 2 elements"},
      {"aten.topk.default(f32[2], -1)",
       "error: aten.topk: cannot take -1 of 2 elements"},
      {"aten.bincount.default(i64[2,2])",
       "error: aten.bincount: argument 'self' must have 1 dimensions, not 2"},
  });
}

} // namespace
