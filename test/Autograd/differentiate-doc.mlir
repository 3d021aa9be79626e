// The example in the description of --cutback-differentiate.
//
// RUN: cutback-opt %s --cutback-differentiate | FileCheck %s

// CHECK-LABEL: joint.graph @loss(
// CHECK-SAME: %tangents_1: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}
// CHECK-SAME: gradients (tensor<4xf32>)
// CHECK-NEXT: %mul = aten.mul.Tensor(%w, %x)
// CHECK-NEXT: %tanh = aten.tanh(%mul)
// CHECK-NEXT: %sum = aten.sum(%tanh)
// CHECK-NEXT: %expand = aten.expand(%tangents_1, [4])
// CHECK-NEXT: %tanh_backward = aten.tanh_backward(%expand, %tanh)
// CHECK-NEXT: %mul_1 = aten.mul.Tensor(%tanh_backward, %x)
// CHECK-NEXT: joint.output %sum gradients(%mul_1 of 0)

joint.graph @loss(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
