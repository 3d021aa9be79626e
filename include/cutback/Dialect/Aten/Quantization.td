// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values on a grid of integers: fake quantization, which training goes
// through, and the steps to integers and back that exported programs have.
#ifndef CUTBACK_DIALECT_ATEN_QUANTIZATION_TD
#define CUTBACK_DIALECT_ATEN_QUANTIZATION_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_FakeQuantize<string name, string schema, string rule = "sameAsSelf">
    : Aten_AtenOp<name, schema> {
  let family = "Rounds to a grid; the gradient passes inside of its range. "
               "Decomposition writes it element by element.";
  let infer = rule;
  let weight = 6;
  let fusion = "Pointwise";
  let flops = "perOutput";
}

/// What is observed has no gradient, as in PyTorch.
class Aten_ObservedQuantize<string name, string schema, string rule>
    : Aten_FakeQuantize<name, schema, rule> {
  let family = "Rounds to a grid that follows a moving average of the range.";
  let noGradient = 0b1111110;
}

/// An op of PyTorch's quantization flow.
class Aten_QuantizedOp<string name, string schema>
    : Aten_Op<"quantized_decomposed." # name, "quantized." # name, schema> {
  let family = "To integers or back, by scale and zero point; decomposition "
               "writes it element by element.";
  let infer = "quantized";
  let weight = 6;
  let fusion = "Pointwise";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

def Aten_FakeQuantizePerTensorAffineOp : Aten_FakeQuantize<
    "fake_quantize_per_tensor_affine",
    "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
    "-> Tensor">, Decomposition<"fakeQuantize">;
def Aten_FakeQuantizePerTensorAffineTensorQparamsOp : Aten_FakeQuantize<
    "fake_quantize_per_tensor_affine.tensor_qparams",
    "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int "
    "quant_max) -> Tensor">, Decomposition<"fakeQuantize">;
def Aten_FakeQuantizePerChannelAffineOp : Aten_FakeQuantize<
    "fake_quantize_per_channel_affine",
    "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
    "int quant_max) -> Tensor">, Decomposition<"fakeQuantize">;
def Aten_FakeQuantizePerTensorAffineCachemaskOp : Aten_FakeQuantize<
    "fake_quantize_per_tensor_affine_cachemask",
    "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
    "-> (Tensor output, Tensor mask)", "nativeDropout">,
    Vjp<"fakeQuantize">, CoreUnit<"fakeQuantize">;
def Aten_InternalFakeQuantizePerTensorAffineCachemaskTensorQparamsOp
    : Aten_FakeQuantize<
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "(Tensor self, Tensor scale, Tensor zero_point, Tensor "
    "fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, "
    "Tensor mask)", "nativeDropout">,
    Vjp<"fakeQuantize">, CoreUnit<"fakeQuantize">;
def Aten_FakeQuantizePerTensorAffineCachemaskBackwardOp : Aten_FakeQuantize<
    "fake_quantize_per_tensor_affine_cachemask_backward",
    "(Tensor grad, Tensor mask) -> Tensor", "broadcast">,
    Decomposition<"maskGradient">;
def Aten_FakeQuantizePerChannelAffineCachemaskOp : Aten_FakeQuantize<
    "fake_quantize_per_channel_affine_cachemask",
    "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
    "int quant_max) -> (Tensor output, Tensor mask)", "nativeDropout">,
    Vjp<"fakeQuantize">, CoreUnit<"fakeQuantize">;
def Aten_FakeQuantizePerChannelAffineCachemaskBackwardOp : Aten_FakeQuantize<
    "fake_quantize_per_channel_affine_cachemask_backward",
    "(Tensor grad, Tensor mask) -> Tensor", "broadcast">,
    Decomposition<"maskGradient">;

// Scale and zero point that are trained.

def Aten_InternalFakeQuantizeLearnablePerTensorAffineOp : Aten_FakeQuantize<
    "_fake_quantize_learnable_per_tensor_affine",
    "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int "
    "quant_max, float grad_factor=1.0) -> Tensor">,
    Vjp<"learnedQuantize">, CoreUnit<"learnedQuantize">;
def Aten_InternalFakeQuantizeLearnablePerTensorAffineBackwardOp
    : Aten_FakeQuantize<
    "_fake_quantize_learnable_per_tensor_affine_backward",
    "(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int "
    "quant_min, int quant_max, float grad_factor=1.0) -> (Tensor, Tensor, "
    "Tensor)", "learnedQuantizeBackward">, CoreUnit<"learnedQuantizeBackward">;
def Aten_InternalFakeQuantizeLearnablePerChannelAffineOp : Aten_FakeQuantize<
    "_fake_quantize_learnable_per_channel_affine",
    "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
    "int quant_max, float grad_factor=1.0) -> Tensor">,
    Vjp<"learnedQuantize">, CoreUnit<"learnedQuantize">;
def Aten_InternalFakeQuantizeLearnablePerChannelAffineBackwardOp
    : Aten_FakeQuantize<
    "_fake_quantize_learnable_per_channel_affine_backward",
    "(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int axis, int "
    "quant_min, int quant_max, float grad_factor=1.0) -> (Tensor, Tensor, "
    "Tensor)", "learnedQuantizeBackward">, CoreUnit<"learnedQuantizeBackward">;

// With an observer of the range. The first two write what they observe, and
// functionalization makes the third of them.

def Aten_FusedMovingAvgObsFakeQuantOp : Aten_ObservedQuantize<
    "fused_moving_avg_obs_fake_quant",
    "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) "
    "running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) "
    "zero_point, float averaging_const, int quant_min, int quant_max, int "
    "ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> "
    "Tensor", "sameAsSelf">;
def Aten_InternalFusedMovingAvgObsFqHelperOp : Aten_ObservedQuantize<
    "_fused_moving_avg_obs_fq_helper",
    "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) "
    "running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) "
    "zero_point, float averaging_const, int quant_min, int quant_max, int "
    "ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> "
    "(Tensor output, Tensor mask)", "nativeDropout">;
def Aten_InternalFusedMovingAvgObsFqHelperFunctionalOp : Aten_ObservedQuantize<
    "_fused_moving_avg_obs_fq_helper_functional",
    "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor "
    "running_min, Tensor running_max, Tensor scale, Tensor zero_point, float "
    "averaging_const, int quant_min, int quant_max, int ch_axis, bool "
    "per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, "
    "Tensor mask, Tensor running_min_out, Tensor running_max_out, Tensor "
    "scale_out, Tensor zero_point_out)", "observedQuantize">,
    Vjp<"observedQuantize">, CoreUnit<"observedQuantize">;

def Aten_QuantizePerTensorOp : Aten_QuantizedOp<"quantize_per_tensor.default",
    "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, "
    "ScalarType dtype) -> Tensor">, Decomposition<"quantize">;
def Aten_DequantizePerTensorOp : Aten_QuantizedOp<
    "dequantize_per_tensor.default",
    "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, "
    "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">,
    Decomposition<"dequantize">;
def Aten_QuantizePerChannelOp : Aten_QuantizedOp<"quantize_per_channel.default",
    "(Tensor input, Tensor scales, Tensor zero_points, int axis, int "
    "quant_min, int quant_max, ScalarType dtype) -> Tensor">,
    Decomposition<"quantize">;
def Aten_DequantizePerChannelOp : Aten_QuantizedOp<
    "dequantize_per_channel.default",
    "(Tensor input, Tensor scales, Tensor? zero_points, int axis, int "
    "quant_min, int quant_max, ScalarType dtype, *, ScalarType? "
    "out_dtype=None) -> Tensor">, Decomposition<"dequantize">;

#endif // CUTBACK_DIALECT_ATEN_QUANTIZATION_TD
