// Gradients that are parameters which the update writes, and one with strides.
joint.graph @g(%p: tensor<2x3xf32> {joint.role = #joint.role<param "p">},
               %q: tensor<2x3xf32> {joint.role = #joint.role<param "q">},
               %w: tensor<3x2xf32> {joint.role = #joint.role<param "w">},
               %x: tensor<2x3xf32> {joint.role = #joint.role<input>},
               %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>) {
  %m = aten.mul.Tensor(%p, %q) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = aten.sum(%m) : (tensor<2x3xf32>) -> tensor<f32>
  %r = aten.sum(%w) : (tensor<3x2xf32>) -> tensor<f32>
  %l = aten.add.Tensor(%s, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %e = aten.mul.Tensor(%x, %t) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = aten.t(%e) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  joint.output %l gradients(%q of 0, %p of 1, %d of 2)
      : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>
}
