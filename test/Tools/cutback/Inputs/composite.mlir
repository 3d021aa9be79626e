// A composite op that PyTorch's rules plan as it stands.
joint.graph @counts(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>) {
  %counts = aten.histc(%x, 4, 0, 6) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%x, %counts) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = aten.sum(%y) : (tensor<4xf32>) -> tensor<f32>
  %dx = aten.mul.Tensor(%counts, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<4xf32>
}
