// A dropout in a checkpoint region that preserves the generator's state.
joint.graph @g(%w: tensor<8x6xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %y = joint.checkpoint {
    %s = aten.sin(%w) : (tensor<8x6xf32>) -> tensor<8x6xf32> loc("model.py":7:0)
    %d = aten.dropout(%s, 0.5, true) : (tensor<8x6xf32>) -> tensor<8x6xf32> loc("model.py":8:0)
    %e = aten.exp(%d) : (tensor<8x6xf32>) -> tensor<8x6xf32> loc("model.py":9:0)
    joint.yield %e : tensor<8x6xf32>
  } : tensor<8x6xf32>
  %c = aten.cos(%y) : (tensor<8x6xf32>) -> tensor<8x6xf32> loc("model.py":11:0)
  %l = aten.sum(%c) : (tensor<8x6xf32>) -> tensor<f32> loc("model.py":12:0)
  joint.output %l : tensor<f32>
}
