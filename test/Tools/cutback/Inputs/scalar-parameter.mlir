// A parameter without dimensions.
joint.graph @g(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}, %s: tensor<f32> {joint.role = #joint.role<param "s">}, %x: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %y = aten.mul.Tensor(%w, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %z = aten.mul.Tensor(%y, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %l = aten.sum(%z) : (tensor<3xf32>) -> tensor<f32>
  joint.output %l : tensor<f32>
}
