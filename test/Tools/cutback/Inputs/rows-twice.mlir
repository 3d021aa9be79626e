// Rows of a batch as two dimensions of an input, and as the second one of an
// output: neither can be parts of, or joined to, a batch.
module {
  joint.graph @model(%p_w: tensor<4x4xf32> {joint.role = #joint.role<param "w">, joint.requires_grad},
    %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]},
    %mask: tensor<?x?xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "s0"]}) -> (tensor<f32>, tensor<4x?xf32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 5, min = 2, max = 64>}} {
    %mm = aten.mm(%x, %p_w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %mixed = aten.mm(%mask, %mm) : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %loss = aten.sum(%mixed) : (tensor<?x4xf32>) -> tensor<f32>
    %t = aten.t(%mm) : (tensor<?x4xf32>) -> tensor<4x?xf32>
    joint.output %loss, %t : tensor<f32>, tensor<4x?xf32>
  }
}
