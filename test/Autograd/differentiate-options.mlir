// RUN: cutback-opt %s --cutback-differentiate=grad-of=b,x | FileCheck %s --check-prefix=SOME
// RUN: cutback-opt %s --cutback-differentiate=loss-outputs=1 | FileCheck %s --check-prefix=SECOND
// RUN: cutback-opt %s --cutback-differentiate=loss-outputs=0,1 | FileCheck %s --check-prefix=BOTH

// Gradients of the weight are trimmed: no product with %x is built. The input
// is called by its name, the parameter by that in its role.
// SOME-LABEL: joint.graph @two_losses(
// SOME-SAME: grad_seed of 0
// SOME: aten.mul.Tensor(%{{.*}}, %w)
// SOME-NOT: aten.mul.Tensor(%{{.*}}, %x)
// SOME: gradients(%{{.*}} of 1, %{{.*}} of 2)

// SECOND-LABEL: joint.graph @two_losses(
// SECOND-SAME: %tangents_1: tensor<f32> {joint.role = #joint.role<grad_seed of 1>}
// SECOND: gradients(%{{.*}} of 1)

// BOTH-LABEL: joint.graph @two_losses(
// BOTH-SAME: grad_seed of 0
// BOTH-SAME: grad_seed of 1
// BOTH: gradients(%{{.*}} of 0, %{{.*}} of 1)

joint.graph @two_losses(%w: tensor<4xf32> {joint.role = #joint.role<param "a">}, %v: tensor<4xf32> {joint.role = #joint.role<param "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add = aten.add.Tensor(%mul, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%add) : (tensor<4xf32>) -> tensor<f32>
  %sum_1 = aten.sum(%v) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum, %sum_1 : tensor<f32>, tensor<f32>
}
