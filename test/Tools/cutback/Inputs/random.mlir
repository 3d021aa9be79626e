// Draws of each kind.
joint.graph @g(%w: tensor<8x6xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>, tensor<8x6xf32>) gradients () {
  %c = aten.mul.Scalar(%w, 0.5) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %e = aten.exponential_(%c, 1.5) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %s = aten.exp(%w) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %events = aten.poisson(%s) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %half = aten.full([6], 0.5) : () -> tensor<6xf32>
  %wins = aten.binomial(%events, %half) : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  %k = aten.add.Tensor(%events, %wins) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %m = aten.multinomial(%s, 6) : (tensor<8x6xf32>) -> tensor<8x6xi64>
  %r = aten.multinomial(%s, 6, true) : (tensor<8x6xf32>) -> tensor<8x6xi64>
  %mr = aten.add.Tensor(%m, %r) : (tensor<8x6xi64>, tensor<8x6xi64>) -> tensor<8x6xi64>
  %u = aten.geometric(%w, 0.4) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %n = aten.log_normal(%w, 0.1, 0.2) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = aten.mul.Tensor(%w, %n) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = aten.add.Tensor(%e, %k) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = aten.add.Tensor(%2, %mr) : (tensor<8x6xf32>, tensor<8x6xi64>) -> tensor<8x6xf32>
  %4 = aten.add.Tensor(%u, %n) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = aten.mul.Tensor(%3, %4) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %6 = aten.mul.Tensor(%1, %5) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %7 = aten.sin(%6) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %8 = aten.mul.Tensor(%7, %5) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %9 = aten.sum(%8) : (tensor<8x6xf32>) -> tensor<f32>
  joint.output %9, %5 : tensor<f32>, tensor<8x6xf32>
}
