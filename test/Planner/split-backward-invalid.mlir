// What is refused, and the next step.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-split-backward

// expected-error @below {{has no gradients: there is no backward to cut into phases}}
// expected-note @below {{give a joint graph}}
joint.graph @forward_only(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

// expected-error @below {{is split into phases already, or there is another '@twice_weight'}}
joint.graph @twice(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}
// expected-note @below {{the phases would have the same names; erase or rename it}}
func.func private @twice_weight()

// -----

// A state that is no tensor is not handed over, and its op must not run again.
// expected-error @below {{has no plan of three phases: it has no solution of finite cost}}
// expected-note @below {{a policy asks to save what cannot be saved, or to recompute what may run only once; give it another one}}
joint.graph @no_plan(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %a, %state = joint.opaque "my.op"(%x) {tuple} : (tensor<4xf32>) -> (tensor<4xf32>, none)
  %next = builtin.unrealized_conversion_cast %state : none to none
  %g = joint.opaque "my.gradient"(%t, %next) : (tensor<4xf32>, none) -> tensor<4xf32>
  joint.output %a gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}
