// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on symbolic sizes, and checks. Values are of type `index`, `f64`
// or `i1`.
#ifndef CUTBACK_DIALECT_ATEN_SYMBOLIC_TD
#define CUTBACK_DIALECT_ATEN_SYMBOLIC_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_SymRead<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A size, stride or offset of a tensor, as `index`.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

class Aten_SymItem<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "The value of a tensor of one element: the host waits for it.";
  let infer = rule;
  let flags = ["kNotDifferentiable"];
}

class Aten_Check<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A check. Readers make `joint.assert` of those that stop a "
               "step.";
  let infer = rule;
  let flags = ["kOrdered", "kNotDifferentiable"];
}

class Aten_Sym<string name, string schema, string rule>
    : Aten_SymOp<name, schema> {
  let family = "Python arithmetic on symbolic scalars.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

class Aten_SymUnary<string name, string schema, string rule>
    : Aten_SymOp<name, schema> {
  let family = "Python arithmetic on one symbolic scalar.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

class Aten_SymIte<string name, string schema, string rule>
    : Aten_SymOp<name, schema> {
  let family = "One of two symbolic scalars.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

class Aten_SymSum<string name, string schema, string rule>
    : Aten_SymOp<name, schema> {
  let family = "Sum of symbolic sizes.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

def Aten_SymSizeIntOp : Aten_SymRead<"sym_size.int",
    "(Tensor self, int dim) -> SymInt", "symIndex">, Kernel<"size">;
def Aten_SymStrideIntOp : Aten_SymRead<"sym_stride.int",
    "(Tensor self, int dim) -> SymInt", "symIndex">, Kernel<"stride">;
def Aten_SymNumelOp : Aten_SymRead<"sym_numel",
    "(Tensor self) -> SymInt", "symIndex">, Kernel<"numel">;
def Aten_SymStorageOffsetOp : Aten_SymRead<"sym_storage_offset",
    "(Tensor self) -> SymInt", "symIndex">, Kernel<"storageOffset">;
def Aten_ItemOp : Aten_SymItem<"item", "(Tensor self) -> Scalar", "item">,
    Kernel<"item">;
def Aten_InternalLocalScalarDenseOp : Aten_SymItem<"_local_scalar_dense",
    "(Tensor self) -> Scalar", "item">, Kernel<"item">;
def Aten_InternalAssertAsyncOp : Aten_Check<"_assert_async",
    "(Tensor self) -> ()", "nothing">, Kernel<"assertTrue">;
def Aten_InternalAssertAsyncMsgOp : Aten_Check<"_assert_async.msg",
    "(Tensor self, str assert_msg) -> ()", "nothing">, Kernel<"assertTrue">;
def Aten_InternalAssertScalarOp : Aten_Check<"_assert_scalar",
    "(Scalar self, str assert_msg) -> ()", "nothing">, Kernel<"assertTrue">;
def Aten_InternalLinalgCheckErrorsOp : Aten_Check<"_linalg_check_errors",
    "(Tensor info, str api_name, *, bool is_matrix) -> ()", "nothing">,
    Kernel<"checkFactors">;
def Aten_InternalAssertTensorMetadataOp : Aten_AtenOp<"_assert_tensor_metadata",
    "(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
    "ScalarType? dtype=None, *, Device? device=None, "
    "Layout? layout=None) -> ()">, Kernel<"assertSizes"> {
  let family = "A check of what types say already: dead code, but PyTorch's "
               "rules count it as a reader.";
  let infer = "nothing";
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}
def Aten_SymConstrainRangeForSizeOp : Aten_Check<"sym_constrain_range_for_size",
    "(Scalar size, *, int? min=None, int? max=None) -> ()", "nothing">,
    Kernel<"checkRange">;
def Aten_SymConstrainRangeOp : Aten_Check<"sym_constrain_range",
    "(Scalar size, *, int? min=None, int? max=None) -> ()", "nothing">,
    Kernel<"checkRange">;
def Aten_SymAddOp : Aten_Sym<"operator.add",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorAdd">;
def Aten_SymSubOp : Aten_Sym<"operator.sub",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorSub">;
def Aten_SymMulOp : Aten_Sym<"operator.mul",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorMul">;
def Aten_SymFloordivOp : Aten_Sym<"operator.floordiv",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorFloordiv">;
def Aten_SymModOp : Aten_Sym<"operator.mod",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorMod">;
def Aten_SymPowOp : Aten_Sym<"operator.pow",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"operatorPow">;
def Aten_SymTruedivOp : Aten_Sym<"operator.truediv",
    "(Scalar a, Scalar b) -> Scalar", "symFloat">, Kernel<"trueDivide">;
def Aten_SymEqOp : Aten_Sym<"operator.eq",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorEq">;
def Aten_SymNeOp : Aten_Sym<"operator.ne",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorNe">;
def Aten_SymLtOp : Aten_Sym<"operator.lt",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorLt">;
def Aten_SymLeOp : Aten_Sym<"operator.le",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorLe">;
def Aten_SymGtOp : Aten_Sym<"operator.gt",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorGt">;
def Aten_SymGeOp : Aten_Sym<"operator.ge",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorGe">;
def Aten_SymAndOp : Aten_Sym<"operator.and_",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorAnd">;
def Aten_SymOrOp : Aten_Sym<"operator.or_",
    "(Scalar a, Scalar b) -> Scalar", "symBool">, Kernel<"operatorOr">;
def Aten_SymNegOp : Aten_SymUnary<"operator.neg",
    "(Scalar a) -> Scalar", "symArith">, Kernel<"operatorNeg">;
def Aten_SymPosOp : Aten_SymUnary<"operator.pos",
    "(Scalar a) -> Scalar", "symArith">, Kernel<"same">;
def Aten_SymAbsOp : Aten_SymUnary<"operator.abs",
    "(Scalar a) -> Scalar", "symArith">, Kernel<"operatorAbs">;
def Aten_SymTruncOp : Aten_SymUnary<"math.trunc",
    "(Scalar a) -> Scalar", "symIndex">, Kernel<"mathTrunc">;
def Aten_SymFloorOp : Aten_SymUnary<"math.floor",
    "(Scalar a) -> Scalar", "symIndex">, Kernel<"mathFloor">;
def Aten_SymCeilOp : Aten_SymUnary<"math.ceil",
    "(Scalar a) -> Scalar", "symIndex">, Kernel<"mathCeil">;
def Aten_SymRoundOp : Aten_SymUnary<"builtins.round",
    "(Scalar number, int? ndigits=None) -> Scalar", "symIndex">,
    Kernel<"roundDigits">;
def Aten_SymIntOp : Aten_SymUnary<"torch.sym_int",
    "(Scalar a) -> Scalar", "symIndex">, Kernel<"mathTrunc">;
def Aten_SymFloatOp : Aten_SymUnary<"torch.sym_float",
    "(Scalar a) -> Scalar", "symFloat">, Kernel<"same">;
def Aten_SymSqrtOp : Aten_SymUnary<"torch.sym_sqrt",
    "(Scalar a) -> Scalar", "symFloat">, Kernel<"root">;
def Aten_SymNotOp : Aten_SymUnary<"torch.sym_not",
    "(Scalar a) -> Scalar", "symBool">, Kernel<"torchSymNot">;
def Aten_SymMaxOp : Aten_Sym<"torch.sym_max",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"torchSymMax">;
def Aten_SymMinOp : Aten_Sym<"torch.sym_min",
    "(Scalar a, Scalar b) -> Scalar", "symArith">, Kernel<"torchSymMin">;
def Aten_SymIteOp : Aten_SymIte<"torch.sym_ite",
    "(bool b, Scalar t, Scalar f) -> Scalar", "symIte">, Kernel<"ifThenElse">;
def Aten_SymSumOp : Aten_SymSum<"torch.sym_sum",
    "(SymInt[] args) -> SymInt", "symIndex">, Kernel<"torchSymSum">;

#endif // CUTBACK_DIALECT_ATEN_SYMBOLIC_TD
