// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that PyTorch runs as others, kept by exported programs as they are
// written: second names, stacking, products of many tensors, distances.
#ifndef CUTBACK_DIALECT_ATEN_COMPOSITE_TD
#define CUTBACK_DIALECT_ATEN_COMPOSITE_TD

include "cutback/Dialect/Aten/Pointwise.td"
include "cutback/Dialect/Aten/Reduction.td"

class Aten_Composite<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Another way to write other ops; decomposition replaces it.";
  let infer = rule;
}

/// `first` under another name.
class Aten_SecondNameOf<string name, Aten_Op first>
    : Aten_Composite<name, first.signature, first.infer>,
      SecondName<first.torchName>, Kernel<first.kernel>;

def Aten_SubtractTensorOp : Aten_SecondNameOf<
    "subtract.Tensor", Aten_SubTensorOp>;
def Aten_SubtractScalarOp : Aten_SecondNameOf<
    "subtract.Scalar", Aten_SubScalarOp>;
def Aten_MultiplyTensorOp : Aten_SecondNameOf<
    "multiply.Tensor", Aten_MulTensorOp>;
def Aten_MultiplyScalarOp : Aten_SecondNameOf<
    "multiply.Scalar", Aten_MulScalarOp>;
def Aten_ClipOp : Aten_SecondNameOf<"clip", Aten_ClampOp>;
def Aten_ClipTensorOp : Aten_SecondNameOf<"clip.Tensor", Aten_ClampTensorOp>;
def Aten_PreluOp : Aten_Composite<"prelu",
    "(Tensor self, Tensor weight) -> Tensor", "sameAsSelf">, Kernel<"prelu">,
    Decomposition<"prelu">;
def Aten_LdexpTensorOp : Aten_Composite<"ldexp.Tensor",
    "(Tensor self, Tensor other) -> Tensor", "broadcast">, Kernel<"ldexp">,
    Decomposition<"ldexp">;
def Aten_DivideTensorOp : Aten_SecondNameOf<"divide.Tensor", Aten_DivTensorOp>;
def Aten_DivideScalarOp : Aten_SecondNameOf<"divide.Scalar", Aten_DivScalarOp>;
def Aten_Arctan2Op : Aten_SecondNameOf<"arctan2", Aten_Atan2Op>;
def Aten_SpecialXlogyOp : Aten_SecondNameOf<
    "special_xlogy", Aten_XlogyTensorOp>;
def Aten_SpecialXlog1pyOp : Aten_Composite<"special_xlog1py",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">,
    Kernel<"specialXlog1py">, Decomposition<"xlog1py">;
def Aten_SpecialXlog1pySelfScalarOp : Aten_Composite<
    "special_xlog1py.self_scalar",
    "(Scalar self, Tensor other) -> Tensor", "broadcastFloat">,
    Decomposition<"numberTimesLog">;
def Aten_SpecialXlog1pyOtherScalarOp : Aten_Composite<
    "special_xlog1py.other_scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">,
    Decomposition<"numberTimesLog">;
def Aten_SpecialZetaSelfScalarOp : Aten_Composite<"special_zeta.self_scalar",
    "(Scalar self, Tensor other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.special_zeta.default">;
def Aten_SpecialZetaOtherScalarOp : Aten_Composite<"special_zeta.other_scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.special_zeta.default">;
def Aten_FloatPowerTensorTensorOp : Aten_Composite<"float_power.Tensor_Tensor",
    "(Tensor self, Tensor exponent) -> Tensor", "floatPower">,
    Kernel<"floatPower">, Decomposition<"floatPower">;
def Aten_FloatPowerScalarOp : Aten_Composite<"float_power.Scalar",
    "(Scalar self, Tensor exponent) -> Tensor", "floatPower">,
    Kernel<"floatPower">, Decomposition<"floatPower">;
def Aten_FloatPowerTensorScalarOp : Aten_Composite<"float_power.Tensor_Scalar",
    "(Tensor self, Scalar exponent) -> Tensor", "floatPower">,
    Kernel<"floatPower">, Decomposition<"floatPower">;
def Aten_DivideTensorModeOp : Aten_SecondNameOf<
    "divide.Tensor_mode", Aten_DivTensorModeOp>;
def Aten_DivideScalarModeOp : Aten_SecondNameOf<
    "divide.Scalar_mode", Aten_DivScalarModeOp>;
def Aten_NegativeOp : Aten_SecondNameOf<"negative", Aten_NegOp>;
def Aten_FixOp : Aten_SecondNameOf<"fix", Aten_TruncOp>;
def Aten_FlipudOp : Aten_Composite<"flipud",
    "(Tensor self) -> Tensor", "sameAsSelf">, Kernel<"flipud">,
    Decomposition<"flipAlong">;
def Aten_FliplrOp : Aten_Composite<"fliplr",
    "(Tensor self) -> Tensor", "sameAsSelf">, Kernel<"fliplr">,
    Decomposition<"flipAlong">;
def Aten_SpecialRoundOp : Aten_Composite<"special_round",
    "(Tensor self, *, int decimals=0) -> Tensor", "sameAsSelf">,
    SecondName<"aten.round.decimals">, Kernel<"roundDecimals">;
def Aten_AbsoluteOp : Aten_SecondNameOf<"absolute", Aten_AbsOp>;
def Aten_ArccosOp : Aten_SecondNameOf<"arccos", Aten_AcosOp>;
def Aten_ArccoshOp : Aten_SecondNameOf<"arccosh", Aten_AcoshOp>;
def Aten_ArcsinOp : Aten_SecondNameOf<"arcsin", Aten_AsinOp>;
def Aten_ArcsinhOp : Aten_SecondNameOf<"arcsinh", Aten_AsinhOp>;
def Aten_ArctanOp : Aten_SecondNameOf<"arctan", Aten_AtanOp>;
def Aten_ArctanhOp : Aten_SecondNameOf<"arctanh", Aten_AtanhOp>;
def Aten_SpecialExp2Op : Aten_SecondNameOf<"special_exp2", Aten_Exp2Op>;
def Aten_SpecialExpitOp : Aten_SecondNameOf<"special_expit", Aten_SigmoidOp>;
def Aten_SpecialExpm1Op : Aten_SecondNameOf<"special_expm1", Aten_Expm1Op>;
def Aten_SpecialErfOp : Aten_SecondNameOf<"special_erf", Aten_ErfOp>;
def Aten_SpecialErfcOp : Aten_SecondNameOf<"special_erfc", Aten_ErfcOp>;
def Aten_SpecialLog1pOp : Aten_SecondNameOf<"special_log1p", Aten_Log1pOp>;
def Aten_SpecialSincOp : Aten_SecondNameOf<"special_sinc", Aten_SincOp>;
def Aten_SpecialLogitOp : Aten_SecondNameOf<"special_logit", Aten_LogitOp>;
def Aten_SpecialDigammaOp : Aten_SecondNameOf<
    "special_digamma", Aten_DigammaOp>;
def Aten_SpecialPsiOp : Aten_SecondNameOf<"special_psi", Aten_DigammaOp>;
def Aten_SpecialGammalnOp : Aten_SecondNameOf<"special_gammaln", Aten_LgammaOp>;
def Aten_GreaterTensorOp : Aten_SecondNameOf<"greater.Tensor", Aten_GtTensorOp>;
def Aten_GreaterScalarOp : Aten_SecondNameOf<"greater.Scalar", Aten_GtScalarOp>;
def Aten_GreaterEqualTensorOp : Aten_SecondNameOf<
    "greater_equal.Tensor", Aten_GeTensorOp>;
def Aten_GreaterEqualScalarOp : Aten_SecondNameOf<
    "greater_equal.Scalar", Aten_GeScalarOp>;
def Aten_LessTensorOp : Aten_SecondNameOf<"less.Tensor", Aten_LtTensorOp>;
def Aten_LessScalarOp : Aten_SecondNameOf<"less.Scalar", Aten_LtScalarOp>;
def Aten_LessEqualTensorOp : Aten_SecondNameOf<
    "less_equal.Tensor", Aten_LeTensorOp>;
def Aten_LessEqualScalarOp : Aten_SecondNameOf<
    "less_equal.Scalar", Aten_LeScalarOp>;
def Aten_NotEqualTensorOp : Aten_SecondNameOf<
    "not_equal.Tensor", Aten_NeTensorOp>;
def Aten_NotEqualScalarOp : Aten_SecondNameOf<
    "not_equal.Scalar", Aten_NeScalarOp>;
def Aten_DiffOp : Aten_Composite<"diff",
    "(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? "
    "append=None) -> Tensor", "diff">, Kernel<"diff">, Decomposition<"diff">;
def Aten_CosineSimilarityOp : Aten_Composite<"cosine_similarity",
    "(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    "cosineSimilarity">, Kernel<"cosineSimilarity">, Decomposition<"cosine">;
def Aten_PairwiseDistanceOp : Aten_Composite<"pairwise_distance",
    "(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool "
    "keepdim=False) -> Tensor", "pairwiseDistance">, Kernel<"pairwiseDistance">,
    Decomposition<"pairwiseDistance">;
def Aten_TripletMarginLossOp : Aten_Composite<"triplet_margin_loss",
    "(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float "
    "p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) "
    "-> Tensor", "tripletMarginLoss">, Kernel<"tripletMarginLoss">,
    Decomposition<"tripletMargin">;
def Aten_CosineEmbeddingLossOp : Aten_Composite<"cosine_embedding_loss",
    "(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor", "cosineEmbeddingLoss">,
    Kernel<"cosineEmbeddingLoss">, Decomposition<"cosineEmbedding">;
def Aten_MarginRankingLossOp : Aten_Composite<"margin_ranking_loss",
    "(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor", "broadcastLoss">, Kernel<"marginRankingLoss">,
    Decomposition<"marginRanking">;
def Aten_PoissonNllLossOp : Aten_Composite<"poisson_nll_loss",
    "(Tensor input, Tensor target, bool log_input, bool full, float eps, int "
    "reduction) -> Tensor", "broadcastLoss">, Kernel<"poissonNllLoss">,
    Decomposition<"poissonNll">;
def Aten_HingeEmbeddingLossOp : Aten_Composite<"hinge_embedding_loss",
    "(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
    "broadcastLoss">, Kernel<"hingeEmbeddingLoss">,
    Decomposition<"hingeEmbedding">;
def Aten_AddbmmOp : Aten_Composite<"addbmm",
    "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
    "alpha=1) -> Tensor", "addbmm">, Kernel<"addbmm">, Decomposition<"addbmm">;
def Aten_AddrOp : Aten_Composite<"addr",
    "(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor", "addr">, Kernel<"addr">, Decomposition<"addr">;
def Aten_ChainMatmulOp : Aten_Composite<"chain_matmul",
    "(Tensor[] matrices) -> Tensor", "chainMatmul">, Kernel<"chain">,
    Decomposition<"chainMatmul">;
def Aten_LinalgMultiDotOp : Aten_Composite<"linalg_multi_dot",
    "(Tensor[] tensors) -> Tensor", "chainMatmul">, Kernel<"chain">,
    Decomposition<"chainMatmul">;
def Aten_KronOp : Aten_Composite<"kron",
    "(Tensor self, Tensor other) -> Tensor", "kron">, Kernel<"kron">,
    Decomposition<"kron">;
def Aten_TensordotOp : Aten_Composite<"tensordot",
    "(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    "tensordot">, Kernel<"tensordot">, Decomposition<"tensordot">;
def Aten_InnerOp : Aten_Composite<"inner",
    "(Tensor self, Tensor other) -> Tensor", "inner">, Kernel<"inner">,
    Decomposition<"inner">;
def Aten_GerOp : Aten_Composite<"ger",
    "(Tensor self, Tensor vec2) -> Tensor", "outer">, Decomposition<"outer">,
    Kernel<"outer">;
def Aten_LinalgMatmulOp : Aten_Composite<"linalg_matmul",
    "(Tensor self, Tensor other) -> Tensor", "matmul">,
    Decomposition<"matmulRule">, Kernel<"plainProduct">;
def Aten_BilinearOp : Aten_Composite<"bilinear",
    "(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    "bilinear">, Kernel<"bilinear">, Decomposition<"bilinear">;
def Aten_CrossOp : Aten_Composite<"cross",
    "(Tensor self, Tensor other, int? dim=None) -> Tensor", "cross">,
    Kernel<"cross">, Decomposition<"cross">;
def Aten_LinalgCrossOp : Aten_Composite<"linalg_cross",
    "(Tensor self, Tensor other, *, int dim=-1) -> Tensor", "cross">,
    Kernel<"cross">, Decomposition<"cross">;
def Aten_LinalgVecdotOp : Aten_Composite<"linalg_vecdot",
    "(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "vecdot">,
    Kernel<"vecdot">, Decomposition<"vecdot">;
def Aten_TrapezoidXOp : Aten_Composite<"trapezoid.x",
    "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"trapezoid">, Decomposition<"trapezoid">;
def Aten_TrapezoidDxOp : Aten_Composite<"trapezoid.dx",
    "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"trapezoid">, Decomposition<"trapezoid">;
def Aten_TrapzXOp : Aten_Composite<"trapz.x",
    "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"trapezoid">, Decomposition<"trapezoid">;
def Aten_TrapzDxOp : Aten_Composite<"trapz.dx",
    "(Tensor y, *, float dx=1., int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"trapezoid">, Decomposition<"trapezoid">;
def Aten_CumulativeTrapezoidXOp : Aten_Composite<"cumulative_trapezoid.x",
    "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"cumulativeTrapezoid">, Decomposition<"trapezoid">;
def Aten_CumulativeTrapezoidDxOp : Aten_Composite<"cumulative_trapezoid.dx",
    "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "trapezoid">,
    Kernel<"cumulativeTrapezoid">, Decomposition<"trapezoid">;
def Aten_Rot90Op : Aten_Composite<"rot90",
    "(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", "rot90">,
    Kernel<"rot90">, Decomposition<"rotate">;
def Aten_Atleast1dOp : Aten_Composite<"atleast_1d",
    "(Tensor self) -> Tensor", "atLeast">, Kernel<"atleast1d">,
    Decomposition<"atLeast">;
def Aten_Atleast2dOp : Aten_Composite<"atleast_2d",
    "(Tensor self) -> Tensor", "atLeast">, Kernel<"atleast2d">,
    Decomposition<"atLeast">;
def Aten_Atleast3dOp : Aten_Composite<"atleast_3d",
    "(Tensor self) -> Tensor", "atLeast">, Kernel<"atleast3d">,
    Decomposition<"atLeast">;
def Aten_Atleast1dSequenceOp : Aten_Composite<"atleast_1d.Sequence",
    "(Tensor[] tensors) -> Tensor[]", "atLeast">, Kernel<"atleast1d">,
    Decomposition<"atLeast">;
def Aten_Atleast2dSequenceOp : Aten_Composite<"atleast_2d.Sequence",
    "(Tensor[] tensors) -> Tensor[]", "atLeast">, Kernel<"atleast2d">,
    Decomposition<"atLeast">;
def Aten_Atleast3dSequenceOp : Aten_Composite<"atleast_3d.Sequence",
    "(Tensor[] tensors) -> Tensor[]", "atLeast">, Kernel<"atleast3d">,
    Decomposition<"atLeast">;
def Aten_HstackOp : Aten_Composite<"hstack",
    "(Tensor[] tensors) -> Tensor", "stackAlong">, Kernel<"hstack">,
    Decomposition<"stack">;
def Aten_VstackOp : Aten_Composite<"vstack",
    "(Tensor[] tensors) -> Tensor", "stackAlong">, Kernel<"vstack">,
    Decomposition<"stack">;
def Aten_DstackOp : Aten_Composite<"dstack",
    "(Tensor[] tensors) -> Tensor", "stackAlong">, Kernel<"dstack">,
    Decomposition<"stack">;
def Aten_ColumnStackOp : Aten_Composite<"column_stack",
    "(Tensor[] tensors) -> Tensor", "stackAlong">, Kernel<"columnStack">,
    Decomposition<"stack">;
def Aten_RowStackOp : Aten_Composite<"row_stack",
    "(Tensor[] tensors) -> Tensor", "stackAlong">, Kernel<"vstack">,
    Decomposition<"stack">;
def Aten_ConcatOp : Aten_Composite<"concat",
    "(Tensor[] tensors, int dim=0) -> Tensor", "cat">, Decomposition<"concat">,
    Kernel<"cat">;
def Aten_ConcatenateOp : Aten_Composite<"concatenate",
    "(Tensor[] tensors, int dim=0) -> Tensor", "cat">, Decomposition<"concat">,
    Kernel<"cat">;
def Aten_CartesianProdOp : Aten_Composite<"cartesian_prod",
    "(Tensor[] tensors) -> Tensor", "cartesianProd">, Kernel<"cartesianProd">,
    Decomposition<"cartesianProduct">;
def Aten_BlockDiagOp : Aten_Composite<"block_diag",
    "(Tensor[] tensors) -> Tensor", "blockDiag">, Kernel<"blockDiag">,
    Decomposition<"blockDiagonal">;
def Aten_LinalgDiagonalOp : Aten_Composite<"linalg_diagonal",
    "(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    "diagonal">, Vjp<"diagonal">, Kernel<"linalgDiagonal">,
    Decomposition<"linalgDiagonal">;
def Aten_DiagOp : Aten_Composite<"diag",
    "(Tensor self, int diagonal=0) -> Tensor", "diag">, Kernel<"diag">,
    Decomposition<"diagonalOrMatrix">;
def Aten_DiagflatOp : Aten_Composite<"diagflat",
    "(Tensor self, int offset=0) -> Tensor", "diag">, Kernel<"diagflat">,
    Decomposition<"flatDiagonal">;
def Aten_DiagEmbedOp : Aten_Composite<"diag_embed",
    "(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", "diag">,
    Kernel<"diagEmbed">, Decomposition<"diagonalEmbedding">;
def Aten_SpecialSoftmaxOp : Aten_Composite<"special_softmax",
    "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "softmax">,
    Decomposition<"softmax">, Kernel<"softmax">;
def Aten_SpecialLogSoftmaxOp : Aten_Composite<"special_log_softmax",
    "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "softmax">,
    Decomposition<"logSoftmax">, Kernel<"logSoftmax">;
def Aten_SpecialLogsumexpOp : Aten_SecondNameOf<
    "special_logsumexp", Aten_LogsumexpOp>;
def Aten_FftFftOp : Aten_Composite<"fft_fft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Kernel<"fft">, Decomposition<"complexTransform">;
def Aten_FftIfftOp : Aten_Composite<"fft_ifft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Kernel<"ifft">, Decomposition<"complexTransform">;
def Aten_FftRfftOp : Aten_Composite<"fft_rfft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Kernel<"rfft">, Decomposition<"realTransform">;
def Aten_FftIrfftOp : Aten_Composite<"fft_irfft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Kernel<"irfft">, Decomposition<"inverseRealTransform">;
def Aten_FftFft2Op : Aten_Composite<"fft_fft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"fft">, Decomposition<"complexTransform">;
def Aten_FftIfft2Op : Aten_Composite<"fft_ifft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"ifft">,
    Decomposition<"complexTransform">;
def Aten_FftRfft2Op : Aten_Composite<"fft_rfft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"rfft">, Decomposition<"realTransform">;
def Aten_FftIrfft2Op : Aten_Composite<"fft_irfft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"irfft">,
    Decomposition<"inverseRealTransform">;
def Aten_FftFftnOp : Aten_Composite<"fft_fftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"fft">, Decomposition<"complexTransform">;
def Aten_FftIfftnOp : Aten_Composite<"fft_ifftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"ifft">,
    Decomposition<"complexTransform">;
def Aten_FftRfftnOp : Aten_Composite<"fft_rfftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"rfft">, Decomposition<"realTransform">;
def Aten_FftIrfftnOp : Aten_Composite<"fft_irfftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Kernel<"irfft">,
    Decomposition<"inverseRealTransform">;
def Aten_FftHfft2Op : Aten_Composite<"fft_hfft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Decomposition<"inverseRealTransform">;
def Aten_FftHfftnOp : Aten_Composite<"fft_hfftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Decomposition<"inverseRealTransform">;
def Aten_FftIhfft2Op : Aten_Composite<"fft_ihfft2",
    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
    "Tensor", "fftComposite">, Decomposition<"halfInverse">;
def Aten_FftIhfftnOp : Aten_Composite<"fft_ihfftn",
    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
    "Tensor", "fftComposite">, Decomposition<"halfInverse">;
def Aten_FftFftshiftOp : Aten_Composite<"fft_fftshift",
    "(Tensor self, int[1]? dim=None) -> Tensor", "sameAsSelf">,
    Kernel<"fftShift">, Decomposition<"shift">;
def Aten_FftIfftshiftOp : Aten_Composite<"fft_ifftshift",
    "(Tensor self, int[1]? dim=None) -> Tensor", "sameAsSelf">,
    Kernel<"ifftShift">, Decomposition<"shift">;
def Aten_InternalWeightNormOp : Aten_Composite<"_weight_norm",
    "(Tensor v, Tensor g, int dim=0) -> Tensor", "sameAsSelf">,
    Kernel<"weightNorm">, Decomposition<"weightNorm">;
def Aten_NormExceptDimOp : Aten_Composite<"norm_except_dim",
    "(Tensor v, int pow=2, int dim=0) -> Tensor", "normExceptDim">,
    Kernel<"normExceptDim">, Decomposition<"normExceptDim">;
def Aten_AffineGridGeneratorOp : Aten_Composite<"affine_grid_generator",
    "(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    "affineGrid">, Kernel<"affineGrid">, Decomposition<"affineGrid">;

def Aten_SpecialErfinvOp : Aten_Composite<"special_erfinv",
    "(Tensor self) -> Tensor", "unaryFloat">, SecondName<"aten.erfinv.default">;
def Aten_SpecialI0Op : Aten_Composite<"special_i0",
    "(Tensor self) -> Tensor", "unaryFloat">, SecondName<"aten.i0.default">;
def Aten_SpecialPolygammaOp : Aten_Composite<"special_polygamma",
    "(int n, Tensor self) -> Tensor", "unaryFloat">,
    SecondName<"aten.polygamma.default">;
def Aten_MvlgammaOp : Aten_Composite<"mvlgamma",
    "(Tensor self, int p) -> Tensor", "unaryFloat">,
    Decomposition<"multiGamma">;
def Aten_SpecialMultigammalnOp : Aten_Composite<"special_multigammaln",
    "(Tensor self, int p) -> Tensor", "unaryFloat">,
    Decomposition<"multiGamma">;
def Aten_SpecialGammaincOp : Aten_Composite<"special_gammainc",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.igamma.default">;
def Aten_SpecialGammainccOp : Aten_Composite<"special_gammaincc",
    "(Tensor self, Tensor other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.igammac.default">;
def Aten_FloorDivideScalarOp : Aten_Composite<"floor_divide.Scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcast">,
    SecondName<"aten.floor_divide.default">;
def Aten_TrueDivideScalarOp : Aten_SecondNameOf<
    "true_divide.Scalar", Aten_DivScalarOp>;
def Aten_SpecialXlogyOtherScalarOp : Aten_Composite<
    "special_xlogy.other_scalar",
    "(Tensor self, Scalar other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.xlogy.Scalar_Other">;
def Aten_SpecialXlogySelfScalarOp : Aten_Composite<"special_xlogy.self_scalar",
    "(Scalar self, Tensor other) -> Tensor", "broadcastFloat">,
    SecondName<"aten.xlogy.Scalar_Self">;
def Aten_CtcLossIntListOp : Aten_Composite<"ctc_loss.IntList",
    "(Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
    "target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) "
    "-> Tensor", "ctcLoss">, Decomposition<"ctcLoss">;
def Aten_CtcLossTensorOp : Aten_Composite<"ctc_loss.Tensor",
    "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
    "target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) "
    "-> Tensor", "ctcLoss">, Decomposition<"ctcLoss">;
def Aten_MultiMarginLossOp : Aten_Composite<"multi_margin_loss",
    "(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
    "weight=None, int reduction=1) -> Tensor", "rowLoss">,
    Decomposition<"multiMargin">;
def Aten_MultilabelMarginLossOp : Aten_Composite<"multilabel_margin_loss",
    "(Tensor self, Tensor target, int reduction=1) -> Tensor", "rowLoss">,
    Decomposition<"multilabelMargin">;
def Aten_QuantileOp : Aten_Composite<"quantile",
    "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
    "interpolation='linear') -> Tensor", "quantile">, Decomposition<"quantile">;
def Aten_QuantileScalarOp : Aten_Composite<"quantile.scalar",
    "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
    "interpolation='linear') -> Tensor", "quantile">, Decomposition<"quantile">;
def Aten_NanquantileOp : Aten_Composite<"nanquantile",
    "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
    "interpolation='linear') -> Tensor", "quantile">,
    Decomposition<"nanQuantile">;
def Aten_NanquantileScalarOp : Aten_Composite<"nanquantile.scalar",
    "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
    "interpolation='linear') -> Tensor", "quantile">,
    Decomposition<"nanQuantile">;
def Aten_GradientScalarintOp : Aten_Composite<"gradient.scalarint",
    "(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientScalararrayOp : Aten_Composite<"gradient.scalararray",
    "(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientArrayOp : Aten_Composite<"gradient.array",
    "(Tensor self, *, int[] dim, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientScalarrayintOp : Aten_Composite<"gradient.scalarrayint",
    "(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientScalarrayarrayOp : Aten_Composite<"gradient.scalarrayarray",
    "(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientTensorarrayintOp : Aten_Composite<"gradient.tensorarrayint",
    "(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_GradientTensorarrayOp : Aten_Composite<"gradient.tensorarray",
    "(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
    "Tensor[]", "differences">, Decomposition<"gradient">;
def Aten_LinspaceTensorTensorOp : Aten_Composite<"linspace.Tensor_Tensor",
    "(Tensor start, Tensor end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_LinspaceTensorScalarOp : Aten_Composite<"linspace.Tensor_Scalar",
    "(Tensor start, Scalar end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_LinspaceScalarTensorOp : Aten_Composite<"linspace.Scalar_Tensor",
    "(Scalar start, Tensor end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_LogspaceTensorTensorOp : Aten_Composite<"logspace.Tensor_Tensor",
    "(Tensor start, Tensor end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_LogspaceTensorScalarOp : Aten_Composite<"logspace.Tensor_Scalar",
    "(Tensor start, Scalar end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_LogspaceScalarTensorOp : Aten_Composite<"logspace.Scalar_Tensor",
    "(Scalar start, Tensor end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">,
    Decomposition<"lineBetween">;
def Aten_PadSequenceOp : Aten_Composite<"pad_sequence",
    "(Tensor[] sequences, bool batch_first=False, float padding_value=0., "
    "str padding_side='right') -> Tensor", "padSequence">,
    Decomposition<"padSequence">;
def Aten_RangeOp : Aten_Composite<"range",
    "(Scalar start, Scalar end, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "range">, Decomposition<"range">;
def Aten_RangeStepOp : Aten_Composite<"range.step",
    "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "range">, Decomposition<"range">;
def Aten_InternalTrilinearOp : Aten_Composite<"_trilinear",
    "(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
    "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor", "trilinear">,
    Decomposition<"trilinear">;
def Aten_ConvTbcOp : Aten_Composite<"conv_tbc",
    "(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    "stepConvolution">, Decomposition<"stepConvolution">;
def Aten_ConvTbcBackwardOp : Aten_Composite<"conv_tbc_backward",
    "(Tensor self, Tensor input, Tensor weight, Tensor bias, int pad) -> "
    "(Tensor, Tensor, Tensor)", "stepConvolution">,
    Decomposition<"stepConvolutionBackward">;
def Aten_InternalConjCopyOp : Aten_Composite<"_conj_copy",
    "(Tensor self) -> Tensor", "sameAsSelf">,
    SecondName<"aten._conj_physical.default">;
def Aten_InternalNegViewOp : Aten_Composite<"_neg_view",
    "(Tensor self) -> Tensor", "sameAsSelf">, SecondName<"aten.neg.default">;
def Aten_InternalNegViewCopyOp : Aten_Composite<"_neg_view_copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, SecondName<"aten.neg.default">;
def Aten_InternalLazyCloneOp : Aten_Composite<"_lazy_clone",
    "(Tensor self) -> Tensor", "sameAsSelf">, SecondName<"aten.clone.default">;
def Aten_InternalStackOp : Aten_Composite<"_stack",
    "(Tensor[] tensors, int dim=0) -> Tensor", "stack">,
    SecondName<"aten.stack.default">;
def Aten_DataOp : Aten_Composite<"data",
    "(Tensor self) -> Tensor", "sameAsSelf">, SecondName<"aten.detach.default">;
def Aten_HistogramBinsTensorOp : Aten_Composite<"histogram.bins_tensor",
    "(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> "
    "(Tensor hist, Tensor bin_edges)", "histogram">, Decomposition<"histogram">;
def Aten_HistogramBinCtOp : Aten_Composite<"histogram.bin_ct",
    "(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)", "histogram">,
    Decomposition<"histogram">;
def Aten_HistcOp : Aten_Composite<"histc",
    "(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    "histc">, Decomposition<"histc">;
def Aten_PdistOp : Aten_Composite<"pdist",
    "(Tensor self, float p=2.) -> Tensor", "pdist">, Decomposition<"pdist">;
def Aten_InternalPdistForwardOp : Aten_Composite<"_pdist_forward",
    "(Tensor self, float p=2.) -> Tensor", "pdist">, Kernel<"distancesWithin">,
    Decomposition<"pdist">;
def Aten_RenormOp : Aten_Composite<"renorm",
    "(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    "sameAsSelf">, Decomposition<"renorm">;
def Aten_MaxUnpool2dOp : Aten_Composite<"max_unpool2d",
    "(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
    "maxUnpool">, Decomposition<"maxUnpool">;
def Aten_MaxUnpool3dOp : Aten_Composite<"max_unpool3d",
    "(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
    "int[3] padding) -> Tensor", "maxUnpool">, Decomposition<"maxUnpool">;
def Aten_CovOp : Aten_Composite<"cov",
    "(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? "
    "aweights=None) -> Tensor", "covariance">, Decomposition<"covariance">;
def Aten_CorrcoefOp : Aten_Composite<"corrcoef",
    "(Tensor self) -> Tensor", "covariance">, Decomposition<"correlation">;
def Aten_IsinTensorTensorOp : Aten_Composite<"isin.Tensor_Tensor",
    "(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
    "invert=False) -> Tensor", "isin">, Decomposition<"isin">;
def Aten_IsinTensorScalarOp : Aten_Composite<"isin.Tensor_Scalar",
    "(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
    "invert=False) -> Tensor", "isin">, Decomposition<"isin">;
def Aten_IsinScalarTensorOp : Aten_Composite<"isin.Scalar_Tensor",
    "(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
    "invert=False) -> Tensor", "isin">, Decomposition<"isin">;
def Aten_VanderOp : Aten_Composite<"vander",
    "(Tensor x, int? N=None, bool increasing=False) -> Tensor", "vander">,
    Decomposition<"vander">;
def Aten_LinalgVanderOp : Aten_Composite<"linalg_vander",
    "(Tensor x, *, SymInt? N=None) -> Tensor", "vander">,
    Decomposition<"vander">;
def Aten_ChalfOp : Aten_Composite<"chalf",
    "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    "halfComplex">, Decomposition<"halfComplex">;
def Aten_CombinationsOp : Aten_Composite<"combinations",
    "(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    "combinations">, Decomposition<"combinations">;
def Aten_InternalChunkCatOp : Aten_Composite<"_chunk_cat",
    "(Tensor[] tensors, int dim, int num_chunks) -> Tensor", "chunkCat">,
    Decomposition<"chunkCat">;
def Aten_ResizeOp : Aten_Composite<"resize",
    "(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> "
    "Tensor", "resize">, Decomposition<"resize">;
def Aten_HistogramddOp : Aten_Composite<"histogramdd",
    "(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor[] bin_edges)", "histogramOfRows">,
    Decomposition<"histogramOfRows">;
def Aten_HistogramddIntBinsOp : Aten_Composite<"histogramdd.int_bins",
    "(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor[] bin_edges)", "histogramOfRows">,
    Decomposition<"histogramOfRows">;
def Aten_HistogramddTensorListBinsOp : Aten_Composite<
    "histogramdd.TensorList_bins",
    "(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    "histogramOfRows">, Decomposition<"histogramOfRows">;
def Aten_InternalHistogramddBinEdgesOp : Aten_Composite<
    "_histogramdd_bin_edges",
    "(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> Tensor[]", "histogramOfRows">,
    Decomposition<"histogramOfRows">;
def Aten_InternalHistogramddFromBinCtsOp : Aten_Composite<
    "_histogramdd_from_bin_cts",
    "(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> Tensor", "histogramOfRows">,
    Decomposition<"histogramOfRows">;
def Aten_InternalHistogramddFromBinTensorsOp : Aten_Composite<
    "_histogramdd_from_bin_tensors",
    "(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) "
    "-> Tensor", "histogramOfRows">, Decomposition<"histogramOfRows">;
def Aten_WhereOp : Aten_Composite<"where",
    "(Tensor condition) -> Tensor[]", "nonzeroByDim">,
    Decomposition<"nonzeroByDim">;
def Aten_NonzeroNumpyOp : Aten_Composite<"nonzero_numpy",
    "(Tensor self) -> Tensor[]", "nonzeroByDim">, Decomposition<"nonzeroByDim">;
#endif // CUTBACK_DIALECT_ATEN_COMPOSITE_TD
