// From a forward program to both halves: in-place ops, composite ops and random
// ops are gone, gradients are there, and the certificate has passed.
//
// RUN: cutback-opt %s --cutback-training-pipeline | FileCheck %s
// RUN: cutback-opt %s --cutback-training-pipeline --cutback-pipeline | FileCheck %s --check-prefix=HALVES

// The same, pass by pass.
// RUN: cutback-opt %s --pass-pipeline='builtin.module(joint.graph(cutback-functionalize,cutback-decompose-composites,cutback-functionalize-rng,cutback-differentiate,cutback-decompose-to-core))' | FileCheck %s

// CHECK-LABEL: joint.graph @step(
// CHECK-SAME: joint.role<rng_seed>
// CHECK-SAME: joint.role<grad_seed of 0>
// CHECK-NOT: aten.relu_
// CHECK-NOT: aten.linear
// CHECK-NOT: aten.dropout
// CHECK-NOT: threshold_backward
// CHECK: joint.random <uniform>
// CHECK: aten.le.Scalar
// CHECK: joint.output %{{.*}} gradients(%{{.*}} of 0)
// HALVES-LABEL: func.func @step_forward
// HALVES-LABEL: func.func @step_backward
// HALVES: joint.partition @step_partition
joint.graph @step(%w: tensor<8x8xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %y = aten.linear(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %z = aten.relu_(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = aten.dropout(%z, 0.5, true) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = aten.sum(%d) : (tensor<4x8xf32>) -> tensor<f32>
  joint.output %loss : tensor<f32>
}
