// An input is written in place, and its pieces are read then: where they begin
// and how long they are follows from views of the input as it was.
joint.graph @pieces(
    %w: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "w">},
    %x: tensor<?x4xf32> {joint.dims = ["s0", "4"], joint.role = #joint.role<input>})
    -> (tensor<f32>, tensor<?x4xf32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 8, min = 2, max = 64>}} {
  %p, %q = aten.chunk(%x, 2) {joint.dims = [["(s0 + 1)//2", "4"], ["s0 - 1*((s0 + 1)//2)", "4"]]} : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %all = aten.view(%x, [-1]) : (tensor<?x4xf32>) -> tensor<?xf32>
  %clamp_ = aten.clamp_(%all, none, 0.5) : (tensor<?xf32>) -> tensor<?xf32>
  %exp = aten.exp(%q) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %sin = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%sin) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum, %exp : tensor<f32>, tensor<?x4xf32>
}
