// Ops as models are written.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @units_that_decompose
// CHECK: %norm = aten.layer_norm(%arg0, [8], %arg1, %arg1) : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
// CHECK: %soft = aten.softmax.int(%arg0, -1) : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
// CHECK: %loss = aten.cross_entropy_loss(%arg2, %arg3) : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
// CHECK: %mse = aten.mse_loss(%arg2, %arg2, 0) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
func.func @units_that_decompose(%arg0: tensor<4x6x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<4x10xf32>, %arg3: tensor<4xi64>) {
  %norm = aten.layer_norm(%arg0, [8], %arg1, %arg1) : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  %soft = aten.softmax.int(%arg0, -1) : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %loss = aten.cross_entropy_loss(%arg2, %arg3) : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  %mse = aten.mse_loss(%arg2, %arg2, 0) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
  return
}

// CHECK-LABEL: @fourier_transforms
// CHECK: %fft = aten._fft_c2c(%arg0, [1], 0, true) : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
func.func @fourier_transforms(%arg0: tensor<4x8xcomplex<f32>>) {
  %fft = aten._fft_c2c(%arg0, [1], 0, true) : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return
}
