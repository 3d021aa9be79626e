// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that read or write at computed places.
#ifndef CUTBACK_DIALECT_ATEN_INDEXING_TD
#define CUTBACK_DIALECT_ATEN_INDEXING_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Gather<string name, string formula, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Reads at places that other tensors hold.";
  let element = formula;
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
}

class Aten_Scatter<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "A copy of `self` with values written, or added, at computed "
               "places. Adding in parallel may order sums differently from "
               "run to run.";
  let infer = rule;
  let weight = w;
  let flops = "perOutput";
}

class Aten_EmbeddingBag<string name, string schema, string rule, int w = 2>
    : Aten_AtenOp<name, schema> {
  let family = "Sums, means or maxima of rows of a table.";
  let infer = rule;
  let weight = w;
  let flops = "perInput";
}

class Aten_Segments<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Combines the elements of segments whose lengths a tensor "
               "holds.";
  let infer = rule;
  let weight = w;
  let flops = "perInput";
}

class Aten_Search<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "Places of nonzero elements: the number of results depends on "
               "data.";
  let infer = rule;
  let weight = w;
  let flops = "perInput";
  let flags = ["kNotDifferentiable"];
}

class Aten_MaskedSelect<string name, string schema, string rule, int w = 1>
    : Aten_AtenOp<name, schema> {
  let family = "The elements under a mask: how many depends on data.";
  let infer = rule;
  let weight = w;
  let flops = "perInput";
}

def Aten_IndexTensorOp : Aten_Gather<"index.Tensor", "indexTensors",
    "(Tensor self, Tensor?[] indices) -> Tensor", "indexTensor">, Vjp<"index">,
    Kernel<"index">;
def Aten_InternalUnsafeIndexTensorOp : Aten_Gather<
    "_unsafe_index.Tensor", "indexTensors",
    "(Tensor self, Tensor?[] indices) -> Tensor", "indexTensor">,
    Vjp<"unsafeIndex">, Kernel<"index">;
def Aten_InternalUnsafeMaskedIndexOp : Aten_Gather<
    "_unsafe_masked_index", "maskedIndex",
    "(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    "maskedIndex">, Vjp<"maskedIndex">, Kernel<"maskedIndex">;
def Aten_GatherOp : Aten_Gather<"gather", "none",
    "(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> "
    "Tensor", "gather">, Vjp<"gather">, Kernel<"gather"> {
  let loops = "pick";
}
def Aten_TakeAlongDimOp : Aten_Gather<"take_along_dim", "none",
    "(Tensor self, Tensor indices, int? dim=None) -> Tensor", "gather">,
    Vjp<"takeAlongDim">, Kernel<"takeAlongDim"> {
  let loops = "pick";
}
def Aten_IndexSelectOp : Aten_Gather<"index_select", "indexSelect",
    "(Tensor self, int dim, Tensor index) -> Tensor", "indexSelect">,
    Vjp<"indexSelect">, Kernel<"indexSelect">, CoreForm<"complexMove">;
def Aten_TakeOp : Aten_Gather<"take", "take",
    "(Tensor self, Tensor index) -> Tensor", "take">, Vjp<"take">,
    Kernel<"takeElements">;
def Aten_EmbeddingOp : Aten_Gather<"embedding", "embedding",
    "(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor", "embedding">,
    Vjp<"embedding">, Kernel<"embedding"> {
  let loops = "lookup";
}
def Aten_IndexPutOp : Aten_Scatter<"index_put",
    "(Tensor self, Tensor?[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor", "sameAsSelf">, Vjp<"indexPut">,
    Kernel<"indexPut">, CoreForm<"chosen"> {
  let loops = "update";
}
def Aten_InternalUnsafeIndexPutOp : Aten_Scatter<"_unsafe_index_put",
    "(Tensor self, Tensor?[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor", "sameAsSelf">, Vjp<"unsafeIndexPut">,
    Kernel<"indexPut">, CoreForm<"chosen"> {
  let loops = "update";
}
def Aten_InternalUnsafeMaskedIndexPutAccumulateOp : Aten_Scatter<
    "_unsafe_masked_index_put_accumulate",
    "(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
    "sameAsSelf">, Vjp<"maskedIndexPut">, Kernel<"maskedIndexPut"> {
  let loops = "update";
}
def Aten_IndexAddOp : Aten_Scatter<"index_add",
    "(Tensor self, int dim, Tensor index, Tensor source, *, "
    "Scalar alpha=1) -> Tensor", "sameAsSelf">, Vjp<"indexAdd">,
    Kernel<"indexAdd"> {
  let loops = "update";
}
def Aten_IndexCopyOp : Aten_Scatter<"index_copy",
    "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    "sameAsSelf">, Vjp<"indexCopy">, Kernel<"indexCopy"> {
  let loops = "update";
}
def Aten_IndexFillIntScalarOp : Aten_Scatter<"index_fill.int_Scalar",
    "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    "sameAsSelf">, Vjp<"indexFill">, Kernel<"indexFill">;
def Aten_IndexFillIntTensorOp : Aten_Scatter<"index_fill.int_Tensor",
    "(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    "sameAsSelf">, Vjp<"indexFill">, Kernel<"indexFill">;
def Aten_ScatterSrcOp : Aten_Scatter<"scatter.src",
    "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "sameAsSelf">,
    Vjp<"scatter">, Kernel<"scatter"> {
  let element = "scatterElement";
  let loops = "place";
}
def Aten_ScatterValueOp : Aten_Scatter<"scatter.value",
    "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    "sameAsSelf">, Vjp<"scatter">, Kernel<"scatter"> {
  let element = "scatterNumber";
  let loops = "place";
}
def Aten_ScatterAddOp : Aten_Scatter<"scatter_add",
    "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "sameAsSelf">,
    Vjp<"scatterAdd">, Kernel<"scatterAdd"> {
  let loops = "update";
}
def Aten_ScatterReduceTwoOp : Aten_Scatter<"scatter_reduce.two",
    "(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor", "sameAsSelf">, Vjp<"scatterReduce">,
    Kernel<"scatterReduce">;
def Aten_MaskedScatterOp : Aten_Scatter<"masked_scatter",
    "(Tensor self, Tensor mask, Tensor source) -> Tensor", "maskedFill">,
    Vjp<"maskedScatter">, Kernel<"maskedScatter">;
def Aten_PutOp : Aten_Scatter<"put",
    "(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
    "Tensor", "sameAsSelf">, Vjp<"putFlat">, Kernel<"putElements">,
    CoreForm<"putFlat">;
def Aten_EmbeddingDenseBackwardOp : Aten_Scatter<"embedding_dense_backward",
    "(Tensor grad_output, Tensor indices, SymInt num_weights, "
    "SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    "embeddingDenseBackward">, Vjp<"embeddingBackward">,
    Kernel<"embeddingDenseBackward">;
def Aten_InternalEmbeddingBagOp : Aten_EmbeddingBag<"_embedding_bag",
    "(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, "
    "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)", "embeddingBag">,
    Vjp<"embeddingBag">, Kernel<"embeddingBag">;
def Aten_InternalEmbeddingBagForwardOnlyOp : Aten_EmbeddingBag<
    "_embedding_bag_forward_only",
    "(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, "
    "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)", "embeddingBag">,
    Kernel<"embeddingBag">;
def Aten_InternalEmbeddingBagBackwardOp : Aten_EmbeddingBag<
    "_embedding_bag_backward",
    "(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, "
    "Tensor bag_size, Tensor maximum_indices, SymInt num_weights, "
    "bool scale_grad_by_freq, int mode, bool sparse, "
    "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    "embeddingBagBackward">, Vjp<"embeddingBagBackward">,
    Kernel<"embeddingBagBackward">;
def Aten_InternalEmbeddingBagDenseBackwardOp : Aten_EmbeddingBag<
    "_embedding_bag_dense_backward",
    "(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, "
    "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, "
    "int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    "embeddingBagBackward">, Kernel<"embeddingBagBackward">;
def Aten_InternalEmbeddingBagPerSampleWeightsBackwardOp : Aten_EmbeddingBag<
    "_embedding_bag_per_sample_weights_backward",
    "(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    "embeddingBagWeightsBackward">, Vjp<"embeddingBagWeightsBackward">,
    Kernel<"embeddingBagWeightsBackward">;
def Aten_NonzeroOp : Aten_Search<"nonzero",
    "(Tensor self) -> Tensor", "nonzero">, Kernel<"nonzero">;
def Aten_ArgwhereOp : Aten_Search<"argwhere",
    "(Tensor self) -> Tensor", "nonzero">, Kernel<"nonzero">;
def Aten_NonzeroStaticOp : Aten_Search<"nonzero_static",
    "(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", "nonzero">,
    Kernel<"nonzero">;
def Aten_MaskedSelectOp : Aten_MaskedSelect<"masked_select",
    "(Tensor self, Tensor mask) -> Tensor", "maskedSelect">,
    Vjp<"maskedSelect">, Kernel<"maskedSelect">;
def Aten_ScatterReduceOp : Aten_Scatter<"scatter.reduce",
    "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    "sameAsSelf">, Kernel<"scatterReduce">, Decomposition<"scatterReduce">;
def Aten_ScatterValueReduceOp : Aten_Scatter<"scatter.value_reduce",
    "(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
    "Tensor", "sameAsSelf">, Kernel<"scatterReduce">,
    Decomposition<"scatterReduce">;
def Aten_IndexReduceOp : Aten_Scatter<"index_reduce",
    "(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
    "include_self=True) -> Tensor", "sameAsSelf">, Vjp<"indexReduce">,
    Kernel<"indexReduce">;
def Aten_EmbeddingRenormOp : Aten_Scatter<"embedding_renorm",
    "(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    "sameAsSelf">, Kernel<"embeddingRenorm">, Decomposition<"embeddingRenorm">;
def Aten_EmbeddingBagOp : Aten_EmbeddingBag<"embedding_bag",
    "(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
    "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "
    "Tensor, Tensor, Tensor)", "embeddingBag">, Decomposition<"embeddingBag">,
    Kernel<"embeddingBag">;
def Aten_EmbeddingBagPaddingIdxOp : Aten_EmbeddingBag<
    "embedding_bag.padding_idx",
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, "
    "int mode, bool sparse, Tensor? per_sample_weights, bool "
    "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
    "embeddingBag">, Kernel<"embeddingBagPadded">,
    Decomposition<"embeddingBag">;

def Aten_InternalUnique2Op : Aten_Search<"_unique2",
    "(Tensor self, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)", "unique">,
    Kernel<"unique">;
def Aten_MaskedScatterBackwardOp : Aten_Scatter<"masked_scatter_backward",
    "(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
    "maskedScatterBackward">, Kernel<"maskedScatterBackward">;
def Aten_SegmentReduceOp : Aten_Segments<"segment_reduce",
    "(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, "
    "Scalar? initial=None) -> Tensor", "segmentReduce">, Vjp<"segmentReduce">,
    Kernel<"reduceSegments">;
def Aten_InternalSegmentReduceBackwardOp : Aten_Segments<
    "_segment_reduce_backward",
    "(Tensor grad, Tensor output, Tensor data, str reduce, *, "
    "Tensor? lengths=None, Tensor? offsets=None, int axis=0, "
    "Scalar? initial=None) -> Tensor", "segmentReduce">,
    Kernel<"reduceSegmentsBackward">;
def Aten_InternalUniqueOp : Aten_Search<"_unique",
    "(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, "
    "Tensor)", "unique">, Kernel<"unique">;
def Aten_UniqueConsecutiveOp : Aten_Search<"unique_consecutive",
    "(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> (Tensor, Tensor, Tensor)", "unique">,
    Kernel<"uniqueConsecutive">;
def Aten_UniqueDimOp : Aten_Search<"unique_dim",
    "(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)", "unique">,
    Kernel<"unique">;
def Aten_UniqueDimConsecutiveOp : Aten_Search<"unique_dim_consecutive",
    "(Tensor self, int dim, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)", "unique">,
    Kernel<"uniqueConsecutive">;
def Aten_InternalConvertIndicesFromCooToCsrOp : Aten_Search<
    "_convert_indices_from_coo_to_csr",
    "(Tensor self, int size, *, bool out_int32=False) -> Tensor", "rowStarts">,
    Kernel<"rowStarts">;
def Aten_InternalConvertIndicesFromCsrToCooOp : Aten_Search<
    "_convert_indices_from_csr_to_coo",
    "(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False, bool "
    "transpose=False) -> Tensor", "rowsOfEntries">, Kernel<"rowsOfEntries">;

#endif // CUTBACK_DIALECT_ATEN_INDEXING_TD
