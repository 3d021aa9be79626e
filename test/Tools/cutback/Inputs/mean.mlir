joint.graph @mean(
    %x: tensor<?x4xf32> {joint.role = #joint.role<input>,
                         joint.dims = ["s0", "4"]},
    %b: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "b">})
    -> (tensor<f32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 8>}} {
  %y = aten.mul.Tensor(%x, %b)
      : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %mean = aten.mean(%y) : (tensor<?x4xf32>) -> tensor<f32>
  joint.output %mean : tensor<f32>
}
