// Normalizations and softmax as units.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @normalizations
// CHECK: %y, %mean, %rstd = aten.native_layer_norm(%arg0, [8], %arg1, %arg1, 1.000000e-05) : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6x1xf32>, tensor<4x6x1xf32>)
// CHECK: %dx, %dw, %db = aten.native_layer_norm_backward(%y, %arg0, [8], %mean, %rstd, %arg1, %arg1, [true, true, true]) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x1xf32>, tensor<4x6x1xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: %soft = aten._softmax(%arg0, -1, false) : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
// CHECK: %dsoft = aten._softmax_backward_data(%arg0, %soft, -1, f32) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
func.func @normalizations(%arg0: tensor<4x6x8xf32>, %arg1: tensor<8xf32>) {
  %y, %mean, %rstd = aten.native_layer_norm(%arg0, [8], %arg1, %arg1, 1.000000e-05) : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6x1xf32>, tensor<4x6x1xf32>)
  %dx, %dw, %db = aten.native_layer_norm_backward(%y, %arg0, [8], %mean, %rstd, %arg1, %arg1, [true, true, true]) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x1xf32>, tensor<4x6x1xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %soft = aten._softmax(%arg0, -1, false) : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %dsoft = aten._softmax_backward_data(%arg0, %soft, -1, f32) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return
}
