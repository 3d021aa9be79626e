// RUN: cutback-opt %s --split-input-file --cutback-cut-stages="differentiate=true" | FileCheck %s
// RUN: cutback-opt %s --split-input-file --cutback-cut-stages="multi-use=transmit" | FileCheck %s --check-prefix=SENT

// Markers at the start, at the end and repeated make no empty stage; a value of
// the first stage goes to the last one directly, and its gradient comes back.

// CHECK-LABEL: joint.graph @should_send_directly_stage0(
// CHECK-SAME: %tangents_1: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}
// CHECK: joint.output %{{.*}} gradients(%{{.*}} of 0)
// CHECK-LABEL: joint.graph @should_send_directly_stage1(
// CHECK-SAME: %mul: tensor<4xf32> {joint.file_name = "value.mul"
// CHECK-SAME: joint.result_names = ["value.tanh"]
// CHECK-LABEL: joint.graph @should_send_directly_stage2(
// CHECK-SAME: %mul: tensor<4xf32> {joint.file_name = "value.mul"
// CHECK-SAME: %tanh: tensor<4xf32> {joint.file_name = "value.tanh"
// CHECK-SAME: grad_seed of 0
// CHECK-NOT: @should_send_directly_stage3
joint.graph @should_send_directly(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  aten.pipe_split() : () -> ()
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  aten.pipe_split() : () -> ()
  %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %add = aten.add.Tensor(%tanh, %mul) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%add) : (tensor<4xf32>) -> tensor<f32>
  aten.pipe_split() : () -> ()
  joint.output %sum : tensor<f32>
}

// -----

// A parameter of both stages, and what depends on no argument.

// CHECK-LABEL: joint.graph @should_replicate_stage0(
// CHECK-SAME: %w: tensor<4xf32>
// CHECK: aten.full
// CHECK-LABEL: joint.graph @should_replicate_stage1(
// CHECK-SAME: %w: tensor<4xf32>
// CHECK: aten.full
// CHECK: gradients(%{{.*}} of 0, %{{.*}} of 1)
// SENT-LABEL: joint.graph @should_replicate_stage0(
// SENT: joint.output %w, %add
// SENT-LABEL: joint.graph @should_replicate_stage1(
// SENT-SAME: %w: tensor<4xf32> {joint.file_name = "value.w"
joint.graph @should_replicate(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %full = aten.full([4], 2.0 : f64) : () -> tensor<4xf32>
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add = aten.add.Tensor(%mul, %full) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %mul_1 = aten.mul.Tensor(%add, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul_2 = aten.mul.Tensor(%mul_1, %full) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul_2) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// Integers cross without a gradient; a stage that no gradient reaches has no
// backward; the write of a buffer is where its value is made.

// CHECK-LABEL: joint.graph @should_cross_without_a_gradient_stage0(
// CHECK-NOT: tangent
// CHECK: joint.write
// CHECK: joint.output %gt
// CHECK-LABEL: joint.graph @should_cross_without_a_gradient_stage1(
// CHECK-SAME: %gt: tensor<4xi1> {joint.file_name = "value.gt", joint.role = #joint.role<input>}
// CHECK: gradients(%{{.*}} of 0)
joint.graph @should_cross_without_a_gradient(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %gt = aten.gt.Scalar(%x, 0.0 : f64) : (tensor<4xf32>) -> tensor<4xi1>
  %new = aten.add.Tensor(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %mul = aten.mul.Tensor(%w, %gt) : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  %write = joint.write %b, %new : tensor<4xf32>, tensor<4xf32>
  joint.output %sum : tensor<f32>
}

// -----

// An input of several stages goes on from the first of them where it has a
// gradient, which is a sum then; each has its own where it has none.

// CHECK-LABEL: joint.graph @should_send_an_input_with_a_gradient_stage0(
// CHECK-SAME: %x: tensor<4xf32> {joint.file_name = "input.0", joint.requires_grad
// CHECK-SAME: %y: tensor<4xf32> {joint.file_name = "input.1"
// CHECK-SAME: joint.result_names = ["value.x", "value.mul"]
// CHECK-LABEL: joint.graph @should_send_an_input_with_a_gradient_stage1(
// CHECK-SAME: %y: tensor<4xf32> {joint.file_name = "input.1"
// CHECK-SAME: %x: tensor<4xf32> {joint.file_name = "value.x", joint.requires_grad
joint.graph @should_send_an_input_with_a_gradient(%x: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<input>}, %y: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %add = aten.add.Tensor(%mul, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul_1 = aten.mul.Tensor(%add, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul_1) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
