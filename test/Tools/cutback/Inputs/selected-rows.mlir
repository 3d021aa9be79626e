// Of a symbolic number of elements, those above 0: how many, data say.
joint.graph @selected(
    %w: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "w">},
    %x: tensor<?x4xf32> {joint.dims = ["s0", "4"], joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 8, min = 2>}} {
  %mul = aten.mul.Tensor(%x, %w) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %mask = aten.gt.Scalar(%x, 0) : (tensor<?x4xf32>) -> tensor<?x4xi1>
  %some = aten.masked_select(%mul, %mask) : (tensor<?x4xf32>, tensor<?x4xi1>) -> tensor<?xf32>
  %sin = aten.sin(%some) : (tensor<?xf32>) -> tensor<?xf32>
  %sum = aten.sum(%sin) : (tensor<?xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
