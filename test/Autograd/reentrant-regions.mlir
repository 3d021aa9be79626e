// Reentrant checkpoint regions: gradients flow where an input has one.
//
// RUN: cutback-opt %s --cutback-differentiate --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: joint.graph @an_input_with_a_gradient_lets_all_flow(
// CHECK-SAME: attributes {joint.regions = {"0" = {early_stop = false}}}
// CHECK: gradients(%{{.*}} of 0, %{{.*}} of 1)
joint.graph @an_input_with_a_gradient_lets_all_flow(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %v: tensor<4xf32> {joint.role = #joint.role<param "v">}) -> (tensor<f32>) gradients () {
  %a = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %y = joint.checkpoint attributes {reentrant = true} {
    %b = aten.mul.Tensor(%a, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %sum = aten.sum(%y) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// What only a parameter of the region has a gradient for gets none: the
// residual sum is all that is left.
// CHECK-LABEL: joint.graph @parameters_alone_let_nothing_flow(
// CHECK: %[[M:.*]] = aten.mul.Tensor(%x, %v)
// CHECK: aten.detach(%[[M]])
// CHECK: gradients(%{{.*}} of 0)
joint.graph @parameters_alone_let_nothing_flow(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %v: tensor<4xf32> {joint.role = #joint.role<param "v">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-warning@+1 {{no value that a reentrant checkpoint region reads has a gradient, parameters aside: what is in it, parameters too, gets none}}
  %y = joint.checkpoint attributes {reentrant = true} {
    %b = aten.mul.Tensor(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %a = aten.mul.Tensor(%y, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%a) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

joint.graph @a_result_must_have_a_gradient(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %a = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{no result of a reentrant checkpoint region has a gradient: the region is not necessary}}
  // expected-note@+1 {{take the ops out of the region, or detach its results behind it}}
  %y = joint.checkpoint attributes {reentrant = true} {
    %b = aten.detach(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %c = aten.mul.Tensor(%y, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%c) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
