// The example in the description of --cutback-eliminate-dead-code.
//
// RUN: cutback-opt %s --cutback-eliminate-dead-code | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: return %[[Y]]

func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %before = math.exp %x : tensor<4xf32>
  %unused = arith.negf %before : tensor<4xf32>
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
