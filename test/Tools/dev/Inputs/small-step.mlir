joint.graph @g(%x: tensor<256x512xf32> {joint.role = #joint.role<input>}, %w0: tensor<512x1024xf32> {joint.role = #joint.role<param>}, %w1: tensor<1024x256xf32> {joint.role = #joint.role<param>}, %t: tensor<f32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<f32>) gradients (tensor<512x1024xf32>, tensor<1024x256xf32>) {
  %a = aten.mm(%x, %w0) : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %s = aten.sin(%a) : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %e = aten.tanh(%s) : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %b = aten.mm(%e, %w1) : (tensor<256x1024xf32>, tensor<1024x256xf32>) -> tensor<256x256xf32>
  %y = aten.exp(%b) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %loss = aten.sum(%y) : (tensor<256x256xf32>) -> tensor<f32>
  %g0 = aten.expand(%t, [256, 256]) : (tensor<f32>) -> tensor<256x256xf32>
  %g1 = aten.mul.Tensor(%g0, %y) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %et = aten.t(%e) : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
  %dw1 = aten.mm(%et, %g1) : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32>
  %w1t = aten.t(%w1) : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
  %g2 = aten.mm(%g1, %w1t) : (tensor<256x256xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %g3 = aten.tanh_backward(%g2, %e) : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %c = aten.cos(%a) : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %g4 = aten.mul.Tensor(%g3, %c) : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %xt = aten.t(%x) : (tensor<256x512xf32>) -> tensor<512x256xf32>
  %dw0 = aten.mm(%xt, %g4) : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  joint.output %loss gradients(%dw0 of 1, %dw1 of 2) : tensor<f32>, tensor<512x1024xf32>, tensor<1024x256xf32>
}
