// A loss of sums over the rows before: its ops do not run in parts.
joint.graph @cumulated(
    %x: tensor<12x4xf32> {joint.role = #joint.role<param "x">},
    %w: tensor<4x32xf32> {joint.role = #joint.role<param "w">},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4x32xf32>) {
  %mm = aten.mm(%x, %w) : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  %rows = aten.cumsum(%mm, 0) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %loss = aten.sum(%rows) : (tensor<12x32xf32>) -> tensor<f32>
  %xt = aten.permute(%x, [1, 0]) : (tensor<12x4xf32>) -> tensor<4x12xf32>
  %dr = aten.expand(%t, [12, 32]) : (tensor<f32>) -> tensor<12x32xf32>
  %dw = aten.mm(%xt, %dr) : (tensor<4x12xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  joint.output %loss gradients(%dw of 1) : tensor<f32>, tensor<4x32xf32>
}
