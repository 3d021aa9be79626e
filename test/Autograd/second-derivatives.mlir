// RUN: cutback-opt %s --cutback-differentiate=of=grad.w | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate="of=loss,grad.w grad-of=w" | FileCheck %s --check-prefix=BOTH
// RUN: cutback-opt %s --cutback-differentiate="of=loss" | FileCheck %s --check-prefix=LOSS

// The seed becomes a constant, the gradient a result, and the vector that the
// Hessian is multiplied by an argument.

// CHECK-LABEL: joint.graph @cubes
// CHECK-SAME: %[[W:w]]: tensor<4xf32>
// CHECK-SAME: %[[V:tangents_1]]: tensor<4xf32> {joint.role = #joint.role<tangent of 1>}
// CHECK-SAME: -> (tensor<f32>, tensor<4xf32>) gradients (tensor<4xf32>)
// CHECK: %[[ONE:.*]] = aten.full([], 1.000000e+00, dtype = f32)
// CHECK: %[[SUM:.*]] = aten.sum(
// CHECK: %[[SEED:.*]] = aten.expand(%[[ONE]], [4])
// CHECK: %[[FIRST:.*]] = aten.mul.Tensor(%[[SEED]], %{{.*}})
// CHECK: aten.mul.Tensor(%[[V]], %[[SEED]])
// CHECK: joint.output %[[SUM]], %[[FIRST]] gradients(%{{.*}} of 0)

// BOTH-LABEL: joint.graph @cubes
// BOTH-SAME: joint.role = #joint.role<grad_seed of 0>
// BOTH-SAME: joint.role = #joint.role<tangent of 1>

// LOSS-LABEL: joint.graph @cubes
// LOSS-SAME: -> (tensor<f32>) gradients (tensor<4xf32>)
joint.graph @cubes(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %s: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}) -> (tensor<f32>) gradients (tensor<4xf32>) {
  %pow = aten.pow.Tensor_Scalar(%w, 3) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%pow) : (tensor<4xf32>) -> tensor<f32>
  %expand = aten.expand(%s, [4]) : (tensor<f32>) -> tensor<4xf32>
  %square = aten.pow.Tensor_Scalar(%w, 2) : (tensor<4xf32>) -> tensor<4xf32>
  %slope = aten.mul.Scalar(%square, 3) : (tensor<4xf32>) -> tensor<4xf32>
  %grad = aten.mul.Tensor(%expand, %slope) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %sum gradients(%grad of 0) : tensor<f32>, tensor<4xf32>
}
