// Sizes that ops divide without saying so (channels by four), and some of which
// a part is taken off (windows of two rows and columns).
joint.graph @divided(
    %w: tensor<1xf32> {joint.requires_grad, joint.role = #joint.role<param "w">},
    %x: tensor<?x?x?x?xf32> {joint.dims = ["s0", "s1", "s2", "s3"], joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 2, min = 2>, s1 = #joint.symbol<hint = 4, min = 2>, s2 = #joint.symbol<hint = 6, min = 3>, s3 = #joint.symbol<hint = 5, min = 3>}} {
  %mul = aten.mul.Tensor(%x, %w) : (tensor<?x?x?x?xf32>, tensor<1xf32>) -> tensor<?x?x?x?xf32>
  %shuffled = aten.pixel_shuffle(%mul, 2) : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %sin = aten.sin(%shuffled) : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %sum = aten.sum(%sin) : (tensor<?x?x?x?xf32>) -> tensor<f32>
  %windows = aten.im2col(%mul, [2, 2], [1, 1], [0, 0], [1, 1]) : (tensor<?x?x?x?xf32>) -> tensor<?x?x?xf32>
  %cos = aten.cos(%windows) : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %all = aten.sum(%cos) : (tensor<?x?x?xf32>) -> tensor<f32>
  %loss = aten.add.Tensor(%sum, %all) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %loss : tensor<f32>
}
