// The first rank tells the others what to multiply by.
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<param "x">}) -> (tensor<f32>) gradients () {
  %c = aten.c10d.broadcast(%x, 0, "0") : (tensor<4xf32>) -> tensor<4xf32>
  %w = aten.c10d.wait_tensor(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = aten.sum(%y) : (tensor<4xf32>) -> tensor<f32>
  joint.output %s : tensor<f32>
}
