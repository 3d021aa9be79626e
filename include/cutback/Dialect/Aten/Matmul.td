// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products.
#ifndef CUTBACK_DIALECT_ATEN_MATMUL_TD
#define CUTBACK_DIALECT_ATEN_MATMUL_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Matmul<string name, string schema, string rule, int w = 0>
    : Aten_AtenOp<name, schema> {
  let family = "Matrix product; `w` is the operand that is its left factor.";
  let infer = rule;
  let weight = w;
  let flops = "matmul";
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

class Aten_LinearBackward<string name, string schema, string rule, int w = 2>
    : Aten_AtenOp<name, schema> {
  let family = "Gradients of `linear`, those that `output_mask` asks for.";
  let infer = rule;
  let weight = w;
  let flops = "matmul";
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

class Aten_Outer<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Product of each element with each.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let flops = "perOutput";
}

class Aten_Distance<string name, string schema, string rule, int w = 0>
    : Aten_AtenOp<name, schema> {
  let family = "Distance of each row to each.";
  let infer = rule;
  let weight = w;
  let flops = "matmul";
  let flags = ["kComputeIntensive"];
}

def Aten_MmOp : Aten_Matmul<"mm", "(Tensor self, Tensor mat2) -> Tensor", "mm">,
    Vjp<"mm">, Kernel<"plainProduct">, CoreForm<"complexMatrices">;
def Aten_AddmmOp : Aten_Matmul<"addmm",
    "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor", "addmm", 1>, Vjp<"addmm">, Kernel<"scaledSum">;
def Aten_BmmOp : Aten_Matmul<"bmm",
    "(Tensor self, Tensor mat2) -> Tensor", "bmm">, Vjp<"bmm">,
    Kernel<"plainProduct">, CoreForm<"complexMatrices">;
def Aten_BaddbmmOp : Aten_Matmul<"baddbmm",
    "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor", "baddbmm", 1>, Vjp<"baddbmm">,
    Kernel<"scaledSum">;
def Aten_AddmvOp : Aten_Matmul<"addmv",
    "(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor", "addmv", 1>, Vjp<"addmv">, Kernel<"scaledSum">,
    CoreForm<"plusTimesVector">;
def Aten_MatmulOp : Aten_Matmul<"matmul",
    "(Tensor self, Tensor other) -> Tensor", "matmul">, Kernel<"plainProduct">,
    Decomposition<"matmulRule">;
def Aten_MvOp : Aten_Matmul<"mv", "(Tensor self, Tensor vec) -> Tensor", "mv">,
    Vjp<"mv">, Kernel<"plainProduct">, CoreForm<"timesVector">;
def Aten_DotOp : Aten_Matmul<"dot",
    "(Tensor self, Tensor tensor) -> Tensor", "dot">, Vjp<"dot">, Kernel<"dot">,
    CoreForm<"dotProduct">;
def Aten_VdotOp : Aten_Matmul<"vdot",
    "(Tensor self, Tensor other) -> Tensor", "dot">, Vjp<"vdot">,
    Kernel<"vdot">, CoreForm<"dotProduct">;
def Aten_LinearOp : Aten_Matmul<"linear",
    "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "linear">,
    Kernel<"linear">, Decomposition<"linearRule">;
def Aten_InternalGroupedMmOp : Aten_Matmul<"_grouped_mm",
    "(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
    "ScalarType? out_dtype=None) -> Tensor", "groupedMm">, Vjp<"groupedMm">,
    Kernel<"groupedMm">;
def Aten_InternalScaledMmOp : Aten_Matmul<"_scaled_mm",
    "(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, "
    "Tensor? bias=None, Tensor? scale_result=None, "
    "ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
    "scaledMm">, Kernel<"scaledMm">;
def Aten_LinearBackwardOp : Aten_LinearBackward<"linear_backward",
    "(Tensor self, Tensor grad_output, Tensor weight, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)", "linearBackward">,
    Kernel<"linearBackward">;
def Aten_EinsumOp : Aten_Matmul<"einsum",
    "(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    "einsum">, Kernel<"einsum">, Decomposition<"einsum">;
def Aten_OuterOp : Aten_Outer<"outer",
    "(Tensor self, Tensor vec2) -> Tensor", "outer">, Vjp<"outer">,
    Kernel<"outer">, Decomposition<"outer">;
def Aten_InternalCdistForwardOp : Aten_Distance<"_cdist_forward",
    "(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", "cdist">,
    Vjp<"distances">, Kernel<"distances">;
def Aten_CdistOp : Aten_Distance<"cdist",
    "(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
    "cdist">, Vjp<"distances">, Kernel<"distances">;
def Aten_InternalCdistBackwardOp : Aten_Distance<"_cdist_backward",
    "(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    "cdistBackward">, Kernel<"distancesBackward">;

def Aten_InternalEuclideanDistOp : Aten_Distance<"_euclidean_dist",
    "(Tensor x1, Tensor x2) -> Tensor", "cdist">, Kernel<"distances">;
def Aten_InternalPdistBackwardOp : Aten_Distance<"_pdist_backward",
    "(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    "sameAsSelf">, Kernel<"distancesWithinBackward">;
def Aten_MmDtypeOp : Aten_Matmul<"mm.dtype",
    "(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "productAs">,
    Decomposition<"productAs">;
def Aten_BmmDtypeOp : Aten_Matmul<"bmm.dtype",
    "(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "productAs">,
    Decomposition<"productAs">;
def Aten_InternalIntMmOp : Aten_Matmul<"_int_mm",
    "(Tensor self, Tensor mat2) -> Tensor", "integerMm">,
    Decomposition<"productAs">;
def Aten_InternalWeightInt8packMmOp : Aten_Matmul<"_weight_int8pack_mm",
    "(Tensor self, Tensor mat2, Tensor scales) -> Tensor", "int8packMm">,
    Decomposition<"int8packMm">;

//===----------------------------------------------------------------------===//
// What the models of `transformers` call for their experts
//===----------------------------------------------------------------------===//

class Aten_GroupedProduct<string name, string schema, string rule>
    : Aten_Op<"transformers." # name # ".default", "transformers." # name,
              schema> {
  let family = "Products of groups of rows with a matrix each: a custom op of "
               "the package `transformers`.";
  let infer = rule;
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

def Aten_GroupedMmFallbackOp : Aten_GroupedProduct<"grouped_mm_fallback",
    "(Tensor input, Tensor weight, Tensor offs) -> Tensor", "groupedRows">,
    Vjp<"groupedRows">, Kernel<"multiplyGroups">;
def Aten_GroupedMmFallbackBackwardOp : Aten_GroupedProduct<
    "grouped_mm_fallback_backward",
    "(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) -> "
    "(Tensor, Tensor)", "groupedRowsBackward">,
    Kernel<"multiplyGroupsBackward">;

#endif // CUTBACK_DIALECT_ATEN_MATMUL_TD
