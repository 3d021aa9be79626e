// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that give another shape to the same storage: no data moves.
#ifndef CUTBACK_DIALECT_ATEN_VIEW_TD
#define CUTBACK_DIALECT_ATEN_VIEW_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_View<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "The same storage, seen with other sizes; no data moves.";
  let infer = rule;
  let fusion = "View";
}

class Aten_SizedView<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "The same storage, seen with other sizes; the identity where "
               "the sizes are the same.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kIdentityIfSameType"];
}

class Aten_Detach<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "The same storage; gradients stop here.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kNotDifferentiable"];
}

class Aten_MaybeView<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A view where strides allow it, otherwise a copy: only "
               "declared strides tell, so it is not said to alias.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kMayAlias"];
}

class Aten_ViewCopy<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "What a view shows, as a tensor of its own: nobody writes into "
               "either.";
  let infer = rule;
  let fusion = "View";
  let flags = ["kMayAlias"];
}

class Aten_DetachCopy<string name, string schema, string rule>
    : Aten_ViewCopy<name, schema, rule> {
  let flags = ["kMayAlias", "kNotDifferentiable"];
}

def Aten_ViewOp : Aten_SizedView<"view",
    "(Tensor(a) self, SymInt[] size) -> Tensor(a)", "view">, Vjp<"reshape">,
    CoreForm<"complexView">;
def Aten_InternalUnsafeViewOp : Aten_SizedView<"_unsafe_view",
    "(Tensor self, SymInt[] size) -> Tensor", "view">, Vjp<"reshape">,
    CoreForm<"complexView">;
def Aten_ViewDtypeOp : Aten_View<"view.dtype",
    "(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "viewDtype">;
def Aten_PermuteOp : Aten_View<"permute",
    "(Tensor(a) self, int[] dims) -> Tensor(a)", "permute">, Vjp<"permute">;
def Aten_TransposeIntOp : Aten_View<"transpose.int",
    "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "transpose">,
    Vjp<"transpose">;
def Aten_TOp : Aten_View<"t", "(Tensor(a) self) -> Tensor(a)", "t">,
    Vjp<"reverseDims">;
def Aten_NumpyTOp : Aten_View<"numpy_T", "(Tensor(a) self) -> Tensor(a)", "t">,
    Vjp<"reverseDims">, Decomposition<"reverseDims">;
def Aten_ExpandOp : Aten_SizedView<"expand",
    "(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    "expand">, Vjp<"expandAs">;
def Aten_UnsqueezeOp : Aten_View<"unsqueeze",
    "(Tensor(a) self, int dim) -> Tensor(a)", "unsqueeze">, Vjp<"unsqueeze">;
def Aten_SqueezeOp : Aten_SizedView<"squeeze",
    "(Tensor(a) self) -> Tensor(a)", "squeeze">, Vjp<"reshape">;
def Aten_SqueezeDimOp : Aten_SizedView<"squeeze.dim",
    "(Tensor(a) self, int dim) -> Tensor(a)", "squeeze">, Vjp<"reshape">;
def Aten_SqueezeDimsOp : Aten_SizedView<"squeeze.dims",
    "(Tensor(a) self, int[] dim) -> Tensor(a)", "squeeze">, Vjp<"reshape">;
def Aten_SliceTensorOp : Aten_SizedView<"slice.Tensor",
    "(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
    "SymInt step=1) -> Tensor(a)", "slice">, Vjp<"slice">;
def Aten_SelectIntOp : Aten_View<"select.int",
    "(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", "select">,
    Vjp<"select">;
def Aten_NarrowOp : Aten_SizedView<"narrow",
    "(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
    "narrow">, Vjp<"narrow">, Decomposition<"narrow">;
def Aten_SplitWithSizesOp : Aten_View<"split_with_sizes",
    "(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    "splitWithSizes">, Vjp<"split">;
def Aten_SplitSizesOp : Aten_View<"split.sizes",
    "(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    "splitWithSizes">, Vjp<"split">, Decomposition<"splitSizes">;
def Aten_SplitTensorOp : Aten_View<"split.Tensor",
    "(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    "split">, Vjp<"split">;
def Aten_ChunkOp : Aten_View<"chunk",
    "(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", "chunk">,
    Vjp<"split">, Decomposition<"chunk">;
def Aten_UnbindIntOp : Aten_View<"unbind.int",
    "(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "unbind">, Vjp<"unbind">;
def Aten_UnflattenIntOp : Aten_View<"unflatten.int",
    "(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", "unflatten">,
    Vjp<"reshape">, Decomposition<"unflatten">;
def Aten_UnfoldOp : Aten_View<"unfold",
    "(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    "unfold">, Vjp<"unfold">;
def Aten_DiagonalOp : Aten_View<"diagonal",
    "(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    "diagonal">, Vjp<"diagonal">;
def Aten_AsStridedOp : Aten_View<"as_strided",
    "(Tensor(a) self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor(a)", "asStrided">, Vjp<"asStrided">;
def Aten_ViewAsRealOp : Aten_View<"view_as_real",
    "(Tensor(a) self) -> Tensor(a)", "viewAsReal">, Vjp<"viewAsReal">,
    CoreForm<"realOfReal">;
def Aten_ViewAsComplexOp : Aten_View<"view_as_complex",
    "(Tensor(a) self) -> Tensor(a)", "viewAsComplex">, Vjp<"viewAsComplex">;
def Aten_RealOp : Aten_View<"real",
    "(Tensor(a) self) -> Tensor(a)", "realPart">, Vjp<"realPart">;
def Aten_ImagOp : Aten_View<"imag",
    "(Tensor(a) self) -> Tensor(a)", "realPart">, Vjp<"imaginaryPart">;
def Aten_MovedimIntOp : Aten_View<"movedim.int",
    "(Tensor(a) self, int source, int destination) -> Tensor(a)", "movedim">,
    Vjp<"movedim">, Decomposition<"moveDims">;
def Aten_MovedimIntlistOp : Aten_View<"movedim.intlist",
    "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    "movedim">, Vjp<"movedim">, Decomposition<"moveDims">;
def Aten_AliasOp : Aten_View<"alias",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">, Vjp<"alias">;
def Aten_LiftFreshOp : Aten_View<"lift_fresh",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">, Vjp<"alias">;
def Aten_ExpandAsOp : Aten_View<"expand_as",
    "(Tensor(a) self, Tensor other) -> Tensor(a)", "shapeOfOther">,
    Vjp<"expandAs">, Decomposition<"expandAsOther">;
def Aten_ViewAsOp : Aten_View<"view_as",
    "(Tensor(a) self, Tensor other) -> Tensor(a)", "shapeOfOther">,
    Vjp<"reshape">, Decomposition<"viewAsOther">;
def Aten_DetachOp : Aten_Detach<"detach",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">;
def Aten_ReshapeOp : Aten_MaybeView<"reshape",
    "(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "view">, Vjp<"reshape">,
    Decomposition<"reshape">;
def Aten_InternalReshapeAliasOp : Aten_MaybeView<"_reshape_alias",
    "(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", "view">,
    Vjp<"reshape">, Decomposition<"reshape">;
def Aten_ReshapeAsOp : Aten_MaybeView<"reshape_as",
    "(Tensor(a) self, Tensor other) -> Tensor(a)", "shapeOfOther">,
    Vjp<"reshape">, Decomposition<"reshapeAs">;
def Aten_FlattenUsingIntsOp : Aten_MaybeView<"flatten.using_ints",
    "(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    "flatten">, Vjp<"reshape">, Decomposition<"flatten">;
def Aten_ContiguousOp : Aten_MaybeView<"contiguous",
    "(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
    "Tensor(a)", "sameAsSelf">, Vjp<"alias">, Decomposition<"contiguous">;
def Aten_ToDtypeOp : Aten_MaybeView<"to.dtype",
    "(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
    "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    "toDtype">, Vjp<"alias">, Kernel<"copy">, Decomposition<"to">;
def Aten_ToDtypeLayoutOp : Aten_MaybeView<"to.dtype_layout",
    "(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    "toDtype">, Vjp<"alias">, Kernel<"copy">, Decomposition<"to">;
def Aten_ToDeviceOp : Aten_MaybeView<"to.device",
    "(Tensor(a) self, Device device, ScalarType dtype, "
    "bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)", "toDtype">, Vjp<"alias">,
    Kernel<"copy">, Decomposition<"to">;
def Aten_TypeAsOp : Aten_MaybeView<"type_as",
    "(Tensor self, Tensor other) -> Tensor", "toDtype">, Vjp<"alias">,
    Kernel<"copy">, Decomposition<"to">;
def Aten_BroadcastTensorsOp : Aten_MaybeView<"broadcast_tensors",
    "(Tensor[] tensors) -> Tensor[]", "broadcastTensors">,
    Vjp<"broadcastTensors">, Decomposition<"broadcastTensors">;
def Aten_MeshgridOp : Aten_MaybeView<"meshgrid",
    "(Tensor[] tensors) -> Tensor[]", "meshgrid">, Vjp<"meshgrid">,
    Decomposition<"meshgrid">;
def Aten_MeshgridIndexingOp : Aten_MaybeView<"meshgrid.indexing",
    "(Tensor[] tensors, *, str indexing) -> Tensor[]", "meshgrid">,
    Vjp<"meshgrid">, Decomposition<"meshgrid">;
def Aten_SwapaxesOp : Aten_View<"swapaxes",
    "(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", "transpose">,
    Vjp<"transpose">, Decomposition<"swapAxes">;
def Aten_SwapdimsOp : Aten_View<"swapdims",
    "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "transpose">,
    Vjp<"transpose">, Decomposition<"swapAxes">;
def Aten_MoveaxisIntOp : Aten_View<"moveaxis.int",
    "(Tensor(a) self, int source, int destination) -> Tensor(a)", "movedim">,
    Vjp<"movedim">, Decomposition<"moveDims">;
def Aten_MoveaxisIntlistOp : Aten_View<"moveaxis.intlist",
    "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    "movedim">, Vjp<"movedim">, Decomposition<"moveDims">;
def Aten_MTOp : Aten_View<"mT",
    "(Tensor(a) self) -> Tensor(a)", "matrixTranspose">, Vjp<"matrixTranspose">,
    Decomposition<"swapLast">;
def Aten_AdjointOp : Aten_View<"adjoint",
    "(Tensor(a) self) -> Tensor(a)", "matrixTranspose">, Vjp<"adjoint">,
    Kernel<"adjoint">, Decomposition<"conjugateTransposed">;
def Aten_BroadcastToOp : Aten_SizedView<"broadcast_to",
    "(Tensor(a) self, SymInt[] size) -> Tensor(a)", "expand">, Vjp<"expandAs">,
    Decomposition<"broadcastTo">;
def Aten_HsplitIntOp : Aten_View<"hsplit.int",
    "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"hsplit">, Decomposition<"tensorSplit">;
def Aten_HsplitArrayOp : Aten_View<"hsplit.array",
    "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"hsplit">, Decomposition<"tensorSplit">;
def Aten_VsplitIntOp : Aten_View<"vsplit.int",
    "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"vsplit">, Decomposition<"tensorSplit">;
def Aten_VsplitArrayOp : Aten_View<"vsplit.array",
    "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"vsplit">, Decomposition<"tensorSplit">;
def Aten_DsplitIntOp : Aten_View<"dsplit.int",
    "(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"dsplit">, Decomposition<"tensorSplit">;
def Aten_DsplitArrayOp : Aten_View<"dsplit.array",
    "(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "tensorSplit">,
    Vjp<"dsplit">, Decomposition<"tensorSplit">;
def Aten_TensorSplitSectionsOp : Aten_View<"tensor_split.sections",
    "(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    "tensorSplit">, Vjp<"split">, Decomposition<"tensorSplit">;
def Aten_TensorSplitIndicesOp : Aten_View<"tensor_split.indices",
    "(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    "tensorSplit">, Vjp<"split">, Decomposition<"tensorSplit">;
def Aten_RavelOp : Aten_MaybeView<"ravel",
    "(Tensor(a) self) -> Tensor(a)", "ravel">, Vjp<"reshape">,
    Decomposition<"ravel">;
def Aten_ToOtherOp : Aten_MaybeView<"to.other",
    "(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)", "toDtype">, Vjp<"alias">,
    Kernel<"copy">, Decomposition<"to">;
def Aten_ResolveConjOp : Aten_MaybeView<"resolve_conj",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">, Vjp<"alias">,
    Decomposition<"itself">;
def Aten_ResolveNegOp : Aten_MaybeView<"resolve_neg",
    "(Tensor(a) self) -> Tensor(a)", "sameAsSelf">, Vjp<"alias">,
    Decomposition<"itself">;
def Aten_UnsafeSplitTensorOp : Aten_MaybeView<"unsafe_split.Tensor",
    "(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", "split">,
    Vjp<"split">, Decomposition<"splitWidth">;
def Aten_UnsafeSplitWithSizesOp : Aten_MaybeView<"unsafe_split_with_sizes",
    "(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    "splitWithSizes">, Vjp<"split">, Decomposition<"splitSizes">;
def Aten_UnsafeChunkOp : Aten_MaybeView<"unsafe_chunk",
    "(Tensor self, int chunks, int dim=0) -> Tensor[]", "chunk">, Vjp<"split">,
    Decomposition<"chunk">;
def Aten_SumToSizeOp : Aten_MaybeView<"sum_to_size",
    "(Tensor self, SymInt[] size) -> Tensor", "sumToSize">, Vjp<"sumToSizeOf">,
    Kernel<"sumToSize">, Decomposition<"sumToSize">;
def Aten_NarrowTensorOp : Aten_View<"narrow.Tensor",
    "(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
    "narrow">, Decomposition<"narrowAt">;
def Aten_TensorSplitTensorOp : Aten_View<
    "tensor_split.tensor_indices_or_sections",
    "(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> "
    "Tensor(a)[]", "tensorSplitAt">, Decomposition<"splitAtPlaces">;
def Aten_InternalReshapeAliasCopyOp : Aten_ViewCopy<"_reshape_alias_copy",
    "(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor", "view">,
    Decomposition<"viewOf">;
def Aten_AliasCopyOp : Aten_ViewCopy<"alias_copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Decomposition<"viewOf">;
def Aten_DetachCopyOp : Aten_DetachCopy<"detach_copy",
    "(Tensor self) -> Tensor", "sameAsSelf">, Decomposition<"viewOf">;
def Aten_DiagonalCopyOp : Aten_ViewCopy<"diagonal_copy",
    "(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    "diagonal">, Decomposition<"viewOf">;
def Aten_ExpandCopyOp : Aten_ViewCopy<"expand_copy",
    "(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
    "expand">, Decomposition<"viewOf">;
def Aten_NarrowCopyOp : Aten_ViewCopy<"narrow_copy",
    "(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", "narrow">,
    Decomposition<"viewOf">;
def Aten_PermuteCopyOp : Aten_ViewCopy<"permute_copy",
    "(Tensor self, int[] dims) -> Tensor", "permute">, Decomposition<"viewOf">;
def Aten_SelectCopyIntOp : Aten_ViewCopy<"select_copy.int",
    "(Tensor self, int dim, SymInt index) -> Tensor", "select">,
    Decomposition<"viewOf">;
def Aten_SliceCopyTensorOp : Aten_ViewCopy<"slice_copy.Tensor",
    "(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
    "step=1) -> Tensor", "slice">, Decomposition<"viewOf">;
def Aten_SplitCopyTensorOp : Aten_ViewCopy<"split_copy.Tensor",
    "(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", "split">,
    Decomposition<"viewOf">;
def Aten_SplitWithSizesCopyOp : Aten_ViewCopy<"split_with_sizes_copy",
    "(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    "splitWithSizes">, Decomposition<"viewOf">;
def Aten_SqueezeCopyOp : Aten_ViewCopy<"squeeze_copy",
    "(Tensor self) -> Tensor", "squeeze">, Decomposition<"viewOf">;
def Aten_SqueezeCopyDimOp : Aten_ViewCopy<"squeeze_copy.dim",
    "(Tensor self, int dim) -> Tensor", "squeeze">, Decomposition<"viewOf">;
def Aten_SqueezeCopyDimsOp : Aten_ViewCopy<"squeeze_copy.dims",
    "(Tensor self, int[] dim) -> Tensor", "squeeze">, Decomposition<"viewOf">;
def Aten_TCopyOp : Aten_ViewCopy<"t_copy",
    "(Tensor self) -> Tensor", "t">, Decomposition<"viewOf">;
def Aten_TransposeCopyIntOp : Aten_ViewCopy<"transpose_copy.int",
    "(Tensor self, int dim0, int dim1) -> Tensor", "transpose">,
    Decomposition<"viewOf">;
def Aten_UnbindCopyIntOp : Aten_ViewCopy<"unbind_copy.int",
    "(Tensor self, int dim=0) -> Tensor[]", "unbind">, Decomposition<"viewOf">;
def Aten_UnfoldCopyOp : Aten_ViewCopy<"unfold_copy",
    "(Tensor self, int dimension, int size, int step) -> Tensor", "unfold">,
    Decomposition<"viewOf">;
def Aten_UnsqueezeCopyOp : Aten_ViewCopy<"unsqueeze_copy",
    "(Tensor self, int dim) -> Tensor", "unsqueeze">, Decomposition<"viewOf">;
def Aten_ViewAsComplexCopyOp : Aten_ViewCopy<"view_as_complex_copy",
    "(Tensor self) -> Tensor", "viewAsComplex">, Decomposition<"viewOf">;
def Aten_ViewAsRealCopyOp : Aten_ViewCopy<"view_as_real_copy",
    "(Tensor self) -> Tensor", "viewAsReal">, Decomposition<"viewOf">;
def Aten_ViewCopyOp : Aten_ViewCopy<"view_copy",
    "(Tensor self, SymInt[] size) -> Tensor", "view">, Decomposition<"viewOf">;
def Aten_ViewCopyDtypeOp : Aten_ViewCopy<"view_copy.dtype",
    "(Tensor self, ScalarType dtype) -> Tensor", "viewDtype">,
    Decomposition<"viewOf">;

#endif // CUTBACK_DIALECT_ATEN_VIEW_TD
