// A program whose result is no scalar.
joint.graph @g(%w: tensor<2xf32> {joint.role = #joint.role<param "w">}) -> (tensor<2xf32>) gradients () {
  %y = aten.exp(%w) : (tensor<2xf32>) -> tensor<2xf32>
  joint.output %y : tensor<2xf32>
}
