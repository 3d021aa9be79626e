// A loop with a branch in its body: as many rounds as its input says. Nobody
// differentiates it, so the gradient is another one's.
joint.graph @loop(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<4xf32>) {
  %big = aten.mul.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %i = aten.sum(%big) : (tensor<4xf32>) -> tensor<f32>
  %n, %y = joint.nested "higher_order.while_loop"(@goes_on, @body, [%i, %big], []) {tuple}
      : (tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  ^bb0(%i.c: tensor<f32>, %v.c: tensor<4xf32>):
    %more = aten.gt.Scalar(%i.c, 0) : (tensor<f32>) -> tensor<i1>
    joint.return %more : tensor<i1>
  }, {
  ^bb0(%i.b: tensor<f32>, %v.b: tensor<4xf32>):
    %less = aten.sub.Scalar(%i.b, 1) : (tensor<f32>) -> tensor<f32>
    %sum = aten.cumsum(%v.b, 0) : (tensor<4xf32>) -> tensor<4xf32>
    %high = aten.gt.Scalar(%less, 2) : (tensor<f32>) -> tensor<i1>
    %next = joint.nested "higher_order.cond"(%high, @high, @low, [%sum, %v.b]) {tuple}
        : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %sin = aten.sin(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %scan = aten.cumsum(%sin, 0) : (tensor<4xf32>) -> tensor<4xf32>
      %both = aten.add.Tensor(%scan, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.return %both : tensor<4xf32>
    }, {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %product = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %tanh = aten.tanh(%product) : (tensor<4xf32>) -> tensor<4xf32>
      joint.return %tanh : tensor<4xf32>
    }
    %out = aten.sub.Tensor(%next, %sum) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.return %less, %out : tensor<f32>, tensor<4xf32>
  }
  %all = aten.sum(%y) : (tensor<4xf32>) -> tensor<f32>
  %loss = aten.add.Tensor(%all, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dx = aten.mul.Tensor(%y, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  joint.output %loss gradients(%dx of 0) : tensor<f32>, tensor<4xf32>
}
