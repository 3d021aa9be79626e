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
    Decomposition<"fakeQuantize">;
def Aten_FakeQuantizePerTensorAffineCachemaskBackwardOp : Aten_FakeQuantize<
    "fake_quantize_per_tensor_affine_cachemask_backward",
    "(Tensor grad, Tensor mask) -> Tensor", "broadcast">,
    Decomposition<"maskGradient">;
def Aten_FakeQuantizePerChannelAffineCachemaskOp : Aten_FakeQuantize<
    "fake_quantize_per_channel_affine_cachemask",
    "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
    "int quant_max) -> (Tensor output, Tensor mask)", "nativeDropout">,
    Decomposition<"fakeQuantize">;
def Aten_FakeQuantizePerChannelAffineCachemaskBackwardOp : Aten_FakeQuantize<
    "fake_quantize_per_channel_affine_cachemask_backward",
    "(Tensor grad, Tensor mask) -> Tensor", "broadcast">,
    Decomposition<"maskGradient">;
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
