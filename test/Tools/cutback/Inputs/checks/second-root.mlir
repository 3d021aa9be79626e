// The gradient of x^1.5 is finite at 0, its own gradient is not.
joint.graph @g(%w: tensor<2x3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %first = aten.slice.Tensor(%w, 0, 0, 1) : (tensor<2x3xf32>) -> tensor<1x3xf32> loc("model.py":4:0)
  %zero = aten.slice.Tensor(%first, 1, 0, 1) : (tensor<1x3xf32>) -> tensor<1x1xf32> loc("model.py":4:0)
  %power = aten.pow.Tensor_Scalar(%zero, 1.5) : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("model.py":5:0)
  %loss = aten.sum(%power) : (tensor<1x1xf32>) -> tensor<f32> loc("model.py":6:0)
  joint.output %loss : tensor<f32>
}
