// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops: operands broadcast against each other, element types are
// promoted by PyTorch's rules.
#ifndef CUTBACK_DIALECT_ATEN_POINTWISE_TD
#define CUTBACK_DIALECT_ATEN_POINTWISE_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Pointwise<string name, string schema,
                     string rule = "broadcast", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise with broadcasting and type promotion.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_Transcendental<string name, string schema,
                          string rule = "unaryFloat", int w = 10>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise function of one tensor; integers become float.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_Predicate<string name, string schema,
                     string rule = "comparison", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise, with a result of type i1. No gradient.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

class Aten_Discrete<string name, string schema,
                    string rule = "broadcast", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise, with a gradient that is zero or not defined.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

class Aten_Step<string name, string schema> : Aten_AtenOp<name, schema> {
  let family = "Elementwise and constant between steps: a gradient of zeros.";
  let infer = "sameAsSelf";
  let weight = 1;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

def Aten_AddTensorOp : Aten_Pointwise<"add.Tensor",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">;
def Aten_AddScalarOp : Aten_Pointwise<"add.Scalar",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">;
def Aten_SubTensorOp : Aten_Pointwise<"sub.Tensor",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">;
def Aten_SubScalarOp : Aten_Pointwise<"sub.Scalar",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">;
def Aten_RsubTensorOp : Aten_Pointwise<"rsub.Tensor",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">;
def Aten_RsubScalarOp : Aten_Pointwise<"rsub.Scalar",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">;
def Aten_MulTensorOp : Aten_Pointwise<"mul.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_MulScalarOp : Aten_Pointwise<"mul.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_MaximumOp : Aten_Pointwise<"maximum",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_MinimumOp : Aten_Pointwise<"minimum",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_FmaxOp : Aten_Pointwise<"fmax",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_FminOp : Aten_Pointwise<"fmin",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_AddcmulOp : Aten_Pointwise<"addcmul",
    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor", "broadcast", 2>;
def Aten_LerpTensorOp : Aten_Pointwise<"lerp.Tensor",
    "(Tensor self, Tensor end, Tensor weight) -> Tensor", "broadcast", 2>;
def Aten_LerpScalarOp : Aten_Pointwise<"lerp.Scalar",
    "(Tensor self, Tensor end, Scalar weight) -> Tensor", "broadcast", 2>;
def Aten_DivTensorOp : Aten_Pointwise<"div.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">;
def Aten_DivScalarOp : Aten_Pointwise<"div.Scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">;
def Aten_TrueDivideTensorOp : Aten_Pointwise<"true_divide.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">;
def Aten_Atan2Op : Aten_Pointwise<"atan2",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>;
def Aten_XlogyTensorOp : Aten_Pointwise<"xlogy.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>;
def Aten_LogaddexpOp : Aten_Pointwise<"logaddexp",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>;
def Aten_AddcdivOp : Aten_Pointwise<"addcdiv",
    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor", "broadcastFloat", 3>;
def Aten_DivTensorModeOp : Aten_Pointwise<"div.Tensor_mode",
    "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", "divMode">;
def Aten_DivScalarModeOp : Aten_Pointwise<"div.Scalar_mode",
    "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", "divMode">;
def Aten_FloorDivideOp : Aten_Pointwise<"floor_divide",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>;
def Aten_FmodTensorOp : Aten_Pointwise<"fmod.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>;
def Aten_FmodScalarOp : Aten_Pointwise<"fmod.Scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcast", 4>;
def Aten_RemainderTensorOp : Aten_Pointwise<"remainder.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>;
def Aten_RemainderScalarOp : Aten_Pointwise<"remainder.Scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcast", 4>;
def Aten_HypotOp : Aten_Pointwise<"hypot",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>;
def Aten_PowTensorTensorOp : Aten_Pointwise<"pow.Tensor_Tensor",
    "(Tensor self, Tensor exponent) -> Tensor", "broadcast", 10>;
def Aten_PowTensorScalarOp : Aten_Pointwise<"pow.Tensor_Scalar",
    "(Tensor self, Scalar exponent) -> Tensor", "broadcast", 10>;
def Aten_PowScalarOp : Aten_Pointwise<"pow.Scalar",
    "(Scalar self, Tensor exponent) -> Tensor", "broadcast", 10>;
def Aten_ClampOp : Aten_Pointwise<"clamp",
    "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor">;
def Aten_ClampTensorOp : Aten_Pointwise<"clamp.Tensor",
    "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor">;
def Aten_ClampMinOp : Aten_Pointwise<"clamp_min",
    "(Tensor self, Scalar min) -> Tensor">;
def Aten_ClampMinTensorOp : Aten_Pointwise<"clamp_min.Tensor",
    "(Tensor self, Tensor min) -> Tensor">;
def Aten_ClampMaxOp : Aten_Pointwise<"clamp_max",
    "(Tensor self, Scalar max) -> Tensor">;
def Aten_ClampMaxTensorOp : Aten_Pointwise<"clamp_max.Tensor",
    "(Tensor self, Tensor max) -> Tensor">;
def Aten_NegOp : Aten_Pointwise<"neg", "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_ReluOp : Aten_Pointwise<"relu",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_Relu6Op : Aten_Pointwise<"relu6",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_HardtanhOp : Aten_Pointwise<"hardtanh",
    "(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    "sameAsSelf">;
def Aten_HardswishOp : Aten_Pointwise<"hardswish",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_HardsigmoidOp : Aten_Pointwise<"hardsigmoid",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_LeakyReluOp : Aten_Pointwise<"leaky_relu",
    "(Tensor self, Scalar negative_slope=0.01) -> Tensor", "sameAsSelf">;
def Aten_ThresholdOp : Aten_Pointwise<"threshold",
    "(Tensor self, Scalar threshold, Scalar value) -> Tensor", "sameAsSelf">;
def Aten_FillScalarOp : Aten_Pointwise<"fill.Scalar",
    "(Tensor self, Scalar value) -> Tensor", "sameAsSelf">;
def Aten_FillTensorOp : Aten_Pointwise<"fill.Tensor",
    "(Tensor self, Tensor value) -> Tensor", "sameAsSelf">;
def Aten_ZeroOp : Aten_Pointwise<"zero",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_NanToNumOp : Aten_Pointwise<"nan_to_num",
    "(Tensor self, float? nan=None, float? posinf=None, "
    "float? neginf=None) -> Tensor", "sameAsSelf">;
def Aten_SquareOp : Aten_Pointwise<"square",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_PositiveOp : Aten_Pointwise<"positive",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">;
def Aten_SiluOp : Aten_Pointwise<"silu",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>;
def Aten_GeluOp : Aten_Pointwise<"gelu",
    "(Tensor self, *, str approximate=\"none\") -> Tensor", "sameAsSelf", 10>;
def Aten_EluOp : Aten_Pointwise<"elu",
    "(Tensor self, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor", "sameAsSelf", 10>;
def Aten_SeluOp : Aten_Pointwise<"selu",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>;
def Aten_CeluOp : Aten_Pointwise<"celu",
    "(Tensor self, Scalar alpha=1.) -> Tensor", "sameAsSelf", 10>;
def Aten_MishOp : Aten_Pointwise<"mish",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>;
def Aten_SoftplusOp : Aten_Pointwise<"softplus",
    "(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    "sameAsSelf", 10>;
def Aten_LogSigmoidOp : Aten_Pointwise<"log_sigmoid",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>;
def Aten_AbsOp : Aten_Pointwise<"abs", "(Tensor self) -> Tensor", "absolute">;
def Aten_WhereSelfOp : Aten_Pointwise<"where.self",
    "(Tensor condition, Tensor self, Tensor other) -> Tensor", "where">;
def Aten_WhereScalarOtherOp : Aten_Pointwise<"where.ScalarOther",
    "(Tensor condition, Tensor self, Scalar other) -> Tensor", "where">;
def Aten_WhereScalarSelfOp : Aten_Pointwise<"where.ScalarSelf",
    "(Tensor condition, Scalar self, Tensor other) -> Tensor", "where">;
def Aten_WhereScalarOp : Aten_Pointwise<"where.Scalar",
    "(Tensor condition, Scalar self, Scalar other) -> Tensor", "where">;
def Aten_MaskedFillScalarOp : Aten_Pointwise<"masked_fill.Scalar",
    "(Tensor self, Tensor mask, Scalar value) -> Tensor", "maskedFill">;
def Aten_MaskedFillTensorOp : Aten_Pointwise<"masked_fill.Tensor",
    "(Tensor self, Tensor mask, Tensor value) -> Tensor", "maskedFill">;
def Aten_GluOp : Aten_Pointwise<"glu",
    "(Tensor self, int dim=-1) -> Tensor", "glu", 10> {
  let loops = "none";
}
def Aten_ExpOp : Aten_Transcendental<"exp", "(Tensor self) -> Tensor">;
def Aten_Exp2Op : Aten_Transcendental<"exp2", "(Tensor self) -> Tensor">;
def Aten_Expm1Op : Aten_Transcendental<"expm1", "(Tensor self) -> Tensor">;
def Aten_LogOp : Aten_Transcendental<"log", "(Tensor self) -> Tensor">;
def Aten_Log2Op : Aten_Transcendental<"log2", "(Tensor self) -> Tensor">;
def Aten_Log10Op : Aten_Transcendental<"log10", "(Tensor self) -> Tensor">;
def Aten_Log1pOp : Aten_Transcendental<"log1p", "(Tensor self) -> Tensor">;
def Aten_SqrtOp : Aten_Transcendental<"sqrt", "(Tensor self) -> Tensor">;
def Aten_RsqrtOp : Aten_Transcendental<"rsqrt", "(Tensor self) -> Tensor">;
def Aten_ReciprocalOp : Aten_Transcendental<"reciprocal",
    "(Tensor self) -> Tensor">;
def Aten_SigmoidOp : Aten_Transcendental<"sigmoid", "(Tensor self) -> Tensor">;
def Aten_TanhOp : Aten_Transcendental<"tanh", "(Tensor self) -> Tensor">;
def Aten_SinOp : Aten_Transcendental<"sin", "(Tensor self) -> Tensor">;
def Aten_CosOp : Aten_Transcendental<"cos", "(Tensor self) -> Tensor">;
def Aten_TanOp : Aten_Transcendental<"tan", "(Tensor self) -> Tensor">;
def Aten_AsinOp : Aten_Transcendental<"asin", "(Tensor self) -> Tensor">;
def Aten_AcosOp : Aten_Transcendental<"acos", "(Tensor self) -> Tensor">;
def Aten_AtanOp : Aten_Transcendental<"atan", "(Tensor self) -> Tensor">;
def Aten_SinhOp : Aten_Transcendental<"sinh", "(Tensor self) -> Tensor">;
def Aten_CoshOp : Aten_Transcendental<"cosh", "(Tensor self) -> Tensor">;
def Aten_AsinhOp : Aten_Transcendental<"asinh", "(Tensor self) -> Tensor">;
def Aten_AcoshOp : Aten_Transcendental<"acosh", "(Tensor self) -> Tensor">;
def Aten_AtanhOp : Aten_Transcendental<"atanh", "(Tensor self) -> Tensor">;
def Aten_ErfOp : Aten_Transcendental<"erf", "(Tensor self) -> Tensor">;
def Aten_ErfcOp : Aten_Transcendental<"erfc", "(Tensor self) -> Tensor">;
def Aten_ErfinvOp : Aten_Transcendental<"erfinv", "(Tensor self) -> Tensor">;
def Aten_LgammaOp : Aten_Transcendental<"lgamma", "(Tensor self) -> Tensor">;
def Aten_DigammaOp : Aten_Transcendental<"digamma", "(Tensor self) -> Tensor">;
def Aten_LogitOp : Aten_Transcendental<"logit",
    "(Tensor self, float? eps=None) -> Tensor">;
def Aten_SincOp : Aten_Transcendental<"sinc", "(Tensor self) -> Tensor">;
def Aten_EqTensorOp : Aten_Predicate<"eq.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_EqScalarOp : Aten_Predicate<"eq.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_NeTensorOp : Aten_Predicate<"ne.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_NeScalarOp : Aten_Predicate<"ne.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_LtTensorOp : Aten_Predicate<"lt.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LtScalarOp : Aten_Predicate<"lt.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_LeTensorOp : Aten_Predicate<"le.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LeScalarOp : Aten_Predicate<"le.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_GtTensorOp : Aten_Predicate<"gt.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_GtScalarOp : Aten_Predicate<"gt.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_GeTensorOp : Aten_Predicate<"ge.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_GeScalarOp : Aten_Predicate<"ge.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_LogicalAndOp : Aten_Predicate<"logical_and",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LogicalOrOp : Aten_Predicate<"logical_or",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LogicalXorOp : Aten_Predicate<"logical_xor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LogicalNotOp : Aten_Predicate<"logical_not",
    "(Tensor self) -> Tensor">;
def Aten_IsnanOp : Aten_Predicate<"isnan", "(Tensor self) -> Tensor">;
def Aten_IsinfOp : Aten_Predicate<"isinf", "(Tensor self) -> Tensor">;
def Aten_IsfiniteOp : Aten_Predicate<"isfinite", "(Tensor self) -> Tensor">;
def Aten_BitwiseAndTensorOp : Aten_Discrete<"bitwise_and.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseAndScalarOp : Aten_Discrete<"bitwise_and.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_BitwiseOrTensorOp : Aten_Discrete<"bitwise_or.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseOrScalarOp : Aten_Discrete<"bitwise_or.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_BitwiseXorTensorOp : Aten_Discrete<"bitwise_xor.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseXorScalarOp : Aten_Discrete<"bitwise_xor.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_BitwiseLeftShiftTensorOp : Aten_Discrete<"bitwise_left_shift.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseLeftShiftTensorScalarOp : Aten_Discrete<
    "bitwise_left_shift.Tensor_Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_BitwiseRightShiftTensorOp : Aten_Discrete<"bitwise_right_shift.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseRightShiftTensorScalarOp : Aten_Discrete<
    "bitwise_right_shift.Tensor_Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_NextafterOp : Aten_Pointwise<"nextafter",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_BitwiseNotOp : Aten_Discrete<"bitwise_not",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_SignOp : Aten_Step<"sign",
    "(Tensor self) -> Tensor">;
def Aten_CeilOp : Aten_Step<"ceil",
    "(Tensor self) -> Tensor">;
def Aten_FloorOp : Aten_Step<"floor",
    "(Tensor self) -> Tensor">;
def Aten_RoundOp : Aten_Step<"round",
    "(Tensor self) -> Tensor">;
def Aten_RoundDecimalsOp : Aten_Step<"round.decimals",
    "(Tensor self, *, int decimals) -> Tensor">;
def Aten_TruncOp : Aten_Step<"trunc",
    "(Tensor self) -> Tensor">;
def Aten_SigmoidBackwardOp : Aten_Pointwise<"sigmoid_backward",
    "(Tensor grad_output, Tensor output) -> Tensor", "broadcast", 3>;
def Aten_TanhBackwardOp : Aten_Pointwise<"tanh_backward",
    "(Tensor grad_output, Tensor output) -> Tensor", "broadcast", 3>;
def Aten_ThresholdBackwardOp : Aten_Pointwise<"threshold_backward",
    "(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    "broadcast", 3>;
def Aten_HardtanhBackwardOp : Aten_Pointwise<"hardtanh_backward",
    "(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> "
    "Tensor", "broadcast", 3>;
def Aten_LeakyReluBackwardOp : Aten_Pointwise<"leaky_relu_backward",
    "(Tensor grad_output, Tensor self, Scalar negative_slope, "
    "bool self_is_result) -> Tensor", "broadcast", 3>;
def Aten_HardswishBackwardOp : Aten_Pointwise<"hardswish_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 3>;
def Aten_HardsigmoidBackwardOp : Aten_Pointwise<"hardsigmoid_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 3>;
def Aten_GeluBackwardOp : Aten_Pointwise<"gelu_backward",
    "(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> "
    "Tensor", "broadcast", 12>;
def Aten_SiluBackwardOp : Aten_Pointwise<"silu_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 12>;
def Aten_EluBackwardOp : Aten_Pointwise<"elu_backward",
    "(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
    "bool is_result, Tensor self_or_result) -> Tensor", "broadcast", 12>;
def Aten_SoftplusBackwardOp : Aten_Pointwise<"softplus_backward",
    "(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> "
    "Tensor", "broadcast", 12>;
def Aten_LogSigmoidBackwardOp : Aten_Pointwise<"log_sigmoid_backward",
    "(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    "broadcast", 12>;
def Aten_MishBackwardOp : Aten_Pointwise<"mish_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 12>;
def Aten_GluBackwardOp : Aten_Pointwise<"glu_backward",
    "(Tensor grad_output, Tensor self, int dim) -> Tensor", "sameAsSelf", 10> {
  let loops = "none";
}
def Aten_LogitBackwardOp : Aten_Pointwise<"logit_backward",
    "(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
    "sameAsSelf", 10>;
def Aten_LogSigmoidForwardOp : Aten_Pointwise<"log_sigmoid_forward",
    "(Tensor self) -> (Tensor output, Tensor buffer)", "logSigmoidForward", 12>;
def Aten_ComplexOp : Aten_Pointwise<"complex",
    "(Tensor real, Tensor imag) -> Tensor", "makeComplex">;
def Aten_PolarOp : Aten_Pointwise<"polar",
    "(Tensor abs, Tensor angle) -> Tensor", "makeComplex", 20>;
def Aten_MaxOtherOp : Aten_Pointwise<"max.other",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_MinOtherOp : Aten_Pointwise<"min.other",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_Logaddexp2Op : Aten_Pointwise<"logaddexp2",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_RemainderScalarTensorOp : Aten_Pointwise<"remainder.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_CopysignTensorOp : Aten_Pointwise<"copysign.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">;
def Aten_CopysignScalarOp : Aten_Pointwise<"copysign.Scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">;
def Aten_XlogyScalarSelfOp : Aten_Pointwise<"xlogy.Scalar_Self",
    "(Scalar self, Tensor other) -> Tensor", "broadcastFloat">;
def Aten_XlogyScalarOtherOp : Aten_Pointwise<"xlogy.Scalar_Other",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">;
def Aten_FracOp : Aten_Pointwise<"frac",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_SgnOp : Aten_Pointwise<"sgn",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_HardshrinkOp : Aten_Pointwise<"hardshrink",
    "(Tensor self, Scalar lambd=0.5) -> Tensor", "sameAsSelf">;
def Aten_SoftshrinkOp : Aten_Pointwise<"softshrink",
    "(Tensor self, Scalar lambd=0.5) -> Tensor", "sameAsSelf">;
def Aten_InternalPreluKernelOp : Aten_Pointwise<"_prelu_kernel",
    "(Tensor self, Tensor weight) -> Tensor", "sameAsSelf">;
def Aten_HardshrinkBackwardOp : Aten_Pointwise<"hardshrink_backward",
    "(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", "broadcast">;
def Aten_SoftshrinkBackwardOp : Aten_Pointwise<"softshrink_backward",
    "(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", "broadcast">;
def Aten_InternalPreluKernelBackwardOp : Aten_Pointwise<
    "_prelu_kernel_backward",
    "(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    "preluBackward">;
def Aten_I0Op : Aten_Transcendental<"i0",
    "(Tensor self) -> Tensor">;
def Aten_SpecialI1Op : Aten_Transcendental<"special_i1",
    "(Tensor self) -> Tensor">;
def Aten_SpecialI0eOp : Aten_Transcendental<"special_i0e",
    "(Tensor self) -> Tensor">;
def Aten_SpecialEntrOp : Aten_Transcendental<"special_entr",
    "(Tensor self) -> Tensor">;
def Aten_SpecialNdtrOp : Aten_Transcendental<"special_ndtr",
    "(Tensor self) -> Tensor">;
def Aten_SpecialNdtriOp : Aten_Transcendental<"special_ndtri",
    "(Tensor self) -> Tensor">;
def Aten_SpecialLogNdtrOp : Aten_Transcendental<"special_log_ndtr",
    "(Tensor self) -> Tensor">;
def Aten_Deg2radOp : Aten_Transcendental<"deg2rad",
    "(Tensor self) -> Tensor">;
def Aten_Rad2degOp : Aten_Transcendental<"rad2deg",
    "(Tensor self) -> Tensor">;
def Aten_SpecialErfcxOp : Aten_Transcendental<"special_erfcx",
    "(Tensor self) -> Tensor">;
def Aten_GcdOp : Aten_Discrete<"gcd",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_LcmOp : Aten_Discrete<"lcm",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderAndTensorOp : Aten_Discrete<"__and__.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderAndScalarOp : Aten_Discrete<"__and__.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_DunderOrTensorOp : Aten_Discrete<"__or__.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderOrScalarOp : Aten_Discrete<"__or__.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_DunderXorTensorOp : Aten_Discrete<"__xor__.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderXorScalarOp : Aten_Discrete<"__xor__.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_DunderLshiftTensorOp : Aten_Discrete<"__lshift__.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderLshiftScalarOp : Aten_Discrete<"__lshift__.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_DunderRshiftTensorOp : Aten_Discrete<"__rshift__.Tensor",
    "(Tensor self, Tensor other) -> Tensor">;
def Aten_DunderRshiftScalarOp : Aten_Discrete<"__rshift__.Scalar",
    "(Tensor self, Scalar other) -> Tensor">;
def Aten_BitwiseAndScalarTensorOp : Aten_Discrete<"bitwise_and.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_BitwiseOrScalarTensorOp : Aten_Discrete<"bitwise_or.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_BitwiseXorScalarTensorOp : Aten_Discrete<"bitwise_xor.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_BitwiseLeftShiftScalarTensorOp : Aten_Discrete<
    "bitwise_left_shift.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_BitwiseRightShiftScalarTensorOp : Aten_Discrete<
    "bitwise_right_shift.Scalar_Tensor",
    "(Scalar self, Tensor other) -> Tensor">;
def Aten_HeavisideOp : Aten_Discrete<"heaviside",
    "(Tensor self, Tensor values) -> Tensor">;
def Aten_IsposinfOp : Aten_Predicate<"isposinf",
    "(Tensor self) -> Tensor">;
def Aten_IsneginfOp : Aten_Predicate<"isneginf",
    "(Tensor self) -> Tensor">;
def Aten_IsrealOp : Aten_Predicate<"isreal",
    "(Tensor self) -> Tensor">;
def Aten_IscloseOp : Aten_Predicate<"isclose",
    "(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
    "atol=1e-08, bool equal_nan=False) -> Tensor">;
def Aten_SignbitOp : Aten_Predicate<"signbit",
    "(Tensor self) -> Tensor">;

def Aten_AngleOp : Aten_Transcendental<"angle",
    "(Tensor self) -> Tensor", "angle">;
def Aten_InternalConjOp : Aten_Pointwise<"_conj",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_ConjOp : Aten_Pointwise<"conj",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_InternalConjPhysicalOp : Aten_Pointwise<"_conj_physical",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_ConjPhysicalOp : Aten_Pointwise<"conj_physical",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_PolygammaOp : Aten_Transcendental<"polygamma",
    "(int n, Tensor self) -> Tensor", "unaryFloat", 30>;
def Aten_SpecialI1eOp : Aten_Transcendental<"special_i1e",
    "(Tensor self) -> Tensor">;
def Aten_IgammaOp : Aten_Pointwise<"igamma",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>;
def Aten_IgammacOp : Aten_Pointwise<"igammac",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>;
def Aten_SpecialZetaOp : Aten_Pointwise<"special_zeta",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>;
def Aten_FrexpTensorOp : Aten_Pointwise<"frexp.Tensor",
    "(Tensor self) -> (Tensor mantissa, Tensor exponent)", "frexp">;

#endif // CUTBACK_DIALECT_ATEN_POINTWISE_TD
