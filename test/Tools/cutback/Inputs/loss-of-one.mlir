// A loss of one element, which is no scalar.
joint.graph @g(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<1xf32>) gradients () {
  %y = aten.mul.Tensor(%w, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s = aten.sum.dim_IntList(%y, [0], true) : (tensor<3xf32>) -> tensor<1xf32>
  joint.output %s : tensor<1xf32>
}
