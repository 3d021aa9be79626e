// The first result has three elements: there is no loss.
joint.graph @g(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %y = aten.mul.Tensor(%w, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %y : tensor<3xf32>
}
