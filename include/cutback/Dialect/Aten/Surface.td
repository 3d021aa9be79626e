// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops as models are written, before decomposition.
#ifndef CUTBACK_DIALECT_ATEN_SURFACE_TD
#define CUTBACK_DIALECT_ATEN_SURFACE_TD

include "cutback/Dialect/Aten/Normalization.td"

class Aten_Recurrent<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Layers of a recurrent network over a sequence.";
  let infer = rule;
  let flops = "recurrent";
  let flags = ["kComputeIntensive", "kMatrixUnits", "kRandomWithDropout"];
}

class Aten_RecurrentCell<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "One step of a recurrent layer.";
  let infer = rule;
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

class Aten_Spectral<string name, string schema, string rule, int w = 5>
    : Aten_AtenOp<name, schema> {
  let family = "Fourier transform along dimensions.";
  let infer = rule;
  let weight = w;
  let flops = "perInputLog";
}

def Aten_LayerNormOp : Aten_Norm<"layer_norm",
    "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1.0000000000000001e-05, "
    "bool cudnn_enable=True) -> Tensor", "sameAsInput">, Kernel<"layerNorm">,
    Decomposition<"layerNorm">;
def Aten_GroupNormOp : Aten_Norm<"group_norm",
    "(Tensor input, int num_groups, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1.0000000000000001e-05, "
    "bool cudnn_enabled=True) -> Tensor", "sameAsInput">, Kernel<"groupNorm">,
    Decomposition<"groupNorm">;
def Aten_RmsNormOp : Aten_Norm<"rms_norm",
    "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
    "float? eps=None) -> Tensor", "sameAsInput">, Kernel<"rmsNorm">,
    Decomposition<"rmsNorm">;
def Aten_InstanceNormOp : Aten_Norm<"instance_norm",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool use_input_stats, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor", "sameAsInput">, Kernel<"instanceNorm">,
    Decomposition<"instanceNorm">;
def Aten_BatchNormOp : Aten_BatchNorm<"batch_norm",
    "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor", "sameAsInput">, Kernel<"batchNorm">,
    Decomposition<"batchNorm">;
def Aten_SoftmaxIntOp : Aten_Softmax<"softmax.int",
    "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "softmax">,
    Kernel<"softmax">, Decomposition<"softmax">;
def Aten_LogSoftmaxIntOp : Aten_Softmax<"log_softmax.int",
    "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "softmax">,
    Kernel<"logSoftmax">, Decomposition<"logSoftmax">;
def Aten_MseLossOp : Aten_Loss<"mse_loss",
    "(Tensor self, Tensor target, int reduction=1) -> Tensor", "pointwiseLoss">,
    Vjp<"mseLoss">, Kernel<"mseLoss">, CoreForm<"meanSquare">;
def Aten_L1LossOp : Aten_Loss<"l1_loss",
    "(Tensor self, Tensor target, int reduction=1) -> Tensor", "pointwiseLoss">,
    Vjp<"l1Loss">, Kernel<"l1Loss">, CoreForm<"absolute">;
def Aten_SmoothL1LossOp : Aten_Loss<"smooth_l1_loss",
    "(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    "pointwiseLoss">, Vjp<"smoothL1Loss">, Kernel<"smoothL1Loss">,
    CoreForm<"smoothAbsolute">;
def Aten_HuberLossOp : Aten_Loss<"huber_loss",
    "(Tensor self, Tensor target, int reduction=1, float delta=1.) -> "
    "Tensor", "pointwiseLoss">, Vjp<"huberLoss">, Kernel<"huberLoss">,
    CoreForm<"huber">;
def Aten_BinaryCrossEntropyOp : Aten_Loss<"binary_cross_entropy",
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> "
    "Tensor", "pointwiseLoss">, Vjp<"binaryCrossEntropy">,
    Kernel<"binaryCrossEntropy">, CoreForm<"crossEntropyOfTwo">;
def Aten_BinaryCrossEntropyWithLogitsOp : Aten_Loss<
    "binary_cross_entropy_with_logits",
    "(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor", "pointwiseLoss">,
    Vjp<"binaryCrossEntropyWithLogits">, Kernel<"binaryCrossEntropyWithLogits">,
    CoreForm<"crossEntropyWithLogits">;
def Aten_KlDivOp : Aten_Loss<"kl_div",
    "(Tensor self, Tensor target, int reduction=1, *, "
    "bool log_target=False) -> Tensor", "pointwiseLoss">, Vjp<"klDiv">,
    Kernel<"klDiv">, CoreForm<"divergence">;
def Aten_SoftMarginLossOp : Aten_Loss<"soft_margin_loss",
    "(Tensor self, Tensor target, int reduction=1) -> Tensor", "pointwiseLoss">,
    Vjp<"softMarginLoss">, Kernel<"softMarginLoss">, CoreForm<"softMargin">;
def Aten_CrossEntropyLossOp : Aten_Loss<"cross_entropy_loss",
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
    "crossEntropyLoss">, Kernel<"crossEntropyLoss">,
    Decomposition<"crossEntropy">;
class Aten_ChunkedCrossEntropy<string name, string schema>
    : Aten_Op<"torch_nn." # name # ".default", "torch_nn." # name, schema> {
  let family = "The loss of classes of a linear map, in pieces: a custom op of "
               "`torch.nn.functional`; decomposition replaces it.";
  let infer = "linearCrossEntropy";
}
def Aten_LinearCrossEntropyChunkedOp : Aten_ChunkedCrossEntropy<
    "_linear_cross_entropy_batch_chunked",
    "(Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, "
    "Tensor? weight, str reduction, SymInt ignore_index, float "
    "label_smoothing, SymInt batch_chunk_size, str acc_policy, ScalarType "
    "acc_dtype, bool allow_retain_graph, bool compute_input_grad, bool "
    "compute_linear_weight_grad, bool compute_linear_bias_grad) -> (Tensor, "
    "Tensor, Tensor, Tensor)">, Decomposition<"linearCrossEntropyAndGradients">;
def Aten_LinearCrossEntropyEachOp : Aten_ChunkedCrossEntropy<
    "_linear_cross_entropy_batch_chunked_no_reduction",
    "(Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, "
    "Tensor? weight, SymInt ignore_index, SymInt batch_chunk_size, str "
    "acc_policy, ScalarType acc_dtype) -> Tensor">,
    Decomposition<"linearCrossEntropy">;
def Aten_NllLossOp : Aten_Loss<"nll_loss",
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100) -> Tensor", "nllLoss">, Kernel<"nllLoss">,
    Decomposition<"nllRule">;
def Aten_NllLossNdOp : Aten_Loss<"nll_loss_nd",
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100) -> Tensor", "nllLoss">, Kernel<"nllLoss">,
    Decomposition<"nllRule">;
def Aten_NllLoss2dOp : Aten_Loss<"nll_loss2d",
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100) -> Tensor", "nllLoss">, Kernel<"nllLoss">,
    Decomposition<"nllRule">;
def Aten_LstmInputOp : Aten_Recurrent<"lstm.input",
    "(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor, Tensor)", "lstm">, Kernel<"lstm">,
    Decomposition<"lstm">;
def Aten_GruInputOp : Aten_Recurrent<"gru.input",
    "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor)", "gru">, Kernel<"gru">,
    Decomposition<"gru">;
def Aten_InternalFftC2cOp : Aten_Spectral<"_fft_c2c",
    "(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    "fftC2c">, Vjp<"complexToComplex">, Kernel<"complexTransform">,
    CoreForm<"complexTransform">;
def Aten_InternalFftR2cOp : Aten_Spectral<"_fft_r2c",
    "(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    "fftR2c">, Vjp<"realToComplex">, Kernel<"realTransform">,
    CoreForm<"realTransform">;
def Aten_InternalFftC2rOp : Aten_Spectral<"_fft_c2r",
    "(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> "
    "Tensor", "fftC2r">, Vjp<"complexToReal">, Kernel<"inverseTransform">,
    CoreForm<"inverseTransform">;
def Aten_RnnTanhInputOp : Aten_Recurrent<"rnn_tanh.input",
    "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
    "num_layers, float dropout, bool train, bool bidirectional, bool "
    "batch_first) -> (Tensor, Tensor)", "gru">, Kernel<"rnnTanh">,
    Decomposition<"rnnTanh">;
def Aten_RnnReluInputOp : Aten_Recurrent<"rnn_relu.input",
    "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
    "num_layers, float dropout, bool train, bool bidirectional, bool "
    "batch_first) -> (Tensor, Tensor)", "gru">, Kernel<"rnnRelu">,
    Decomposition<"rnnRelu">;
def Aten_LstmCellOp : Aten_RecurrentCell<"lstm_cell",
    "(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> (Tensor, Tensor)", "lstmCell">, Kernel<"lstmCell">,
    Decomposition<"lstmCell">;
def Aten_GruCellOp : Aten_RecurrentCell<"gru_cell",
    "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> Tensor", "recurrentCell">, Kernel<"gruCell">,
    Decomposition<"gruCell">;
def Aten_RnnTanhCellOp : Aten_RecurrentCell<"rnn_tanh_cell",
    "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> Tensor", "recurrentCell">, Kernel<"rnnTanhCell">,
    Decomposition<"tanhCell">;
def Aten_RnnReluCellOp : Aten_RecurrentCell<"rnn_relu_cell",
    "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> Tensor", "recurrentCell">, Kernel<"rnnReluCell">,
    Decomposition<"reluCell">;

#endif // CUTBACK_DIALECT_ATEN_SURFACE_TD
