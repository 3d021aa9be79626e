joint.graph @g(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  %y:2 = joint.checkpoint attributes {budget = 0.25 : f64} {
    %a = aten.bernoulli(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %b = aten.mm(%a, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    joint.yield %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
  } : tensor<64x64xf32>, tensor<64x64xf32>
  %z = aten.mm(%y#1, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mm(%t, %y#0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mm(%g1, %y#1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %z gradients(%g2 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}
