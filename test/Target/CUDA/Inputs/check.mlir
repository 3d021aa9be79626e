// A step that checks what it is given.
module {
  joint.graph @checked(
      %x: tensor<2x3xf32> {joint.role = #joint.role<input>},
      %t: tensor<2x3xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<2x3xf32>) gradients (tensor<2x3xf32>) {
    %small = aten.lt.Scalar(%x, 0.5) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    joint.assert %small, "all below one half" : tensor<2x3xi1> loc("check.py":3:1)
    %y = aten.exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %d = aten.mul.Tensor(%t, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    joint.output %y gradients(%d of 0) : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
