// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations, softmax and losses, forward and backward, as they stand
// before they are decomposed.
#ifndef CUTBACK_DIALECT_ATEN_NORMALIZATION_TD
#define CUTBACK_DIALECT_ATEN_NORMALIZATION_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Norm<string name, string schema, string rule, int w = 8>
    : Aten_AtenOp<name, schema> {
  let family = "Normalization, or its gradients.";
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let flops = "perInput";
}

class Aten_BatchNorm<string name, string schema, string rule, int w = 8>
    : Aten_AtenOp<name, schema> {
  let family = "Normalization with statistics over the batch; the running "
               "statistics have no gradient.";
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let flops = "perInput";
  let noGradient = 0b11000;
}

class Aten_BatchNormBackward<string name, string schema,
                             string rule, int w = 12>
    : Aten_AtenOp<name, schema> {
  let family = "Gradients of batch normalization.";
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let flops = "perInput";
  let noGradient = 0b11000;
}

class Aten_Softmax<string name, string schema, string rule, int w = 14>
    : Aten_AtenOp<name, schema> {
  let family = "Softmax or its logarithm, or the gradient.";
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let flops = "perInput";
}

class Aten_Loss<string name, string schema, string rule, int w = 4>
    : Aten_AtenOp<name, schema> {
  let family = "A loss; class weights have no gradient rule.";
  let infer = rule;
  let weight = w;
  let fusion = "Reduction";
  let flops = "perInput";
}

class Aten_LossBackward<string name, string schema, string rule, int w = 4>
    : Aten_AtenOp<name, schema> {
  let family = "Gradient of a loss.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let flops = "perOutput";
}

def Aten_NativeLayerNormOp : Aten_Norm<"native_layer_norm",
    "(Tensor input, SymInt[] normalized_shape, Tensor? weight, "
    "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)", "nativeLayerNorm">,
    Vjp<"nativeLayerNorm">, Kernel<"layerNorm">, CoreUnit<"layerNorm">;
def Aten_NativeGroupNormOp : Aten_Norm<"native_group_norm",
    "(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
    "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    "nativeGroupNorm">, Vjp<"nativeGroupNorm">, Kernel<"groupNorm">,
    CoreUnit<"groupNorm">;
def Aten_InternalFusedRmsNormOp : Aten_Norm<"_fused_rms_norm",
    "(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
    "(Tensor, Tensor)", "fusedRmsNorm">, Vjp<"fusedRmsNorm">, Kernel<"rmsNorm">,
    CoreUnit<"rmsNorm">;
def Aten_NativeBatchNormOp : Aten_BatchNorm<"native_batch_norm",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)", "nativeBatchNorm">, Vjp<"nativeBatchNorm">,
    Kernel<"batchNorm">, CoreUnit<"batchNorm">;
def Aten_InternalNativeBatchNormLegitOp : Aten_BatchNorm<
    "_native_batch_norm_legit",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
    "Tensor(b!) running_var, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)", "nativeBatchNorm">, Vjp<"nativeBatchNorm">,
    Kernel<"batchNorm">;
def Aten_InternalNativeBatchNormLegitNoStatsOp : Aten_BatchNorm<
    "_native_batch_norm_legit.no_stats",
    "(Tensor input, Tensor? weight, Tensor? bias, bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    "nativeBatchNorm">, Vjp<"nativeBatchNorm">, Kernel<"batchNorm">,
    CoreUnit<"batchNorm">;
def Aten_InternalNativeBatchNormLegitNoTrainingOp : Aten_BatchNorm<
    "_native_batch_norm_legit_no_training",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
    "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor)", "nativeBatchNorm">, Vjp<"evaluatedBatchNorm">,
    Kernel<"batchNormEvaluating">, CoreUnit<"evaluatedBatchNorm">;
def Aten_CudnnBatchNormOp : Aten_BatchNorm<"cudnn_batch_norm",
    "(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float exponential_average_factor, "
    "float epsilon) -> (Tensor, Tensor, Tensor, Tensor)", "nativeBatchNorm">,
    Vjp<"cudnnBatchNorm">, Kernel<"cudnnBatchNorm">;
def Aten_InternalNativeBatchNormLegitFunctionalOp : Aten_BatchNorm<
    "_native_batch_norm_legit_functional",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
    "Tensor running_var, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor, Tensor running_mean_out, "
    "Tensor running_var_out)", "batchNormFunctional">, Vjp<"nativeBatchNorm">,
    Kernel<"batchNorm">, CoreUnit<"batchNorm">;
def Aten_InternalBatchNormWithUpdateOp : Aten_BatchNorm<
    "_batch_norm_with_update",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
    "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor, Tensor)", "nativeBatchNorm">;
def Aten_InternalBatchNormWithUpdateFunctionalOp : Aten_BatchNorm<
    "_batch_norm_with_update_functional",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
    "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
    "batchNormFunctional">, Decomposition<"updatedBatchNorm">;
def Aten_InternalBatchNormNoUpdateOp : Aten_BatchNorm<
    "_batch_norm_no_update",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor, Tensor)", "nativeBatchNorm">, Decomposition<"batchNormAsItStands">;
def Aten_BatchNormBackwardOp : Aten_BatchNormBackward<"batch_norm_backward",
    "(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, "
    "Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, "
    "float eps, bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, "
    "Tensor)", "nativeBatchNormBackward">,
    Decomposition<"gradientsOfBatchNorm">;
def Aten_NativeLayerNormBackwardOp : Aten_Norm<"native_layer_norm_backward",
    "(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
    "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    "nativeLayerNormBackward", 12>, Kernel<"layerNormBackward">,
    Decomposition<"nativeLayerNormBackward">, CoreUnit<"layerNormBackward">;
def Aten_NativeGroupNormBackwardOp : Aten_Norm<"native_group_norm_backward",
    "(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
    "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    "nativeGroupNormBackward", 12>, Kernel<"groupNormBackward">,
    Decomposition<"nativeGroupNormBackward">, CoreUnit<"groupNormBackward">;
def Aten_InternalFusedRmsNormBackwardOp : Aten_Norm<"_fused_rms_norm_backward",
    "(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
    "Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
    "fusedRmsNormBackward", 12>, Kernel<"rmsNormBackward">,
    Decomposition<"fusedRmsNormBackward">, CoreUnit<"rmsNormBackward">;
def Aten_NativeBatchNormBackwardOp : Aten_BatchNormBackward<
    "native_batch_norm_backward",
    "(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
    "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, "
    "bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, "
    "Tensor)", "nativeBatchNormBackward">, Kernel<"batchNormBackward">,
    Decomposition<"nativeBatchNormBackward">, CoreUnit<"batchNormBackward">;
def Aten_InternalSoftmaxOp : Aten_Softmax<"_softmax",
    "(Tensor self, int dim, bool half_to_float) -> Tensor", "softmaxHalf">,
    Vjp<"softmax">, Kernel<"softmax">, CoreUnit<"softmax">;
def Aten_InternalLogSoftmaxOp : Aten_Softmax<"_log_softmax",
    "(Tensor self, int dim, bool half_to_float) -> Tensor", "softmaxHalf">,
    Vjp<"logSoftmax">, Kernel<"logSoftmax">, CoreUnit<"logSoftmax">;
def Aten_InternalSoftmaxBackwardDataOp : Aten_Softmax<"_softmax_backward_data",
    "(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor", "softmaxBackward">,
    Vjp<"softmaxBackward">, Kernel<"softmaxBackwardData">,
    CoreUnit<"softmaxBackward">;
def Aten_InternalLogSoftmaxBackwardDataOp : Aten_Softmax<
    "_log_softmax_backward_data",
    "(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor", "softmaxBackward">,
    Vjp<"logSoftmaxBackward">, Kernel<"logSoftmaxBackwardData">,
    CoreUnit<"logSoftmaxBackward">;
def Aten_InternalSafeSoftmaxOp : Aten_Softmax<"_safe_softmax",
    "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "sameAsSelf">,
    Vjp<"safeSoftmax">, Kernel<"safeSoftmax">, CoreForm<"safeSoftmax">;
def Aten_NllLossForwardOp : Aten_Loss<"nll_loss_forward",
    "(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
    "nllLossForward">, Vjp<"nllLoss">, Kernel<"nllLoss">,
    CoreUnit<"nllForward">;
def Aten_NllLoss2dForwardOp : Aten_Loss<"nll_loss2d_forward",
    "(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
    "nllLossForward">, Vjp<"nllLoss2d">, Kernel<"nllLoss">,
    CoreUnit<"nllForward">;
def Aten_MseLossBackwardOp : Aten_LossBackward<"mse_loss_backward",
    "(Tensor grad_output, Tensor self, Tensor target, int reduction) -> "
    "Tensor", "pointwiseLossBackward">, Vjp<"mseBackward">,
    Kernel<"mseLossBackward">, CoreForm<"meanSquareBackward">;
def Aten_SmoothL1LossBackwardOp : Aten_LossBackward<"smooth_l1_loss_backward",
    "(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "float beta) -> Tensor", "pointwiseLossBackward">, Vjp<"smoothL1Backward">,
    Kernel<"smoothL1LossBackward">, CoreForm<"smoothAbsoluteBackward">;
def Aten_HuberLossBackwardOp : Aten_LossBackward<"huber_loss_backward",
    "(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "float delta) -> Tensor", "pointwiseLossBackward">, Vjp<"huberBackward">,
    Kernel<"huberLossBackward">, CoreForm<"huberBackward">;
def Aten_NllLossBackwardOp : Aten_LossBackward<"nll_loss_backward",
    "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
    "int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor",
    "sameAsSelf">, Vjp<"nllBackward">, Kernel<"nllLossBackward">,
    CoreUnit<"nllBackward">;
def Aten_NllLoss2dBackwardOp : Aten_LossBackward<"nll_loss2d_backward",
    "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
    "int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor",
    "sameAsSelf">, Vjp<"nllBackward">, Kernel<"nllLossBackward">,
    CoreUnit<"nllBackward">;
def Aten_BinaryCrossEntropyBackwardOp : Aten_LossBackward<
    "binary_cross_entropy_backward",
    "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor", "sameAsSelf">,
    Vjp<"crossEntropyOfTwoBackward">, Kernel<"binaryCrossEntropyBackward">,
    CoreForm<"crossEntropyOfTwoBackward">;
def Aten_SoftMarginLossBackwardOp : Aten_LossBackward<
    "soft_margin_loss_backward",
    "(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    "pointwiseLossBackward">, Vjp<"softMarginBackward">,
    Kernel<"softMarginLossBackward">,
    CoreForm<"softMarginBackward">;

class Aten_Ctc<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Sum over the alignments of labels with a sequence.";
  let infer = rule;
  let weight = 10;
  let flops = "perOutput";
}

def Aten_InternalCtcLossOp : Aten_Ctc<"_ctc_loss",
    "(Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
    "target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, "
    "Tensor)", "ctcForward">, Vjp<"ctcLoss">, Kernel<"ctcLoss">;
def Aten_InternalCtcLossTensorOp : Aten_Ctc<"_ctc_loss.Tensor",
    "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
    "target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, "
    "Tensor)", "ctcForward">, Vjp<"ctcLoss">, Kernel<"ctcLoss">;
def Aten_InternalCtcLossBackwardOp : Aten_Ctc<"_ctc_loss_backward",
    "(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int "
    "blank, bool zero_infinity=False) -> Tensor", "ctcBackward">,
    Kernel<"ctcBackward">;
def Aten_InternalCtcLossBackwardTensorOp : Aten_Ctc<
    "_ctc_loss_backward.Tensor",
    "(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, "
    "Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int "
    "blank, bool zero_infinity=False) -> Tensor", "ctcBackward">,
    Kernel<"ctcBackward">;

//===----------------------------------------------------------------------===//
// Norms of weights
//===----------------------------------------------------------------------===//

def Aten_InternalWeightNormInterfaceOp : Aten_Norm<"_weight_norm_interface",
    "(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", "weightNorm">,
    Vjp<"weightNorm">, Kernel<"weightAndNorms">, CoreForm<"weightNorm">;
def Aten_InternalWeightNormInterfaceBackwardOp : Aten_Norm<
    "_weight_norm_interface_backward",
    "(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
    "dim) -> (Tensor, Tensor)", "weightNormBackward">,
    Kernel<"weightGradients">, CoreForm<"weightNormBackward">;

#endif // CUTBACK_DIALECT_ATEN_NORMALIZATION_TD
