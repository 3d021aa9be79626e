// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element formulas beside the interpreter's kernels, on numbers where formulas
// go wrong: NaN, infinities, both zeros, ties, the ends of integer types. A row
// is a call; $ stands for the element type, once for each of the row's types.
//
// f64 agrees to 1e-12 of the value, the other floats to a few steps of their
// type (both are computed in double or f32, and rounded once); `about` is the
// size of what cancels in the formula. NaN, infinities and integers agree
// exactly, and in f64 the signs of zeros, which elsewhere may be what is left
// of a number too small for f32.

#include "ElementsHarness.h"

#include "cutback/Dialect/Aten/Elements.h"
#include "cutback/Dialect/Aten/Loops.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::test;

namespace {

TEST_F(ElementsTest, ArithmeticIsThatOfTheInterpreter) {
  checkRows({
      {"aten.add.Tensor($[500], $[500])", "dsbhliyut"},
      {"aten.add.Tensor($[500], $[500], alpha=3)", "dsbhliyu", 1e3},
      {"aten.add.Tensor($[500], 2.5)", "dsbhliyut"},
      {"aten.add.Tensor($[500], $[])", "dsbhliyut"},
      {"aten.add.Tensor(bf16[500], $[])", "dsbhliyut"},
      {"aten.add.Tensor(f32[500], $[500])", "dsbhliyut"},
      {"aten.add.Scalar($[500], 2, 3)", "dsbhliyu"},
      {"aten.sub.Tensor($[500], $[500])", "dsbhliyu"},
      {"aten.sub.Tensor($[500], $[500], alpha=-2)", "dsbhliyu", 1e3},
      {"aten.rsub.Scalar($[500], 1)", "dsbhliyu"},
      {"aten.mul.Tensor($[500], $[500])", "dsbhliyut"},
      {"aten.mul.Scalar($[500], 0.1)", "dsbhliyut"},
      {"prims.fma($[500], $[500], $[500])", "dsl", 1e4},
      {"aten.addcmul($[500], $[500], $[500], value=2)", "dsbhliy", 1e4},
      {"aten.addcdiv($[500], $[500], $[500], value=0.5)", "dsbh", 1e4},
      {"aten.lerp.Tensor($[500], $[500], $[500])", "dsb", 1e4},
      {"aten.lerp.Scalar($[500], $[500], 0.75)", "dsbh", 1e2},
      {"aten.div.Tensor($[500], $[500])", "dsbhliyut"},
      {"aten.div.Scalar($[500], 3)", "dsbhliyut"},
      {"aten.div.Tensor_mode($[500], $[500], rounding_mode='floor')", "dliyu",
       0, true},
      {"aten.div.Tensor_mode($[500], $[500], rounding_mode='trunc')", "dliyu",
       0, true},
      {"aten.div.Tensor_mode($[500], $[500], rounding_mode=none)", "dsbhliyu"},
      {"aten.floor_divide($[500], $[500])", "dliyu", 0, true},
      {"aten.remainder.Tensor($[500], $[500])", "dsliyu", 0, true},
      {"aten.remainder.Scalar($[500], 3)", "dsbliyu"},
      {"aten.fmod.Tensor($[500], $[500])", "dsbliyu", 0, true},
      {"aten.fmod.Scalar($[500], -2)", "dsbliy"},
      {"aten.pow.Tensor_Tensor($[500], $[500])", "dsbli"},
      {"aten.pow.Tensor_Scalar($[500], 2)", "dsbhliyu"},
      {"aten.pow.Tensor_Scalar($[500], 3)", "dsbhliyu"},
      {"aten.pow.Tensor_Scalar($[500], 5)", "dsli"},
      {"aten.pow.Tensor_Scalar($[500], 0)", "dsli"},
      {"aten.pow.Tensor_Scalar($[500], 1)", "dsli"},
      {"aten.pow.Tensor_Scalar($[500], -1)", "dsbli"},
      {"aten.pow.Tensor_Scalar($[500], -2)", "ds"},
      {"aten.pow.Tensor_Scalar($[500], 0.5)", "dsbl"},
      {"aten.pow.Tensor_Scalar($[500], -0.5)", "dsb"},
      {"aten.pow.Tensor_Scalar($[500], 1.7)", "dsb"},
      {"aten.pow.Scalar(2, $[500])", "dsbl"},
      {"aten.maximum($[500], $[500])", "dsbhliyut"},
      {"aten.minimum($[500], $[500])", "dsbhliyut"},
      {"aten.fmax($[500], $[500])", "dsbhli"},
      {"aten.fmin($[500], $[500])", "dsbhli"},
      {"aten.clamp($[500], -1, 2)", "dsbhliy"},
      {"aten.clamp($[500], 2.5, -1.5)", "dsbh"},
      {"aten.clamp($[500], none, 2)", "dsbhliyu"},
      {"aten.clamp.Tensor($[500], $[500], $[500])", "dsbhliyu"},
      {"aten.clamp_min($[500], 0)", "dsbhliyu"},
      {"aten.clamp_min.Tensor($[500], $[500])", "dsli"},
      {"aten.clamp_max($[500], 0)", "dsbhliyu"},
      {"aten.clamp_max.Tensor($[500], $[500])", "dsli"},
      {"aten.atan2($[500], $[500])", "dsb"},
      {"aten.hypot($[500], $[500])", "dsb"},
      {"aten.copysign.Tensor($[500], $[500])", "dsbh"},
      {"aten.copysign.Scalar($[500], -1)", "dsbl"},
      {"aten.xlogy.Tensor($[500], $[500])", "dsb"},
      {"aten.logaddexp($[500], $[500])", "dsb", 1},
      {"aten.logaddexp2($[500], $[500])", "dsb", 1},
      {"aten.heaviside($[500], $[500])", "dsbli"},
      {"aten.native_dropout_backward($[500], b8[500], 2.0)", "dsbh"},
      {"aten.rrelu_with_noise_backward($[500], $[500], $[500], 0.1, 0.3, "
       "true, false)",
       "ds"},
      {"aten.rrelu_with_noise_backward($[500], $[500], $[500], 0.1, 0.3, "
       "false, false)",
       "ds"},
  });
}

TEST_F(ElementsTest, ComparisonsAndChoicesAreThoseOfTheInterpreter) {
  std::vector<Row> rows;
  std::vector<std::string> calls;
  for (const char *order : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const char *rest :
         {".Tensor($[500], $[500])", ".Scalar($[500], 1)",
          ".Scalar($[500], 0.01)", ".Tensor(f32[500], $[500])",
          ".Tensor(bf16[500], $[])", ".Tensor($[500], i64[500])"})
      calls.push_back("aten." + std::string(order) + rest);
  for (const char *logic : {"and", "or", "xor"}) {
    calls.push_back("aten.logical_" + std::string(logic) + "($[500], $[500])");
  }
  for (const char *one :
       {"logical_not", "isnan", "isinf", "isfinite", "isreal"})
    calls.push_back("aten." + std::string(one) + "($[500])");
  for (const std::string &call : calls)
    rows.push_back({call.c_str(), "dsbhliyut"});
  for (const char *call : {"aten.isposinf($[500])", "aten.isneginf($[500])",
                           "aten.signbit($[500])"})
    rows.push_back({call, "dsbhliyu"});
  rows.push_back({"aten.isclose($[500], $[500])", "dsbl"});
  rows.push_back({"aten.isclose($[500], $[500], equal_nan=true)", "ds"});
  checkRows(rows);
  checkRows({
      {"aten.bitwise_and.Tensor($[500], $[500])", "liyut"},
      {"aten.bitwise_or.Scalar($[500], 5)", "liyu"},
      {"aten.bitwise_xor.Tensor($[500], $[500])", "liyut"},
      {"aten.bitwise_not($[500])", "liyut"},
      {"aten.bitwise_left_shift.Tensor($[500], $[500])", "liyu"},
      {"aten.bitwise_right_shift.Tensor($[500], $[500])", "liyu"},
      {"aten.bitwise_right_shift.Tensor_Scalar($[500], 2)", "liyu"},
      {"aten.where.self(b8[500], $[500], $[500])", "dsbhliyut"},
      {"aten.where.self(b8[500], $[], f32[500])", "dsbhlit"},
      {"aten.where.self(b8[500], $[], bf16[500])", "dsbhlit"},
      {"aten.where.ScalarOther(b8[500], $[500], 0.1)", "dsbhli"},
      {"aten.where.ScalarSelf(b8[500], 2, $[500])", "dsbhli"},
      {"aten.masked_fill.Scalar($[500], b8[500], 0.3)", "dsbh"},
      {"aten.masked_fill.Tensor($[500], b8[500], f64[])", "dsbh"},
  });
}

TEST_F(ElementsTest, FunctionsOfOneTensorAreThoseOfTheInterpreter) {
  std::vector<std::string> calls;
  std::vector<Row> rows;
  for (const char *name :
       {"exp",   "exp2",    "expm1",   "log",          "log2",    "log10",
        "log1p", "sqrt",    "rsqrt",   "reciprocal",   "sigmoid", "tanh",
        "sin",   "cos",     "tan",     "asin",         "acos",    "atan",
        "sinh",  "cosh",    "asinh",   "acosh",        "atanh",   "erf",
        "erfc",  "deg2rad", "rad2deg", "special_entr", "angle"})
    calls.push_back("aten." + std::string(name) + "($[500])");
  for (const std::string &call : calls)
    rows.push_back({call.c_str(), "dsbhyt"});
  checkRows(rows);
  checkRows({
      {"aten.special_ndtr($[500])", "d"},
      {"aten.special_ndtr($[500])", "s", 1e-2},
      {"aten.sinc($[500])", "dsb", 1},
      {"aten.logit($[500])", "ds", 1},
      {"aten.logit($[500], 0.1)", "dsb", 1},
      {"aten.logit_backward($[500], $[500])", "dsb", 1e2},
      {"aten.logit_backward($[500], $[500], 0.1)", "dsb", 1e2},
      {"aten.frac($[500])", "ds"},
      {"aten.neg($[500])", "dsbhliyu"},
      {"aten.abs($[500])", "dsbhliyu"},
      {"aten.sign($[500])", "dsbhliyut"},
      {"aten.sgn($[500])", "ds"},
      {"aten.square($[500])", "dsbhliyu"},
      {"aten.ceil($[500])", "dsbhliyu"},
      {"aten.floor($[500])", "dsbhliyu"},
      {"aten.round($[500])", "dsbhliyu"},
      {"aten.round.decimals($[500], decimals=1)", "d"},
      {"aten.round.decimals($[500], decimals=-1)", "dsl"},
      {"aten.trunc($[500])", "dsbhliyu"},
      {"aten.nan_to_num($[500])", "dsbhli"},
      {"aten.nan_to_num($[500], 1.0, 2.0, -3.0)", "dsbh"},
  });
}

TEST_F(ElementsTest, ActivationsAreThoseOfTheInterpreter) {
  checkRows({
      {"aten.relu($[500])", "dsbhliyu"},
      {"aten.relu6($[500])", "dsbhli"},
      {"aten.hardtanh($[500], -2, 3)", "dsbhli"},
      {"aten.hardtanh_backward($[500], $[500], -1, 1)", "dsbh"},
      {"aten.leaky_relu($[500], 0.1)", "dsbh"},
      {"aten.leaky_relu_backward($[500], $[500], 0.1, false)", "dsbh"},
      {"aten.threshold($[500], 1, 7)", "dsbhli"},
      {"aten.threshold_backward($[500], $[500], 0)", "dsbhli"},
      {"aten.hardswish($[500])", "dsbh"},
      {"aten.hardswish_backward($[500], $[500])", "dsbh", 10},
      {"aten.hardsigmoid($[500])", "dsbh"},
      {"aten.hardsigmoid_backward($[500], $[500])", "dsbh"},
      {"aten.hardshrink($[500], 0.5)", "dsbh"},
      {"aten.softshrink($[500], 0.5)", "dsbh", 1},
      {"aten.hardshrink_backward($[500], $[500], 0.5)", "ds"},
      {"aten.softshrink_backward($[500], $[500], 0.5)", "ds"},
      {"aten._prelu_kernel($[500], $[500])", "dsbh"},
      {"aten._prelu_kernel_backward($[500], $[500], $[500])", "dsbh"},
      {"aten.silu($[500])", "dsbh"},
      {"aten.silu_backward($[500], $[500])", "dsbh", 1e2},
      {"aten.mish($[500])", "dsbh"},
      {"aten.mish_backward($[500], $[500])", "dsbh", 1e2},
      {"aten.gelu($[500])", "dsbh", 1},
      {"aten.gelu($[500], approximate='tanh')", "dsbh", 1},
      {"aten.gelu_backward($[500], $[500])", "dsbh", 1e2},
      {"aten.gelu_backward($[500], $[500], approximate='tanh')", "d", 1e2},
      {"aten.gelu_backward($[500], $[500], approximate='tanh')", "sbh", 1e2,
       false, true},
      {"aten.sigmoid_backward($[500], $[500])", "dsbh", 1e2},
      {"aten.tanh_backward($[500], $[500])", "dsbh", 1e2},
      {"aten.log_sigmoid($[500])", "dsbh"},
      {"aten.log_sigmoid_forward($[500])", "dsbh"},
      {"aten.log_sigmoid_backward($[500], $[500], $[500])", "dsbh"},
      {"aten.elu($[500], 1.5, 2, 0.5)", "dsbh"},
      {"aten.elu_backward($[500], 1.5, 2, 0.5, false, $[500])", "dsbh", 1},
      {"aten.elu_backward($[500], 1.5, 2, 0.5, true, $[500])", "dsbh", 1e3},
      {"aten.selu($[500])", "dsbh"},
      {"aten.celu($[500], 2.0)", "dsbh"},
      {"aten.softplus($[500], 2, 10)", "dsbh"},
      {"aten.softplus_backward($[500], $[500], 2, 10)", "d"},
      {"aten.softplus_backward($[500], $[500], 1, 20)", "sbh"},
  });
}

TEST_F(ElementsTest, ReductionsAreThoseOfTheInterpreter) {
  checkRows({
      {"aten.sum($[3,167])", "dsbhliyut", 1e3},
      {"aten.sum.dim_IntList($[25,4,5], [1])", "dsbhliyut", 1e3},
      {"aten.sum.dim_IntList($[25,4,5], [0,-1], true)", "dsbli", 1e3},
      {"aten.sum.dim_IntList($[25,4,5], [1], dtype=:f32)", "dsbhlit", 1e3},
      {"aten.prod($[20])", "dsli", 1},
      {"aten.prod.dim_int($[100,5], 1)", "dsbhliyu", 1},
      {"aten.mean($[3,167])", "dsbh", 1e3},
      {"aten.mean.dim($[100,5], [1])", "dsbh", 1e2},
      {"aten.nansum($[100,5], [1])", "dsbl", 1e2},
      {"aten.nanmean($[100,5], [1])", "dsb", 1e2},
      {"aten.amax($[100,5], [1])", "dsbhliyut"},
      {"aten.amin($[100,5], [0], true)", "dsbhliyut"},
      {"aten.max($[500])", "dsli"},
      {"aten.min($[500])", "dsli"},
      {"aten.aminmax($[100,5], dim=1)", "dsli"},
      {"aten.argmax($[100,5], 1)", "dsbhliyu"},
      {"aten.argmin($[100,5], 1, true)", "dsbhliyu"},
      {"aten.argmax($[25,4,5])", "dsli"},
      {"aten.max.dim($[100,5], 1)", "dsbhliyu"},
      {"aten.min.dim($[100,5], 0, true)", "dsbhliyu"},
      {"aten.any($[500])", "dsbliut"},
      {"aten.any.dim($[100,5], 1)", "dsbliut"},
      {"aten.any.dims($[25,4,5], [0,1])", "dslit"},
      {"aten.all($[500])", "dsbliut"},
      {"aten.all.dim($[100,5], 1, true)", "dsbliut"},
      {"aten.count_nonzero($[100,5], 1)", "dsbliut"},
      {"aten.var.correction($[100,5], [1])", "dsbh", 1e4},
      {"aten.var.correction($[100,5], [1], correction=5)", "ds", 1e4},
      {"aten.std.correction($[100,5], [1], correction=0)", "dsb", 1e2},
      {"aten.var_mean.correction($[100,5], [1], correction=0, keepdim=true)",
       "dsbh", 1e4},
      {"aten.std_mean.correction($[100,5], [1])", "ds", 1e2},
      {"aten.linalg_vector_norm($[100,5], 2, [1])", "dsbh"},
      {"aten.linalg_vector_norm($[100,5], 1, [1])", "dsb"},
      {"aten.linalg_vector_norm($[100,5], 0, [1])", "dsb"},
      {"aten.linalg_vector_norm($[100,5], 3, [1])", "dsb"},
      {"aten.linalg_vector_norm($[100,5], inf, [1])", "dsb"},
      {"aten.linalg_vector_norm($[100,5], -inf, [1])", "dsb"},
      {"aten.norm.ScalarOpt_dim($[100,5], none, [1], true)", "dsb"},
  });
}

TEST_F(ElementsTest, CopiesAndNewTensorsAreThoseOfTheInterpreter) {
  for (const char *to :
       {"f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "b8"}) {
    std::string call = "aten._to_copy($[500], dtype=:" + std::string(to) + ")";
    checkRows({{call.c_str(), "dsbhliyut"}});
  }
  checkRows({
      {"aten.clone($[500])", "dsbhliyut"},
      {"aten.copy(f32[5,100], $[100])", "dsbhliyut"},
      {"aten.copy($[500], f64[500])", "dsbhliyut"},
      {"aten.fill.Scalar($[500], 3)", "dsbhliyut"},
      {"aten.fill.Tensor($[500], f32[])", "dsl"},
      {"aten.tril($[4,10,12])", "dslt"},
      {"aten.triu($[10,12], 2)", "dslt"},
      {"aten.tril($[12,10], -3)", "dslt"},
      {"aten.full([3,4], 2.5)", "d"},
      {"aten.full([3,4], 7, dtype=:$)", "dsbhliyut"},
      {"aten.full_like($[500], 2)", "dsbhliyut"},
      {"aten.zeros_like($[500])", "dsbhliyut"},
      {"aten.ones([20], dtype=:$)", "dsbhliyut"},
      {"aten.empty_like($[500])", "dsl"},
      {"aten.arange(17, dtype=:$)", "dsbhli"},
      {"aten.arange.start(3.5, 11)", "d"},
      {"aten.arange.start_step(3, -11, -2)", "d"},
      {"aten.arange.start_step(0.1, 2, 0.3, dtype=:$)", "dsb"},
      {"aten.linspace(-1, 2, 11, dtype=:$)", "dsb"},
      {"aten.linspace(-1, 2, 1)", "d"},
      {"aten.scalar_tensor(3.7, dtype=:$)", "dsbhl"},
      {"aten.eye(5, dtype=:$)", "dsbhlt"},
      {"aten.eye.m(5, 7)", "d"},
      {"aten.tril_indices(7, 7, -1)", "l"},
      {"aten.tril_indices(5, 9, 2)", "l"},
      {"aten.tril_indices(9, 5, -3)", "l"},
      {"aten.tril_indices(4, 6, 7)", "l"},
      {"aten.tril_indices(6, 3, -6)", "l"},
      {"aten.tril_indices(1, 1, 0)", "l"},
      {"aten.tril_indices(40, 23, -12)", "l"},
      {"aten.triu_indices(7, 7, -1)", "l"},
      {"aten.triu_indices(5, 9, 2)", "l"},
      {"aten.triu_indices(9, 5, -3)", "l"},
      {"aten.triu_indices(4, 6, 7)", "l"},
      {"aten.triu_indices(6, 3, -6)", "l"},
      {"aten.triu_indices(1, 1, 0)", "l"},
      {"aten.triu_indices(40, 23, -12)", "l"},
      {"prims.iota(9, start=3, step=-2, dtype=:$, device='cpu', "
       "requires_grad=false)",
       "li"},
  });
}

TEST_F(ElementsTest, ElementsFromOtherPlacesAreThoseOfTheInterpreter) {
  checkRows({
      {"aten.constant_pad_nd($[5,10,12], [1,2,-1,3], 2.5)", "dsbhl"},
      {"aten.constant_pad_nd($[5,10,12], [-2,-3])", "dst"},
      {"aten.pad($[5,10,12], [2,3], 'constant')", "ds"},
      {"aten.pad($[5,10,12], [2,3], 'circular')", "ds"},
      {"aten.pad($[5,10,12], [-2,3], 'circular')", "ds"},
      {"aten.reflection_pad1d($[5,10], [3,2])", "dsb"},
      {"aten.reflection_pad2d($[5,10,12], [3,2,1,4])", "ds"},
      {"aten.replication_pad1d($[5,10], [3,2])", "dsb"},
      {"aten.replication_pad2d($[5,10,12], [3,-2,1,4])", "ds"},
      {"aten.flip($[5,10,12], [0,-1])", "dslt"},
      {"prims.rev($[5,10,12], [1])", "dslt"},
      {"aten.roll($[5,10,12], [3,-4], [0,2])", "dslt"},
      {"aten.roll($[5,10,12], [7])", "dslt"},
      {"aten.roll($[5,10], [1,2], [1,1])", "ds"},
      {"aten.repeat($[5,10], [3,2,1])", "dslt"},
      {"aten.tile($[5,10], [2])", "dslt"},
      {"aten.repeat_interleave.self_int($[5,10], 3, 0)", "dslt"},
      {"aten.repeat_interleave.self_int($[5,10], 2)", "dslt"},
      {"aten.slice_scatter($[5,10,12], $[5,4,12], 1, 2, 9, 2)", "dsbhlt"},
      {"aten.slice_scatter($[5,10,12], f64[5,10,3], -1, -3)", "dsbhl"},
      {"aten.slice_scatter($[5,10,12], f32[5,10,12])", "dsl"},
      {"aten.slice_scatter($[5,10,12], $[2,10,12], 0, -9, -3)", "dsl"},
      {"aten.select_scatter($[5,10,12], $[5,12], 1, -2)", "dsbhlt"},
      {"aten.diagonal_scatter($[5,10,12], $[12,5], 1, 0, 1)", "dsl"},
      {"aten.diagonal_scatter($[5,10,12], $[5,8], -2, 1, 2)", "dsl"},
      {"aten.slice_backward($[5,4,12], [5,10,12], 1, 2, 9, 2)", "dsbh"},
      {"aten.slice_backward($[5,10,12], [5,10,12], 1, 0, "
       "9223372036854775807, 1)",
       "dsbh"},
      {"aten.select_backward($[5,12], [5,10,12], 1, 3)", "dsbh"},
      {"aten.diagonal_backward($[5,8], [5,10,12], -2, 1, 2)", "ds"},
      {"aten.as_strided_copy($[5,10,12], [3,4], [100,7], 5)", "dsl"},
      {"aten.cat([$[5,10], $[5,3], $[5,4]], -1)", "dsbhlt"},
      {"aten.cat([$[5,10], f32[2,10], i64[3,10]])", "dsbhlt"},
      {"aten.cat([$[0], $[5,10]])", "ds"},
      {"aten.cat([f64[5,10], $[5,0], f32[5,1], $[5,2]], 1)", "dsl"},
  });
}

TEST_F(ElementsTest, ElementsThatTensorsNameAreThoseOfTheInterpreter) {
  auto at = [](const char *call, int64_t low, int64_t high) {
    return Row{call, "dsbhit", 0, false, false, low, high};
  };
  checkRows({
      at("aten.index.Tensor($[7,8,9], [i64[6]])", -7, 7),
      at("aten.index.Tensor($[7,8,9], [none, i64[4]])", -8, 8),
      at("aten.index.Tensor($[7,8,9], [none, none, i64[4,5]])", -9, 9),
      at("aten.index.Tensor($[7,8,9], [none, i64[4], i64[3,1]])", -8, 8),
      at("aten.index.Tensor($[7,8,9], [i64[4,5], none, i64[5]])", -7, 7),
      at("aten.index.Tensor($[7,8,9], [i64[], i64[3]])", -7, 7),
      at("aten.index.Tensor($[7,8,9], [i64[3], i64[2,1], i64[]])", 0, 7),
      at("aten._unsafe_index.Tensor($[2,3,7,8], [none, none, i64[5,1], "
         "i64[6]])",
         0, 7),
      at("aten._unsafe_masked_index($[7,8,9], b8[4,5,1,1], [i64[4,5]], 2.5)",
         -20, 20),
      at("aten._unsafe_masked_index($[7,8,9], b8[5], [none, none, i64[5]], 1)",
         -20, 20),
      at("aten.index_select($[7,8,9], 1, i64[5])", 0, 8),
      at("aten.index_select($[7,8,9], -1, i64[])", 0, 9),
      at("aten.take($[7,8,9], i64[5,4])", -504, 504),
      at("aten.embedding($[7,9], i64[5,3])", 0, 7),
      at("aten.embedding($[7,9], i64[])", 0, 7),
      at("aten.one_hot(i64[5,3], 7)", 0, 7),
      at("aten.scatter.src($[7,8,9], 1, i64[7,1,9], $[7,1,9])", 0, 8),
      at("aten.scatter.value($[7,8,9], -1, i64[7,8,1], 2.5)", 0, 9),
  });
}

TEST_F(ElementsTest, HasElementKnowsWhatAFormulaCannotDo) {
  EXPECT_TRUE(hasElement("aten.add.Tensor(f32[?], f32[?])"));
  EXPECT_TRUE(hasElement("aten.add.Tensor(f32[4], %f)"));
  EXPECT_TRUE(hasElement("aten.full([%8], %f)"));
  EXPECT_TRUE(hasElement("aten.full([%8], %8)"));
  EXPECT_TRUE(hasElement("aten.select_scatter(f32[5,3], f32[3], 0, %2)"));
  EXPECT_FALSE(hasElement("aten.add.Tensor(c64[4], c64[4])"));
  EXPECT_FALSE(hasElement("aten.add.Tensor(u64[4], u64[4])"));
  EXPECT_FALSE(hasElement("aten.clone(c64[4])"));
  EXPECT_FALSE(hasElement("aten.clone(f8e5m2[4])"));
  EXPECT_FALSE(hasElement("aten.flip(f32[4], [7])"));
  EXPECT_FALSE(hasElement("aten.select_scatter(f32[5,3], 0.5, 0, 2)"));
  EXPECT_FALSE(hasElement("aten.mm(f32[4,4], f32[4,4])"));
  EXPECT_FALSE(hasElement("aten.leaky_relu(f32[4], %f)"));
  EXPECT_FALSE(hasElement("aten.flip(f32[?], [0])"));
  EXPECT_TRUE(hasElement("aten.flip(f32[?,4], [1])"));
  EXPECT_TRUE(hasElement("aten.cat([f32[2], f32[?]])"));
  EXPECT_FALSE(hasElement("aten.cat([f32[?], f32[2]])"));
  EXPECT_TRUE(hasElement("aten.select_scatter(f32[?,3], f32[3], 0, 2)"));
  EXPECT_FALSE(hasElement("aten.select_scatter(f32[?,3], f32[3], 0, -1)"));
  EXPECT_FALSE(hasElement("aten.select_scatter(f32[?,3], f32[3], 0, %2)"));
  EXPECT_TRUE(hasElement("aten.slice_scatter(f32[?], f32[2], 0, 1, 3)"));
  EXPECT_FALSE(hasElement("aten.slice_scatter(f32[?], f32[2], 0, -3, -1)"));
  EXPECT_FALSE(hasElement("aten.any.dims(b8[4,4], [])"));
  EXPECT_FALSE(hasElement("aten.index.Tensor(f32[4,4], [b8[4]])"));
  EXPECT_TRUE(hasElement("aten.index.Tensor(f32[4,4], [i64[4]])"));
  EXPECT_FALSE(hasElement("aten.scatter.src(f32[4,4], 1, i64[4,2], f32[4,2])"));
  EXPECT_TRUE(hasElement("aten.scatter.src(f32[4,4], 1, i64[4,1], f32[4,1])"));
}

TEST_F(ElementsTest, BuildingNoFormulaIsAnError) {
  Operation *op = build("aten.flip(f32[?], [0])");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  cutback::test::ElementRun run = cutback::test::runElements(op, {});
  EXPECT_FALSE(run.hasRun);
  EXPECT_EQ(message, ""); // Asking is none.
  EXPECT_EQ(cutback::test::buildError(op), "failed");
  EXPECT_EQ(message, "'aten.flip' op has no element formula");
}

/// Why an op with loops has no formula; empty if there is no reason.
StringRef reasonOf(const OpInfo &info) {
  if (info.has(kRandom) || info.has(kRandomWithDropout))
    return "draws random numbers";
  if (info.loops == &loops::update)
    return "writes at places that depend on values";
  if (info.loops == &loops::pick)
    return "is a masked reduction or a gather: kernels decide which";
  static const std::pair<StringRef, StringRef> words[] = {
      {"inductor_", "draws from seeds"},
      {"gamma", "is a special function"},
      {"aten.special_", "is a special function"},
      {"aten.i0", "is a special function"},
      {"aten.erfinv", "is a special function"},
      {"aten.logspace", "is not run by the interpreter"},
      {"aten.nextafter", "counts in bits"},
      {"aten.frexp", "counts in bits"},
      {"aten.hash_tensor", "counts in bits"},
      {"aten.gcd", "is a loop of its own"},
      {"aten.lcm", "is a loop of its own"},
      {"aten.complex", "gives complex numbers"},
      {"aten.polar", "gives complex numbers"},
      {"pool", "combines the elements of a window"},
      {"upsample", "combines the elements of a window"},
      {"grid_sampler", "combines the elements of a window"},
      {"im2col", "combines the elements of a window"},
      {"col2im", "combines the elements of a window"},
      {"shuffle", "is views and a copy, once decomposed"},
      {"unfold_backward", "sums elements of several places"},
      {"reflection_pad", "sums elements of several places"},
      {"replication_pad", "sums elements of several places"},
      {"as_strided_scatter", "has places that strides do not give back"},
      {"repeat_interleave", "is as long as values say"},
  };
  for (auto [word, reason] : words)
    if (StringRef(info.torchName).contains(word))
      return reason;
  return "";
}

TEST_F(ElementsTest, EveryOpWithLoopsHasAFormulaOrAReason) {
  std::string missing;
  for (const Schema *schema : SchemaTable::get(&context).all()) {
    const OpInfo *info = getOpInfo(schema->op);
    if (info->loops != &loops::none && info->element == &elements::none &&
        reasonOf(*info).empty())
      missing += std::string(info->torchName) + "\n";
  }
  EXPECT_EQ(missing, "");
}

} // namespace
