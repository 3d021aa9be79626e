joint.graph @model(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %detach = aten.detach(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%detach, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %mul_1 = aten.mul.Tensor(%mul, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul_1) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
