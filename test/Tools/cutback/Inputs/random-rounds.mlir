// Draws in the rounds of a scan, and in a branch in a round.
joint.graph @g(%w: tensor<8x6xf32> {joint.role = #joint.role<param "w">}, %p: tensor<i1> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<6xf32>) gradients () {
  %x = aten.new_zeros(%w, [6]) : (tensor<8x6xf32>) -> tensor<6xf32>
  %ones = aten.full([3, 6], 1.0, dtype = f32) : () -> tensor<3x6xf32>
  %h, %rounds = joint.nested "higher_order.scan"(@body, [%x], [%ones], [%p]) {tuple} : (tensor<6xf32>, tensor<3x6xf32>, tensor<i1>) -> (tensor<6xf32>, tensor<3x6xf32>) {
  ^bb0(%a: tensor<6xf32>, %b: tensor<6xf32>, %q: tensor<i1>):
    %t = joint.nested "higher_order.cond"(%q, @yes, @no, [%b]) {tuple} : (tensor<i1>, tensor<6xf32>) -> tensor<6xf32> {
    ^bb0(%v: tensor<6xf32>):
      %y = aten.randn_like(%v) : (tensor<6xf32>) -> tensor<6xf32>
      joint.return %y : tensor<6xf32>
    }, {
    ^bb0(%v: tensor<6xf32>):
      %y = aten.rand_like(%v) : (tensor<6xf32>) -> tensor<6xf32>
      joint.return %y : tensor<6xf32>
    }
    %o = aten.poisson(%b) : (tensor<6xf32>) -> tensor<6xf32>
    %d = aten.bernoulli.p(%b, 0.5) : (tensor<6xf32>) -> tensor<6xf32>
    %td = aten.mul.Tensor(%t, %d) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %next = aten.add.Tensor(%a, %td) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    joint.return %next, %o : tensor<6xf32>, tensor<6xf32>
  }
  %hr = aten.sum.dim_IntList(%rounds, [0]) : (tensor<3x6xf32>) -> tensor<6xf32>
  %hs = aten.add.Tensor(%h, %hr) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %1 = aten.mul.Tensor(%w, %hs) : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  %2 = aten.sin(%1) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = aten.sum(%2) : (tensor<8x6xf32>) -> tensor<f32>
  joint.output %3, %hs : tensor<f32>, tensor<6xf32>
}
