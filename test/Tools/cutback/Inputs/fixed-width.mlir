// Rows of a symbolic number, whose width is a symbol too, and is that of the
// weights: 16.
joint.graph @rows(
    %x: tensor<?x?xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "s1"]},
    %w: tensor<2x8xf32> {joint.role = #joint.role<param "w">},
    %n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<2x8xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 8, min = 2>, s1 = #joint.symbol<hint = 16, min = 2>}} {
  %view = aten.view(%x, [%n, 2, 8]) : (tensor<?x?xf32>, index) -> tensor<?x2x8xf32>
  %mul = aten.mul.Tensor(%view, %w) : (tensor<?x2x8xf32>, tensor<2x8xf32>) -> tensor<?x2x8xf32>
  %sin = aten.sin(%mul) : (tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %sum = aten.sum(%sin) : (tensor<?x2x8xf32>) -> tensor<f32>
  %cos = aten.cos(%mul) : (tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %slope = aten.mul.Tensor(%cos, %view) : (tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %scaled = aten.mul.Tensor(%slope, %t) : (tensor<?x2x8xf32>, tensor<f32>) -> tensor<?x2x8xf32>
  %dw = aten.sum.dim_IntList(%scaled, [0]) : (tensor<?x2x8xf32>) -> tensor<2x8xf32>
  joint.output %sum gradients(%dw of 1) : tensor<f32>, tensor<2x8xf32>
}
