// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that write their result into `self`. Exported programs have them, joint
// graphs do not: functionalization replaces each by the op without `_`, whose
// result takes the place of `self` and of all views of it.
#ifndef CUTBACK_DIALECT_ATEN_INPLACE_TD
#define CUTBACK_DIALECT_ATEN_INPLACE_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_InPlace<string name, string schema> : Aten_AtenOp<name, schema> {
  let family = "Writes the result of the op without `_` into `self`.";
  let infer = "sameAsSelf";
  let flags = ["kOrdered"];
}

class Aten_InPlaceRandom<string name, string schema>
    : Aten_AtenOp<name, schema> {
  let family = "Writes random numbers into `self`, or by them.";
  let infer = "sameAsSelf";
  let flags = ["kOrdered", "kRandom"];
}

class Aten_InPlaceView<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Changes how `self` sees its storage; no value changes.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kOrdered"];
}

class Aten_InPlaceHistory<string name, string schema>
    : Aten_AtenOp<name, schema> {
  let family = "Changes what gradient `self` has; no value changes.";
  let infer = "sameAsSelf";
  let flags = ["kOrdered"];
}

def Aten_AbsInPlaceOp : Aten_InPlace<"abs_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AbsoluteInPlaceOp : Aten_InPlace<"absolute_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AcosInPlaceOp : Aten_InPlace<"acos_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AcoshInPlaceOp : Aten_InPlace<"acosh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AddInPlaceScalarOp : Aten_InPlace<"add_.Scalar",
    "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)">;
def Aten_AddInPlaceTensorOp : Aten_InPlace<"add_.Tensor",
    "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)">;
def Aten_AddbmmInPlaceOp : Aten_InPlace<"addbmm_",
    "(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_AddcdivInPlaceOp : Aten_InPlace<"addcdiv_",
    "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor(a!)">;
def Aten_AddcmulInPlaceOp : Aten_InPlace<"addcmul_",
    "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
    "Tensor(a!)">;
def Aten_AddmmInPlaceOp : Aten_InPlace<"addmm_",
    "(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_AddmvInPlaceOp : Aten_InPlace<"addmv_",
    "(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_AddrInPlaceOp : Aten_InPlace<"addr_",
    "(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_ArccosInPlaceOp : Aten_InPlace<"arccos_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ArccoshInPlaceOp : Aten_InPlace<"arccosh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ArcsinInPlaceOp : Aten_InPlace<"arcsin_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ArcsinhInPlaceOp : Aten_InPlace<"arcsinh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ArctanInPlaceOp : Aten_InPlace<"arctan_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Arctan2InPlaceOp : Aten_InPlace<"arctan2_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_ArctanhInPlaceOp : Aten_InPlace<"arctanh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AsinInPlaceOp : Aten_InPlace<"asin_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AsinhInPlaceOp : Aten_InPlace<"asinh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AtanInPlaceOp : Aten_InPlace<"atan_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Atan2InPlaceOp : Aten_InPlace<"atan2_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_AtanhInPlaceOp : Aten_InPlace<"atanh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_BaddbmmInPlaceOp : Aten_InPlace<"baddbmm_",
    "(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_BitwiseAndInPlaceScalarOp : Aten_InPlace<"bitwise_and_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_BitwiseAndInPlaceTensorOp : Aten_InPlace<"bitwise_and_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_BitwiseLeftShiftInPlaceTensorOp : Aten_InPlace<
    "bitwise_left_shift_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_BitwiseLeftShiftInPlaceTensorScalarOp : Aten_InPlace<
    "bitwise_left_shift_.Tensor_Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_BitwiseNotInPlaceOp : Aten_InPlace<"bitwise_not_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_BitwiseOrInPlaceScalarOp : Aten_InPlace<"bitwise_or_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_BitwiseOrInPlaceTensorOp : Aten_InPlace<"bitwise_or_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_BitwiseRightShiftInPlaceTensorOp : Aten_InPlace<
    "bitwise_right_shift_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_BitwiseRightShiftInPlaceTensorScalarOp : Aten_InPlace<
    "bitwise_right_shift_.Tensor_Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_BitwiseXorInPlaceScalarOp : Aten_InPlace<"bitwise_xor_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_BitwiseXorInPlaceTensorOp : Aten_InPlace<"bitwise_xor_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_CeilInPlaceOp : Aten_InPlace<"ceil_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_CeluInPlaceOp : Aten_InPlace<"celu_",
    "(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)">;
def Aten_ClampInPlaceOp : Aten_InPlace<"clamp_",
    "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)">;
def Aten_ClampInPlaceTensorOp : Aten_InPlace<"clamp_.Tensor",
    "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)">;
def Aten_ClampMaxInPlaceOp : Aten_InPlace<"clamp_max_",
    "(Tensor(a!) self, Scalar max) -> Tensor(a!)">;
def Aten_ClampMaxInPlaceTensorOp : Aten_InPlace<"clamp_max_.Tensor",
    "(Tensor(a!) self, Tensor max) -> Tensor(a!)">;
def Aten_ClampMinInPlaceOp : Aten_InPlace<"clamp_min_",
    "(Tensor(a!) self, Scalar min) -> Tensor(a!)">;
def Aten_ClampMinInPlaceTensorOp : Aten_InPlace<"clamp_min_.Tensor",
    "(Tensor(a!) self, Tensor min) -> Tensor(a!)">;
def Aten_ClipInPlaceOp : Aten_InPlace<"clip_",
    "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)">;
def Aten_ClipInPlaceTensorOp : Aten_InPlace<"clip_.Tensor",
    "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)">;
def Aten_CopyInPlaceOp : Aten_InPlace<"copy_",
    "(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)">;
def Aten_CopysignInPlaceScalarOp : Aten_InPlace<"copysign_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_CopysignInPlaceTensorOp : Aten_InPlace<"copysign_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_CosInPlaceOp : Aten_InPlace<"cos_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_CoshInPlaceOp : Aten_InPlace<"cosh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_CumprodInPlaceOp : Aten_InPlace<"cumprod_",
    "(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)">;
def Aten_CumsumInPlaceOp : Aten_InPlace<"cumsum_",
    "(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)">;
def Aten_Deg2radInPlaceOp : Aten_InPlace<"deg2rad_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_DigammaInPlaceOp : Aten_InPlace<"digamma_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_DivInPlaceScalarOp : Aten_InPlace<"div_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_DivInPlaceScalarModeOp : Aten_InPlace<"div_.Scalar_mode",
    "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)">;
def Aten_DivInPlaceTensorOp : Aten_InPlace<"div_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_DivInPlaceTensorModeOp : Aten_InPlace<"div_.Tensor_mode",
    "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)">;
def Aten_DivideInPlaceScalarOp : Aten_InPlace<"divide_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_DivideInPlaceScalarModeOp : Aten_InPlace<"divide_.Scalar_mode",
    "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)">;
def Aten_DivideInPlaceTensorOp : Aten_InPlace<"divide_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_DivideInPlaceTensorModeOp : Aten_InPlace<"divide_.Tensor_mode",
    "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)">;
def Aten_EluInPlaceOp : Aten_InPlace<"elu_",
    "(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) "
    "-> Tensor(a!)">;
def Aten_EmbeddingRenormInPlaceOp : Aten_InPlace<"embedding_renorm_",
    "(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> "
    "Tensor(a!)">;
def Aten_EqInPlaceScalarOp : Aten_InPlace<"eq_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_EqInPlaceTensorOp : Aten_InPlace<"eq_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_ErfInPlaceOp : Aten_InPlace<"erf_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ErfcInPlaceOp : Aten_InPlace<"erfc_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ErfinvInPlaceOp : Aten_InPlace<"erfinv_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ExpInPlaceOp : Aten_InPlace<"exp_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Exp2InPlaceOp : Aten_InPlace<"exp2_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Expm1InPlaceOp : Aten_InPlace<"expm1_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_FillInPlaceScalarOp : Aten_InPlace<"fill_.Scalar",
    "(Tensor(a!) self, Scalar value) -> Tensor(a!)">;
def Aten_FillInPlaceTensorOp : Aten_InPlace<"fill_.Tensor",
    "(Tensor(a!) self, Tensor value) -> Tensor(a!)">;
def Aten_FillDiagonalInPlaceOp : Aten_InPlace<"fill_diagonal_",
    "(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)">;
def Aten_FixInPlaceOp : Aten_InPlace<"fix_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_FloatPowerInPlaceScalarOp : Aten_InPlace<"float_power_.Scalar",
    "(Tensor(a!) self, Scalar exponent) -> Tensor(a!)">;
def Aten_FloorInPlaceOp : Aten_InPlace<"floor_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_FloorDivideInPlaceScalarOp : Aten_InPlace<"floor_divide_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_FloorDivideInPlaceTensorOp : Aten_InPlace<"floor_divide_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_FmodInPlaceScalarOp : Aten_InPlace<"fmod_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_FmodInPlaceTensorOp : Aten_InPlace<"fmod_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_FracInPlaceOp : Aten_InPlace<"frac_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_GcdInPlaceOp : Aten_InPlace<"gcd_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_GeInPlaceScalarOp : Aten_InPlace<"ge_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_GeInPlaceTensorOp : Aten_InPlace<"ge_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_GeluInPlaceOp : Aten_InPlace<"gelu_",
    "(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)">;
def Aten_GreaterInPlaceScalarOp : Aten_InPlace<"greater_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_GreaterInPlaceTensorOp : Aten_InPlace<"greater_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_GreaterEqualInPlaceScalarOp : Aten_InPlace<"greater_equal_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_GreaterEqualInPlaceTensorOp : Aten_InPlace<"greater_equal_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_GtInPlaceScalarOp : Aten_InPlace<"gt_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_GtInPlaceTensorOp : Aten_InPlace<"gt_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_HardsigmoidInPlaceOp : Aten_InPlace<"hardsigmoid_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_HardswishInPlaceOp : Aten_InPlace<"hardswish_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_HardtanhInPlaceOp : Aten_InPlace<"hardtanh_",
    "(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)">;
def Aten_HeavisideInPlaceOp : Aten_InPlace<"heaviside_",
    "(Tensor(a!) self, Tensor values) -> Tensor(a!)">;
def Aten_HypotInPlaceOp : Aten_InPlace<"hypot_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_I0InPlaceOp : Aten_InPlace<"i0_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_DunderIandScalarOp : Aten_InPlace<"__iand__.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_DunderIandTensorOp : Aten_InPlace<"__iand__.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_IndexAddInPlaceOp : Aten_InPlace<"index_add_",
    "(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar "
    "alpha=1) -> Tensor(a!)">;
def Aten_IndexCopyInPlaceOp : Aten_InPlace<"index_copy_",
    "(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)">;
def Aten_IndexFillInPlaceIntScalarOp : Aten_InPlace<"index_fill_.int_Scalar",
    "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)">;
def Aten_IndexFillInPlaceIntTensorOp : Aten_InPlace<"index_fill_.int_Tensor",
    "(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)">;
def Aten_IndexPutInPlaceOp : Aten_InPlace<"index_put_",
    "(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
    "accumulate=False) -> Tensor(a!)">;
def Aten_IndexReduceInPlaceOp : Aten_InPlace<"index_reduce_",
    "(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)">;
def Aten_DunderIorScalarOp : Aten_InPlace<"__ior__.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_DunderIorTensorOp : Aten_InPlace<"__ior__.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_DunderIxorScalarOp : Aten_InPlace<"__ixor__.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_DunderIxorTensorOp : Aten_InPlace<"__ixor__.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LcmInPlaceOp : Aten_InPlace<"lcm_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LeInPlaceScalarOp : Aten_InPlace<"le_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_LeInPlaceTensorOp : Aten_InPlace<"le_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LeakyReluInPlaceOp : Aten_InPlace<"leaky_relu_",
    "(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)">;
def Aten_LerpInPlaceScalarOp : Aten_InPlace<"lerp_.Scalar",
    "(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)">;
def Aten_LerpInPlaceTensorOp : Aten_InPlace<"lerp_.Tensor",
    "(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)">;
def Aten_LessInPlaceScalarOp : Aten_InPlace<"less_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_LessInPlaceTensorOp : Aten_InPlace<"less_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LessEqualInPlaceScalarOp : Aten_InPlace<"less_equal_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_LessEqualInPlaceTensorOp : Aten_InPlace<"less_equal_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LgammaInPlaceOp : Aten_InPlace<"lgamma_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_LogInPlaceOp : Aten_InPlace<"log_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Log10InPlaceOp : Aten_InPlace<"log10_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Log1pInPlaceOp : Aten_InPlace<"log1p_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Log2InPlaceOp : Aten_InPlace<"log2_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_LogicalAndInPlaceOp : Aten_InPlace<"logical_and_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LogicalNotInPlaceOp : Aten_InPlace<"logical_not_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_LogicalOrInPlaceOp : Aten_InPlace<"logical_or_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LogicalXorInPlaceOp : Aten_InPlace<"logical_xor_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LogitInPlaceOp : Aten_InPlace<"logit_",
    "(Tensor(a!) self, float? eps=None) -> Tensor(a!)">;
def Aten_LtInPlaceScalarOp : Aten_InPlace<"lt_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_LtInPlaceTensorOp : Aten_InPlace<"lt_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_MaskedFillInPlaceScalarOp : Aten_InPlace<"masked_fill_.Scalar",
    "(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)">;
def Aten_MaskedFillInPlaceTensorOp : Aten_InPlace<"masked_fill_.Tensor",
    "(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)">;
def Aten_MaskedScatterInPlaceOp : Aten_InPlace<"masked_scatter_",
    "(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)">;
def Aten_MishInPlaceOp : Aten_InPlace<"mish_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_MulInPlaceScalarOp : Aten_InPlace<"mul_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_MulInPlaceTensorOp : Aten_InPlace<"mul_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_MultiplyInPlaceScalarOp : Aten_InPlace<"multiply_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_MultiplyInPlaceTensorOp : Aten_InPlace<"multiply_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_NanToNumInPlaceOp : Aten_InPlace<"nan_to_num_",
    "(Tensor(a!) self, float? nan=None, float? posinf=None, float? "
    "neginf=None) -> Tensor(a!)">;
def Aten_NeInPlaceScalarOp : Aten_InPlace<"ne_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_NeInPlaceTensorOp : Aten_InPlace<"ne_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_NegInPlaceOp : Aten_InPlace<"neg_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_NegativeInPlaceOp : Aten_InPlace<"negative_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_NextafterInPlaceOp : Aten_InPlace<"nextafter_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_NotEqualInPlaceScalarOp : Aten_InPlace<"not_equal_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_NotEqualInPlaceTensorOp : Aten_InPlace<"not_equal_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_PolygammaInPlaceOp : Aten_InPlace<"polygamma_",
    "(Tensor(a!) self, int n) -> Tensor(a!)">;
def Aten_PowInPlaceScalarOp : Aten_InPlace<"pow_.Scalar",
    "(Tensor(a!) self, Scalar exponent) -> Tensor(a!)">;
def Aten_PowInPlaceTensorOp : Aten_InPlace<"pow_.Tensor",
    "(Tensor(a!) self, Tensor exponent) -> Tensor(a!)">;
def Aten_IgammaInPlaceOp : Aten_InPlace<"igamma_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_IgammacInPlaceOp : Aten_InPlace<"igammac_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_LdexpInPlaceOp : Aten_InPlace<"ldexp_",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_MvlgammaInPlaceOp : Aten_InPlace<"mvlgamma_",
    "(Tensor(a!) self, int p) -> Tensor(a!)">;
def Aten_RenormInPlaceOp : Aten_InPlace<"renorm_",
    "(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)">;
def Aten_ConjPhysicalInPlaceOp : Aten_InPlace<"conj_physical_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_TrueDivideInPlaceScalarOp : Aten_InPlace<"true_divide_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_PutInPlaceOp : Aten_InPlace<"put_",
    "(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> "
    "Tensor(a!)">;
def Aten_Rad2degInPlaceOp : Aten_InPlace<"rad2deg_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ReciprocalInPlaceOp : Aten_InPlace<"reciprocal_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ReluInPlaceOp : Aten_InPlace<"relu_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_Relu6InPlaceOp : Aten_InPlace<"relu6_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_RemainderInPlaceScalarOp : Aten_InPlace<"remainder_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_RemainderInPlaceTensorOp : Aten_InPlace<"remainder_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_RoundInPlaceOp : Aten_InPlace<"round_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_RoundInPlaceDecimalsOp : Aten_InPlace<"round_.decimals",
    "(Tensor(a!) self, *, int decimals) -> Tensor(a!)">;
def Aten_RsqrtInPlaceOp : Aten_InPlace<"rsqrt_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ScatterInPlaceReduceOp : Aten_InPlace<"scatter_.reduce",
    "(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> "
    "Tensor(a!)">;
def Aten_ScatterInPlaceSrcOp : Aten_InPlace<"scatter_.src",
    "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)">;
def Aten_ScatterInPlaceValueOp : Aten_InPlace<"scatter_.value",
    "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)">;
def Aten_ScatterInPlaceValueReduceOp : Aten_InPlace<"scatter_.value_reduce",
    "(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> "
    "Tensor(a!)">;
def Aten_ScatterAddInPlaceOp : Aten_InPlace<"scatter_add_",
    "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)">;
def Aten_ScatterReduceInPlaceTwoOp : Aten_InPlace<"scatter_reduce_.two",
    "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool "
    "include_self=True) -> Tensor(a!)">;
def Aten_SeluInPlaceOp : Aten_InPlace<"selu_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SgnInPlaceOp : Aten_InPlace<"sgn_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SigmoidInPlaceOp : Aten_InPlace<"sigmoid_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SignInPlaceOp : Aten_InPlace<"sign_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SiluInPlaceOp : Aten_InPlace<"silu_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SinInPlaceOp : Aten_InPlace<"sin_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SincInPlaceOp : Aten_InPlace<"sinc_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SinhInPlaceOp : Aten_InPlace<"sinh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SqrtInPlaceOp : Aten_InPlace<"sqrt_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SquareInPlaceOp : Aten_InPlace<"square_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_SubInPlaceScalarOp : Aten_InPlace<"sub_.Scalar",
    "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)">;
def Aten_SubInPlaceTensorOp : Aten_InPlace<"sub_.Tensor",
    "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)">;
def Aten_SubtractInPlaceScalarOp : Aten_InPlace<"subtract_.Scalar",
    "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)">;
def Aten_SubtractInPlaceTensorOp : Aten_InPlace<"subtract_.Tensor",
    "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)">;
def Aten_TanInPlaceOp : Aten_InPlace<"tan_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_TanhInPlaceOp : Aten_InPlace<"tanh_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_ThresholdInPlaceOp : Aten_InPlace<"threshold_",
    "(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)">;
def Aten_TrilInPlaceOp : Aten_InPlace<"tril_",
    "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)">;
def Aten_TriuInPlaceOp : Aten_InPlace<"triu_",
    "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)">;
def Aten_TrueDivideInPlaceTensorOp : Aten_InPlace<"true_divide_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_TruncInPlaceOp : Aten_InPlace<"trunc_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_XlogyInPlaceScalarOtherOp : Aten_InPlace<"xlogy_.Scalar_Other",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)">;
def Aten_XlogyInPlaceTensorOp : Aten_InPlace<"xlogy_.Tensor",
    "(Tensor(a!) self, Tensor other) -> Tensor(a!)">;
def Aten_ZeroInPlaceOp : Aten_InPlace<"zero_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_AlphaDropoutInPlaceOp : Aten_InPlaceRandom<"alpha_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)">;
def Aten_BernoulliInPlaceTensorOp : Aten_InPlaceRandom<"bernoulli_.Tensor",
    "(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)">;
def Aten_BernoulliInPlaceFloatOp : Aten_InPlaceRandom<"bernoulli_.float",
    "(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)">;
def Aten_CauchyInPlaceOp : Aten_InPlaceRandom<"cauchy_",
    "(Tensor(a!) self, float median=0., float sigma=1., *, Generator? "
    "generator=None) -> Tensor(a!)">;
def Aten_DropoutInPlaceOp : Aten_InPlaceRandom<"dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)">;
def Aten_ExponentialInPlaceOp : Aten_InPlaceRandom<"exponential_",
    "(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> "
    "Tensor(a!)">;
def Aten_FeatureAlphaDropoutInPlaceOp : Aten_InPlaceRandom<
    "feature_alpha_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)">;
def Aten_FeatureDropoutInPlaceOp : Aten_InPlaceRandom<"feature_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)">;
def Aten_GeometricInPlaceOp : Aten_InPlaceRandom<"geometric_",
    "(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)">;
def Aten_LogNormalInPlaceOp : Aten_InPlaceRandom<"log_normal_",
    "(Tensor(a!) self, float mean=1., float std=2., *, Generator? "
    "generator=None) -> Tensor(a!)">;
def Aten_NormalInPlaceOp : Aten_InPlaceRandom<"normal_",
    "(Tensor(a!) self, float mean=0., float std=1., *, Generator? "
    "generator=None) -> Tensor(a!)">;
def Aten_RandomInPlaceOp : Aten_InPlaceRandom<"random_",
    "(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)">;
def Aten_RandomInPlaceFromOp : Aten_InPlaceRandom<"random_.from",
    "(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> "
    "Tensor(a!)">;
def Aten_RandomInPlaceToOp : Aten_InPlaceRandom<"random_.to",
    "(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)">;
def Aten_RreluInPlaceOp : Aten_InPlaceRandom<"rrelu_",
    "(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
    "bool training=False, Generator? generator=None) -> Tensor(a!)">;
def Aten_UniformInPlaceOp : Aten_InPlaceRandom<"uniform_",
    "(Tensor(a!) self, float from=0., float to=1., *, Generator? "
    "generator=None) -> Tensor(a!)">;
def Aten_AsStridedInPlaceOp : Aten_InPlaceView<"as_strided_",
    "(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor(a!)", "asStrided">;
def Aten_DetachInPlaceOp : Aten_InPlaceHistory<"detach_",
    "(Tensor(a!) self) -> Tensor(a!)">;
def Aten_RequiresGradInPlaceOp : Aten_InPlaceHistory<"requires_grad_",
    "(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)">;
def Aten_ResizeInPlaceOp : Aten_InPlaceView<"resize_",
    "(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> "
    "Tensor(a!)", "resize">;
def Aten_ResizeAsInPlaceOp : Aten_InPlaceView<"resize_as_",
    "(Tensor(a!) self, Tensor the_template, *, MemoryFormat? "
    "memory_format=None) -> Tensor(a!)", "resize">;
def Aten_SqueezeInPlaceOp : Aten_InPlaceView<"squeeze_",
    "(Tensor(a!) self) -> Tensor(a!)", "squeeze">;
def Aten_SqueezeInPlaceDimOp : Aten_InPlaceView<"squeeze_.dim",
    "(Tensor(a!) self, int dim) -> Tensor(a!)", "squeeze">;
def Aten_SqueezeInPlaceDimsOp : Aten_InPlaceView<"squeeze_.dims",
    "(Tensor(a!) self, int[] dim) -> Tensor(a!)", "squeeze">;
def Aten_SwapaxesInPlaceOp : Aten_InPlaceView<"swapaxes_",
    "(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", "transpose">;
def Aten_SwapdimsInPlaceOp : Aten_InPlaceView<"swapdims_",
    "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "transpose">;
def Aten_TInPlaceOp : Aten_InPlaceView<"t_",
    "(Tensor(a!) self) -> Tensor(a!)", "t">;
def Aten_TransposeInPlaceOp : Aten_InPlaceView<"transpose_",
    "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "transpose">;
def Aten_UnsqueezeInPlaceOp : Aten_InPlaceView<"unsqueeze_",
    "(Tensor(a!) self, int dim) -> Tensor(a!)", "unsqueeze">;
def Aten_FloatPowerInPlaceTensorOp : Aten_InPlace<"float_power_.Tensor",
    "(Tensor(a!) self, Tensor exponent) -> Tensor(a!)">;

#endif // CUTBACK_DIALECT_ATEN_INPLACE_TD
