// Ops that draw random numbers.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @random_numbers
// CHECK: %rand = aten.rand([%arg1, 8], dtype = f32, pin_memory = false) : (index) -> tensor<?x8xf32>
// CHECK: %order = aten.randperm(16) : () -> tensor<16xi64>
// CHECK: %coins = aten.bernoulli.p(%arg0, 9.000000e-01) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %kept, %mask = aten.native_dropout(%arg0, 1.000000e-01, true) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
func.func @random_numbers(%arg0: tensor<4x8xf32>, %arg1: index) {
  %rand = aten.rand([%arg1, 8], dtype = f32, pin_memory = false) : (index) -> tensor<?x8xf32>
  %order = aten.randperm(16) : () -> tensor<16xi64>
  %coins = aten.bernoulli.p(%arg0, 9.000000e-01) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %kept, %mask = aten.native_dropout(%arg0, 1.000000e-01, true) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  return
}
