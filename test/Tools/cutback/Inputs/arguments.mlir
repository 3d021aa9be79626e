// An argument of each kind; the backward reads some of them.
joint.graph @arguments(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "fc.weight">},
    %mean: tensor<64xf32> {joint.role = #joint.role<buffer "bn.running_mean">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %scale: tensor<64x64xf32> {joint.role = #joint.role<constant>},
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>, tensor<64xf32>)
    gradients (tensor<64x64xf32>) {
  %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mul.Tensor(%mm, %scale) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %next = aten.add.Tensor(%mean, %mean) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g0 = aten.mul.Tensor(%t, %scale) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %xt = aten.t(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw = aten.mm(%xt, %g0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y, %next gradients(%dw of 0) : tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>
}
