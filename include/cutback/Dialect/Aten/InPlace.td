// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that write their result into `self`. Exported programs have them, joint
// graphs do not: functionalization replaces each by the op without `_`, whose
// result takes the place of `self` and of all views of it.
//
// Most follow from the op that they stand for: its name with `_`, its
// parameters, `self` written and given back. Those are lists of that op.
#ifndef CUTBACK_DIALECT_ATEN_INPLACE_TD
#define CUTBACK_DIALECT_ATEN_INPLACE_TD

include "cutback/Dialect/Aten/Composite.td"
include "cutback/Dialect/Aten/Data.td"
include "cutback/Dialect/Aten/Indexing.td"
include "cutback/Dialect/Aten/Linalg.td"
include "cutback/Dialect/Aten/Matmul.td"
include "cutback/Dialect/Aten/Normalization.td"
include "cutback/Dialect/Aten/Pointwise.td"
include "cutback/Dialect/Aten/Random.td"
include "cutback/Dialect/Aten/Reduction.td"
include "cutback/Dialect/Aten/Special.td"
include "cutback/Dialect/Aten/Surface.td"
include "cutback/Dialect/Aten/View.td"

/// `written` is the call target whose result the op writes; "" where it has
/// none.
class Aten_InPlace<string name, string schema, string written>
    : Aten_AtenOp<name, schema> {
  let family = "Writes the result of the op without `_` into `self`.";
  let infer = "sameAsSelf";
  let flags = ["kOrdered"];
  let functional = written;
}

class Aten_InPlaceView<string name, string schema, string written, string rule>
    : Aten_InPlace<name, schema, written> {
  let family = "Changes how `self` sees its storage; no value changes.";
  let infer = rule;
  let fusion = "View";
}

class Aten_InPlaceHistory<string name, string schema, string written>
    : Aten_InPlace<name, schema, written> {
  let family = "Changes what gradient `self` has; no value changes.";
}

/// The twin of `op` that writes `self`; `name` where it is not that of `op` with
/// `_`.
class Aten_InPlaceOf<Aten_Op op, string name = ""> : Aten_InPlace<
    !if(!ne(name, ""), name,
        !substr(op.opName, 0, !find(op.opName # ".", ".")) # "_" #
            !substr(op.opName, !find(op.opName # ".", "."))),
    !subst("(Tensor self", "(Tensor(a!) self",
           !substr(op.signature, 0, !find(op.signature, ") -> "))) #
        ") -> Tensor(a!)",
    op.torchName>;

class Aten_InPlaceRandomOf<Aten_Op op, string name = "">
    : Aten_InPlaceOf<op, name> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}

foreach op = [
    Aten_AbsOp, Aten_AbsoluteOp, Aten_AcosOp, Aten_AcoshOp, Aten_AddScalarOp,
    Aten_AddTensorOp, Aten_AddbmmOp, Aten_AddcdivOp, Aten_AddcmulOp,
    Aten_AddmmOp, Aten_AddmvOp, Aten_AddrOp, Aten_ArccosOp, Aten_ArccoshOp,
    Aten_ArcsinOp, Aten_ArcsinhOp, Aten_ArctanOp, Aten_Arctan2Op,
    Aten_ArctanhOp, Aten_AsinOp, Aten_AsinhOp, Aten_AtanOp, Aten_Atan2Op,
    Aten_AtanhOp, Aten_BaddbmmOp, Aten_BitwiseAndScalarOp,
    Aten_BitwiseAndTensorOp, Aten_BitwiseLeftShiftTensorOp,
    Aten_BitwiseLeftShiftTensorScalarOp, Aten_BitwiseNotOp,
    Aten_BitwiseOrScalarOp, Aten_BitwiseOrTensorOp,
    Aten_BitwiseRightShiftTensorOp, Aten_BitwiseRightShiftTensorScalarOp,
    Aten_BitwiseXorScalarOp, Aten_BitwiseXorTensorOp, Aten_CeilOp, Aten_CeluOp,
    Aten_ClampOp, Aten_ClampTensorOp, Aten_ClampMaxOp, Aten_ClampMaxTensorOp,
    Aten_ClampMinOp, Aten_ClampMinTensorOp, Aten_ClipOp, Aten_ClipTensorOp,
    Aten_CopyOp, Aten_CopysignScalarOp, Aten_CopysignTensorOp, Aten_CosOp,
    Aten_CoshOp, Aten_CumprodOp, Aten_CumsumOp, Aten_Deg2radOp, Aten_DigammaOp,
    Aten_DivScalarOp, Aten_DivScalarModeOp, Aten_DivTensorOp,
    Aten_DivTensorModeOp, Aten_DivideScalarOp, Aten_DivideScalarModeOp,
    Aten_DivideTensorOp, Aten_DivideTensorModeOp, Aten_EluOp,
    Aten_EmbeddingRenormOp, Aten_EqScalarOp, Aten_EqTensorOp, Aten_ErfOp,
    Aten_ErfcOp, Aten_ErfinvOp, Aten_ExpOp, Aten_Exp2Op, Aten_Expm1Op,
    Aten_FillScalarOp, Aten_FillTensorOp, Aten_FixOp, Aten_FloorOp,
    Aten_FmodScalarOp, Aten_FmodTensorOp, Aten_FracOp, Aten_GcdOp,
    Aten_GeScalarOp, Aten_GeTensorOp, Aten_GeluOp, Aten_GreaterScalarOp,
    Aten_GreaterTensorOp, Aten_GreaterEqualScalarOp, Aten_GreaterEqualTensorOp,
    Aten_GtScalarOp, Aten_GtTensorOp, Aten_HardsigmoidOp, Aten_HardswishOp,
    Aten_HardtanhOp, Aten_HeavisideOp, Aten_HypotOp, Aten_I0Op,
    Aten_IndexAddOp, Aten_IndexCopyOp, Aten_IndexFillIntScalarOp,
    Aten_IndexFillIntTensorOp, Aten_IndexPutOp, Aten_IndexReduceOp, Aten_LcmOp,
    Aten_LeScalarOp, Aten_LeTensorOp, Aten_LeakyReluOp, Aten_LerpScalarOp,
    Aten_LerpTensorOp, Aten_LessScalarOp, Aten_LessTensorOp,
    Aten_LessEqualScalarOp, Aten_LessEqualTensorOp, Aten_LgammaOp, Aten_LogOp,
    Aten_Log10Op, Aten_Log1pOp, Aten_Log2Op, Aten_LogicalAndOp,
    Aten_LogicalNotOp, Aten_LogicalOrOp, Aten_LogicalXorOp, Aten_LogitOp,
    Aten_LtScalarOp, Aten_LtTensorOp, Aten_MaskedFillScalarOp,
    Aten_MaskedFillTensorOp, Aten_MaskedScatterOp, Aten_MishOp,
    Aten_MulScalarOp, Aten_MulTensorOp, Aten_MultiplyScalarOp,
    Aten_MultiplyTensorOp, Aten_NanToNumOp, Aten_NeScalarOp, Aten_NeTensorOp,
    Aten_NegOp, Aten_NegativeOp, Aten_NextafterOp, Aten_NotEqualScalarOp,
    Aten_NotEqualTensorOp, Aten_IgammaOp, Aten_IgammacOp, Aten_MvlgammaOp,
    Aten_RenormOp, Aten_ConjPhysicalOp, Aten_TrueDivideScalarOp, Aten_PutOp,
    Aten_Rad2degOp, Aten_ReciprocalOp, Aten_ReluOp, Aten_Relu6Op,
    Aten_RemainderScalarOp, Aten_RemainderTensorOp, Aten_RoundOp,
    Aten_RoundDecimalsOp, Aten_RsqrtOp, Aten_ScatterReduceOp,
    Aten_ScatterSrcOp, Aten_ScatterValueOp, Aten_ScatterValueReduceOp,
    Aten_ScatterAddOp, Aten_ScatterReduceTwoOp, Aten_SeluOp, Aten_SgnOp,
    Aten_SigmoidOp, Aten_SignOp, Aten_SiluOp, Aten_SinOp, Aten_SincOp,
    Aten_SinhOp, Aten_SqrtOp, Aten_SquareOp, Aten_SubScalarOp,
    Aten_SubTensorOp, Aten_SubtractScalarOp, Aten_SubtractTensorOp, Aten_TanOp,
    Aten_TanhOp, Aten_ThresholdOp, Aten_TrilOp, Aten_TriuOp,
    Aten_TrueDivideTensorOp, Aten_TruncOp, Aten_XlogyScalarOtherOp,
    Aten_XlogyTensorOp, Aten_ZeroOp
  ] in
  def !subst("Op", "InPlaceOp", !cast<string>(op)) : Aten_InPlaceOf<op>;

foreach op = [
    Aten_BernoulliTensorOp, Aten_CauchyOp, Aten_ExponentialOp,
    Aten_GeometricOp, Aten_LogNormalOp, Aten_RandomOp, Aten_RandomFromOp,
    Aten_RandomToOp, Aten_RreluOp, Aten_UniformOp
  ] in
  def !subst("Op", "InPlaceOp", !cast<string>(op)) : Aten_InPlaceRandomOf<op>;

def Aten_FloatPowerInPlaceScalarOp : Aten_InPlaceOf<
    Aten_FloatPowerTensorScalarOp, "float_power_.Scalar">;
def Aten_FloorDivideInPlaceTensorOp : Aten_InPlaceOf<
    Aten_FloorDivideOp, "floor_divide_.Tensor">;
def Aten_DunderIandScalarOp : Aten_InPlaceOf<
    Aten_BitwiseAndScalarOp, "__iand__.Scalar">;
def Aten_DunderIandTensorOp : Aten_InPlaceOf<
    Aten_BitwiseAndTensorOp, "__iand__.Tensor">;
def Aten_DunderIorScalarOp : Aten_InPlaceOf<
    Aten_BitwiseOrScalarOp, "__ior__.Scalar">;
def Aten_DunderIorTensorOp : Aten_InPlaceOf<
    Aten_BitwiseOrTensorOp, "__ior__.Tensor">;
def Aten_DunderIxorScalarOp : Aten_InPlaceOf<
    Aten_BitwiseXorScalarOp, "__ixor__.Scalar">;
def Aten_DunderIxorTensorOp : Aten_InPlaceOf<
    Aten_BitwiseXorTensorOp, "__ixor__.Tensor">;
def Aten_PowInPlaceScalarOp : Aten_InPlaceOf<
    Aten_PowTensorScalarOp, "pow_.Scalar">;
def Aten_PowInPlaceTensorOp : Aten_InPlaceOf<
    Aten_PowTensorTensorOp, "pow_.Tensor">;
def Aten_LdexpInPlaceOp : Aten_InPlaceOf<Aten_LdexpTensorOp, "ldexp_">;
def Aten_NormalInPlaceOp : Aten_InPlaceRandomOf<
    Aten_NormalFunctionalOp, "normal_">;
def Aten_FloatPowerInPlaceTensorOp : Aten_InPlaceOf<
    Aten_FloatPowerTensorTensorOp, "float_power_.Tensor">;

def Aten_FillDiagonalInPlaceOp : Aten_InPlace<"fill_diagonal_",
    "(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", "">;
def Aten_FloorDivideInPlaceScalarOp : Aten_InPlace<"floor_divide_.Scalar",
    "(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    "aten.floor_divide.default">;
def Aten_PolygammaInPlaceOp : Aten_InPlace<"polygamma_",
    "(Tensor(a!) self, int n) -> Tensor(a!)", "aten.polygamma.default">;
def Aten_AlphaDropoutInPlaceOp : Aten_InPlace<"alpha_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    "aten.alpha_dropout.default"> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}
def Aten_BernoulliInPlaceFloatOp : Aten_InPlace<"bernoulli_.float",
    "(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
    "aten.bernoulli.p"> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}
def Aten_DropoutInPlaceOp : Aten_InPlace<"dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    "aten.dropout.default"> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}
def Aten_FeatureAlphaDropoutInPlaceOp : Aten_InPlace<"feature_alpha_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    "aten.feature_alpha_dropout.default"> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}
def Aten_FeatureDropoutInPlaceOp : Aten_InPlace<"feature_dropout_",
    "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    "aten.feature_dropout.default"> {
  let family = "Writes random numbers into `self`, or by them.";
  let flags = ["kOrdered", "kRandom"];
}
def Aten_AsStridedInPlaceOp : Aten_InPlaceView<"as_strided_",
    "(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor(a!)",
    "aten.as_strided.default", "asStrided">;
def Aten_DetachInPlaceOp : Aten_InPlaceHistory<"detach_",
    "(Tensor(a!) self) -> Tensor(a!)", "aten.detach.default">;
def Aten_RequiresGradInPlaceOp : Aten_InPlaceHistory<"requires_grad_",
    "(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", "">;
def Aten_ResizeInPlaceOp : Aten_InPlaceView<"resize_",
    "(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> "
    "Tensor(a!)", "aten.resize.default", "resize">;
def Aten_ResizeAsInPlaceOp : Aten_InPlaceView<"resize_as_",
    "(Tensor(a!) self, Tensor the_template, *, MemoryFormat? "
    "memory_format=None) -> Tensor(a!)", "", "resize">;
def Aten_SqueezeInPlaceOp : Aten_InPlaceView<"squeeze_",
    "(Tensor(a!) self) -> Tensor(a!)", "aten.squeeze.default", "squeeze">;
def Aten_SqueezeInPlaceDimOp : Aten_InPlaceView<"squeeze_.dim",
    "(Tensor(a!) self, int dim) -> Tensor(a!)", "aten.squeeze.dim", "squeeze">;
def Aten_SqueezeInPlaceDimsOp : Aten_InPlaceView<"squeeze_.dims",
    "(Tensor(a!) self, int[] dim) -> Tensor(a!)",
    "aten.squeeze.dims", "squeeze">;
def Aten_SwapaxesInPlaceOp : Aten_InPlaceView<"swapaxes_",
    "(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
    "aten.swapaxes.default", "transpose">;
def Aten_SwapdimsInPlaceOp : Aten_InPlaceView<"swapdims_",
    "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    "aten.swapdims.default", "transpose">;
def Aten_TInPlaceOp : Aten_InPlaceView<"t_",
    "(Tensor(a!) self) -> Tensor(a!)", "aten.t.default", "t">;
def Aten_TransposeInPlaceOp : Aten_InPlaceView<"transpose_",
    "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    "aten.transpose.int", "transpose">;
def Aten_UnsqueezeInPlaceOp : Aten_InPlaceView<"unsqueeze_",
    "(Tensor(a!) self, int dim) -> Tensor(a!)",
    "aten.unsqueeze.default", "unsqueeze">;

#endif // CUTBACK_DIALECT_ATEN_INPLACE_TD
