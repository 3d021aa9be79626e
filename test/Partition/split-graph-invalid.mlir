// Hand-written plans that would give another step than the graph.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-extract

joint.graph @a_random_op_does_not_run_twice(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // expected-error @below {{would run in both halves, but may run only once}}
  // expected-note @below {{save 'noise' (--policy=noise=must-save)}}
  %noise = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %noise) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %noise gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

joint.graph @an_unknown_op_does_not_run_twice_for_one_of_its_results(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // expected-error @below {{would run in both halves, but may run only once}}
  // expected-note @below {{save 'a' (--policy=a=must-save)}}
  %a, %b = joint.opaque "my.op"(%x) {tuple, joint.save = array<i1: true, false>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %g = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.mul.Tensor(%t, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %a gradients(%h of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

joint.graph @an_argument_is_read_before_it_is_written(
    %buf: tensor<4xf32> {joint.role = #joint.role<buffer "b">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.mul.Tensor(%x, %buf) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %buf) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{changes argument 'buf', whose old value the backward reads}}
  // expected-note @below {{copy the argument before the write and let the backward read the copy}}
  %w = joint.write %buf, %y : tensor<4xf32>, tensor<4xf32>
  joint.output %y gradients(%g of 1) : tensor<4xf32>, tensor<4xf32>
}

// -----

joint.graph @so_is_an_argument_that_the_forward_writes_last(
    %buf: tensor<4xf32> {joint.role = #joint.role<buffer "b">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %late = joint.write %buf, %g {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{changes argument 'buf', whose old value the backward reads}}
  // expected-note @below {{copy the argument before the write and let the backward read the copy}}
  %w = joint.write %buf, %y : tensor<4xf32>, tensor<4xf32>
  joint.output %y gradients(%g of 1) : tensor<4xf32>, tensor<4xf32>
}
