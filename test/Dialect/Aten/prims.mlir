// Ops of namespace prims.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @prims_have_their_own_names
// CHECK: %cast = aten.prims.convert_element_type(%arg0, bf16) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: %iota = aten.prims.iota(56, start = 0, step = 1, dtype = i64, device = "cuda:0", requires_grad = false) : () -> tensor<56xi64>
// CHECK: %rev = aten.prims.rev(%arg0, [0]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %fma = aten.prims.fma(%arg0, %arg0, %arg0) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %there = aten.prims.device_put(%arg0, "cuda:1") : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %max, %offsets = aten.prims._low_memory_max_pool_with_offsets(%arg1, [2, 2], [2, 2], [0, 0], [1, 1], false) : (tensor<2x6x32x32xf32>) -> (tensor<2x6x16x16xf32>, tensor<2x6x16x16xi8>)
func.func @prims_have_their_own_names(%arg0: tensor<4x8xf32>, %arg1: tensor<2x6x32x32xf32>) {
  %cast = aten.prims.convert_element_type(%arg0, bf16) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %iota = aten.prims.iota(56, start = 0, step = 1, dtype = i64, device = "cuda:0", requires_grad = false) : () -> tensor<56xi64>
  %rev = aten.prims.rev(%arg0, [0]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %fma = aten.prims.fma(%arg0, %arg0, %arg0) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %there = aten.prims.device_put(%arg0, "cuda:1") : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %max, %offsets = aten.prims._low_memory_max_pool_with_offsets(%arg1, [2, 2], [2, 2], [0, 0], [1, 1], false) : (tensor<2x6x32x32xf32>) -> (tensor<2x6x16x16xf32>, tensor<2x6x16x16xi8>)
  return
}
