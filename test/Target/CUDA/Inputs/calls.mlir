// Ops that run as calls, one of each.
module {
  joint.graph @calls(
      %x: tensor<2x4x9x7xf32> {joint.role = #joint.role<input>},
      %w: tensor<6x2x3x3xf32> {joint.role = #joint.role<input>},
      %b: tensor<6xf32> {joint.role = #joint.role<input>},
      %rows: tensor<5x10xf32> {joint.role = #joint.role<input>},
      %at: tensor<5x4xi64> {joint.role = #joint.role<input>},
      %one: tensor<7xi64> {joint.role = #joint.role<input>},
      %seven: tensor<7x10xf32> {joint.role = #joint.role<input>},
      %t: tensor<2x6x5x7xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<2x6x5x7xf32>, tensor<2x4x5x4xf32>, tensor<2x4x5x4xi64>,
          tensor<2x4x9x7xf32>,
          tensor<2x4x18x14xf32>, tensor<2x4x9x7xf32>,
          tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x3xf32>, tensor<5x3xi64>,
          tensor<5x10xf32>, tensor<5x10xi64>, tensor<5x4xf32>, tensor<5x10xf32>, tensor<5x10xf32>,
          tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x2x10xf32>, tensor<5x10xf32>, tensor<5x5x7xf32>)
      gradients (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) {
    %conv = aten.convolution(%x, %w, %b, [2, 1], [1, 1], [1, 1], false, [0, 0], 2) : (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
    %dx, %dw, %db = aten.convolution_backward(%t, %x, %w, [6], [2, 1], [1, 1], [1, 1], false, [0, 0], 2, [true, true, true]) : (tensor<2x6x5x7xf32>, tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>) -> (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>)
    %pool, %offsets = aten.prims._low_memory_max_pool_with_offsets(%x, [3, 3], [2, 2], [1, 1], [1, 1], false) : (tensor<2x4x9x7xf32>) -> (tensor<2x4x5x4xf32>, tensor<2x4x5x4xi8>)
    %places = aten.prims._low_memory_max_pool_offsets_to_indices(%offsets, [3, 3], [9, 7], [2, 2], [1, 1], [1, 1]) : (tensor<2x4x5x4xi8>) -> tensor<2x4x5x4xi64>
    %dpool = aten.max_pool2d_with_indices_backward(%pool, %x, [3, 3], [2, 2], [1, 1], [1, 1], false, %places) : (tensor<2x4x5x4xf32>, tensor<2x4x9x7xf32>, tensor<2x4x5x4xi64>) -> tensor<2x4x9x7xf32>
    %large = aten.upsample_nearest2d(%x, [18, 14], 2.0, 2.0) : (tensor<2x4x9x7xf32>) -> tensor<2x4x18x14xf32>
    %small = aten.upsample_nearest2d_backward(%large, [18, 14], [2, 4, 9, 7], 2.0, 2.0) : (tensor<2x4x18x14xf32>) -> tensor<2x4x9x7xf32>
    %sum = aten.cumsum(%rows, 0) : (tensor<5x10xf32>) -> tensor<5x10xf32>
    %product = aten.cumprod(%rows, 1) : (tensor<5x10xf32>) -> tensor<5x10xf32>
    %top, %topAt = aten.topk(%rows, 3) : (tensor<5x10xf32>) -> (tensor<5x3xf32>, tensor<5x3xi64>)
    %sorted, %sortedAt = aten.sort(%rows, 1) : (tensor<5x10xf32>) -> (tensor<5x10xf32>, tensor<5x10xi64>)
    %gathered = aten.gather(%rows, 1, %at) : (tensor<5x10xf32>, tensor<5x4xi64>) -> tensor<5x4xf32>
    %scattered = aten.scatter_add(%rows, 1, %at, %gathered) : (tensor<5x10xf32>, tensor<5x4xi64>, tensor<5x4xf32>) -> tensor<5x10xf32>
    %put = aten.scatter.src(%sum, 1, %topAt, %top) : (tensor<5x10xf32>, tensor<5x3xi64>, tensor<5x3xf32>) -> tensor<5x10xf32>
    %added = aten.index_add(%product, 0, %one, %seven) : (tensor<5x10xf32>, tensor<7xi64>, tensor<7x10xf32>) -> tensor<5x10xf32>
    %accumulated = aten.index_put(%rows, [%one], %seven, true) : (tensor<5x10xf32>, tensor<7xi64>, tensor<7x10xf32>) -> tensor<5x10xf32>
    %stacked = aten.stack([%rows, %sum], 1) : (tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x2x10xf32>
    %table = aten.embedding_dense_backward(%seven, %one, 5, 2, false) : (tensor<7x10xf32>, tensor<7xi64>) -> tensor<5x10xf32>
    %a = aten.expand(%rows, [5, 5, 10]) : (tensor<5x10xf32>) -> tensor<5x5x10xf32>
    %c = aten.expand(%seven, [5, 7, 10]) : (tensor<7x10xf32>) -> tensor<5x7x10xf32>
    %ct = aten.transpose.int(%c, 1, 2) : (tensor<5x7x10xf32>) -> tensor<5x10x7xf32>
    %batch = aten.bmm(%a, %ct) : (tensor<5x5x10xf32>, tensor<5x10x7xf32>) -> tensor<5x5x7xf32>
    joint.output %conv, %pool, %places, %dpool, %large, %small, %sum, %product, %top, %topAt, %sorted, %sortedAt, %gathered, %scattered, %put, %added, %accumulated, %stacked, %table, %batch gradients(%dx of 0, %dw of 1, %db of 2) : tensor<2x6x5x7xf32>, tensor<2x4x5x4xf32>, tensor<2x4x5x4xi64>, tensor<2x4x9x7xf32>, tensor<2x4x18x14xf32>, tensor<2x4x9x7xf32>, tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x3xf32>, tensor<5x3xi64>, tensor<5x10xf32>, tensor<5x10xi64>, tensor<5x4xf32>, tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x10xf32>, tensor<5x2x10xf32>, tensor<5x10xf32>, tensor<5x5x7xf32>, tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>
  }
}
