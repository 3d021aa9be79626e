// RUN: cutback-opt %s --split-input-file --verify-diagnostics

joint.graph @c1_integers_are_no_gradients(
    %n: tensor<4xi64> {joint.role = #joint.role<input>})
    -> (tensor<4xi64>) gradients () {
  // expected-error@+1 {{is on a value of type 'tensor<4xi64>', which is no gradient}}
  joint.hook @n tensor_pre(%n) key 0 : tensor<4xi64>
  joint.output %n : tensor<4xi64>
}

// -----

joint.graph @c2_a_result_has_the_size_of_the_gradient(
    %g: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{replaces a gradient of type 'tensor<4xf32>' by one of type 'tensor<2xf32>'}}
  %h = joint.hook @g tensor_pre(%g) key 0 : tensor<4xf32> -> tensor<2xf32>
  joint.output %g : tensor<4xf32>
}

// -----

joint.graph @c2_a_result_has_the_type_of_the_gradient(
    %g: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{replaces a gradient of type 'tensor<4xf32>' by one of type 'tensor<4xbf16>'}}
  %h = joint.hook @g node_pre(%g) key 0 : tensor<4xf32> -> tensor<4xbf16>
  joint.output %g : tensor<4xf32>
}

// -----

joint.graph @c3_who_retains_a_gradient_only_sees_it(
    %g: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{of kind retains_grad gives a result, and only sees the gradient behind all other hooks}}
  %h = joint.hook @g retains_grad(%g) key 0 : tensor<4xf32> -> tensor<4xf32>
  joint.output %g : tensor<4xf32>
}

// -----

joint.graph @c4_keys_are_numbers_from_zero_on(
    %g: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{has key -3; keys are numbers from 0 on}}
  joint.hook @g tensor_pre(%g) key -3 : tensor<4xf32>
  joint.output %g : tensor<4xf32>
}

// -----

joint.graph @a_kind_is_one_of_five(
    %g: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{unknown kind of hook 'later': tensor_pre, retains_grad, node_pre, node_post or post_accumulate}}
  joint.hook @g later(%g) key 0 : tensor<4xf32>
  joint.output %g : tensor<4xf32>
}
