// w cubed: the second derivative is 6 w.
joint.graph @g(%w: tensor<f32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %y = aten.pow.Tensor_Scalar(%w, 3) : (tensor<f32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}
