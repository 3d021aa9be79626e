// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that move or make data: copies, concatenation, padding, creation.
#ifndef CUTBACK_DIALECT_ATEN_DATA_TD
#define CUTBACK_DIALECT_ATEN_DATA_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Copy<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A copy of the same values, perhaps of another type or on "
               "another device.";
  let element = formula;
  let infer = rule;
  let fusion = "Pointwise";
  let loops = "pointwise";
}

class Aten_Concat<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Several tensors behind each other in a new one.";
  let element = formula;
  let infer = rule;
  let fusion = "Concat";
  let loops = "concat";
}

class Aten_Move<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Each element comes from a place known from the sizes.";
  let element = formula;
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
}

class Aten_Create<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A new tensor, from sizes and numbers only.";
  let element = formula;
  let infer = rule;
  let fusion = "Create";
  let loops = "gather";
  let flags = ["kNotDifferentiable"];
}

class Aten_DiscreteMove<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Writes places given as numbers; no gradient.";
  let element = formula;
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
  let flags = ["kNotDifferentiable"];
}

def Aten_CloneOp : Aten_Copy<"clone", "copy",
    "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    "sameAsSelf">, Vjp<"copyOf">, Kernel<"copy">, CoreForm<"complexCopy">;
def Aten_CopyOp : Aten_Copy<"copy", "copyFrom",
    "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    "sameAsSelf">, Vjp<"copy">, Kernel<"copyInto">;
def Aten_LiftFreshCopyOp : Aten_Copy<"lift_fresh_copy", "copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Vjp<"copyOf">, Kernel<"copy">;
def Aten_InternalToCopyOp : Aten_Copy<"_to_copy", "copy",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "MemoryFormat? memory_format=None) -> Tensor", "toDtype">, Vjp<"copyOf">,
    Kernel<"copy">, CoreForm<"complexConversion">;
def Aten_AsStridedCopyOp : Aten_Copy<"as_strided_copy", "asStridedCopy",
    "(Tensor self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor", "asStrided">, Vjp<"asStrided">,
    Kernel<"asStridedCopy"> {
  let loops = "gather";
}
def Aten_CatOp : Aten_Concat<"cat", "concatenate",
    "(Tensor[] tensors, int dim=0) -> Tensor", "cat">, Vjp<"cat">,
    Kernel<"cat">, CoreUnit<"repeated">, CoreForm<"promoted">;
def Aten_StackOp : Aten_Concat<"stack", "none",
    "(Tensor[] tensors, int dim=0) -> Tensor", "stack">, Vjp<"stack">,
    Kernel<"stack">, CoreForm<"stacked"> {
  let loops = "none";
}
def Aten_ConstantPadNdOp : Aten_Move<"constant_pad_nd", "constantPad",
    "(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", "padNd">,
    Vjp<"constantPad">, Kernel<"constantPad">, CoreForm<"complexMove">;
def Aten_ReflectionPad1dOp : Aten_Move<"reflection_pad1d", "reflectionPad",
    "(Tensor self, SymInt[2] padding) -> Tensor", "padNd">, Vjp<"reflection1d">,
    Kernel<"reflectionPad">;
def Aten_ReflectionPad2dOp : Aten_Move<"reflection_pad2d", "reflectionPad",
    "(Tensor self, SymInt[4] padding) -> Tensor", "padNd">, Vjp<"reflection2d">,
    Kernel<"reflectionPad">;
def Aten_ReflectionPad3dOp : Aten_Move<"reflection_pad3d", "reflectionPad",
    "(Tensor self, SymInt[6] padding) -> Tensor", "padNd">, Vjp<"reflection3d">,
    Kernel<"reflectionPad">;
def Aten_ReplicationPad1dOp : Aten_Move<"replication_pad1d", "replicationPad",
    "(Tensor self, SymInt[2] padding) -> Tensor", "padNd">,
    Vjp<"replication1d">, Kernel<"replicationPad">;
def Aten_ReplicationPad2dOp : Aten_Move<"replication_pad2d", "replicationPad",
    "(Tensor self, SymInt[4] padding) -> Tensor", "padNd">,
    Vjp<"replication2d">, Kernel<"replicationPad">;
def Aten_ReplicationPad3dOp : Aten_Move<"replication_pad3d", "replicationPad",
    "(Tensor self, SymInt[6] padding) -> Tensor", "padNd">,
    Vjp<"replication3d">, Kernel<"replicationPad">;
def Aten_PadOp : Aten_Move<"pad", "pad",
    "(Tensor self, SymInt[] pad, str mode=\"constant\", "
    "float? value=None) -> Tensor", "padNd">, Vjp<"pad">, Kernel<"pad">,
    Decomposition<"pad">;
def Aten_FlipOp : Aten_Move<"flip", "flip",
    "(Tensor self, int[] dims) -> Tensor", "sameAsSelf">, Vjp<"flip">,
    Kernel<"flip">, CoreForm<"complexMove">;
def Aten_RollOp : Aten_Move<"roll", "roll",
    "(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", "sameAsSelf">,
    Vjp<"roll">, Kernel<"roll">, CoreForm<"complexMove">;
def Aten_TrilOp : Aten_Move<"tril", "lowerTriangle",
    "(Tensor self, SymInt diagonal=0) -> Tensor", "sameAsSelf">, Vjp<"tril">,
    Kernel<"tril"> {
  let loops = "pointwise";
}
def Aten_TriuOp : Aten_Move<"triu", "upperTriangle",
    "(Tensor self, SymInt diagonal=0) -> Tensor", "sameAsSelf">, Vjp<"triu">,
    Kernel<"triu"> {
  let loops = "pointwise";
}
def Aten_SliceScatterOp : Aten_Move<"slice_scatter", "sliceScatter",
    "(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
    "SymInt? end=None, SymInt step=1) -> Tensor", "sameAsSelf">,
    Vjp<"sliceScatter">, Kernel<"sliceScatter">, CoreForm<"complexMove">;
def Aten_SelectScatterOp : Aten_Move<"select_scatter", "selectScatter",
    "(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", "sameAsSelf">,
    Vjp<"selectScatter">, Kernel<"selectScatter">, CoreForm<"complexMove">;
def Aten_DiagonalScatterOp : Aten_Move<"diagonal_scatter", "diagonalScatter",
    "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
    "Tensor", "sameAsSelf">, Vjp<"diagonalScatter">, Kernel<"diagonalScatter">;
def Aten_AsStridedScatterOp : Aten_Move<"as_strided_scatter", "none",
    "(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor", "sameAsSelf">,
    Vjp<"asStridedScatter">, Kernel<"asStridedScatter">, CoreForm<"scattered">;
def Aten_RepeatOp : Aten_Move<"repeat", "repeat",
    "(Tensor self, SymInt[] repeats) -> Tensor", "repeat">, Vjp<"repeat">,
    Kernel<"repeat">;
def Aten_TileOp : Aten_Move<"tile", "tile",
    "(Tensor self, SymInt[] dims) -> Tensor", "tile">, Vjp<"tile">,
    Kernel<"tile">, Decomposition<"tile">;
def Aten_RepeatInterleaveTensorOp : Aten_Move<
    "repeat_interleave.Tensor", "none",
    "(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    "repeatInterleave">, Kernel<"repeatInterleavePlaces">;
def Aten_RepeatInterleaveSelfIntOp : Aten_Move<
    "repeat_interleave.self_int", "repeatEach",
    "(Tensor self, SymInt repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor", "repeatInterleave">,
    Vjp<"repeatInterleave">, Kernel<"repeatInterleaveInt">,
    Decomposition<"repeatEach">;
def Aten_RepeatInterleaveSelfTensorOp : Aten_Move<
    "repeat_interleave.self_Tensor", "none",
    "(Tensor self, Tensor repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor", "repeatInterleave">,
    Vjp<"repeatInterleaveTensor">, Kernel<"repeatInterleaveTensor">,
    Decomposition<"repeatByTensor">;
def Aten_SliceBackwardOp : Aten_Move<"slice_backward", "sliceBackward",
    "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, "
    "SymInt end, SymInt step) -> Tensor", "sizesOfInput">, Vjp<"sliceBackward">,
    Kernel<"sliceBackward">, CoreForm<"complexMoveBack">;
def Aten_SelectBackwardOp : Aten_Move<"select_backward", "selectBackward",
    "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> "
    "Tensor", "sizesOfInput">, Vjp<"selectBackward">,
    Kernel<"selectBackward">, CoreForm<"complexMoveBack">;
def Aten_DiagonalBackwardOp : Aten_Move<"diagonal_backward", "diagonalBackward",
    "(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, "
    "int dim2) -> Tensor", "sizesOfInput">, Vjp<"diagonalBackward">,
    Kernel<"diagonalBackward">;
def Aten_UnfoldBackwardOp : Aten_Move<"unfold_backward", "none",
    "(Tensor grad_in, SymInt[] input_sizes, int dim, int size, "
    "int step) -> Tensor", "sizesOfInput">, Vjp<"unfoldBackward">,
    Kernel<"unfoldBackward">;
def Aten_ReflectionPad1dBackwardOp : Aten_Move<
    "reflection_pad1d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"reflectionPadBackward">;
def Aten_ReflectionPad2dBackwardOp : Aten_Move<
    "reflection_pad2d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"reflectionPadBackward">;
def Aten_ReplicationPad1dBackwardOp : Aten_Move<
    "replication_pad1d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"replicationPadBackward">;
def Aten_ReplicationPad2dBackwardOp : Aten_Move<
    "replication_pad2d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"replicationPadBackward">;
def Aten_FullOp : Aten_Create<"full", "full",
    "(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "full">, Kernel<"full">,
    CoreForm<"complexFull">;
def Aten_EmptyMemoryFormatOp : Aten_Create<"empty.memory_format", "zeros",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "create">,
    Kernel<"emptySized">;
def Aten_EmptyStridedOp : Aten_Create<"empty_strided", "zeros",
    "(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "create">, Kernel<"emptySized">;
def Aten_EmptyPermutedOp : Aten_Create<"empty_permuted", "zeros",
    "(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "create">, Kernel<"emptySized">;
def Aten_ZerosOp : Aten_Create<"zeros", "zeros",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">,
    Kernel<"zeros">, CoreForm<"complexZeros">;
def Aten_InternalEfficientzerotensorOp : Aten_Create<
    "_efficientzerotensor", "zeros",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">,
    SecondName<"aten.zeros.default">, Kernel<"zeros">;
def Aten_OnesOp : Aten_Create<"ones", "ones",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">,
    Kernel<"ones">;
def Aten_FullLikeOp : Aten_Create<"full_like", "full",
    "(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"full">;
def Aten_ZerosLikeOp : Aten_Create<"zeros_like", "zeros",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"zeros">, CoreForm<"complexZeros">;
def Aten_OnesLikeOp : Aten_Create<"ones_like", "ones",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"ones">;
def Aten_EmptyLikeOp : Aten_Create<"empty_like", "zeros",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"zeros">;
def Aten_NewFullOp : Aten_Create<"new_full", "full",
    "(Tensor self, SymInt[] size, Scalar fill_value, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "createNew">, Kernel<"full">;
def Aten_NewZerosOp : Aten_Create<"new_zeros", "zeros",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">, Kernel<"zeros">;
def Aten_NewOnesOp : Aten_Create<"new_ones", "ones",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">, Kernel<"ones">;
def Aten_NewEmptyOp : Aten_Create<"new_empty", "zeros",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">, Kernel<"emptySized">;
def Aten_NewEmptyStridedOp : Aten_Create<"new_empty_strided", "zeros",
    "(Tensor self, SymInt[] size, SymInt[] stride, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "createNew">, Kernel<"emptySized">;
def Aten_ArangeOp : Aten_Create<"arange", "arange",
    "(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "arange">,
    Kernel<"arange">;
def Aten_ArangeStartOp : Aten_Create<"arange.start", "arange",
    "(Scalar start, Scalar end, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "arange">, Kernel<"arange">;
def Aten_ArangeStartStepOp : Aten_Create<"arange.start_step", "arange",
    "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "arange">, Kernel<"arange">;
def Aten_LinspaceOp : Aten_Create<"linspace", "linspace",
    "(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "linspace">, Kernel<"linspace">;
def Aten_LogspaceOp : Aten_Create<"logspace", "none",
    "(Scalar start, Scalar end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">, Decomposition<"logspace">;
def Aten_ScalarTensorOp : Aten_Create<"scalar_tensor", "scalarTensor",
    "(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "scalarTensor">,
    Kernel<"scalarTensor">;
def Aten_EyeOp : Aten_Create<"eye", "eye",
    "(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "eye">,
    Kernel<"eye">;
def Aten_EyeMOp : Aten_Create<"eye.m", "eye",
    "(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "eye">,
    Kernel<"eye">;
def Aten_OneHotOp : Aten_DiscreteMove<"one_hot", "oneHot",
    "(Tensor self, int num_classes=-1) -> Tensor", "oneHot">, Kernel<"oneHot">,
    Decomposition<"oneHot">;
def Aten_ReflectionPad3dBackwardOp : Aten_Move<
    "reflection_pad3d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"reflectionPadBackward">;
def Aten_ReplicationPad3dBackwardOp : Aten_Move<
    "replication_pad3d_backward", "none",
    "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
    "sameAsSelf">, Vjp<"padBackward">, Kernel<"replicationPadBackward">;
def Aten_TrilIndicesOp : Aten_Create<"tril_indices", "trilIndices",
    "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    "triIndices">, Kernel<"trilIndices">;
def Aten_TriuIndicesOp : Aten_Create<"triu_indices", "triuIndices",
    "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    "triIndices">, Kernel<"triuIndices">;

#endif // CUTBACK_DIALECT_ATEN_DATA_TD
