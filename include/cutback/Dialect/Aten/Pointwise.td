// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops: operands broadcast against each other, element types are
// promoted by PyTorch's rules.
#ifndef CUTBACK_DIALECT_ATEN_POINTWISE_TD
#define CUTBACK_DIALECT_ATEN_POINTWISE_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Pointwise<string name, string formula, string schema,
                     string rule = "broadcast", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise with broadcasting and type promotion.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_Transcendental<string name, string formula, string schema,
                          string rule = "unaryFloat", int w = 10>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise function of one tensor; integers become float.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_Predicate<string name, string formula, string schema,
                     string rule = "comparison", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise, with a result of type i1. No gradient.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

class Aten_Discrete<string name, string formula, string schema,
                    string rule = "broadcast", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise, with a gradient that is zero or not defined.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

class Aten_Step<string name, string formula, string schema>
    : Aten_AtenOp<name, schema> {
  let family = "Elementwise and constant between steps: a gradient of zeros.";
  let element = formula;
  let infer = "sameAsSelf";
  let weight = 1;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

def Aten_AddTensorOp : Aten_Pointwise<"add.Tensor", "add",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">, Vjp<"add">,
    Kernel<"add">, CoreForm<"complexSum">;
def Aten_AddScalarOp : Aten_Pointwise<"add.Scalar", "add",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">, Vjp<"add">,
    Kernel<"add">, CoreForm<"complexSum">;
def Aten_SubTensorOp : Aten_Pointwise<"sub.Tensor", "subtract",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">, Vjp<"sub">,
    Kernel<"sub">, CoreForm<"complexSum">;
def Aten_SubScalarOp : Aten_Pointwise<"sub.Scalar", "subtract",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">, Vjp<"sub">,
    Kernel<"sub">, CoreForm<"complexSum">;
def Aten_RsubTensorOp : Aten_Pointwise<"rsub.Tensor", "subtractFrom",
    "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor">, Vjp<"rsub">,
    Kernel<"rsub">;
def Aten_RsubScalarOp : Aten_Pointwise<"rsub.Scalar", "subtractFrom",
    "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor">, Vjp<"rsub">,
    Kernel<"rsub">;
def Aten_MulTensorOp : Aten_Pointwise<"mul.Tensor", "multiply",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"mul">, Kernel<"multiply">,
    CoreForm<"complexProduct">;
def Aten_MulScalarOp : Aten_Pointwise<"mul.Scalar", "multiply",
    "(Tensor self, Scalar other) -> Tensor">, Vjp<"mul">, Kernel<"multiply">,
    CoreForm<"complexProduct">;
def Aten_MaximumOp : Aten_Pointwise<"maximum", "maximum",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"maximum">, Kernel<"maximum">;
def Aten_MinimumOp : Aten_Pointwise<"minimum", "minimum",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"minimum">, Kernel<"minimum">;
def Aten_FmaxOp : Aten_Pointwise<"fmax", "fmax",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"fmax">, Kernel<"fmaxOp">;
def Aten_FminOp : Aten_Pointwise<"fmin", "fmin",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"fmin">, Kernel<"fminOp">;
def Aten_AddcmulOp : Aten_Pointwise<"addcmul", "addProduct",
    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor", "broadcast", 2>, Vjp<"addcmul">, Kernel<"addProduct">;
def Aten_LerpTensorOp : Aten_Pointwise<"lerp.Tensor", "interpolate",
    "(Tensor self, Tensor end, Tensor weight) -> Tensor", "broadcast", 2>,
    Vjp<"lerpTensor">, Kernel<"interpolate">;
def Aten_LerpScalarOp : Aten_Pointwise<"lerp.Scalar", "interpolate",
    "(Tensor self, Tensor end, Scalar weight) -> Tensor", "broadcast", 2>,
    Vjp<"lerpScalar">, Kernel<"interpolate">;
def Aten_DivTensorOp : Aten_Pointwise<"div.Tensor", "divide",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">, Vjp<"div">,
    Kernel<"divide">, CoreForm<"complexQuotient">;
def Aten_DivScalarOp : Aten_Pointwise<"div.Scalar", "divide",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">, Vjp<"div">,
    Kernel<"divide">, CoreForm<"complexQuotient">;
def Aten_TrueDivideTensorOp : Aten_Pointwise<"true_divide.Tensor", "divide",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">, Vjp<"div">,
    Kernel<"divide">, SecondName<"aten.div.Tensor">;
def Aten_Atan2Op : Aten_Pointwise<"atan2", "atan2",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>,
    Vjp<"atan2">, Kernel<"atan2">;
def Aten_XlogyTensorOp : Aten_Pointwise<"xlogy.Tensor", "xlogy",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>,
    Vjp<"xlogy">, Kernel<"xlogy">;
def Aten_LogaddexpOp : Aten_Pointwise<"logaddexp", "logAddExp",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 10>,
    Vjp<"logaddexp">, Kernel<"logaddexp">;
def Aten_AddcdivOp : Aten_Pointwise<"addcdiv", "addQuotient",
    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor", "broadcastFloat", 3>, Vjp<"addcdiv">, Kernel<"addQuotient">;
def Aten_DivTensorModeOp : Aten_Pointwise<"div.Tensor_mode", "divideMode",
    "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", "divMode">,
    Vjp<"divMode">, Kernel<"divideMode">;
def Aten_DivScalarModeOp : Aten_Pointwise<"div.Scalar_mode", "divideMode",
    "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", "divMode">,
    Vjp<"divMode">, Kernel<"divideMode">;
def Aten_FloorDivideOp : Aten_Pointwise<"floor_divide", "divideFloor",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>,
    Kernel<"floorDivision">;
def Aten_FmodTensorOp : Aten_Pointwise<"fmod.Tensor", "fmod",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>, Vjp<"fmod">,
    Kernel<"modulo">;
def Aten_FmodScalarOp : Aten_Pointwise<"fmod.Scalar", "fmod",
    "(Tensor self, Scalar other) -> Tensor", "broadcast", 4>, Vjp<"fmod">,
    Kernel<"modulo">;
def Aten_RemainderTensorOp : Aten_Pointwise<"remainder.Tensor", "remainder",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>, Vjp<"remainder">,
    Kernel<"remainder">;
def Aten_RemainderScalarOp : Aten_Pointwise<"remainder.Scalar", "remainder",
    "(Tensor self, Scalar other) -> Tensor", "broadcast", 4>, Vjp<"remainder">,
    Kernel<"remainder">;
def Aten_HypotOp : Aten_Pointwise<"hypot", "hypot",
    "(Tensor self, Tensor other) -> Tensor", "broadcast", 4>, Vjp<"hypot">,
    Kernel<"hypot">;
def Aten_PowTensorTensorOp : Aten_Pointwise<"pow.Tensor_Tensor", "power",
    "(Tensor self, Tensor exponent) -> Tensor", "broadcast", 10>,
    Vjp<"powTensor">, Kernel<"pow">;
def Aten_PowTensorScalarOp : Aten_Pointwise<"pow.Tensor_Scalar", "power",
    "(Tensor self, Scalar exponent) -> Tensor", "broadcast", 10>,
    Vjp<"powScalar">, Kernel<"powerScalar">;
def Aten_PowScalarOp : Aten_Pointwise<"pow.Scalar", "power",
    "(Scalar self, Tensor exponent) -> Tensor", "broadcast", 10>,
    Vjp<"powOfNumber">, Kernel<"pow">;
def Aten_ClampOp : Aten_Pointwise<"clamp", "clamp",
    "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor">,
    Vjp<"clamp">, Kernel<"clamp">;
def Aten_ClampTensorOp : Aten_Pointwise<"clamp.Tensor", "clamp",
    "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor">,
    Vjp<"clamp">, Kernel<"clamp">;
def Aten_ClampMinOp : Aten_Pointwise<"clamp_min", "clampLow",
    "(Tensor self, Scalar min) -> Tensor">, Vjp<"clamp">, Kernel<"clampMin">;
def Aten_ClampMinTensorOp : Aten_Pointwise<"clamp_min.Tensor", "clampLow",
    "(Tensor self, Tensor min) -> Tensor">, Vjp<"clamp">, Kernel<"clampMin">;
def Aten_ClampMaxOp : Aten_Pointwise<"clamp_max", "clampHigh",
    "(Tensor self, Scalar max) -> Tensor">, Vjp<"clamp">, Kernel<"clampMax">;
def Aten_ClampMaxTensorOp : Aten_Pointwise<"clamp_max.Tensor", "clampHigh",
    "(Tensor self, Tensor max) -> Tensor">, Vjp<"clamp">, Kernel<"clampMax">;
def Aten_NegOp : Aten_Pointwise<"neg", "negate",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"negate">, Kernel<"neg">,
    CoreForm<"complexNegative">;
def Aten_ReluOp : Aten_Pointwise<"relu", "relu",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"relu">, Kernel<"relu">;
def Aten_Relu6Op : Aten_Pointwise<"relu6", "relu6",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"relu6">, Kernel<"relu6">;
def Aten_HardtanhOp : Aten_Pointwise<"hardtanh", "hardtanh",
    "(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    "sameAsSelf">, Vjp<"hardtanh">, Kernel<"hardtanh">;
def Aten_HardswishOp : Aten_Pointwise<"hardswish", "hardswish",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"hardswish">,
    Kernel<"hardswish">;
def Aten_HardsigmoidOp : Aten_Pointwise<"hardsigmoid", "hardsigmoid",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"hardsigmoid">,
    Kernel<"hardsigmoid">;
def Aten_LeakyReluOp : Aten_Pointwise<"leaky_relu", "leakyRelu",
    "(Tensor self, Scalar negative_slope=0.01) -> Tensor", "sameAsSelf">,
    Vjp<"leakyRelu">, Kernel<"leakyRelu">;
def Aten_ThresholdOp : Aten_Pointwise<"threshold", "threshold",
    "(Tensor self, Scalar threshold, Scalar value) -> Tensor", "sameAsSelf">,
    Vjp<"threshold">, Kernel<"threshold">;
def Aten_FillScalarOp : Aten_Pointwise<"fill.Scalar", "fill",
    "(Tensor self, Scalar value) -> Tensor", "sameAsSelf">, Vjp<"fill">,
    Kernel<"fillScalar">;
def Aten_FillTensorOp : Aten_Pointwise<"fill.Tensor", "fill",
    "(Tensor self, Tensor value) -> Tensor", "sameAsSelf">, Vjp<"fill">,
    Kernel<"fillScalar">;
def Aten_ZeroOp : Aten_Pointwise<"zero", "zeros",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"fill">, Kernel<"zero">;
def Aten_NanToNumOp : Aten_Pointwise<"nan_to_num", "nanToNum",
    "(Tensor self, float? nan=None, float? posinf=None, "
    "float? neginf=None) -> Tensor", "sameAsSelf">, Vjp<"nanToNum">,
    Kernel<"nanToNum">;
def Aten_SquareOp : Aten_Pointwise<"square", "square",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"squared">, Kernel<"square">;
def Aten_PositiveOp : Aten_Pointwise<"positive", "copy",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">, Vjp<"positive">;
def Aten_SiluOp : Aten_Pointwise<"silu", "silu",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>, Vjp<"silu">, Kernel<"silu">;
def Aten_GeluOp : Aten_Pointwise<"gelu", "gelu",
    "(Tensor self, *, str approximate=\"none\") -> Tensor", "sameAsSelf", 10>,
    Vjp<"gelu">, Kernel<"gelu">;
def Aten_EluOp : Aten_Pointwise<"elu", "elu",
    "(Tensor self, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor", "sameAsSelf", 10>, Vjp<"elu">,
    Kernel<"elu">;
def Aten_SeluOp : Aten_Pointwise<"selu", "selu",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>, Vjp<"selu">, Kernel<"selu">;
def Aten_CeluOp : Aten_Pointwise<"celu", "celu",
    "(Tensor self, Scalar alpha=1.) -> Tensor", "sameAsSelf", 10>, Vjp<"celu">,
    Kernel<"celu">;
def Aten_MishOp : Aten_Pointwise<"mish", "mish",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>, Vjp<"mish">, Kernel<"mish">;
def Aten_SoftplusOp : Aten_Pointwise<"softplus", "softplus",
    "(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    "sameAsSelf", 10>, Vjp<"softplus">, Kernel<"softplus">;
def Aten_LogSigmoidOp : Aten_Pointwise<"log_sigmoid", "logSigmoid",
    "(Tensor self) -> Tensor", "sameAsSelf", 10>, Vjp<"logSigmoid">,
    Kernel<"logSigmoid">;
def Aten_AbsOp : Aten_Pointwise<"abs", "absolute",
    "(Tensor self) -> Tensor", "absolute">, Vjp<"abs">, Kernel<"abs">,
    CoreForm<"complexMagnitude">;
def Aten_WhereSelfOp : Aten_Pointwise<"where.self", "where",
    "(Tensor condition, Tensor self, Tensor other) -> Tensor", "where">,
    Vjp<"where">, Kernel<"where">;
def Aten_WhereScalarOtherOp : Aten_Pointwise<"where.ScalarOther", "where",
    "(Tensor condition, Tensor self, Scalar other) -> Tensor", "where">,
    Vjp<"where">, Kernel<"where">, Decomposition<"where">;
def Aten_WhereScalarSelfOp : Aten_Pointwise<"where.ScalarSelf", "where",
    "(Tensor condition, Scalar self, Tensor other) -> Tensor", "where">,
    Vjp<"where">, Kernel<"where">, Decomposition<"where">;
def Aten_WhereScalarOp : Aten_Pointwise<"where.Scalar", "where",
    "(Tensor condition, Scalar self, Scalar other) -> Tensor", "where">,
    Kernel<"where">, Decomposition<"where">;
def Aten_MaskedFillScalarOp : Aten_Pointwise<"masked_fill.Scalar", "maskedFill",
    "(Tensor self, Tensor mask, Scalar value) -> Tensor", "maskedFill">,
    Vjp<"maskedFill">, Kernel<"maskedFill">;
def Aten_MaskedFillTensorOp : Aten_Pointwise<"masked_fill.Tensor", "maskedFill",
    "(Tensor self, Tensor mask, Tensor value) -> Tensor", "maskedFill">,
    Vjp<"maskedFill">, Kernel<"maskedFill">;
def Aten_GluOp : Aten_Pointwise<"glu", "none",
    "(Tensor self, int dim=-1) -> Tensor", "glu", 10>, Vjp<"glu">,
    Kernel<"glu">, CoreForm<"gated"> {
  let loops = "none";
}
def Aten_ExpOp : Aten_Transcendental<"exp", "exp", "(Tensor self) -> Tensor">,
    Vjp<"exp">, Kernel<"exp">, CoreForm<"complexExponential">;
def Aten_Exp2Op : Aten_Transcendental<"exp2", "exp2",
    "(Tensor self) -> Tensor">, Vjp<"exp2">, Kernel<"exp2">;
def Aten_Expm1Op : Aten_Transcendental<"expm1", "expm1",
    "(Tensor self) -> Tensor">, Vjp<"expm1">, Kernel<"expm1">;
def Aten_LogOp : Aten_Transcendental<"log", "log", "(Tensor self) -> Tensor">,
    Vjp<"log">, Kernel<"log">;
def Aten_Log2Op : Aten_Transcendental<"log2", "log2",
    "(Tensor self) -> Tensor">, Vjp<"log2">, Kernel<"log2">;
def Aten_Log10Op : Aten_Transcendental<"log10", "log10",
    "(Tensor self) -> Tensor">, Vjp<"log10">, Kernel<"log10">;
def Aten_Log1pOp : Aten_Transcendental<"log1p", "log1p",
    "(Tensor self) -> Tensor">, Vjp<"log1p">, Kernel<"log1p">;
def Aten_SqrtOp : Aten_Transcendental<"sqrt", "sqrt",
    "(Tensor self) -> Tensor">, Vjp<"sqrt">, Kernel<"sqrt">;
def Aten_RsqrtOp : Aten_Transcendental<"rsqrt", "rsqrt",
    "(Tensor self) -> Tensor">, Vjp<"rsqrt">, Kernel<"rsqrt">;
def Aten_ReciprocalOp : Aten_Transcendental<"reciprocal", "reciprocal",
    "(Tensor self) -> Tensor">, Vjp<"reciprocal">, Kernel<"reciprocal">;
def Aten_SigmoidOp : Aten_Transcendental<"sigmoid", "sigmoid",
    "(Tensor self) -> Tensor">, Vjp<"sigmoid">, Kernel<"sigmoid">;
def Aten_TanhOp : Aten_Transcendental<"tanh", "tanh",
    "(Tensor self) -> Tensor">, Vjp<"tanh">, Kernel<"tanh">;
def Aten_SinOp : Aten_Transcendental<"sin", "sin", "(Tensor self) -> Tensor">,
    Vjp<"sin">, Kernel<"sin">;
def Aten_CosOp : Aten_Transcendental<"cos", "cos", "(Tensor self) -> Tensor">,
    Vjp<"cos">, Kernel<"cos">;
def Aten_TanOp : Aten_Transcendental<"tan", "tan", "(Tensor self) -> Tensor">,
    Vjp<"tan">, Kernel<"tan">;
def Aten_AsinOp : Aten_Transcendental<"asin", "asin",
    "(Tensor self) -> Tensor">, Vjp<"asin">, Kernel<"asin">;
def Aten_AcosOp : Aten_Transcendental<"acos", "acos",
    "(Tensor self) -> Tensor">, Vjp<"acos">, Kernel<"acos">;
def Aten_AtanOp : Aten_Transcendental<"atan", "atan",
    "(Tensor self) -> Tensor">, Vjp<"atan">, Kernel<"atan">;
def Aten_SinhOp : Aten_Transcendental<"sinh", "sinh",
    "(Tensor self) -> Tensor">, Vjp<"sinh">, Kernel<"sinh">;
def Aten_CoshOp : Aten_Transcendental<"cosh", "cosh",
    "(Tensor self) -> Tensor">, Vjp<"cosh">, Kernel<"cosh">;
def Aten_AsinhOp : Aten_Transcendental<"asinh", "asinh",
    "(Tensor self) -> Tensor">, Vjp<"asinh">, Kernel<"asinh">;
def Aten_AcoshOp : Aten_Transcendental<"acosh", "acosh",
    "(Tensor self) -> Tensor">, Vjp<"acosh">, Kernel<"acosh">;
def Aten_AtanhOp : Aten_Transcendental<"atanh", "atanh",
    "(Tensor self) -> Tensor">, Vjp<"atanh">, Kernel<"atanh">;
def Aten_ErfOp : Aten_Transcendental<"erf", "erf", "(Tensor self) -> Tensor">,
    Vjp<"erf">, Kernel<"erf">;
def Aten_ErfcOp : Aten_Transcendental<"erfc", "erfc",
    "(Tensor self) -> Tensor">, Vjp<"erfc">, Kernel<"erfc">;
def Aten_ErfinvOp : Aten_Transcendental<"erfinv", "none",
    "(Tensor self) -> Tensor">, Vjp<"erfinv">, Kernel<"erfinv">;
def Aten_LgammaOp : Aten_Transcendental<"lgamma", "none",
    "(Tensor self) -> Tensor">, Vjp<"lgamma">, Kernel<"lgamma">;
def Aten_DigammaOp : Aten_Transcendental<"digamma", "none",
    "(Tensor self) -> Tensor">, Vjp<"digamma">, Kernel<"digamma">;
def Aten_LogitOp : Aten_Transcendental<"logit", "logit",
    "(Tensor self, float? eps=None) -> Tensor">, Vjp<"logit">, Kernel<"logit">;
def Aten_SincOp : Aten_Transcendental<"sinc", "sinc",
    "(Tensor self) -> Tensor">, Vjp<"sinc">, Kernel<"sinc">;
def Aten_EqTensorOp : Aten_Predicate<"eq.Tensor", "equal",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"equal">;
def Aten_EqScalarOp : Aten_Predicate<"eq.Scalar", "equal",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"equal">;
def Aten_NeTensorOp : Aten_Predicate<"ne.Tensor", "notEqual",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"notEqual">;
def Aten_NeScalarOp : Aten_Predicate<"ne.Scalar", "notEqual",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"notEqual">;
def Aten_LtTensorOp : Aten_Predicate<"lt.Tensor", "less",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"lt">;
def Aten_LtScalarOp : Aten_Predicate<"lt.Scalar", "less",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"lt">;
def Aten_LeTensorOp : Aten_Predicate<"le.Tensor", "lessOrEqual",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"le">;
def Aten_LeScalarOp : Aten_Predicate<"le.Scalar", "lessOrEqual",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"le">;
def Aten_GtTensorOp : Aten_Predicate<"gt.Tensor", "greater",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"gt">;
def Aten_GtScalarOp : Aten_Predicate<"gt.Scalar", "greater",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"gt">;
def Aten_GeTensorOp : Aten_Predicate<"ge.Tensor", "greaterOrEqual",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"ge">;
def Aten_GeScalarOp : Aten_Predicate<"ge.Scalar", "greaterOrEqual",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"ge">;
def Aten_LogicalAndOp : Aten_Predicate<"logical_and", "logicalAnd",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"logicalAnd">;
def Aten_LogicalOrOp : Aten_Predicate<"logical_or", "logicalOr",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"logicalOr">;
def Aten_LogicalXorOp : Aten_Predicate<"logical_xor", "logicalXor",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"logicalXor">;
def Aten_LogicalNotOp : Aten_Predicate<"logical_not", "logicalNot",
    "(Tensor self) -> Tensor">, Kernel<"logicalNot">;
def Aten_IsnanOp : Aten_Predicate<"isnan", "isNan", "(Tensor self) -> Tensor">,
    Kernel<"isNanOp">;
def Aten_IsinfOp : Aten_Predicate<"isinf", "isInf", "(Tensor self) -> Tensor">,
    Kernel<"isInfOp">;
def Aten_IsfiniteOp : Aten_Predicate<"isfinite", "isFinite",
    "(Tensor self) -> Tensor">, Kernel<"isFiniteOp">;
def Aten_BitwiseAndTensorOp : Aten_Discrete<"bitwise_and.Tensor", "bitAnd",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseAnd">;
def Aten_BitwiseAndScalarOp : Aten_Discrete<"bitwise_and.Scalar", "bitAnd",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseAnd">;
def Aten_BitwiseOrTensorOp : Aten_Discrete<"bitwise_or.Tensor", "bitOr",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseOr">;
def Aten_BitwiseOrScalarOp : Aten_Discrete<"bitwise_or.Scalar", "bitOr",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseOr">;
def Aten_BitwiseXorTensorOp : Aten_Discrete<"bitwise_xor.Tensor", "bitXor",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseXor">;
def Aten_BitwiseXorScalarOp : Aten_Discrete<"bitwise_xor.Scalar", "bitXor",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseXor">;
def Aten_BitwiseLeftShiftTensorOp : Aten_Discrete<
    "bitwise_left_shift.Tensor", "shiftLeft",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"shiftLeft">;
def Aten_BitwiseLeftShiftTensorScalarOp : Aten_Discrete<
    "bitwise_left_shift.Tensor_Scalar", "shiftLeft",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"shiftLeft">;
def Aten_BitwiseRightShiftTensorOp : Aten_Discrete<
    "bitwise_right_shift.Tensor", "shiftRight",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"shiftRight">;
def Aten_BitwiseRightShiftTensorScalarOp : Aten_Discrete<
    "bitwise_right_shift.Tensor_Scalar", "shiftRight",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"shiftRight">;
def Aten_NextafterOp : Aten_Pointwise<"nextafter", "none",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"nextafter">,
    Kernel<"nextAfter">;
def Aten_BitwiseNotOp : Aten_Discrete<"bitwise_not", "bitNot",
    "(Tensor self) -> Tensor", "sameAsSelf">, Kernel<"bitwiseNot">;
def Aten_SignOp : Aten_Step<"sign", "sign",
    "(Tensor self) -> Tensor">, Vjp<"constant">, Kernel<"sign">;
def Aten_CeilOp : Aten_Step<"ceil", "ceil",
    "(Tensor self) -> Tensor">, Vjp<"constant">, Kernel<"ceil">;
def Aten_FloorOp : Aten_Step<"floor", "floor",
    "(Tensor self) -> Tensor">, Vjp<"constant">, Kernel<"floor">;
def Aten_RoundOp : Aten_Step<"round", "round",
    "(Tensor self) -> Tensor">, Vjp<"constant">, Kernel<"round">;
def Aten_RoundDecimalsOp : Aten_Step<"round.decimals", "roundDecimals",
    "(Tensor self, *, int decimals) -> Tensor">, Vjp<"constant">,
    Kernel<"roundDecimals">;
def Aten_TruncOp : Aten_Step<"trunc", "trunc",
    "(Tensor self) -> Tensor">, Vjp<"constant">, Kernel<"trunc">;
def Aten_SigmoidBackwardOp : Aten_Pointwise<
    "sigmoid_backward", "sigmoidBackward",
    "(Tensor grad_output, Tensor output) -> Tensor", "broadcast", 3>,
    Vjp<"sigmoidBackward">, Kernel<"sigmoidBackward">;
def Aten_TanhBackwardOp : Aten_Pointwise<"tanh_backward", "tanhBackward",
    "(Tensor grad_output, Tensor output) -> Tensor", "broadcast", 3>,
    Vjp<"tanhBackward">, Kernel<"tanhBackward">;
def Aten_ThresholdBackwardOp : Aten_Pointwise<
    "threshold_backward", "thresholdBackward",
    "(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    "broadcast", 3>, Vjp<"again">, Kernel<"thresholdBackward">,
    CoreUnit<"thresholdBackward">;
def Aten_HardtanhBackwardOp : Aten_Pointwise<
    "hardtanh_backward", "hardtanhBackward",
    "(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> "
    "Tensor", "broadcast", 3>, Vjp<"again">, Kernel<"hardtanhBackward">,
    CoreUnit<"hardtanhBackward">;
def Aten_LeakyReluBackwardOp : Aten_Pointwise<
    "leaky_relu_backward", "leakyReluBackward",
    "(Tensor grad_output, Tensor self, Scalar negative_slope, "
    "bool self_is_result) -> Tensor", "broadcast", 3>, Vjp<"again">,
    Kernel<"leakyReluBackward">, CoreUnit<"leakyReluBackward">;
def Aten_HardswishBackwardOp : Aten_Pointwise<
    "hardswish_backward", "hardswishBackward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 3>,
    Vjp<"hardswishBackward">, Kernel<"hardswishBackward">;
def Aten_HardsigmoidBackwardOp : Aten_Pointwise<
    "hardsigmoid_backward", "hardsigmoidBackward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 3>,
    Vjp<"again">, Kernel<"hardsigmoidBackward">;
def Aten_GeluBackwardOp : Aten_Pointwise<"gelu_backward", "geluBackward",
    "(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> "
    "Tensor", "broadcast", 12>, Vjp<"geluBackward">, Kernel<"geluBackward">;
def Aten_SiluBackwardOp : Aten_Pointwise<"silu_backward", "siluBackward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 12>,
    Vjp<"siluBackward">, Kernel<"siluBackward">;
def Aten_EluBackwardOp : Aten_Pointwise<"elu_backward", "eluBackward",
    "(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
    "bool is_result, Tensor self_or_result) -> Tensor", "broadcast", 12>,
    Vjp<"eluBackward">, Kernel<"eluBackward">;
def Aten_SoftplusBackwardOp : Aten_Pointwise<
    "softplus_backward", "softplusBackward",
    "(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> "
    "Tensor", "broadcast", 12>, Vjp<"softplusBackward">,
    Kernel<"softplusBackward">;
def Aten_LogSigmoidBackwardOp : Aten_Pointwise<
    "log_sigmoid_backward", "logSigmoidBackward",
    "(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    "broadcast", 12>, Vjp<"logSigmoidBackward">,
    Kernel<"logSigmoidBackward">;
def Aten_MishBackwardOp : Aten_Pointwise<"mish_backward", "mishBackward",
    "(Tensor grad_output, Tensor self) -> Tensor", "broadcast", 12>,
    Vjp<"mishBackward">, Kernel<"mishBackward">;
def Aten_GluBackwardOp : Aten_Pointwise<"glu_backward", "none",
    "(Tensor grad_output, Tensor self, int dim) -> Tensor", "sameAsSelf", 10>,
    Vjp<"gluBackward">,
    Kernel<"gluBackward">, CoreForm<"gatedBackward"> {
  let loops = "none";
}
def Aten_LogitBackwardOp : Aten_Pointwise<"logit_backward", "logitBackward",
    "(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
    "sameAsSelf", 10>, Vjp<"logitBackward">,
    Kernel<"logitBackward">;
def Aten_LogSigmoidForwardOp : Aten_Pointwise<
    "log_sigmoid_forward", "logSigmoidForward",
    "(Tensor self) -> (Tensor output, Tensor buffer)", "logSigmoidForward", 12>,
    Vjp<"logSigmoidForward">, Kernel<"logSigmoid">;
def Aten_ComplexOp : Aten_Pointwise<"complex", "none",
    "(Tensor real, Tensor imag) -> Tensor", "makeComplex">, Vjp<"complexOf">,
    Kernel<"makeComplex">, CoreForm<"complexOfParts">;
def Aten_PolarOp : Aten_Pointwise<"polar", "none",
    "(Tensor abs, Tensor angle) -> Tensor", "makeComplex", 20>, Vjp<"polar">,
    Kernel<"polar">, CoreForm<"complexOfPolar">;
def Aten_MaxOtherOp : Aten_Pointwise<"max.other", "maximum",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"maximum">, Kernel<"maximum">,
    SecondName<"aten.maximum.default">;
def Aten_MinOtherOp : Aten_Pointwise<"min.other", "minimum",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"minimum">, Kernel<"minimum">,
    SecondName<"aten.minimum.default">;
def Aten_Logaddexp2Op : Aten_Pointwise<"logaddexp2", "logAddExp2",
    "(Tensor self, Tensor other) -> Tensor">, Vjp<"logaddexp2">,
    Kernel<"logaddexp2">;
def Aten_RemainderScalarTensorOp : Aten_Pointwise<
    "remainder.Scalar_Tensor", "remainder",
    "(Scalar self, Tensor other) -> Tensor">, Vjp<"remainder">,
    Kernel<"remainder">;
def Aten_CopysignTensorOp : Aten_Pointwise<"copysign.Tensor", "copysign",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">, Vjp<"copysign">,
    Kernel<"copysign">;
def Aten_CopysignScalarOp : Aten_Pointwise<"copysign.Scalar", "copysign",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">, Vjp<"copysign">,
    Kernel<"copysign">;
def Aten_XlogyScalarSelfOp : Aten_Pointwise<"xlogy.Scalar_Self", "xlogy",
    "(Scalar self, Tensor other) -> Tensor", "broadcastFloat">, Vjp<"xlogy">,
    Kernel<"xlogy">;
def Aten_XlogyScalarOtherOp : Aten_Pointwise<"xlogy.Scalar_Other", "xlogy",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">, Vjp<"xlogy">,
    Kernel<"xlogy">;
def Aten_FracOp : Aten_Pointwise<"frac", "fraction",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"same">, Kernel<"frac">;
def Aten_SgnOp : Aten_Pointwise<"sgn", "sign",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"constant">,
    Kernel<"directionOf">, CoreForm<"complexDirection">;
def Aten_HardshrinkOp : Aten_Pointwise<"hardshrink", "hardshrink",
    "(Tensor self, Scalar lambd=0.5) -> Tensor", "sameAsSelf">,
    Vjp<"hardshrink">, Kernel<"hardshrink">;
def Aten_SoftshrinkOp : Aten_Pointwise<"softshrink", "softshrink",
    "(Tensor self, Scalar lambd=0.5) -> Tensor", "sameAsSelf">,
    Vjp<"softshrink">, Kernel<"softshrink">;
def Aten_InternalPreluKernelOp : Aten_Pointwise<"_prelu_kernel", "prelu",
    "(Tensor self, Tensor weight) -> Tensor", "sameAsSelf">, Vjp<"prelu">,
    Kernel<"preluKernel">;
def Aten_HardshrinkBackwardOp : Aten_Pointwise<
    "hardshrink_backward", "hardshrinkBackward",
    "(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", "broadcast">,
    Vjp<"again">, Kernel<"hardshrinkBackward">;
def Aten_SoftshrinkBackwardOp : Aten_Pointwise<
    "softshrink_backward", "softshrinkBackward",
    "(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", "broadcast">,
    Vjp<"again">, Kernel<"softshrinkBackward">;
def Aten_InternalPreluKernelBackwardOp : Aten_Pointwise<
    "_prelu_kernel_backward", "preluBackward",
    "(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    "preluBackward">, Vjp<"preluBackward">,
    Kernel<"preluBackward">;
def Aten_I0Op : Aten_Transcendental<"i0", "none",
    "(Tensor self) -> Tensor">, Vjp<"i0">, Kernel<"i0">;
def Aten_SpecialI1Op : Aten_Transcendental<"special_i1", "none",
    "(Tensor self) -> Tensor">, Vjp<"i1">, Kernel<"specialI1">;
def Aten_SpecialI0eOp : Aten_Transcendental<"special_i0e", "none",
    "(Tensor self) -> Tensor">, Vjp<"i0e">, Kernel<"specialI0e">;
def Aten_SpecialEntrOp : Aten_Transcendental<"special_entr", "entropy",
    "(Tensor self) -> Tensor">, Vjp<"entr">, Kernel<"specialEntr">;
def Aten_SpecialNdtrOp : Aten_Transcendental<"special_ndtr", "normalBelow",
    "(Tensor self) -> Tensor">, Vjp<"ndtr">, Kernel<"specialNdtr">;
def Aten_SpecialNdtriOp : Aten_Transcendental<"special_ndtri", "none",
    "(Tensor self) -> Tensor">, Vjp<"ndtri">, Kernel<"specialNdtri">;
def Aten_SpecialLogNdtrOp : Aten_Transcendental<"special_log_ndtr", "none",
    "(Tensor self) -> Tensor">, Vjp<"logNdtr">, Kernel<"specialLogNdtr">;
def Aten_Deg2radOp : Aten_Transcendental<"deg2rad", "radians",
    "(Tensor self) -> Tensor">, Vjp<"deg2rad">, Kernel<"deg2rad">;
def Aten_Rad2degOp : Aten_Transcendental<"rad2deg", "degrees",
    "(Tensor self) -> Tensor">, Vjp<"rad2deg">, Kernel<"rad2deg">;
def Aten_SpecialErfcxOp : Aten_Transcendental<"special_erfcx", "none",
    "(Tensor self) -> Tensor">, Vjp<"erfcx">, Kernel<"specialErfcx">;
def Aten_GcdOp : Aten_Discrete<"gcd", "none",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"gcd">;
def Aten_LcmOp : Aten_Discrete<"lcm", "none",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"lcm">;
def Aten_DunderAndTensorOp : Aten_Discrete<"__and__.Tensor", "bitAnd",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseAnd">,
    SecondName<"aten.bitwise_and.Tensor">;
def Aten_DunderAndScalarOp : Aten_Discrete<"__and__.Scalar", "bitAnd",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseAnd">,
    SecondName<"aten.bitwise_and.Scalar">;
def Aten_DunderOrTensorOp : Aten_Discrete<"__or__.Tensor", "bitOr",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseOr">,
    SecondName<"aten.bitwise_or.Tensor">;
def Aten_DunderOrScalarOp : Aten_Discrete<"__or__.Scalar", "bitOr",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseOr">,
    SecondName<"aten.bitwise_or.Scalar">;
def Aten_DunderXorTensorOp : Aten_Discrete<"__xor__.Tensor", "bitXor",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"bitwiseXor">,
    SecondName<"aten.bitwise_xor.Tensor">;
def Aten_DunderXorScalarOp : Aten_Discrete<"__xor__.Scalar", "bitXor",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"bitwiseXor">,
    SecondName<"aten.bitwise_xor.Scalar">;
def Aten_DunderLshiftTensorOp : Aten_Discrete<"__lshift__.Tensor", "shiftLeft",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"shiftLeft">,
    SecondName<"aten.bitwise_left_shift.Tensor">;
def Aten_DunderLshiftScalarOp : Aten_Discrete<"__lshift__.Scalar", "shiftLeft",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"shiftLeft">,
    SecondName<"aten.bitwise_left_shift.Tensor_Scalar">;
def Aten_DunderRshiftTensorOp : Aten_Discrete<"__rshift__.Tensor", "shiftRight",
    "(Tensor self, Tensor other) -> Tensor">, Kernel<"shiftRight">,
    SecondName<"aten.bitwise_right_shift.Tensor">;
def Aten_DunderRshiftScalarOp : Aten_Discrete<"__rshift__.Scalar", "shiftRight",
    "(Tensor self, Scalar other) -> Tensor">, Kernel<"shiftRight">,
    SecondName<"aten.bitwise_right_shift.Tensor_Scalar">;
def Aten_BitwiseAndScalarTensorOp : Aten_Discrete<
    "bitwise_and.Scalar_Tensor", "bitAnd",
    "(Scalar self, Tensor other) -> Tensor">, Kernel<"bitwiseAnd">;
def Aten_BitwiseOrScalarTensorOp : Aten_Discrete<
    "bitwise_or.Scalar_Tensor", "bitOr",
    "(Scalar self, Tensor other) -> Tensor">, Kernel<"bitwiseOr">;
def Aten_BitwiseXorScalarTensorOp : Aten_Discrete<
    "bitwise_xor.Scalar_Tensor", "bitXor",
    "(Scalar self, Tensor other) -> Tensor">, Kernel<"bitwiseXor">;
def Aten_BitwiseLeftShiftScalarTensorOp : Aten_Discrete<
    "bitwise_left_shift.Scalar_Tensor", "shiftLeft",
    "(Scalar self, Tensor other) -> Tensor">, Kernel<"shiftLeft">;
def Aten_BitwiseRightShiftScalarTensorOp : Aten_Discrete<
    "bitwise_right_shift.Scalar_Tensor", "shiftRight",
    "(Scalar self, Tensor other) -> Tensor">, Kernel<"shiftRight">;
def Aten_HeavisideOp : Aten_Discrete<"heaviside", "heaviside",
    "(Tensor self, Tensor values) -> Tensor">, Kernel<"heaviside">;
def Aten_IsposinfOp : Aten_Predicate<"isposinf", "isPosInf",
    "(Tensor self) -> Tensor">, Kernel<"isPosInf">;
def Aten_IsneginfOp : Aten_Predicate<"isneginf", "isNegInf",
    "(Tensor self) -> Tensor">, Kernel<"isNegInf">;
def Aten_IsrealOp : Aten_Predicate<"isreal", "isReal",
    "(Tensor self) -> Tensor">, Kernel<"isReal">;
def Aten_IscloseOp : Aten_Predicate<"isclose", "isClose",
    "(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
    "atol=1e-08, bool equal_nan=False) -> Tensor">, Kernel<"isClose">;
def Aten_SignbitOp : Aten_Predicate<"signbit", "signBit",
    "(Tensor self) -> Tensor">, Kernel<"signBit">;

def Aten_AngleOp : Aten_Transcendental<"angle", "angle",
    "(Tensor self) -> Tensor", "angle">, Vjp<"angle">, Kernel<"angle">,
    CoreForm<"complexAngle">;
def Aten_InternalConjOp : Aten_Pointwise<"_conj", "copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"conjugate">,
    Kernel<"conjugate">, CoreForm<"complexConjugate">;
def Aten_ConjOp : Aten_Pointwise<"conj", "copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"conjugate">,
    Kernel<"conjugate">, CoreForm<"complexConjugate">;
def Aten_InternalConjPhysicalOp : Aten_Pointwise<"_conj_physical", "copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"conjugate">,
    Kernel<"conjugate">, CoreForm<"complexConjugate">;
def Aten_ConjPhysicalOp : Aten_Pointwise<"conj_physical", "copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"conjugate">,
    Kernel<"conjugate">, CoreForm<"complexConjugate">;
def Aten_PolygammaOp : Aten_Transcendental<"polygamma", "none",
    "(int n, Tensor self) -> Tensor", "unaryFloat", 30>, Vjp<"polygamma">,
    Kernel<"derivativeOfDigamma">;
def Aten_SpecialI1eOp : Aten_Transcendental<"special_i1e", "none",
    "(Tensor self) -> Tensor">, Vjp<"i1e">, Kernel<"specialI1e">;
def Aten_IgammaOp : Aten_Pointwise<"igamma", "none",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>,
    Vjp<"lowerGamma">, Kernel<"igamma">;
def Aten_IgammacOp : Aten_Pointwise<"igammac", "none",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>,
    Vjp<"upperGamma">, Kernel<"igammac">;
def Aten_SpecialZetaOp : Aten_Pointwise<"special_zeta", "none",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat", 30>,
    Kernel<"specialZeta">;
def Aten_FrexpTensorOp : Aten_Pointwise<"frexp.Tensor", "none",
    "(Tensor self) -> (Tensor mantissa, Tensor exponent)", "frexp">,
    Vjp<"frexp">, Kernel<"frexp">;

#endif // CUTBACK_DIALECT_ATEN_POINTWISE_TD
