// RUN: cutback-opt %s --cutback-differentiate="grad-of=w" --verify-diagnostics

joint.graph @chosen_gradients(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %a = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+2 {{a reentrant checkpoint region runs its own backward: gradients of chosen arguments cannot be asked for}}
  // expected-note@+1 {{leave out --grad-of, or make the region one with reentrant = false}}
  %y = joint.checkpoint attributes {reentrant = true} {
    %b = aten.sin(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %sum = aten.sum(%y) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
