// The gradient of a root is infinite at 0, and no longer a number where two of
// them cancel.
joint.graph @g(%w: tensor<2x3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %sub = aten.sub.Tensor(%w, %w) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":4:0)
  %root = aten.sqrt(%sub) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":5:0)
  %mul = aten.mul.Tensor(%root, %w) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":6:0)
  %loss = aten.sum(%mul) : (tensor<2x3xf32>) -> tensor<f32> loc("model.py":7:0)
  joint.output %loss : tensor<f32>
}
