// As many numbers are drawn as there are places.
joint.graph @noise(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>) {
  %places = aten.nonzero(%x) : (tensor<4xf32>) -> tensor<?x1xi64> loc("noise.py":3:1)
  %drawn = aten.rand_like(%places, dtype = f32) : (tensor<?x1xi64>) -> tensor<?x1xf32> loc("noise.py":4:1)
  %loss = aten.sum(%drawn) : (tensor<?x1xf32>) -> tensor<f32>
  %dx = aten.mul.Tensor(%x, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<4xf32>
}
