// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that move or make data: copies, concatenation, padding, creation.
#ifndef CUTBACK_DIALECT_ATEN_DATA_TD
#define CUTBACK_DIALECT_ATEN_DATA_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Copy<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A copy of the same values, perhaps of another type or on "
               "another device.";
  let infer = rule;
  let fusion = "Pointwise";
  let loops = "pointwise";
}

class Aten_Concat<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Several tensors behind each other in a new one.";
  let infer = rule;
  let fusion = "Concat";
  let loops = "concat";
}

class Aten_Move<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Each element comes from a place known from the sizes.";
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
}

class Aten_Create<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A new tensor, from sizes and numbers only.";
  let infer = rule;
  let fusion = "Create";
  let loops = "gather";
  let flags = ["kNotDifferentiable"];
}

class Aten_DiscreteMove<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Writes places given as numbers; no gradient.";
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
  let flags = ["kNotDifferentiable"];
}

def Aten_CloneOp : Aten_Copy<"clone",
    "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    "sameAsSelf">;
def Aten_CopyOp : Aten_Copy<"copy",
    "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    "sameAsSelf">;
def Aten_LiftFreshCopyOp : Aten_Copy<"lift_fresh_copy",
    "(Tensor self) -> Tensor", "sameAsSelf">;
def Aten_InternalToCopyOp : Aten_Copy<"_to_copy",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "MemoryFormat? memory_format=None) -> Tensor", "toDtype">;
def Aten_AsStridedCopyOp : Aten_Copy<"as_strided_copy",
    "(Tensor self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor", "asStrided"> {
  let loops = "gather";
}
def Aten_CatOp : Aten_Concat<"cat",
    "(Tensor[] tensors, int dim=0) -> Tensor", "cat">;
def Aten_StackOp : Aten_Concat<"stack",
    "(Tensor[] tensors, int dim=0) -> Tensor", "stack"> {
  let loops = "none";
}
def Aten_ConstantPadNdOp : Aten_Move<"constant_pad_nd",
    "(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", "padNd">;
def Aten_ReflectionPad1dOp : Aten_Move<"reflection_pad1d",
    "(Tensor self, SymInt[2] padding) -> Tensor", "padNd">;
def Aten_ReflectionPad2dOp : Aten_Move<"reflection_pad2d",
    "(Tensor self, SymInt[4] padding) -> Tensor", "padNd">;
def Aten_ReflectionPad3dOp : Aten_Move<"reflection_pad3d",
    "(Tensor self, SymInt[6] padding) -> Tensor", "padNd">;
def Aten_ReplicationPad1dOp : Aten_Move<"replication_pad1d",
    "(Tensor self, SymInt[2] padding) -> Tensor", "padNd">;
def Aten_ReplicationPad2dOp : Aten_Move<"replication_pad2d",
    "(Tensor self, SymInt[4] padding) -> Tensor", "padNd">;
def Aten_ReplicationPad3dOp : Aten_Move<"replication_pad3d",
    "(Tensor self, SymInt[6] padding) -> Tensor", "padNd">;
def Aten_PadOp : Aten_Move<"pad",
    "(Tensor self, SymInt[] pad, str mode=\"constant\", "
    "float? value=None) -> Tensor", "padNd">;
def Aten_FlipOp : Aten_Move<"flip",
    "(Tensor self, int[] dims) -> Tensor", "sameAsSelf">;
def Aten_RollOp : Aten_Move<"roll",
    "(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", "sameAsSelf">;
def Aten_TrilOp : Aten_Move<"tril",
    "(Tensor self, SymInt diagonal=0) -> Tensor", "sameAsSelf"> {
  let loops = "pointwise";
}
def Aten_TriuOp : Aten_Move<"triu",
    "(Tensor self, SymInt diagonal=0) -> Tensor", "sameAsSelf"> {
  let loops = "pointwise";
}
def Aten_SliceScatterOp : Aten_Move<"slice_scatter",
    "(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
    "SymInt? end=None, SymInt step=1) -> Tensor", "sameAsSelf">;
def Aten_SelectScatterOp : Aten_Move<"select_scatter",
    "(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", "sameAsSelf">;
def Aten_DiagonalScatterOp : Aten_Move<"diagonal_scatter",
    "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
    "Tensor", "sameAsSelf">;
def Aten_AsStridedScatterOp : Aten_Move<"as_strided_scatter",
    "(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor", "sameAsSelf">;
def Aten_RepeatOp : Aten_Move<"repeat",
    "(Tensor self, SymInt[] repeats) -> Tensor", "repeat">;
def Aten_TileOp : Aten_Move<"tile",
    "(Tensor self, SymInt[] dims) -> Tensor", "tile">;
def Aten_RepeatInterleaveTensorOp : Aten_Move<"repeat_interleave.Tensor",
    "(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    "repeatInterleave">;
def Aten_RepeatInterleaveSelfIntOp : Aten_Move<"repeat_interleave.self_int",
    "(Tensor self, SymInt repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor", "repeatInterleave">;
def Aten_RepeatInterleaveSelfTensorOp : Aten_Move<
    "repeat_interleave.self_Tensor",
    "(Tensor self, Tensor repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor", "repeatInterleave">;
def Aten_SliceBackwardOp : Aten_Move<"slice_backward",
    "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, "
    "SymInt end, SymInt step) -> Tensor", "sizesOfInput">;
def Aten_SelectBackwardOp : Aten_Move<"select_backward",
    "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> "
    "Tensor", "sizesOfInput">;
def Aten_DiagonalBackwardOp : Aten_Move<"diagonal_backward",
    "(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, "
    "int dim2) -> Tensor", "sizesOfInput">;
def Aten_UnfoldBackwardOp : Aten_Move<"unfold_backward",
    "(Tensor grad_in, SymInt[] input_sizes, int dim, int size, "
    "int step) -> Tensor", "sizesOfInput">;
def Aten_ReflectionPad1dBackwardOp : Aten_Move<"reflection_pad1d_backward",
    "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
    "sameAsSelf">;
def Aten_ReflectionPad2dBackwardOp : Aten_Move<"reflection_pad2d_backward",
    "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
    "sameAsSelf">;
def Aten_ReplicationPad1dBackwardOp : Aten_Move<"replication_pad1d_backward",
    "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
    "sameAsSelf">;
def Aten_ReplicationPad2dBackwardOp : Aten_Move<"replication_pad2d_backward",
    "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
    "sameAsSelf">;
def Aten_FullOp : Aten_Create<"full",
    "(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "full">;
def Aten_EmptyMemoryFormatOp : Aten_Create<"empty.memory_format",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "create">;
def Aten_EmptyStridedOp : Aten_Create<"empty_strided",
    "(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "create">;
def Aten_EmptyPermutedOp : Aten_Create<"empty_permuted",
    "(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "create">;
def Aten_ZerosOp : Aten_Create<"zeros",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">;
def Aten_InternalEfficientzerotensorOp : Aten_Create<"_efficientzerotensor",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">;
def Aten_OnesOp : Aten_Create<"ones",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">;
def Aten_FullLikeOp : Aten_Create<"full_like",
    "(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">;
def Aten_ZerosLikeOp : Aten_Create<"zeros_like",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">;
def Aten_OnesLikeOp : Aten_Create<"ones_like",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">;
def Aten_EmptyLikeOp : Aten_Create<"empty_like",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">;
def Aten_NewFullOp : Aten_Create<"new_full",
    "(Tensor self, SymInt[] size, Scalar fill_value, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "createNew">;
def Aten_NewZerosOp : Aten_Create<"new_zeros",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">;
def Aten_NewOnesOp : Aten_Create<"new_ones",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">;
def Aten_NewEmptyOp : Aten_Create<"new_empty",
    "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "createNew">;
def Aten_NewEmptyStridedOp : Aten_Create<"new_empty_strided",
    "(Tensor self, SymInt[] size, SymInt[] stride, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "createNew">;
def Aten_ArangeOp : Aten_Create<"arange",
    "(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "arange">;
def Aten_ArangeStartOp : Aten_Create<"arange.start",
    "(Scalar start, Scalar end, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "arange">;
def Aten_ArangeStartStepOp : Aten_Create<"arange.start_step",
    "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "arange">;
def Aten_LinspaceOp : Aten_Create<"linspace",
    "(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "linspace">;
def Aten_LogspaceOp : Aten_Create<"logspace",
    "(Scalar start, Scalar end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor", "linspace">;
def Aten_ScalarTensorOp : Aten_Create<"scalar_tensor",
    "(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "scalarTensor">;
def Aten_EyeOp : Aten_Create<"eye",
    "(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "eye">;
def Aten_EyeMOp : Aten_Create<"eye.m",
    "(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "eye">;
def Aten_OneHotOp : Aten_DiscreteMove<"one_hot",
    "(Tensor self, int num_classes=-1) -> Tensor", "oneHot">;
def Aten_ReflectionPad3dBackwardOp : Aten_Move<"reflection_pad3d_backward",
    "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
    "sameAsSelf">;
def Aten_ReplicationPad3dBackwardOp : Aten_Move<"replication_pad3d_backward",
    "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
    "sameAsSelf">;
def Aten_TrilIndicesOp : Aten_Create<"tril_indices",
    "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    "triIndices"> {
  let loops = "none";
}
def Aten_TriuIndicesOp : Aten_Create<"triu_indices",
    "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    "triIndices"> {
  let loops = "none";
}

#endif // CUTBACK_DIALECT_ATEN_DATA_TD
