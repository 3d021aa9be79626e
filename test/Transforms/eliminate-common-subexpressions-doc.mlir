// The example in the description of --cutback-eliminate-common-subexpressions.
//
// RUN: cutback-opt %s --cutback-eliminate-common-subexpressions | FileCheck %s

// CHECK-LABEL: joint.graph @epochs(
// CHECK-NEXT: %[[A:.*]] = arith.addf %w, %x
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK-NEXT: joint.write %w, %[[C]]
// CHECK-NEXT: %[[D:.*]] = arith.addf %w, %x
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[C]], %[[D]]
// CHECK-NEXT: joint.output %[[Y]]

joint.graph @epochs(%w: tensor<4xf32> {joint.role = #joint.role<buffer>}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %a = arith.addf %w, %x : tensor<4xf32>
  %b = arith.addf %w, %x : tensor<4xf32>
  %c = arith.mulf %a, %b : tensor<4xf32>
  %w_1 = joint.write %w, %c : tensor<4xf32>, tensor<4xf32>
  %d = arith.addf %w, %x : tensor<4xf32>
  %y = arith.mulf %c, %d : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
