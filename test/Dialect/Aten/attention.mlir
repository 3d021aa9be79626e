// Fused attention and its gradients.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @attention_for_cpu
// CHECK: %out, %lse = aten._scaled_dot_product_flash_attention_for_cpu(%arg0, %arg0, %arg0, 0.000000e+00, true) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x4x32xf32>)
// CHECK: %dq, %dk, %dv = aten._scaled_dot_product_flash_attention_for_cpu_backward(%arg0, %arg0, %arg0, %arg0, %out, %lse, 0.000000e+00, true, scale = 2.500000e-01) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>)
// CHECK: %unit = aten.scaled_dot_product_attention(%arg0, %arg0, %arg0, none, 0.000000e+00, true) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x32x16xf32>
func.func @attention_for_cpu(%arg0: tensor<2x4x32x16xf32>) {
  %out, %lse = aten._scaled_dot_product_flash_attention_for_cpu(%arg0, %arg0, %arg0, 0.000000e+00, true) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x4x32xf32>)
  %dq, %dk, %dv = aten._scaled_dot_product_flash_attention_for_cpu_backward(%arg0, %arg0, %arg0, %arg0, %out, %lse, 0.000000e+00, true, scale = 2.500000e-01) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>)
  %unit = aten.scaled_dot_product_attention(%arg0, %arg0, %arg0, none, 0.000000e+00, true) : (tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x32x16xf32>
  return
}
