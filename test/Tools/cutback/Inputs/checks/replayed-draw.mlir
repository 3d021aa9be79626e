// A draw of the framework's generator, in a checkpoint region: both halves run it.
joint.graph @g(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %p = aten.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%p) {joint.policy = #joint.policy<must_recompute, region = 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%x, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}
