// The example in the description of --cutback-reorder-backward.
//
// RUN: cutback-opt %s --cutback-reorder-backward | FileCheck %s

// CHECK-LABEL: func.func @step_backward(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {joint.role = #joint.role<saved>}, %[[T:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = math.exp %[[X]] {joint.recompute = 0
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[T]], %[[A]]
// CHECK-NEXT: %[[B:.*]] = math.sin %[[X]] {joint.recompute = 1
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[T]], %[[B]]
// CHECK-NEXT: return %[[C]], %[[D]]

func.func @step_backward(%x: tensor<4xf32> {joint.role = #joint.role<saved>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = math.exp %x {joint.recompute = 0} : tensor<4xf32>
  %b = math.sin %x {joint.recompute = 1} : tensor<4xf32>
  %c = arith.mulf %t, %a : tensor<4xf32>
  %d = arith.mulf %t, %b : tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}
