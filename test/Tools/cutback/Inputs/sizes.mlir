// A step whose rows are a symbol: a softmax of rows, and their sum.
joint.graph @sizes(
    %x: tensor<?x16xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "16"]},
    %y: tensor<?x8xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "8"]},
    %n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<?x16xf32>)
    attributes {symbols = {s0 = #joint.symbol<min = 2>}} {
  %soft = aten._softmax(%x, 1, false) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %view = aten.view(%soft, [%n, 2, 8]) : (tensor<?x16xf32>, index) -> tensor<?x2x8xf32>
  %rows = aten.sum.dim_IntList(%view, [1]) : (tensor<?x2x8xf32>) -> tensor<?x8xf32>
  %mul = aten.mul.Tensor(%rows, %y) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %sum = aten.sum(%mul) : (tensor<?x8xf32>) -> tensor<f32>
  %dmul = aten.mul.Tensor(%y, %t) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %wide = aten.unsqueeze(%dmul, 1) : (tensor<?x8xf32>) -> tensor<?x1x8xf32>
  %both = aten.expand(%wide, [%n, 2, 8]) : (tensor<?x1x8xf32>, index) -> tensor<?x2x8xf32>
  %copy = aten.clone(%both) : (tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %dsoft = aten.view(%copy, [%n, 16]) : (tensor<?x2x8xf32>, index) -> tensor<?x16xf32>
  %dx = aten._softmax_backward_data(%dsoft, %soft, 1, f32) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  joint.output %sum gradients(%dx of 0) : tensor<f32>, tensor<?x16xf32>
}
