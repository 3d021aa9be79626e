// A transform there, a filter, and the way back; gradients are made here.
joint.graph @fourier(%x: tensor<3x8xf32> {joint.role = #joint.role<input>, joint.requires_grad}) -> (tensor<f32>) gradients () {
  %a = aten._fft_r2c(%x, [1], 1, true) : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  %b = aten.mul.Tensor(%a, %a) : (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
  %c = aten._fft_c2r(%b, [1], 1, 8) : (tensor<3x5xcomplex<f32>>) -> tensor<3x8xf32>
  %d = aten.sin(%c) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %e = aten.mean(%d) : (tensor<3x8xf32>) -> tensor<f32>
  joint.output %e : tensor<f32>
}
