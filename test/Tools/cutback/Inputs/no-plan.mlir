// A view must be saved, and its base must not: there is no plan.
joint.graph @no_plan(
    %x: tensor<4x4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %base = aten.sin(%x) {joint.policy = #joint.policy<must_recompute>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %view = aten.t(%base) {joint.policy = #joint.policy<must_save>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = aten.mul.Tensor(%t, %view) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %view gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
