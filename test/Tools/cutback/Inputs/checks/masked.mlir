// The gradient of the root is not finite where `where` does not take it, and
// that of `clamp_min` masks it: every gradient that is returned is finite.
joint.graph @masked(%x: tensor<2x3xf32> {joint.role = #joint.role<param "w">, joint.requires_grad} loc("x")) -> (tensor<f32>) gradients () {
  %c = aten.clamp_min(%x, 0.0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":4:0)
  %root = aten.sqrt(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":5:0)
  %m = aten.gt.Scalar(%x, 0.0) : (tensor<2x3xf32>) -> tensor<2x3xi1> loc("model.py":6:0)
  %z = aten.zeros_like(%root) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":6:0)
  %w = aten.where.self(%m, %root, %z) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("model.py":6:0)
  %loss = aten.mean(%w) : (tensor<2x3xf32>) -> tensor<f32> loc("model.py":7:0)
  joint.output %loss : tensor<f32>
} loc("model.py":3:0)
