// Rows of a table that indices add to, and what those get of a gradient.
joint.graph @adds(
    %x: tensor<5x7xf32> {joint.role = #joint.role<input>},
    %i: tensor<3x7xi64> {joint.role = #joint.role<input>},
    %s: tensor<3x7xf32> {joint.role = #joint.role<input>},
    %t: tensor<5x7xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<5x7xf32>) gradients (tensor<5x7xf32>, tensor<3x7xf32>) {
  %y = aten.scatter_add(%x, 0, %i, %s) : (tensor<5x7xf32>, tensor<3x7xi64>, tensor<3x7xf32>) -> tensor<5x7xf32> loc("adds.py":3:1)
  %c = aten.cumsum(%y, 1) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %d = aten.mul.Tensor(%t, %c) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %g = aten.gather(%d, 0, %i) : (tensor<5x7xf32>, tensor<3x7xi64>) -> tensor<3x7xf32>
  joint.output %c gradients(%d of 0, %g of 2) : tensor<5x7xf32>, tensor<5x7xf32>, tensor<3x7xf32>
}
