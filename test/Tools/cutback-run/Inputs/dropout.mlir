// Two stages with random ops.
joint.graph @dropout(%v: tensor<3x3xf32> {joint.role = #joint.role<param "v">}, %w: tensor<3x3xf32> {joint.role = #joint.role<param "w">}, %x: tensor<5x3xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mm = aten.mm(%x, %v) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  %drop:2 = aten.native_dropout(%mm, 0.5, true) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xi1>)
  aten.pipe_split() : () -> ()
  %mm_1 = aten.mm(%drop#0, %w) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  %drop_1:2 = aten.native_dropout(%mm_1, 0.5, true) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xi1>)
  %mul = aten.mul.Tensor(%drop_1#0, %drop_1#0) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %sum = aten.sum(%mul) : (tensor<5x3xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
