// Two stages, each of which two ranks run together: columns of the first
// weight and rows of the second one on each rank, whose products are added.
joint.graph @two_ranks(%v: tensor<3x2xf32> {joint.role = #joint.role<param "v">}, %w: tensor<2x3xf32> {joint.role = #joint.role<param "w">}, %u: tensor<3x4xf32> {joint.role = #joint.role<param "u">}, %x: tensor<4x3xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<4x4xf32>) gradients () {
  %mm = aten.mm(%x, %v) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %tanh = aten.tanh(%mm) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %mm_1 = aten.mm(%tanh, %w) : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %all = aten.c10d.all_reduce(%mm_1, "sum", "tp") : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %added = aten.c10d.wait_tensor(%all) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  aten.pipe_split() : () -> ()
  %mm_2 = aten.mm(%added, %u) : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %turned = aten.t(%mm_2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %gather = aten.c10d.all_gather_into_tensor(%turned, 2, "tp") : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %gathered = aten.c10d.wait_tensor(%gather) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %mul = aten.mul.Tensor(%gathered, %gathered) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %scatter = aten.c10d.reduce_scatter_tensor(%mul, "avg", 2, "tp") : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %scattered = aten.c10d.wait_tensor(%scatter) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %exchange = aten.c10d.all_to_all_single(%scattered, [2, 2], [2, 2], "tp") : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %exchanged = aten.c10d.wait_tensor(%exchange) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mul_1 = aten.mul.Tensor(%exchanged, %mm_2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = aten.sum(%mul_1) : (tensor<4x4xf32>) -> tensor<f32>
  joint.output %sum, %exchanged : tensor<f32>, tensor<4x4xf32>
}
