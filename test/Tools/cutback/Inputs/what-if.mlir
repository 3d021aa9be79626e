// A value of each kind that has no opposite choice.
module {
  joint.graph @step(
      %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
      %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
      %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
    %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %mask = aten.rand([64, 64]) : () -> tensor<64x64xf32>
    %opaque = joint.opaque "acme.route.default"(%mm) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %kept = aten.sin(%opaque) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %again = aten.cos(%kept) {joint.policy = #joint.policy<must_recompute, region = 1>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %m = aten.mul.Tensor(%again, %mask) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %y = aten.add.Tensor(%m, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %dm = aten.mul.Tensor(%t, %mask) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d1 = aten.mul.Tensor(%dm, %again) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d2 = aten.mul.Tensor(%d1, %kept) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d3 = aten.mul.Tensor(%d2, %opaque) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d4 = aten.mm(%d3, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    joint.output %y gradients(%d4 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
  }
}
