// Graphs without a plan: the path along which nothing may be cut.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-plan

// expected-error @below {{has no gradients: there is no backward to plan for}}
// expected-note @below {{give a joint graph; if its last outputs are gradients, say how many forward outputs there are (--forward-outputs)}}
joint.graph @a_graph_without_gradients(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error @below {{has no plan: policies contradict each other along 'view'}}
joint.graph @a_view_must_be_saved_and_its_base_recomputed(
    %x: tensor<4x4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %base = aten.sin(%x) {joint.policy = #joint.policy<must_recompute>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note @below {{this must not run in the backward}}
  // expected-note @below {{this must run in the backward; give one of the two another policy}}
  %view = aten.t(%base) {joint.policy = #joint.policy<must_save>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = aten.mul.Tensor(%t, %view) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %view gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// expected-error @below {{has no plan: policies contradict each other along 'state' -> 'next'}}
joint.graph @a_state_that_is_no_tensor_must_be_recomputed(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // expected-note @below {{this must not run in the backward}}
  %a, %state = joint.opaque "my.op"(%x) {tuple} : (tensor<4xf32>) -> (tensor<4xf32>, none)
  // expected-note @below {{this must run in the backward; give one of the two another policy}}
  %next = builtin.unrealized_conversion_cast %state : none to none
  %g = joint.opaque "my.gradient"(%t, %next) : (tensor<4xf32>, none) -> tensor<4xf32>
  joint.output %a gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

joint.graph @a_size_does_not_fit_64_bits(
    // expected-error @below {{does not fit 64 bits}}
    %x: tensor<9223372036854775807xf32> {joint.role = #joint.role<input>},
    %t: tensor<9223372036854775807xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<9223372036854775807xf32>) gradients (tensor<9223372036854775807xf32>) {
  joint.output %x gradients(%t of 0) : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>
}
