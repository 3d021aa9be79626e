// What a product makes of numbers that a checkpoint region draws anew.
joint.graph @g(%w: tensor<8x8xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %y = joint.checkpoint attributes {preserve_rng = false} {
    %d = aten.dropout(%w, 0.5, true) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("model.py":8:0)
    %p = aten.mm(%d, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("model.py":9:0)
    %e = aten.exp(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("model.py":10:0)
    joint.yield %e : tensor<8x8xf32>
  } : tensor<8x8xf32>
  %c = aten.cos(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("model.py":11:0)
  %l = aten.sum(%c) : (tensor<8x8xf32>) -> tensor<f32> loc("model.py":12:0)
  joint.output %l : tensor<f32>
}
