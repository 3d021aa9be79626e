// A square that is negated in place, through views of it. Its grid hides views
// of its own.
joint.graph @grid(
    %w: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "w">})
    -> (tensor<f32>) gradients () {
  %square = aten.mul.Tensor(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %line = aten.view(%square, [4]) : (tensor<4xf32>) -> tensor<4xf32>
  %again = aten.view(%line, [4]) : (tensor<4xf32>) -> tensor<4xf32>
  %neg_ = aten.neg_(%again) : (tensor<4xf32>) -> tensor<4xf32>
  %rows, %columns = aten.meshgrid.indexing([%square, %square], indexing = "ij") : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %sin = aten.sin(%columns) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = aten.sum(%sin) : (tensor<4x4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
