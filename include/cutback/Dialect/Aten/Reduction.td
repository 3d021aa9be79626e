// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that combine elements along dimensions: reductions, scans, sorting.
#ifndef CUTBACK_DIALECT_ATEN_REDUCTION_TD
#define CUTBACK_DIALECT_ATEN_REDUCTION_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Reduction<string name, string formula, string schema,
                     string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Combines the elements along dimensions (all, if none are "
               "given).";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let loops = "reduction";
  let flops = "perInput";
}

class Aten_SelectingReduction<string name, string formula, string schema,
                              string rule = "dimWithIndices", int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Picks one element along a dimension: (values, indices).";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let loops = "reduction";
  let flops = "perInput";
}

class Aten_DiscreteReduction<string name, string formula, string schema,
                             string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Combines the elements along dimensions; no gradient.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let loops = "reduction";
  let flops = "perInput";
  let flags = ["kNotDifferentiable"];
}

class Aten_Scan<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Running combination along a dimension.";
  let infer = rule;
  let weight = w;
  let flops = "perInput";
}

class Aten_Sort<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Orders the elements along a dimension.";
  let infer = rule;
  let weight = w;
  let flops = "perInputLog";
}

class Aten_DiscreteSort<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Finds places in sorted data, or counts; no gradient.";
  let infer = rule;
  let weight = w;
  let flops = "perInputLog";
  let flags = ["kNotDifferentiable"];
}

def Aten_SumOp : Aten_Reduction<"sum", "sum",
    "(Tensor self, *, ScalarType? dtype=None) -> Tensor", "sum">, Vjp<"sum">,
    Kernel<"sum">, CoreForm<"complexTotal">;
def Aten_SumDimIntListOp : Aten_Reduction<"sum.dim_IntList", "sum",
    "(Tensor self, int[1]? dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "sum">, Vjp<"sum">, Kernel<"sum">,
    CoreForm<"longSum">;
def Aten_ProdOp : Aten_Reduction<"prod", "product",
    "(Tensor self, *, ScalarType? dtype=None) -> Tensor", "sum">, Vjp<"prod">,
    Kernel<"product">;
def Aten_ProdDimIntOp : Aten_Reduction<"prod.dim_int", "product",
    "(Tensor self, int dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "sum">, Vjp<"prod">, Kernel<"product">;
def Aten_NansumOp : Aten_Reduction<"nansum", "nanSum",
    "(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "sum">, Vjp<"nansum">,
    Kernel<"nanSum">;
def Aten_MeanOp : Aten_Reduction<"mean", "mean",
    "(Tensor self, *, ScalarType? dtype=None) -> Tensor", "mean">, Vjp<"mean">,
    Kernel<"mean">;
def Aten_MeanDimOp : Aten_Reduction<"mean.dim", "mean",
    "(Tensor self, int[1]? dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "mean">, Vjp<"mean">, Kernel<"mean">;
def Aten_AmaxOp : Aten_Reduction<"amax", "greatest",
    "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "amax">,
    Vjp<"extremum">, Kernel<"amax">;
def Aten_AminOp : Aten_Reduction<"amin", "least",
    "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "amax">,
    Vjp<"extremum">, Kernel<"amin">;
def Aten_MaxOp : Aten_Reduction<"max", "greatest",
    "(Tensor self) -> Tensor", "amax">, Vjp<"extremum">, Kernel<"amax">;
def Aten_MinOp : Aten_Reduction<"min", "least",
    "(Tensor self) -> Tensor", "amax">, Vjp<"extremum">, Kernel<"amin">;
def Aten_AminmaxOp : Aten_Reduction<"aminmax", "leastAndGreatest",
    "(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, "
    "Tensor max)", "aminmax">, Vjp<"aminmax">, Kernel<"aminmax">;
def Aten_VarCorrectionOp : Aten_Reduction<"var.correction", "variance",
    "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> Tensor", "variance", 3>, Vjp<"var">, Kernel<"var">;
def Aten_VarDimOp : Aten_Reduction<"var.dim", "variance",
    "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
    "Tensor", "variance", 3>, Vjp<"var">, Kernel<"var">,
    Decomposition<"variance">;
def Aten_VarOp : Aten_Reduction<"var", "variance",
    "(Tensor self, bool unbiased=True) -> Tensor", "variance", 3>, Vjp<"var">,
    Kernel<"var">, Decomposition<"variance">;
def Aten_StdCorrectionOp : Aten_Reduction<"std.correction", "deviation",
    "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> Tensor", "variance", 3>, Vjp<"std_">, Kernel<"std">;
def Aten_StdDimOp : Aten_Reduction<"std.dim", "deviation",
    "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
    "Tensor", "variance", 3>, Vjp<"std_">, Kernel<"std">,
    Decomposition<"variance">;
def Aten_StdOp : Aten_Reduction<"std", "deviation",
    "(Tensor self, bool unbiased=True) -> Tensor", "variance", 3>, Vjp<"std_">,
    Kernel<"std">, Decomposition<"variance">;
def Aten_VarMeanCorrectionOp : Aten_Reduction<
    "var_mean.correction", "varianceWithMean",
    "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)", "varMean", 3>, Vjp<"var">,
    Kernel<"varMean">;
def Aten_VarMeanDimOp : Aten_Reduction<"var_mean.dim", "varianceWithMean",
    "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
    "(Tensor, Tensor)", "varMean", 3>, Vjp<"var">, Kernel<"varMean">,
    Decomposition<"variance">;
def Aten_StdMeanCorrectionOp : Aten_Reduction<
    "std_mean.correction", "deviationWithMean",
    "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
    "bool keepdim=False) -> (Tensor, Tensor)", "varMean", 3>, Vjp<"std_">,
    Kernel<"stdMean">;
def Aten_LinalgVectorNormOp : Aten_Reduction<"linalg_vector_norm", "vectorNorm",
    "(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "vectorNorm", 2>, Vjp<"norm">,
    Kernel<"vectorNorm">;
def Aten_NormScalarOp : Aten_Reduction<"norm.Scalar", "norm",
    "(Tensor self, Scalar p=2) -> Tensor", "vectorNorm", 2>, Vjp<"norm">,
    Kernel<"norm">, Decomposition<"norm">;
def Aten_NormScalarOptDimOp : Aten_Reduction<"norm.ScalarOpt_dim", "norm",
    "(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
    "vectorNorm", 2>, Vjp<"norm">, Kernel<"norm">, Decomposition<"norm">;
def Aten_LogsumexpOp : Aten_Reduction<"logsumexp", "none",
    "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "logSumExp", 12>,
    Vjp<"logsumexp">, Kernel<"logSumExp">, CoreForm<"logSumExp"> {
  let loops = "none";
}
def Aten_MaxDimOp : Aten_SelectingReduction<"max.dim", "greatestWithPlace",
    "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)">, Vjp<"byIndex">, Kernel<"maxDim">;
def Aten_MinDimOp : Aten_SelectingReduction<"min.dim", "leastWithPlace",
    "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)">, Vjp<"byIndex">, Kernel<"minDim">;
def Aten_MedianDimOp : Aten_SelectingReduction<"median.dim", "none",
    "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)">, Vjp<"byIndex">, Kernel<"median"> {
  let loops = "none";
}
def Aten_ModeOp : Aten_SelectingReduction<"mode", "none",
    "(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)">, Vjp<"byIndex">, Kernel<"mode"> {
  let loops = "none";
}
def Aten_KthvalueOp : Aten_SelectingReduction<"kthvalue", "none",
    "(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> "
    "(Tensor values, Tensor indices)">, Vjp<"byIndex">, Kernel<"kthValue"> {
  let loops = "none";
}
def Aten_AnyOp : Aten_DiscreteReduction<"any", "any",
    "(Tensor self) -> Tensor", "anyAll">, Kernel<"any">;
def Aten_AnyDimOp : Aten_DiscreteReduction<"any.dim", "any",
    "(Tensor self, int dim, bool keepdim=False) -> Tensor", "anyAll">,
    Kernel<"any">;
def Aten_AnyDimsOp : Aten_DiscreteReduction<"any.dims", "any",
    "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "anyAll">,
    Kernel<"any">;
def Aten_AllOp : Aten_DiscreteReduction<"all", "all",
    "(Tensor self) -> Tensor", "anyAll">, Kernel<"all">;
def Aten_AllDimOp : Aten_DiscreteReduction<"all.dim", "all",
    "(Tensor self, int dim, bool keepdim=False) -> Tensor", "anyAll">,
    Kernel<"all">;
def Aten_AllDimsOp : Aten_DiscreteReduction<"all.dims", "all",
    "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "anyAll">,
    Kernel<"all">;
def Aten_ArgmaxOp : Aten_DiscreteReduction<"argmax", "placeOfGreatest",
    "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "argReduce">,
    Kernel<"argmax">;
def Aten_ArgminOp : Aten_DiscreteReduction<"argmin", "placeOfLeast",
    "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "argReduce">,
    Kernel<"argmin">;
def Aten_CumsumOp : Aten_Scan<"cumsum",
    "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "scan">,
    Vjp<"cumsum">, Kernel<"cumsum">;
def Aten_CumprodOp : Aten_Scan<"cumprod",
    "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "scan">,
    Vjp<"cumprod">, Kernel<"cumprod">;
def Aten_LogcumsumexpOp : Aten_Scan<"logcumsumexp",
    "(Tensor self, int dim) -> Tensor", "scan", 12>, Vjp<"logcumsumexp">,
    Kernel<"logcumsumexp">;
def Aten_CummaxOp : Aten_Scan<"cummax",
    "(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    "scanWithIndices">, Vjp<"scan">, Kernel<"cummax">;
def Aten_CumminOp : Aten_Scan<"cummin",
    "(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    "scanWithIndices">, Vjp<"scan">, Kernel<"cummin">;
def Aten_SortOp : Aten_Sort<"sort",
    "(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, "
    "Tensor indices)", "sort">, Vjp<"sort">, Kernel<"sort">;
def Aten_SortStableOp : Aten_Sort<"sort.stable",
    "(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
    "(Tensor values, Tensor indices)", "sort">, Vjp<"sort">, Kernel<"sort">;
def Aten_ArgsortOp : Aten_Sort<"argsort",
    "(Tensor self, int dim=-1, bool descending=False) -> Tensor", "argsort">,
    Kernel<"argsort">;
def Aten_ArgsortStableOp : Aten_Sort<"argsort.stable",
    "(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
    "Tensor", "argsort">, Kernel<"argsort">;
def Aten_TopkOp : Aten_Sort<"topk",
    "(Tensor self, SymInt k, int dim=-1, bool largest=True, "
    "bool sorted=True) -> (Tensor values, Tensor indices)", "topk">,
    Vjp<"sort">, Kernel<"topk">;
def Aten_SearchsortedTensorOp : Aten_DiscreteSort<"searchsorted.Tensor",
    "(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    "searchSorted">, Kernel<"searchSorted">;
def Aten_BucketizeTensorOp : Aten_DiscreteSort<"bucketize.Tensor",
    "(Tensor self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor", "searchSorted">, Kernel<"bucketize">;
def Aten_SearchsortedScalarOp : Aten_DiscreteSort<"searchsorted.Scalar",
    "(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    "searchSorted">, SecondName<"aten.searchsorted.Tensor">;
def Aten_BucketizeScalarOp : Aten_DiscreteSort<"bucketize.Scalar",
    "(Scalar self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor", "searchSorted">,
    SecondName<"aten.bucketize.Tensor">;
def Aten_BincountOp : Aten_DiscreteSort<"bincount",
    "(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    "bincount">, Kernel<"binCount">;
def Aten_TraceOp : Aten_Reduction<"trace", "none",
    "(Tensor self) -> Tensor", "trace">, Vjp<"trace">, Kernel<"trace">,
    Decomposition<"trace"> {
  let loops = "none";
}
def Aten_NanmeanOp : Aten_Reduction<"nanmean", "nanMean",
    "(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
    "dtype=None) -> Tensor", "mean">, Vjp<"nanmean">, Kernel<"nanMean">;
def Aten_MedianOp : Aten_Reduction<"median", "none",
    "(Tensor self) -> Tensor", "amax">, Vjp<"median">, Kernel<"medianOfAll"> {
  let loops = "none";
}
def Aten_NanmedianOp : Aten_Reduction<"nanmedian", "none",
    "(Tensor self) -> Tensor", "amax">, Vjp<"median">,
    Kernel<"nanMedianOfAll"> {
  let loops = "none";
}
def Aten_NanmedianDimOp : Aten_SelectingReduction<"nanmedian.dim", "none",
    "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
    "indices)">, Vjp<"byIndex">, Kernel<"nanMedian"> {
  let loops = "none";
}
def Aten_VarMeanOp : Aten_Reduction<"var_mean", "varianceWithMean",
    "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "varMean">,
    Vjp<"var">, Kernel<"varMean">, Decomposition<"variance">;
def Aten_StdMeanOp : Aten_Reduction<"std_mean", "deviationWithMean",
    "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "varMean">,
    Vjp<"std_">, Kernel<"stdMean">, Decomposition<"variance">;
def Aten_StdMeanDimOp : Aten_Reduction<"std_mean.dim", "deviationWithMean",
    "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
    "(Tensor, Tensor)", "varMean">, Vjp<"std_">, Kernel<"stdMean">,
    Decomposition<"variance">;
def Aten_NormScalarOptDtypeOp : Aten_Reduction<"norm.ScalarOpt_dtype", "norm",
    "(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", "vectorNorm">,
    Vjp<"norm">, Kernel<"norm">, Decomposition<"norm">;
def Aten_NormScalarOptDimDtypeOp : Aten_Reduction<
    "norm.ScalarOpt_dim_dtype", "norm",
    "(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) "
    "-> Tensor", "vectorNorm">, Vjp<"norm">, Kernel<"norm">,
    Decomposition<"norm">;
def Aten_LinalgNormOp : Aten_Reduction<"linalg_norm", "none",
    "(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "vectorNorm">, Vjp<"linalgNorm">,
    Decomposition<"linalgNorm"> {
  let loops = "none";
}
def Aten_LinalgMatrixNormOp : Aten_Reduction<"linalg_matrix_norm", "none",
    "(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "vectorNorm">, Kernel<"matrixNorm">,
    Decomposition<"matrixNorm"> {
  let loops = "none";
}
def Aten_FrobeniusNormDimOp : Aten_Reduction<"frobenius_norm.dim", "none",
    "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "vectorNorm">,
    Vjp<"norm">, Kernel<"vectorNorm">, Decomposition<"frobeniusNorm"> {
  let loops = "none";
}
def Aten_CountNonzeroOp : Aten_DiscreteReduction<
    "count_nonzero", "countNonzero",
    "(Tensor self, int? dim=None) -> Tensor", "argReduce">,
    Kernel<"countNonzero">, Decomposition<"countNonzero">;
def Aten_CountNonzeroDimIntListOp : Aten_DiscreteReduction<
    "count_nonzero.dim_IntList", "countNonzero",
    "(Tensor self, int[] dim) -> Tensor", "argReduce">, Kernel<"countNonzero">,
    Decomposition<"countNonzero">;
def Aten_HashTensorOp : Aten_DiscreteReduction<"hash_tensor", "none",
    "(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> "
    "Tensor", "hashOfBits">, Kernel<"hashOfBits">;
def Aten_DistOp : Aten_Reduction<"dist", "none",
    "(Tensor self, Tensor other, Scalar p=2) -> Tensor", "dist">, Vjp<"dist">,
    Kernel<"distance">, CoreForm<"distance"> {
  let loops = "none";
}
def Aten_MsortOp : Aten_Sort<"msort",
    "(Tensor self) -> Tensor", "sameAsSelf">, Kernel<"sortFirst">,
    Decomposition<"msort">;

#endif // CUTBACK_DIALECT_ATEN_REDUCTION_TD
