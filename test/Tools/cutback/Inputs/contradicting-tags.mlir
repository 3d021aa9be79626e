// A view of what must run again is to be saved.
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>}, %t: tensor<16xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<16xf32>) gradients (tensor<4x4xf32>) {
  %a = aten.sin(%x) {joint.policy = #joint.policy<must_recompute, region = [0, 0]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = aten.view(%a, [16]) {joint.policy = #joint.policy<must_save, region = [0, 0]>} : (tensor<4x4xf32>) -> tensor<16xf32>
  %y = aten.sin(%b) : (tensor<16xf32>) -> tensor<16xf32>
  %g = aten.mul.Tensor(%t, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %dx = aten.view(%g, [4, 4]) : (tensor<16xf32>) -> tensor<4x4xf32>
  joint.output %y gradients(%dx of 0) : tensor<16xf32>, tensor<4x4xf32>
}
