// Every random op that a graph may bring, with parameters that are numbers and
// tensors, of all widths.
module {
  joint.graph @random_ops(
      %x: tensor<6x40xf32> {joint.role = #joint.role<input>},
      %t: tensor<6x40xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf64>, tensor<6x40xf64>,
          tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xf16>, tensor<6x40xf16>,
          tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xbf16>,
          tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xi64>, tensor<6x40xi32>, tensor<6x40xf32>,
          tensor<6x40xi64>, tensor<6x40xf32>, tensor<6x40xi64>, tensor<6x40xi64>,
          tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf64>, tensor<6x9xi64>, tensor<50xi64>, tensor<77xi64>,
          tensor<77xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x8x5xf32>,
          tensor<6x40xbf16>, tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xf32>)
      gradients (tensor<6x40xf32>) {
    %p = aten.abs(%x) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %q = aten.mul.Scalar(%p, 4.0) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %n = aten.full_like(%x, 12.0) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %row = aten.select.int(%p, 0, 1) : (tensor<6x40xf32>) -> tensor<40xf32>
    %half = aten._to_copy(%x, dtype = bf16) : (tensor<6x40xf32>) -> tensor<6x40xbf16>
    %half2 = aten._to_copy(%q, dtype = bf16) : (tensor<6x40xf32>) -> tensor<6x40xbf16>
    %wide = aten._to_copy(%q, dtype = f64) : (tensor<6x40xf32>) -> tensor<6x40xf64>
    %cube = aten.view(%x, [6, 8, 5]) : (tensor<6x40xf32>) -> tensor<6x8x5xf32>
    %i = aten.randint(7, [6, 40]) : () -> tensor<6x40xi64>
    %d0 = aten.rand([6, 40]) : () -> tensor<6x40xf32>
    %d1 = aten.randn([6, 40]) : () -> tensor<6x40xf32>
    %d2 = aten.rand([6, 40], dtype = f64) : () -> tensor<6x40xf64>
    %d3 = aten.randn([6, 40], dtype = f64) : () -> tensor<6x40xf64>
    %d4 = aten.rand([6, 40], dtype = bf16) : () -> tensor<6x40xbf16>
    %d5 = aten.randn([6, 40], dtype = bf16) : () -> tensor<6x40xbf16>
    %d6 = aten.rand([6, 40], dtype = f16) : () -> tensor<6x40xf16>
    %d7 = aten.randn([6, 40], dtype = f16) : () -> tensor<6x40xf16>
    %d8 = aten.rand_like(%x) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d9 = aten.randn_like(%half) : (tensor<6x40xbf16>) -> tensor<6x40xbf16>
    %d10 = aten.uniform(%x, -1.5, 2.0) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d11 = aten.uniform(%half, -1.5, 2.0) : (tensor<6x40xbf16>) -> tensor<6x40xbf16>
    %d12 = aten.normal_functional(%x, 0.5, 2.0) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d13 = aten.normal.Tensor_float(%x, 2.0) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d14 = aten.normal.float_Tensor(0.5, %p) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d15 = aten.normal.Tensor_Tensor(%x, %row) : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
    %d16 = aten.normal.float_float(0.5, 2.0, [6, 40]) : () -> tensor<6x40xf32>
    %d17 = aten.log_normal(%x, 0.1, 0.5) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d18 = aten.exponential(%x, 1.5) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d19 = aten.cauchy(%x, 0.1, 0.2) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d20 = aten.geometric(%x, 0.3) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d21 = aten.randint(7, [6, 40]) : () -> tensor<6x40xi64>
    %d22 = aten.randint.low(-5, 1000, [6, 40], dtype = i32) : () -> tensor<6x40xi32>
    %d23 = aten.randint_like(%x, 100) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d24 = aten.randint_like.low_dtype(%x, -3, 9, dtype = i64) : (tensor<6x40xf32>) -> tensor<6x40xi64>
    %d25 = aten.random(%x) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d26 = aten.random(%i) : (tensor<6x40xi64>) -> tensor<6x40xi64>
    %d27 = aten.random.from(%i, -1000, 9000) : (tensor<6x40xi64>) -> tensor<6x40xi64>
    %d28 = aten.random.to(%half, 9) : (tensor<6x40xbf16>) -> tensor<6x40xbf16>
    %d29 = aten.bernoulli(%p) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d30 = aten.bernoulli.p(%x, 0.3) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d31 = aten.bernoulli.Tensor(%x, %row) : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
    %d32 = aten.poisson(%q) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d33 = aten.poisson(%half2) : (tensor<6x40xbf16>) -> tensor<6x40xbf16>
    %d34 = aten.binomial(%n, %row) : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
    %d35 = aten._standard_gamma(%q) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d36 = aten._standard_gamma(%wide) : (tensor<6x40xf64>) -> tensor<6x40xf64>
    %d37 = aten.multinomial(%p, 9) : (tensor<6x40xf32>) -> tensor<6x9xi64>
    %d38 = aten.multinomial(%row, 50, true) : (tensor<40xf32>) -> tensor<50xi64>
    %d39 = aten.randperm(77) : () -> tensor<77xi64>
    %d40 = aten.randperm(77, dtype = f32) : () -> tensor<77xf32>
    %d41 = aten.dropout(%x, 0.5, true) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d42 = aten.dropout(%x, 0.25, false) : (tensor<6x40xf32>) -> tensor<6x40xf32>
    %d43 = aten.feature_dropout(%cube, 0.5, true) : (tensor<6x8x5xf32>) -> tensor<6x8x5xf32>
    %a0, %b0 = aten.native_dropout(%half, 0.5, true) : (tensor<6x40xbf16>) -> (tensor<6x40xbf16>, tensor<6x40xi1>)
    %a1, %b1 = aten.rrelu_with_noise_functional(%x, %p, 0.1, 0.4, true) : (tensor<6x40xf32>, tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x40xf32>)
    %a2, %b2 = aten.rrelu_with_noise_functional(%x, %p, 0.1, 0.4) : (tensor<6x40xf32>, tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x40xf32>)
    %g = aten.mul.Tensor(%t, %p) : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
    joint.output %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9, %d10, %d11, %d12, %d13, %d14,
        %d15, %d16, %d17, %d18, %d19, %d20, %d21, %d22, %d23, %d24, %d25, %d26, %d27,
        %d28, %d29, %d30, %d31, %d32, %d33, %d34, %d35, %d36, %d37, %d38, %d39, %d40,
        %d41, %d42, %d43, %a0, %b0, %a1, %b1, %a2, %b2
        gradients(%g of 0)
        : tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf64>, tensor<6x40xf64>,
          tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xf16>, tensor<6x40xf16>,
          tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xbf16>,
          tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xi64>, tensor<6x40xi32>, tensor<6x40xf32>,
          tensor<6x40xi64>, tensor<6x40xf32>, tensor<6x40xi64>, tensor<6x40xi64>,
          tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf64>, tensor<6x9xi64>, tensor<50xi64>, tensor<77xi64>,
          tensor<77xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x8x5xf32>,
          tensor<6x40xbf16>, tensor<6x40xi1>, tensor<6x40xf32>, tensor<6x40xf32>,
          tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>
  }
}
