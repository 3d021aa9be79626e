// The gradient of a bias, of more rows than a column is one sum of.
module {
  joint.graph @biased(
      %x: tensor<4x600x8xf32> {joint.role = #joint.role<input>},
      %b: tensor<8xf32> {joint.role = #joint.role<input>},
      %t: tensor<4x600x8xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<4x600x8xf32>) gradients (tensor<4x600x8xf32>, tensor<8xf32>) {
    %s = aten.add.Tensor(%x, %b) : (tensor<4x600x8xf32>, tensor<8xf32>) -> tensor<4x600x8xf32>
    %y = aten.tanh(%s) : (tensor<4x600x8xf32>) -> tensor<4x600x8xf32>
    %d = aten.tanh_backward(%t, %y) : (tensor<4x600x8xf32>, tensor<4x600x8xf32>) -> tensor<4x600x8xf32>
    %g = aten.sum.dim_IntList(%d, [0, 1]) : (tensor<4x600x8xf32>) -> tensor<8xf32>
    joint.output %y gradients(%d of 0, %g of 1) : tensor<4x600x8xf32>, tensor<4x600x8xf32>, tensor<8xf32>
  }
}
