// A graph that brings its random ops; the dropout is run again in the backward.
module {
  joint.graph @draws(
      %x: tensor<4x8xf32> {joint.role = #joint.role<input>},
      %t: tensor<4x8xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>) gradients (tensor<4x8xf32>) {
    %d, %m = aten.native_dropout(%x, 2.5e-01, true) {joint.policy = #joint.policy<must_recompute>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
    %all, %kept = aten.native_dropout(%d, 0.5, false) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
    %b = aten.bernoulli.p(%x, 0.3) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = aten.exp(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %g = aten.mul.Tensor(%t, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %masked = aten.native_dropout_backward(%g, %m, 1.3333333333333333) : (tensor<4x8xf32>, tensor<4x8xi1>) -> tensor<4x8xf32>
    joint.output %all, %b, %kept gradients(%masked of 0) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>
  }
}
