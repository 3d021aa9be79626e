// The example in the description of --cutback-cut-stages.
//
// RUN: cutback-opt %s --cutback-cut-stages | FileCheck %s

// CHECK-LABEL: joint.graph @model_stage0(
// CHECK-SAME: %w: tensor<4xf32> {joint.file_name = "param.w", joint.requires_grad, joint.role = #joint.role<param "w">}
// CHECK-SAME: %x: tensor<4xf32> {joint.file_name = "input.0", joint.role = #joint.role<input>}
// CHECK-SAME: attributes {joint.result_names = ["value.mul"]}
// CHECK-NEXT: %mul = aten.mul.Tensor(%w, %x)
// CHECK-NEXT: joint.output %mul : tensor<4xf32>
// CHECK-LABEL: joint.graph @model_stage1(
// CHECK-SAME: %mul: tensor<4xf32> {joint.file_name = "value.mul", joint.requires_grad, joint.role = #joint.role<input>}
// CHECK-SAME: attributes {joint.result_names = ["loss"]}
// CHECK-NEXT: %tanh = aten.tanh(%mul)
// CHECK-NEXT: %sum = aten.sum(%tanh)
// CHECK-NEXT: joint.output %sum : tensor<f32>
joint.graph @model(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
