// As many elements as are not zero, which have to be four.
joint.graph @weighed(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>) {
  %relu = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %places = aten.nonzero(%relu) : (tensor<4xf32>) -> tensor<?x1xi64>
  %rows = aten.select.int(%places, 1, 0) : (tensor<?x1xi64>) -> tensor<?xi64>
  %values = aten.index.Tensor(%x, [%rows]) : (tensor<4xf32>, tensor<?xi64>) -> tensor<?xf32>
  %weighed = aten.mul.Tensor(%values, %relu) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  %loss = aten.sum(%weighed) : (tensor<?xf32>) -> tensor<f32>
  %sign = aten.sign(%relu) : (tensor<4xf32>) -> tensor<4xf32>
  %dx = aten.mul.Tensor(%sign, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<4xf32>
}
