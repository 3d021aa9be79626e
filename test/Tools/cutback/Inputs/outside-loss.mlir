// Outputs whose loss is outside: rows, columns of the batch, means and a sum over it, a
// number of the weights alone, and counts. BATCH is the number of rows.
module {
  joint.graph @model(%p_a: tensor<3x3xf32> {joint.role = #joint.role<param "a">, joint.requires_grad},
    %p_b: tensor<3x2xf32> {joint.role = #joint.role<param "b">, joint.requires_grad},
    %x: tensor<BATCHx3xf32> {joint.role = #joint.role<input>},
    %scale: tensor<f32> {joint.role = #joint.role<input>, joint.requires_grad},
    %y: tensor<2xBATCHxf32> {joint.role = #joint.role<input>, joint.requires_grad}) -> (tensor<BATCHx2xf32>, tensor<2xBATCHxf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<3xf32>) gradients () {
    %mm = aten.mm(%x, %p_a) : (tensor<BATCHx3xf32>, tensor<3x3xf32>) -> tensor<BATCHx3xf32>
    %mul = aten.mul.Tensor(%mm, %scale) : (tensor<BATCHx3xf32>, tensor<f32>) -> tensor<BATCHx3xf32>
    %relu = aten.relu(%mul) : (tensor<BATCHx3xf32>) -> tensor<BATCHx3xf32>
    %rows = aten.mm(%relu, %p_b) : (tensor<BATCHx3xf32>, tensor<3x2xf32>) -> tensor<BATCHx2xf32>
    %t = aten.t(%rows) : (tensor<BATCHx2xf32>) -> tensor<2xBATCHxf32>
    %columns = aten.mul.Tensor(%t, %y) : (tensor<2xBATCHxf32>, tensor<2xBATCHxf32>) -> tensor<2xBATCHxf32>
    %mean = aten.mean(%rows) : (tensor<BATCHx2xf32>) -> tensor<f32>
    %square = aten.mul.Tensor(%rows, %rows) : (tensor<BATCHx2xf32>, tensor<BATCHx2xf32>) -> tensor<BATCHx2xf32>
    %sum = aten.sum(%square) : (tensor<BATCHx2xf32>) -> tensor<f32>
    %decay = aten.sum(%p_b) : (tensor<3x2xf32>) -> tensor<f32>
    %positive = aten.gt.Scalar(%rows, 0) : (tensor<BATCHx2xf32>) -> tensor<BATCHx2xi1>
    %count = aten.sum(%positive) : (tensor<BATCHx2xi1>) -> tensor<i64>
    %average = aten.mean.dim(%relu, [0]) : (tensor<BATCHx3xf32>) -> tensor<3xf32>
    joint.output %rows, %columns, %mean, %sum, %decay, %count, %average : tensor<BATCHx2xf32>, tensor<2xBATCHxf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<3xf32>
  }
}
