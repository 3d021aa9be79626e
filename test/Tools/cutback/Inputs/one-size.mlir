// A step whose sizes are symbols by its types, and which has one size alone.
joint.graph @fixed(
    %x: tensor<?x16xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "16"]},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<?x16xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 8, min = 2>}} {
  %exp = aten.exp(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %view = aten.view(%exp, [4, 32]) : (tensor<?x16xf32>) -> tensor<4x32xf32>
  %sum = aten.sum(%view) : (tensor<4x32xf32>) -> tensor<f32>
  %wide = aten.expand(%t, [4, 32]) : (tensor<f32>) -> tensor<4x32xf32>
  %back = aten.view(%wide, [8, 16]) : (tensor<4x32xf32>) -> tensor<?x16xf32>
  %grad = aten.mul.Tensor(%back, %exp) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  joint.output %sum gradients(%grad of 0) : tensor<f32>, tensor<?x16xf32>
}
