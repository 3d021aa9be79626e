// Convolutions and pooling.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @a_convolution_and_its_gradients
// CHECK: %y = aten.convolution(%arg0, %arg1, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1) : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
// CHECK: %dx, %dw, %db = aten.convolution_backward(%arg2, %arg0, %arg1, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1, [true, true, false]) : (tensor<8x16x16x16xf32>, tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>, none)
// CHECK: %surface = aten.conv2d(%arg0, %arg1, none, [2, 2], [1, 1]) : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
func.func @a_convolution_and_its_gradients(%arg0: tensor<8x3x32x32xf32>, %arg1: tensor<16x3x3x3xf32>, %arg2: tensor<8x16x16x16xf32>) {
  %y = aten.convolution(%arg0, %arg1, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1) : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
  %dx, %dw, %db = aten.convolution_backward(%arg2, %arg0, %arg1, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1, [true, true, false]) : (tensor<8x16x16x16xf32>, tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>, none)
  %surface = aten.conv2d(%arg0, %arg1, none, 2, 1) : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
  return
}

// CHECK-LABEL: @windows
// CHECK: %max, %where = aten.max_pool2d_with_indices(%arg0, [3, 3], [2, 2], [1, 1]) : (tensor<4x6x32x32xf32>) -> (tensor<4x6x16x16xf32>, tensor<4x6x16x16xi64>)
// CHECK: %mean = aten.avg_pool2d(%arg0, [2, 2], [2, 2]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x16x16xf32>
// CHECK: %all = aten._adaptive_avg_pool2d(%arg0, [1, 1]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x1x1xf32>
// CHECK: %up = aten.upsample_nearest2d.vec(%arg0, none, [2.000000e+00, 2.000000e+00]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x64x64xf32>
func.func @windows(%arg0: tensor<4x6x32x32xf32>) {
  %max, %where = aten.max_pool2d_with_indices(%arg0, [3, 3], [2, 2], [1, 1]) : (tensor<4x6x32x32xf32>) -> (tensor<4x6x16x16xf32>, tensor<4x6x16x16xi64>)
  %mean = aten.avg_pool2d(%arg0, [2, 2], [2, 2]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x16x16xf32>
  %all = aten._adaptive_avg_pool2d(%arg0, [1, 1]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x1x1xf32>
  %up = aten.upsample_nearest2d.vec(%arg0, none, [2.000000e+00, 2.000000e+00]) : (tensor<4x6x32x32xf32>) -> tensor<4x6x64x64xf32>
  return
}
