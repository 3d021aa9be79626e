// A type that kernels do not have, and more phases than a description has.
module {
  joint.graph @refused(
      %x: tensor<4xf32> {joint.role = #joint.role<input>},
      %z: tensor<1x1x2x2xf32> {joint.role = #joint.role<input>},
      %w: tensor<1x1x1x1xf32> {joint.role = #joint.role<input>},
      %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>},
      %u: tensor<1x1x101x101xf32> {joint.role = #joint.role<tangent of 1>})
      -> (tensor<4xf32>, tensor<1x1x101x101xf32>) gradients (tensor<4xf32>) {
    %f = aten._to_copy(%x, dtype = f8E4M3FN) : (tensor<4xf32>) -> tensor<4xf8E4M3FN> loc("cast.py":3:1)
    %y = aten._to_copy(%f, dtype = f32) : (tensor<4xf8E4M3FN>) -> tensor<4xf32> loc("cast.py":4:1)
    %c = aten.convolution(%z, %w, none, [100, 100], [0, 0], [1, 1], true, [0, 0], 1)
        : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x101x101xf32> loc("cast.py":5:1)
    joint.output %y, %c gradients(%t of 0) : tensor<4xf32>, tensor<1x1x101x101xf32>, tensor<4xf32>
  }
}
