// A result whose size depends on data, and a draw of such a size.
joint.graph @places(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>, tensor<?x1xi64>) gradients (tensor<4xf32>) {
  %places = aten.nonzero(%x) : (tensor<4xf32>) -> tensor<?x1xi64> loc("places.py":3:1)
  %loss = aten.sum(%x) : (tensor<4xf32>) -> tensor<f32>
  %dx = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss, %places gradients(%dx of 0) : tensor<f32>, tensor<?x1xi64>, tensor<4xf32>
}
