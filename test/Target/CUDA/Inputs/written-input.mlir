// An input that the step writes, and results that are inputs, one of which no
// launch reads, and a parameter.
joint.graph @g(%w: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "w">},
               %x: tensor<8x4xf32> {joint.role = #joint.role<input>},
               %s: tensor<4xf32> {joint.role = #joint.role<input>},
               %u: tensor<3xf32> {joint.role = #joint.role<input>})
    -> (tensor<f32>, tensor<4x8xf32>, tensor<4xf32>, tensor<3xf32>) gradients () {
  %p = aten.mul.Tensor(%x, %w) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %a = aten.sum(%p) : (tensor<8x4xf32>) -> tensor<f32>
  %q = aten.mul.Tensor(%s, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = aten.sum(%q) : (tensor<4xf32>) -> tensor<f32>
  %l = aten.add.Tensor(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %m = aten.mean.dim(%x, [0]) : (tensor<8x4xf32>) -> tensor<4xf32>
  %n = aten.add_.Tensor(%s, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = aten.t(%x) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  joint.output %l, %t, %w, %u
      : tensor<f32>, tensor<4x8xf32>, tensor<4xf32>, tensor<3xf32>
}
