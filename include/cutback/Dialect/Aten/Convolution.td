// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions, pooling and resampling of images.
#ifndef CUTBACK_DIALECT_ATEN_CONVOLUTION_TD
#define CUTBACK_DIALECT_ATEN_CONVOLUTION_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Convolution<string name, string schema, string rule, int w = 0>
    : Aten_AtenOp<name, schema> {
  let family = "Convolution; `w` is 1 for a transposed one.";
  let infer = rule;
  let weight = w;
  let flops = "convolution";
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

class Aten_ConvolutionBackward<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Gradients of a convolution; `none` where `output_mask` is "
               "false.";
  let infer = rule;
  let flops = "convolutionBackward";
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

class Aten_Pool<string name, string schema, string rule, int w = 4>
    : Aten_AtenOp<name, schema> {
  let family = "Combines the elements of a window.";
  let infer = rule;
  let weight = w;
  let fusion = "Gather";
  let loops = "gather";
  let flops = "perOutput";
}

class Aten_PoolBackward<string name, string schema, string rule, int w = 4>
    : Aten_AtenOp<name, schema> {
  let family = "Gradient of pooling, in the shape of its input.";
  let infer = rule;
  let weight = w;
  let fusion = "Gather";
  let loops = "gather";
  let flops = "perOutput";
}

class Aten_Resample<string name, string schema, string rule, int w = 8>
    : Aten_AtenOp<name, schema> {
  let family = "Interpolates between the elements at computed places.";
  let infer = rule;
  let weight = w;
  let fusion = "Gather";
  let loops = "gather";
  let flops = "perOutput";
}

class Aten_Rearrange<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Moves the elements of windows or blocks.";
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
}

def Aten_ConvolutionOp : Aten_Convolution<"convolution",
    "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, "
    "SymInt[] output_padding, SymInt groups) -> Tensor", "convolution">,
    Vjp<"convolution">, Kernel<"convolution">;
def Aten_InternalConvolutionOp : Aten_Convolution<"_convolution",
    "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, "
    "SymInt[] output_padding, SymInt groups, bool benchmark, "
    "bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
    "convolution">, Vjp<"convolution">, Kernel<"convolution">,
    SecondName<"aten.convolution.default">;
def Aten_Conv1dOp : Aten_Convolution<"conv1d",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], "
    "SymInt groups=1) -> Tensor", "convNd">, Kernel<"plainConvolution">,
    Decomposition<"convolution">;
def Aten_Conv2dOp : Aten_Convolution<"conv2d",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], "
    "SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", "convNd">,
    Kernel<"plainConvolution">, Decomposition<"convolution">;
def Aten_Conv3dOp : Aten_Convolution<"conv3d",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], "
    "SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", "convNd">,
    Kernel<"plainConvolution">, Decomposition<"convolution">;
def Aten_Conv1dPaddingOp : Aten_Convolution<"conv1d.padding",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], "
    "SymInt groups=1) -> Tensor", "convNd">, Kernel<"plainConvolution">,
    Decomposition<"convolution">;
def Aten_Conv2dPaddingOp : Aten_Convolution<"conv2d.padding",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[2] stride=[1, 1], str padding=\"valid\", "
    "SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", "convNd">,
    Kernel<"plainConvolution">, Decomposition<"convolution">;
def Aten_Conv3dPaddingOp : Aten_Convolution<"conv3d.padding",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[3] stride=[1, 1, 1], str padding=\"valid\", "
    "SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", "convNd">,
    Kernel<"plainConvolution">, Decomposition<"convolution">;
def Aten_ConvTranspose1dOp : Aten_Convolution<"conv_transpose1d",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[1] stride=[1], SymInt[1] padding=[0], "
    "SymInt[1] output_padding=[0], SymInt groups=1, "
    "SymInt[1] dilation=[1]) -> Tensor", "convTransposeNd", 1>,
    Kernel<"transposedConvolution">, Decomposition<"transposedConvolution">;
def Aten_ConvTranspose2dInputOp : Aten_Convolution<"conv_transpose2d.input",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], "
    "SymInt[2] output_padding=[0, 0], SymInt groups=1, "
    "SymInt[2] dilation=[1, 1]) -> Tensor", "convTransposeNd", 1>,
    Kernel<"transposedConvolution">, Decomposition<"transposedConvolution">;
def Aten_ConvTranspose3dInputOp : Aten_Convolution<"conv_transpose3d.input",
    "(Tensor input, Tensor weight, Tensor? bias=None, "
    "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], "
    "SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, "
    "SymInt[3] dilation=[1, 1, 1]) -> Tensor", "convTransposeNd", 1>,
    Kernel<"transposedConvolution">, Decomposition<"transposedConvolution">;
def Aten_ConvolutionBackwardOp : Aten_ConvolutionBackward<
    "convolution_backward",
    "(Tensor grad_output, Tensor input, Tensor weight, "
    "SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    "convolutionBackward">, Vjp<"convolutionBackward">,
    Kernel<"convolutionBackward">;
def Aten_AvgPool1dOp : Aten_Pool<"avg_pool1d",
    "(Tensor self, int[1] kernel_size, int[1] stride=[], "
    "int[1] padding=[0], bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor", "avgPool">, Vjp<"avgPool1d">,
    Kernel<"avgPool1d">, Decomposition<"averagePool1d">;
def Aten_AvgPool2dOp : Aten_Pool<"avg_pool2d",
    "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True, "
    "int? divisor_override=None) -> Tensor", "avgPool">, Vjp<"avgPool2d">,
    Kernel<"avgPool2d">;
def Aten_AvgPool3dOp : Aten_Pool<"avg_pool3d",
    "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True, "
    "int? divisor_override=None) -> Tensor", "avgPool">, Vjp<"avgPool3d">,
    Kernel<"avgPool3d">;
def Aten_MaxPool1dOp : Aten_Pool<"max_pool1d",
    "(Tensor self, int[1] kernel_size, int[1] stride=[], "
    "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> "
    "Tensor", "maxPool">, Kernel<"maxPool1d">, Decomposition<"maxPool1d">;
def Aten_MaxPool2dOp : Aten_Pool<"max_pool2d",
    "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
    "int[2] dilation=1, bool ceil_mode=False) -> Tensor", "maxPool">,
    Kernel<"maxPool2d">, Decomposition<"maxPool">;
def Aten_MaxPool3dOp : Aten_Pool<"max_pool3d",
    "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
    "int[3] dilation=1, bool ceil_mode=False) -> Tensor", "maxPool">,
    Kernel<"maxPool3d">, Decomposition<"maxPool">;
def Aten_MaxPool2dWithIndicesOp : Aten_Pool<"max_pool2d_with_indices",
    "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
    "int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    "maxPoolWithIndices">, Vjp<"maxPool2d">, Kernel<"maxPool2d">,
    CoreUnit<"maxPool">;
def Aten_MaxPool3dWithIndicesOp : Aten_Pool<"max_pool3d_with_indices",
    "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
    "int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    "maxPoolWithIndices">, Vjp<"maxPool3d">, Kernel<"maxPool3d">;
def Aten_AdaptiveAvgPool1dOp : Aten_Pool<"adaptive_avg_pool1d",
    "(Tensor self, int[1] output_size) -> Tensor", "adaptiveAvgPool">,
    Vjp<"adaptiveAvgPool1d">, Kernel<"adaptiveAvgPool1d">,
    Decomposition<"adaptiveAverage1d">;
def Aten_AdaptiveAvgPool2dOp : Aten_Pool<"adaptive_avg_pool2d",
    "(Tensor self, SymInt[2] output_size) -> Tensor", "adaptiveAvgPool">,
    Vjp<"adaptiveAvgPool2d">, Kernel<"adaptiveAvgPool2d">,
    Decomposition<"adaptiveAverage">;
def Aten_InternalAdaptiveAvgPool2dOp : Aten_Pool<"_adaptive_avg_pool2d",
    "(Tensor self, SymInt[2] output_size) -> Tensor", "adaptiveAvgPool">,
    Vjp<"adaptiveAvgPool2d">, Kernel<"adaptiveAvgPool2d">;
def Aten_InternalAdaptiveAvgPool3dOp : Aten_Pool<"_adaptive_avg_pool3d",
    "(Tensor self, SymInt[3] output_size) -> Tensor", "adaptiveAvgPool">,
    Vjp<"adaptiveAvgPool3d">, Kernel<"adaptiveAvgPool3d">;
def Aten_AdaptiveMaxPool1dOp : Aten_Pool<"adaptive_max_pool1d",
    "(Tensor self, int[1] output_size) -> (Tensor, Tensor)", "adaptiveMaxPool">,
    Vjp<"adaptiveMaxPool1d">, Kernel<"adaptiveMaxPool1d">,
    Decomposition<"adaptiveMax1d">;
def Aten_AdaptiveMaxPool2dOp : Aten_Pool<"adaptive_max_pool2d",
    "(Tensor self, int[2] output_size) -> (Tensor, Tensor)", "adaptiveMaxPool">,
    Vjp<"adaptiveMaxPool2d">, Kernel<"adaptiveMaxPool2d">;
def Aten_FractionalMaxPool2dOp : Aten_Pool<"fractional_max_pool2d",
    "(Tensor self, int[2] kernel_size, int[2] output_size, "
    "Tensor random_samples) -> (Tensor, Tensor)", "fractionalMaxPool">,
    Vjp<"fractionalMaximum">, Kernel<"fractionalMaxPool2d">;
def Aten_FractionalMaxPool3dOp : Aten_Pool<"fractional_max_pool3d",
    "(Tensor self, int[3] kernel_size, int[3] output_size, "
    "Tensor random_samples) -> (Tensor, Tensor)", "fractionalMaxPool">,
    Vjp<"fractionalMaximum">, Kernel<"fractionalMaxPool3d">;
def Aten_FractionalMaxPool2dBackwardOp : Aten_PoolBackward<
    "fractional_max_pool2d_backward",
    "(Tensor grad_output, Tensor self, int[2] kernel_size, "
    "int[2] output_size, Tensor indices) -> Tensor", "sameAsSelf">,
    Vjp<"maximumBackward">, Kernel<"maxPool2dBackward">;
def Aten_FractionalMaxPool3dBackwardOp : Aten_PoolBackward<
    "fractional_max_pool3d_backward",
    "(Tensor grad_output, Tensor self, int[3] kernel_size, "
    "int[3] output_size, Tensor indices) -> Tensor", "sameAsSelf">,
    Vjp<"maximumBackward">, Kernel<"maxPool3dBackward">;
def Aten_AvgPool2dBackwardOp : Aten_PoolBackward<"avg_pool2d_backward",
    "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
    "int[2] padding, bool ceil_mode, bool count_include_pad, "
    "int? divisor_override) -> Tensor", "sameAsSelf">, Vjp<"averageBackward">,
    Kernel<"avgPool2dBackward">;
def Aten_AvgPool3dBackwardOp : Aten_PoolBackward<"avg_pool3d_backward",
    "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
    "int[3] padding, bool ceil_mode, bool count_include_pad, "
    "int? divisor_override) -> Tensor", "sameAsSelf">, Vjp<"averageBackward">,
    Kernel<"avgPool3dBackward">;
def Aten_MaxPool2dWithIndicesBackwardOp : Aten_PoolBackward<
    "max_pool2d_with_indices_backward",
    "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
    "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> "
    "Tensor", "sameAsSelf">, Vjp<"maximumBackward">,
    Kernel<"maxPool2dBackward">;
def Aten_MaxPool3dWithIndicesBackwardOp : Aten_PoolBackward<
    "max_pool3d_with_indices_backward",
    "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
    "int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> "
    "Tensor", "sameAsSelf">, Vjp<"maximumBackward">,
    Kernel<"maxPool3dBackward">;
def Aten_InternalAdaptiveAvgPool2dBackwardOp : Aten_PoolBackward<
    "_adaptive_avg_pool2d_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "sameAsSelf">,
    Vjp<"adaptiveAverageBackward">, Kernel<"adaptiveAvgPool2dBackward">;
def Aten_InternalAdaptiveAvgPool3dBackwardOp : Aten_PoolBackward<
    "_adaptive_avg_pool3d_backward",
    "(Tensor grad_output, Tensor self) -> Tensor", "sameAsSelf">,
    Vjp<"adaptiveAverageBackward">, Kernel<"adaptiveAvgPool3dBackward">;
def Aten_AdaptiveMaxPool2dBackwardOp : Aten_PoolBackward<
    "adaptive_max_pool2d_backward",
    "(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
    "sameAsSelf">, Vjp<"maximumBackward">, Kernel<"maxPool2dBackward">;
def Aten_UpsampleNearest1dOp : Aten_Resample<"upsample_nearest1d",
    "(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
    "upsample">, Vjp<"upsampleNearest1d">, Kernel<"upsampleNearest">;
def Aten_UpsampleNearest1dVecOp : Aten_Resample<"upsample_nearest1d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
    "Tensor", "upsample">, Vjp<"upsampleNearest1dVec">,
    Decomposition<"upsample">, Kernel<"upsampleNearest">;
def Aten_UpsampleNearest2dOp : Aten_Resample<"upsample_nearest2d",
    "(Tensor self, SymInt[2] output_size, float? scales_h=None, "
    "float? scales_w=None) -> Tensor", "upsample">, Vjp<"upsampleNearest2d">,
    Kernel<"upsampleNearest">;
def Aten_UpsampleNearest2dVecOp : Aten_Resample<"upsample_nearest2d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
    "Tensor", "upsample">, Vjp<"upsampleNearest2dVec">,
    Decomposition<"upsample">, Kernel<"upsampleNearest">;
def Aten_UpsampleNearest3dOp : Aten_Resample<"upsample_nearest3d",
    "(Tensor self, SymInt[3] output_size, float? scales_d=None, "
    "float? scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleNearest3d">, Kernel<"upsampleNearest">;
def Aten_UpsampleNearest3dVecOp : Aten_Resample<"upsample_nearest3d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
    "Tensor", "upsample">, Vjp<"upsampleNearest3dVec">,
    Decomposition<"upsample">, Kernel<"upsampleNearest">;
def Aten_UpsampleLinear1dOp : Aten_Resample<"upsample_linear1d",
    "(Tensor self, SymInt[1] output_size, bool align_corners, "
    "float? scales=None) -> Tensor", "upsample">, Vjp<"upsampleLinear1d">,
    Kernel<"upsampleLinear">;
def Aten_UpsampleLinear1dVecOp : Aten_Resample<"upsample_linear1d.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, "
    "float[]? scale_factors) -> Tensor", "upsample">,
    Vjp<"upsampleLinear1dVec">, Decomposition<"upsample">,
    Kernel<"upsampleLinear">;
def Aten_UpsampleBilinear2dOp : Aten_Resample<"upsample_bilinear2d",
    "(Tensor self, SymInt[2] output_size, bool align_corners, "
    "float? scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleBilinear2d">, Kernel<"upsampleLinear">;
def Aten_UpsampleBilinear2dVecOp : Aten_Resample<"upsample_bilinear2d.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, "
    "float[]? scale_factors) -> Tensor", "upsample">,
    Vjp<"upsampleBilinear2dVec">, Decomposition<"upsample">,
    Kernel<"upsampleLinear">;
def Aten_UpsampleBicubic2dOp : Aten_Resample<"upsample_bicubic2d",
    "(Tensor self, SymInt[2] output_size, bool align_corners, "
    "float? scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleBicubic2d">, Kernel<"upsampleCubic">;
def Aten_UpsampleBicubic2dVecOp : Aten_Resample<"upsample_bicubic2d.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, "
    "float[]? scale_factors) -> Tensor", "upsample">,
    Vjp<"upsampleBicubic2dVec">, Decomposition<"upsample">,
    Kernel<"upsampleCubic">;
def Aten_UpsampleTrilinear3dOp : Aten_Resample<"upsample_trilinear3d",
    "(Tensor self, SymInt[3] output_size, bool align_corners, "
    "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> "
    "Tensor", "upsample">, Vjp<"upsampleTrilinear3d">, Kernel<"upsampleLinear">;
def Aten_UpsampleTrilinear3dVecOp : Aten_Resample<"upsample_trilinear3d.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, "
    "float[]? scale_factors) -> Tensor", "upsample">,
    Vjp<"upsampleTrilinear3dVec">, Decomposition<"upsample">,
    Kernel<"upsampleLinear">;
def Aten_GridSampler2dOp : Aten_Resample<"grid_sampler_2d",
    "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor", "gridSampler">, Vjp<"gridSampler2d">,
    Kernel<"gridSampler">;
def Aten_GridSampler3dOp : Aten_Resample<"grid_sampler_3d",
    "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor", "gridSampler">, Vjp<"gridSampler3d">,
    Kernel<"gridSampler">;
def Aten_UpsampleNearest2dBackwardOp : Aten_Resample<
    "upsample_nearest2d_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, "
    "float? scales_h=None, float? scales_w=None) -> Tensor",
    "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleNearestBackward">;
def Aten_UpsampleBilinear2dBackwardOp : Aten_Resample<
    "upsample_bilinear2d_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, "
    "bool align_corners, float? scales_h=None, float? scales_w=None) -> "
    "Tensor", "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleLinearBackward">;
def Aten_UpsampleBicubic2dBackwardOp : Aten_Resample<
    "upsample_bicubic2d_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, "
    "bool align_corners, float? scales_h=None, float? scales_w=None) -> "
    "Tensor", "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleCubicBackward">;
def Aten_UpsampleNearest1dBackwardOp : Aten_Resample<
    "upsample_nearest1d_backward",
    "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, "
    "float? scales=None) -> Tensor", "upsampleBackward">,
    Vjp<"upsampleBackward">, Kernel<"upsampleNearestBackward">;
def Aten_UpsampleLinear1dBackwardOp : Aten_Resample<
    "upsample_linear1d_backward",
    "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, "
    "bool align_corners, float? scales=None) -> Tensor", "upsampleBackward">,
    Vjp<"upsampleBackward">, Kernel<"upsampleLinearBackward">;
def Aten_Im2colOp : Aten_Rearrange<"im2col",
    "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor", "im2col">, Vjp<"im2col">, Kernel<"im2col">;
def Aten_Col2imOp : Aten_Rearrange<"col2im",
    "(Tensor self, SymInt[2] output_size, int[2] kernel_size, "
    "int[2] dilation, int[2] padding, int[2] stride) -> Tensor", "col2im">,
    Vjp<"col2im">, Kernel<"col2im">;
def Aten_PixelShuffleOp : Aten_Rearrange<"pixel_shuffle",
    "(Tensor self, int upscale_factor) -> Tensor", "pixelShuffle">,
    Vjp<"pixelShuffle">, Kernel<"pixelShuffle">, CoreForm<"pixelShuffle">;
def Aten_PixelUnshuffleOp : Aten_Rearrange<"pixel_unshuffle",
    "(Tensor self, int downscale_factor) -> Tensor", "pixelUnshuffle">,
    Vjp<"pixelUnshuffle">, Kernel<"pixelUnshuffle">, CoreForm<"pixelShuffle">;
def Aten_MaxPool1dWithIndicesOp : Aten_Pool<"max_pool1d_with_indices",
    "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
    "int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
    "maxPoolWithIndices">, Vjp<"maxPool1d">, Kernel<"maxPool1d">,
    Decomposition<"maxPool1dWithIndices">;
def Aten_AdaptiveAvgPool3dOp : Aten_Pool<"adaptive_avg_pool3d",
    "(Tensor self, SymInt[3] output_size) -> Tensor", "adaptiveAvgPool">,
    Vjp<"adaptiveAvgPool3d">, Kernel<"adaptiveAvgPool3d">,
    Decomposition<"adaptiveAverage">;
def Aten_AdaptiveMaxPool3dOp : Aten_Pool<"adaptive_max_pool3d",
    "(Tensor self, int[3] output_size) -> (Tensor, Tensor)", "adaptiveMaxPool">,
    Vjp<"adaptiveMaxPool3d">, Kernel<"adaptiveMaxPool3d">;
def Aten_AdaptiveMaxPool3dBackwardOp : Aten_PoolBackward<
    "adaptive_max_pool3d_backward",
    "(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
    "sameAsSelf">, Vjp<"maximumBackward">, Kernel<"maxPool3dBackward">;
def Aten_InternalUpsampleNearestExact1dOp : Aten_Resample<
    "_upsample_nearest_exact1d",
    "(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
    "upsample">, Vjp<"upsampleNearestExact1d">, Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleNearestExact1dVecOp : Aten_Resample<
    "_upsample_nearest_exact1d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    "upsample">, Vjp<"upsampleNearestExact1dVec">, Decomposition<"upsample">,
    Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleNearestExact2dOp : Aten_Resample<
    "_upsample_nearest_exact2d",
    "(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
    "scales_w=None) -> Tensor", "upsample">, Vjp<"upsampleNearestExact2d">,
    Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleNearestExact2dVecOp : Aten_Resample<
    "_upsample_nearest_exact2d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    "upsample">, Vjp<"upsampleNearestExact2dVec">, Decomposition<"upsample">,
    Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleNearestExact3dOp : Aten_Resample<
    "_upsample_nearest_exact3d",
    "(Tensor self, SymInt[3] output_size, float? scales_d=None, float? "
    "scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleNearestExact3d">, Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleNearestExact3dVecOp : Aten_Resample<
    "_upsample_nearest_exact3d.vec",
    "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
    "upsample">, Vjp<"upsampleNearestExact3dVec">, Decomposition<"upsample">,
    Kernel<"upsampleNearestExact">;
def Aten_InternalUpsampleBilinear2dAaOp : Aten_Resample<
    "_upsample_bilinear2d_aa",
    "(Tensor self, SymInt[2] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleBilinear2dAa">, Kernel<"upsampleSmoothLinear">;
def Aten_InternalUpsampleBilinear2dAaVecOp : Aten_Resample<
    "_upsample_bilinear2d_aa.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
    "scale_factors) -> Tensor", "upsample">, Vjp<"upsampleBilinear2dAaVec">,
    Decomposition<"upsample">, Kernel<"upsampleSmoothLinear">;
def Aten_InternalUpsampleBicubic2dAaOp : Aten_Resample<"_upsample_bicubic2d_aa",
    "(Tensor self, SymInt[2] output_size, bool align_corners, float? "
    "scales_h=None, float? scales_w=None) -> Tensor", "upsample">,
    Vjp<"upsampleBicubic2dAa">, Kernel<"upsampleSmoothCubic">;
def Aten_InternalUpsampleBicubic2dAaVecOp : Aten_Resample<
    "_upsample_bicubic2d_aa.vec",
    "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
    "scale_factors) -> Tensor", "upsample">, Vjp<"upsampleBicubic2dAaVec">,
    Decomposition<"upsample">, Kernel<"upsampleSmoothCubic">;
def Aten_UpsampleNearest3dBackwardOp : Aten_Resample<
    "upsample_nearest3d_backward",
    "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? "
    "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
    "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleNearestBackward">;
def Aten_UpsampleTrilinear3dBackwardOp : Aten_Resample<
    "upsample_trilinear3d_backward",
    "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool "
    "align_corners, float? scales_d=None, float? scales_h=None, float? "
    "scales_w=None) -> Tensor", "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleLinearBackward">;
def Aten_InternalUpsampleNearestExact1dBackwardOp : Aten_Resample<
    "_upsample_nearest_exact1d_backward",
    "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? "
    "scales=None) -> Tensor", "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleNearestExactBackward">;
def Aten_InternalUpsampleNearestExact2dBackwardOp : Aten_Resample<
    "_upsample_nearest_exact2d_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? "
    "scales_h=None, float? scales_w=None) -> Tensor", "upsampleBackward">,
    Vjp<"upsampleBackward">, Kernel<"upsampleNearestExactBackward">;
def Aten_InternalUpsampleNearestExact3dBackwardOp : Aten_Resample<
    "_upsample_nearest_exact3d_backward",
    "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? "
    "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
    "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleNearestExactBackward">;
def Aten_InternalUpsampleBilinear2dAaBackwardOp : Aten_Resample<
    "_upsample_bilinear2d_aa_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
    "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
    "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleSmoothLinearBackward">;
def Aten_InternalUpsampleBicubic2dAaBackwardOp : Aten_Resample<
    "_upsample_bicubic2d_aa_backward",
    "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
    "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
    "upsampleBackward">, Vjp<"upsampleBackward">,
    Kernel<"upsampleSmoothCubicBackward">;
def Aten_GridSamplerOp : Aten_Resample<"grid_sampler",
    "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor", "gridSampler">, Kernel<"gridSampler">,
    Decomposition<"gridSampler">;
def Aten_GridSampler2dBackwardOp : Aten_Resample<"grid_sampler_2d_backward",
    "(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, "
    "int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
    "Tensor)", "gridSamplerBackward">, Kernel<"gridSamplerBackward">;
def Aten_GridSampler3dBackwardOp : Aten_Resample<"grid_sampler_3d_backward",
    "(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, "
    "int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
    "Tensor)", "gridSamplerBackward">, Kernel<"gridSamplerBackward">;
def Aten_ChannelShuffleOp : Aten_Rearrange<"channel_shuffle",
    "(Tensor self, SymInt groups) -> Tensor", "sameAsSelf">,
    Vjp<"channelShuffle">, Kernel<"channelShuffle">, CoreForm<"channelShuffle">;
def Aten_NativeChannelShuffleOp : Aten_Rearrange<"native_channel_shuffle",
    "(Tensor self, SymInt groups) -> Tensor", "sameAsSelf">,
    Vjp<"channelShuffle">, Kernel<"channelShuffle">, CoreForm<"channelShuffle">;

#endif // CUTBACK_DIALECT_ATEN_CONVOLUTION_TD
