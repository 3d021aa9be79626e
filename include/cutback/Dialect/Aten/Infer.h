// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of ATen calls: shapes, also with `?`, and element types by
// PyTorch's promotion rules. One pure function a rule; the ODS files name the
// function of each op, `inferResultTypes` (Schema.h) calls it.
#ifndef CUTBACK_DIALECT_ATEN_INFER_H
#define CUTBACK_DIALECT_ATEN_INFER_H

#include "cutback/Dialect/Aten/Arguments.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace cutback::aten {

/// An unknown size or number: `?`.
inline constexpr int64_t kUnknown = mlir::ShapedType::kDynamic;

/// A tensor as inference sees it; or a number given where a tensor stands
/// (`mul.Tensor(x, 0.1)`), which has no dimensions and takes part in type
/// promotion by its category only.
struct TensorShape {
  llvm::SmallVector<int64_t, 6> dims;
  mlir::Type element;
  bool isNumber = false;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

/// One call whose result types are asked for. The accessors fail, with an
/// error at the call's location if it has one, where the argument is missing or
/// of another kind.
class InferCall : private Arguments {
public:
  InferCall(const Schema &schema, mlir::ArrayAttr args,
            mlir::TypeRange operandTypes, llvm::ArrayRef<int64_t> operandInts,
            std::optional<mlir::Location> loc);

  /// The skeleton has one entry a parameter and asks for exactly the operands
  /// there are.
  mlir::LogicalResult verify() const;

  using Arguments::hasMisread;
  const Schema &getSchema() const { return schema; }
  mlir::MLIRContext *getContext() const { return args.getContext(); }

  /// True if the argument is None, and of an optional parameter that the schema
  /// lacks.
  bool isNone(ParamRef param) const { return item(param).isNone(); }

  mlir::LogicalResult tensor(ParamRef param, TensorShape &result) const;
  /// A tensor, a number or a symbolic scalar.
  mlir::LogicalResult tensorOrNumber(ParamRef param, TensorShape &result) const;
  mlir::LogicalResult optionalTensor(ParamRef param,
                                     std::optional<TensorShape> &result) const;
  mlir::LogicalResult tensors(ParamRef param,
                              llvm::SmallVectorImpl<TensorShape> &result) const;
  mlir::LogicalResult optionalTensors(
      ParamRef param,
      llvm::SmallVectorImpl<std::optional<TensorShape>> &result) const;

  /// `kUnknown` where the argument is an SSA value that is not known.
  mlir::LogicalResult integer(ParamRef param, int64_t &result) const;
  mlir::LogicalResult optionalInteger(ParamRef param,
                                      std::optional<int64_t> &result) const;
  /// None is the empty list, a single int a list of one.
  mlir::LogicalResult integers(ParamRef param,
                               llvm::SmallVectorImpl<int64_t> &result) const;
  /// A number as f64 (ints too); nothing where it is an unknown SSA value.
  mlir::LogicalResult number(ParamRef param,
                             std::optional<double> &result) const;
  mlir::LogicalResult
  numbers(ParamRef param,
          llvm::SmallVectorImpl<std::optional<double>> &result) const;
  /// False for None.
  mlir::LogicalResult boolean(ParamRef param, bool &result) const;
  mlir::LogicalResult booleans(ParamRef param,
                               llvm::SmallVectorImpl<bool> &result) const;
  /// Empty for None.
  mlir::LogicalResult string(ParamRef param, llvm::StringRef &result) const;
  /// Null for None.
  mlir::LogicalResult dtype(ParamRef param, mlir::Type &result) const;
  /// The type of a scalar argument: i1, i64, f64 (index counts as i64).
  mlir::LogicalResult scalarType(ParamRef param, mlir::Type &result) const;
  /// A dimension of a tensor of `rank` dimensions, counted from 0: -1 is the
  /// last one. A 0-d tensor has dimensions 0 and -1.
  mlir::LogicalResult dimension(ParamRef param, int64_t rank,
                                int64_t &result) const;

  /// The same for a dimension given as a number.
  mlir::LogicalResult wrapDimension(int64_t dim, int64_t rank,
                                    int64_t &result) const;

  /// Emits `PACKET: MESSAGE` if there is a location; always fails.
  template <typename... Args> mlir::LogicalResult error(Args &&...parts) const {
    if (loc) {
      mlir::InFlightDiagnostic diag = mlir::emitError(*loc);
      diag << schema.packet << ": ";
      (diag << ... << std::forward<Args>(parts));
    }
    return mlir::failure();
  }

private:
  mlir::LogicalResult entries(ParamRef param,
                              llvm::SmallVectorImpl<Item> &result) const;
  mlir::Type operandType(const Item &item) const;
  mlir::LogicalResult shapeOf(const Item &item, bool numbers,
                              TensorShape &result) const;
  mlir::LogicalResult integerOf(const Item &item, int64_t &result) const;
  mlir::LogicalResult numberOf(const Item &item,
                               std::optional<double> &result) const;
  mlir::LogicalResult booleanOf(const Item &item, bool &result) const;
  mlir::LogicalResult kindError(const Item &item,
                                llvm::StringRef expected) const;

  mlir::TypeRange operandTypes;
  llvm::ArrayRef<int64_t> operandInts;
};

/// The type of the result of PyTorch's promotion of `operands`: tensors with
/// dimensions come before 0-d tensors, these before numbers, and a lower group
/// counts only where its category (bool < int < float < complex) is higher.
mlir::Type promoteTypes(llvm::ArrayRef<TensorShape> operands);

/// Promotion of two element types as such (`torch.promote_types`).
mlir::Type promotePair(mlir::Type a, mlir::Type b);

/// Functions by family. The comment names the ops of each; arguments are read
/// by the names in ATen's schemas ("self", "dim", ...).
namespace infer {

using Results = llvm::SmallVectorImpl<mlir::Type>;
using Function = mlir::LogicalResult(const InferCall &, Results &);

//===-- Pointwise ---------------------------------------------------------===//
/// add sub rsub mul maximum minimum fmod remainder floor_divide pow.* bitwise_*
/// clamp* addcmul lerp prims.fma hypot nextafter *_backward of activations
/// with all-tensor broadcasting (alpha, beta, value, eps do not promote).
Function broadcast;
/// div.Tensor div.Scalar true_divide atan2 addcdiv xlogy: int becomes float.
Function broadcastFloat;
/// div.Tensor_mode div.Scalar_mode: float unless there is a rounding mode.
Function divMode;
/// eq ne lt le gt ge (Tensor, Scalar) logical_* isnan isinf isfinite: i1.
Function comparison;
/// Shape and type of parameter `self` (else of the first tensor): neg relu
/// floor ceil round trunc sign clone alias detach contiguous silu gelu
/// hardtanh leaky_relu elu hardswish softplus mish bitwise_not copy fill.*
/// index_put _unsafe_index_put index_add index_copy index_fill scatter* flip
/// roll tril triu lift_fresh_copy prims.rev dropout _unsafe_masked_index_put*
/// avg_pool*_backward max_pool*_backward _adaptive_avg_pool*_backward
/// prims.device_put wait_tensor all_reduce zero cumulative normal_functional.
Function sameAsSelf;
/// abs: complex becomes real.
Function absolute;
/// exp log* sqrt rsqrt reciprocal erf* sin cos tan* sinh .. sigmoid expm1
/// log1p logit special_*: int becomes float (f32).
Function unaryFloat;
/// where.self where.ScalarOther where.ScalarSelf where.Scalar.
Function where;
/// masked_fill.Scalar masked_fill.Tensor _unsafe_masked_index: self with mask.
Function maskedFill;
/// _to_copy to.dtype type_as-like: self in `dtype` if that is given.
Function toDtype;
/// prims.convert_element_type(a, dtype), view.dtype of equal width.
Function convertElementType;
/// glu: half of one dimension.
Function glu;
/// native_dropout: (output, i1 mask).
Function nativeDropout;
/// complex(real, imag), polar(abs, angle).
Function makeComplex;
/// real imag view_as_real's parts: complex becomes real, same shape.
Function realPart;

//===-- Reductions, scans, order ------------------------------------------===//
/// sum.* prod.* nansum: ints and bools become i64; `dtype`.
Function sum;
/// mean.*: floating; `dtype`.
Function mean;
/// amax amin max.default min.default: type of self; no `dim` is all.
Function amax;
/// any.* all.*: i1.
Function anyAll;
/// hash_tensor: ui64.
Function hashOfBits;
/// argmax argmin: i64; no `dim` is all.
Function argReduce;
/// var.* std.*: real type of self.
Function variance;
/// var_mean.* std_mean.*: (variance, mean).
Function varMean;
/// linalg_vector_norm norm.*: real float type, or `dtype`.
Function vectorNorm;
/// logsumexp: int becomes float.
Function logSumExp;
/// aminmax: (min, max).
Function aminmax;
/// max.dim min.dim median.dim mode kthvalue: (values, i64 indices).
Function dimWithIndices;
/// cummax cummin: (values, i64 indices) of the shape of self.
Function scanWithIndices;
/// cumsum cumprod: ints become i64; `dtype`. logcumsumexp.
Function scan;
/// topk: (values, indices).
Function topk;
/// sort.* : (values, indices); argsort gives the second alone.
Function sort;
/// argsort: i64 of the shape of self.
Function argsort;
/// searchsorted.Tensor bucketize.Tensor: i64 (i32 with out_int32).
Function searchSorted;
/// bincount: one dimension `?`.
Function bincount;

//===-- Views -------------------------------------------------------------===//
/// view.default reshape _unsafe_view _reshape_copy: one size may be -1.
Function view;
/// view.dtype: another element type, the last dimension rescaled.
Function viewDtype;
/// permute.
Function permute;
/// transpose.int.
Function transpose;
/// t numpy_T-like: two dimensions swapped, fewer kept.
Function t;
/// expand: -1 keeps a size.
Function expand;
/// expand_as view_as reshape_as: shape of `other`.
Function shapeOfOther;
/// unsqueeze.
Function unsqueeze;
/// squeeze.default squeeze.dim squeeze.dims (an unknown size is kept).
Function squeeze;
/// slice.Tensor.
Function slice;
/// select.int.
Function select;
/// narrow.
Function narrow;
/// split_with_sizes (also split.sizes).
Function splitWithSizes;
/// split.Tensor.
Function split;
/// chunk.
Function chunk;
/// unbind.int.
Function unbind;
/// flatten.using_ints.
Function flatten;
/// unflatten.int.
Function unflatten;
/// unfold.
Function unfold;
/// diagonal.
Function diagonal;
/// as_strided as_strided_copy: `size`.
Function asStrided;
/// resize_ resize: `size`; resize_as_: sizes of the other one.
Function resize;
/// view_as_real: complex becomes real with a last dimension 2.
Function viewAsReal;
/// view_as_complex.
Function viewAsComplex;
/// movedim.int movedim.intlist.
Function movedim;

//===-- Data movement, creation -------------------------------------------===//
/// cat, concat.
Function cat;
/// stack.
Function stack;
/// constant_pad_nd reflection_pad*d replication_pad*d pad.
Function padNd;
/// repeat.
Function repeat;
/// tile.
Function tile;
/// repeat_interleave.Tensor .self_int .self_Tensor.
Function repeatInterleave;
/// full: `size`, dtype from fill_value if not given.
Function full;
/// empty.* empty_strided zeros ones rand randn: `size`, dtype or f32.
Function create;
/// randint.default randint.low: `size`, i64 by default.
Function randint;
/// randperm: [n], i64 by default.
Function randperm;
/// eye, eye.m.
Function eye;
/// full_like zeros_like ones_like empty_like rand_like randn_like randint_like
/// bernoulli.*: shape of self, `dtype` or type of self.
Function createLike;
/// new_full new_zeros new_ones new_empty new_empty_strided.
Function createNew;
/// arange.default arange.start arange.start_step.
Function arange;
/// linspace logspace.
Function linspace;
/// prims.iota.
Function iota;
/// scalar_tensor: [], dtype or f32.
Function scalarTensor;
/// slice_backward select_backward diagonal_backward unfold_backward:
/// `input_sizes`, type of the gradient.
Function sizesOfInput;
/// one_hot: a last dimension num_classes.
Function oneHot;
/// meshgrid, meshgrid.indexing.
Function meshgrid;
/// broadcast_tensors.
Function broadcastTensors;
/// multinomial.
Function multinomial;

//===-- Indexing ----------------------------------------------------------===//
/// index.Tensor _unsafe_index.Tensor.
Function indexTensor;
/// _unsafe_masked_index: as index.Tensor.
Function maskedIndex;
/// gather take_along_dim: shape of index.
Function gather;
/// index_select.
Function indexSelect;
/// take: shape of index.
Function take;
/// embedding(weight, indices).
Function embedding;
/// embedding_dense_backward.
Function embeddingDenseBackward;
/// _embedding_bag _embedding_bag_forward_only: four results.
Function embeddingBag;
/// _embedding_bag_backward _embedding_bag_dense_backward.
Function embeddingBagBackward;
/// _embedding_bag_per_sample_weights_backward.
Function embeddingBagWeightsBackward;
/// nonzero nonzero_static argwhere: [?, rank].
Function nonzero;
/// masked_select: [?].
Function maskedSelect;

//===-- Matrix products ---------------------------------------------------===//
/// mm.
Function mm;
/// addmm.
Function addmm;
/// bmm.
Function bmm;
/// baddbmm.
Function baddbmm;
/// matmul.
Function matmul;
/// mv.
Function mv;
/// dot vdot.
Function dot;
/// addmv.
Function addmv;
/// outer.
Function outer;
/// linear(input, weight, bias).
Function linear;
/// linear_backward: (input, weight, bias) by output_mask.
Function linearBackward;
/// einsum(equation, operands).
Function einsum;
/// _grouped_mm(self, mat2, offs, bias, out_dtype).
Function groupedMm;
/// _scaled_mm(self, mat2, ..., out_dtype).
Function scaledMm;
/// _cdist_forward, cdist.
Function cdist;

//===-- Convolution, pooling, resampling ----------------------------------===//
/// convolution _convolution.
Function convolution;
/// convolution_backward: `none` where output_mask is false.
Function convolutionBackward;
/// conv1d conv2d conv3d .default and .padding ("same", "valid").
Function convNd;
/// conv_transpose1d conv_transpose2d.input conv_transpose3d.input.
Function convTransposeNd;
/// avg_pool1d avg_pool2d avg_pool3d.
Function avgPool;
/// max_pool1d max_pool2d max_pool3d (one result).
Function maxPool;
/// max_pool2d_with_indices max_pool3d_with_indices: (output, i64 indices).
Function maxPoolWithIndices;
/// prims._low_memory_max_pool_with_offsets: (output, i8 offsets).
Function lowMemoryMaxPool;
/// prims._low_memory_max_pool_offsets_to_indices: i64 of the same shape.
Function offsetsToIndices;
/// adaptive_avg_pool1d/2d/3d _adaptive_avg_pool2d _adaptive_avg_pool3d.
Function adaptiveAvgPool;
/// adaptive_max_pool1d/2d/3d: (output, i64 indices).
Function adaptiveMaxPool;
/// fractional_max_pool2d fractional_max_pool3d: (values, indices).
Function fractionalMaxPool;
/// upsample_{nearest,bilinear,bicubic,linear,trilinear}*: .default (sizes) and
/// .vec (sizes or factors).
Function upsample;
/// upsample_*_backward: `input_size`.
Function upsampleBackward;
/// im2col (unfold of nn.functional); col2im (fold).
Function im2col;
Function col2im;
/// pixel_shuffle, pixel_unshuffle.
Function pixelShuffle;
Function pixelUnshuffle;
/// grid_sampler_2d grid_sampler_3d.
Function gridSampler;

//===-- Normalization, softmax, losses, recurrent -------------------------===//
/// layer_norm group_norm rms_norm instance_norm batch_norm: type of input.
Function sameAsInput;
/// native_layer_norm: (output, mean, rstd).
Function nativeLayerNorm;
/// native_layer_norm_backward: (input, weight, bias) by output_mask.
Function nativeLayerNormBackward;
/// _fused_rms_norm: (output, rstd); its backward (input, weight).
Function fusedRmsNorm;
Function fusedRmsNormBackward;
/// native_group_norm: (output, mean, rstd); its backward.
Function nativeGroupNorm;
Function nativeGroupNormBackward;
/// native_batch_norm _native_batch_norm_legit(.no_stats, _no_training)
/// cudnn_batch_norm (+ reserve) : (output, save_mean, save_invstd ...).
Function nativeBatchNorm;
/// native_batch_norm_backward.
Function nativeBatchNormBackward;
/// _native_batch_norm_legit_functional: five results;
/// _batch_norm_with_update_functional: six.
Function batchNormFunctional;
/// softmax.int log_softmax.int: `dtype`.
Function softmax;
/// _softmax _log_softmax: `half_to_float`.
Function softmaxHalf;
/// _softmax_backward_data _log_softmax_backward_data: `input_dtype`.
Function softmaxBackward;
/// mse_loss l1_loss smooth_l1_loss huber_loss
/// binary_cross_entropy(_with_logits) kl_div soft_margin_loss: `reduction`.
Function pointwiseLoss;
/// their backwards: shape of self.
Function pointwiseLossBackward;
/// cross_entropy_loss: `reduction`, class indices or probabilities.
Function crossEntropyLoss;
/// nll_loss_nd nll_loss nll_loss2d: one result.
Function nllLoss;
/// torch_nn._linear_cross_entropy_batch_chunked*
Function linearCrossEntropy;
/// nll_loss_forward nll_loss2d_forward: (output, total_weight).
Function nllLossForward;
/// log_sigmoid_forward: (output, buffer).
Function logSigmoidForward;
/// lstm.input gru.input rnn_tanh.input: (output, states ...).
Function lstm;
Function gru;

//===-- Attention ---------------------------------------------------------===//
/// scaled_dot_product_attention: one result.
Function sdpa;
/// _scaled_dot_product_flash_attention_for_cpu: (output, logsumexp).
Function sdpaFlashCpu;
/// _scaled_dot_product_flash_attention: nine results.
Function sdpaFlash;
/// _scaled_dot_product_efficient_attention: (output, lse, seed, offset).
Function sdpaEfficient;
/// _scaled_dot_product_cudnn_attention: nine results.
Function sdpaCudnn;
/// _scaled_dot_product_attention_math: (output, attention weights).
Function sdpaMath;
/// The backwards of flash, flash_for_cpu and cudnn: (dq, dk, dv).
Function sdpaBackward;
/// _scaled_dot_product_efficient_attention_backward: (dq, dk, dv, dbias) by
/// grad_input_mask.
Function sdpaEfficientBackward;

//===-- Spectral, collective ----------------------------------------------===//
/// _fft_c2c: complex, shape of self.
Function fftC2c;
/// _fft_r2c: last of `dim` halved plus one with onesided.
Function fftR2c;
/// _fft_c2r: last of `dim` is last_dim_size.
Function fftC2r;
/// _c10d_functional.all_gather_into_tensor(input, group_size, group_name).
Function allGather;
/// _c10d_functional.reduce_scatter_tensor(input, op, group_size, group_name).
Function reduceScatter;
/// _c10d_functional.all_to_all_single(input, output_splits, input_splits, g).
Function allToAll;

//===-- Symbolic scalars --------------------------------------------------===//
/// sym_size.int sym_stride.int sym_numel sym_storage_offset torch.sym_int
/// math.trunc math.floor math.ceil torch.sym_sum: index.
Function symIndex;
/// torch.sym_float torch.sym_sqrt operator.truediv math.sqrt: f64.
Function symFloat;
/// operator.add sub mul floordiv mod pow neg pos abs, torch.sym_max sym_min:
/// index, f64 if any operand is one.
Function symArith;
/// operator.eq ne lt le gt ge, torch.sym_not, operator.and_ or_ of bools: i1.
Function symBool;
/// torch.sym_ite(condition, then, else).
Function symIte;
/// item, _local_scalar_dense: index, f64 or i1 by the tensor's type.
Function item;
/// Ops without results: _assert_async.msg, _assert_scalar, pippy._pipe_split.
Function nothing;

} // namespace infer
} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_INFER_H
