// RUN: cutback-opt %s --cutback-extract --cutback-expose-random-states --cutback-verify-partition | FileCheck %s

// The certificate reads the marks: of two equal draws the backward has the
// second one, with the state that was taken in front of it.
// CHECK-LABEL: func.func @two_draws_forward
// CHECK-NEXT: %m = aten.bernoulli
// CHECK-NEXT: %rng_state_0 = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
// CHECK-NEXT: %n = aten.bernoulli
// CHECK: return %{{.*}}, %rng_state_0
// CHECK-LABEL: func.func @two_draws_backward
// CHECK-SAME: %[[STATE:[^ ]*]]: tensor<?xui8> {joint.name = "rng_state_0", joint.role = #joint.role<saved>}
// CHECK: joint.opaque "higher_order.run_with_rng_state"(%[[STATE]])
// CHECK-NEXT: %n_recompute = aten.bernoulli
// CHECK-NOT: joint.replay
// CHECK: joint.partition {{.*}}"rng_state_0"]
joint.graph @two_draws(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %m = aten.bernoulli(%x) {joint.replay = 0 : i64, joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%x) {joint.replay = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.mul.Tensor(%g, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%h of 0) : tensor<4xf32>, tensor<4xf32>
}
