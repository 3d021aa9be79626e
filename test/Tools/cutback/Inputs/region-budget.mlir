joint.graph @g(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %w: tensor<64x64xf32> {joint.role = #joint.role<param>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  %y = joint.checkpoint attributes {budget = 0.5 : f64} {
    %a = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %b = aten.mm(%a, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = aten.mm(%b, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    joint.yield %c : tensor<64x64xf32>
  } : tensor<64x64xf32>
  %g1 = aten.mm(%t, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = aten.mm(%y, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mm(%g1, %z) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %z gradients(%g2 of 1) : tensor<64x64xf32>, tensor<64x64xf32>
}
