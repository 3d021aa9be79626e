// The example in the description of --cutback-decompose-composites.
//
// RUN: cutback-opt %s --cutback-decompose-composites | FileCheck %s

// CHECK-LABEL: joint.graph @fc(
// CHECK-NEXT: %[[T:t]] = aten.t(%w)
// CHECK-NEXT: %[[Y:y]] = aten.mm(%x, %[[T]])
// CHECK-NEXT: joint.output %[[Y]]

joint.graph @fc(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<2x3xf32> {joint.role = #joint.role<param>}) -> (tensor<4x2xf32>) gradients () {
  %y = aten.linear(%x, %w) : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  joint.output %y : tensor<4x2xf32>
}
