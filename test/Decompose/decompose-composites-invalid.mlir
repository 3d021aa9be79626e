// RUN: cutback-opt %s --cutback-decompose-composites --split-input-file --verify-diagnostics

joint.graph @statistics(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %m: tensor<3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  // expected-error @+1 {{'aten.batch_norm' updates its running statistics: run --cutback-functionalize first}}
  %y = aten.batch_norm(%x, none, none, %m, %m, true, 0.1, 1.0e-5, false) : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<4x3xf32>
}

// -----

joint.graph @channels(%x: tensor<4x?x2xf32> {joint.role = #joint.role<input>}) -> (tensor<4x?x2xf32>) gradients () {
  // expected-error @+1 {{'aten.instance_norm' over channels whose number is not known}}
  %y = aten.instance_norm(%x, none, none, none, none, true, 0.1, 1.0e-5, false) : (tensor<4x?x2xf32>) -> tensor<4x?x2xf32>
  joint.output %y : tensor<4x?x2xf32>
}

// -----

joint.graph @filters(%x: tensor<4x2x8xf32> {joint.role = #joint.role<input>}, %w: tensor<3x2x?xf32> {joint.role = #joint.role<param>}) -> (tensor<4x3x8xf32>) gradients () {
  // expected-error @+1 {{'aten.conv1d' pads by the size of a filter that is not known}}
  %y = aten.conv1d.padding(%x, %w, none, [1], "same") : (tensor<4x2x8xf32>, tensor<3x2x?xf32>) -> tensor<4x3x8xf32>
  joint.output %y : tensor<4x3x8xf32>
}

// -----

joint.graph @heads(%q: tensor<1x4x4x8xf32> {joint.role = #joint.role<input>}, %k: tensor<1x?x4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<1x4x4x8xf32>) gradients () {
  // expected-error @+1 {{the heads of 'aten.scaled_dot_product_attention' cannot be grouped}}
  %y = aten.scaled_dot_product_attention(%q, %k, %k, enable_gqa = true) : (tensor<1x4x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) -> tensor<1x4x4x8xf32>
  joint.output %y : tensor<1x4x4x8xf32>
}

// -----

joint.graph @scale(%q: tensor<4x?xf32> {joint.role = #joint.role<input>}) -> (tensor<4x?xf32>) gradients () {
  // expected-error @+1 {{'aten.scaled_dot_product_attention' needs its scale where the size of a head is not known}}
  %y = aten.scaled_dot_product_attention(%q, %q, %q) : (tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  joint.output %y : tensor<4x?xf32>
}

// -----

joint.graph @no_three(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2xf32>) gradients () {
  // expected-error @+1 {{'aten.cross' finds no dimension of size 3}}
  %y = aten.cross(%a, %a) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  joint.output %y : tensor<4x2xf32>
}

// -----

joint.graph @mode(%a: tensor<4x2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2x5xf32>) gradients () {
  // expected-error @+1 {{'aten.pad' of 2 sides in mode 'mirror' is not known}}
  %y = aten.pad(%a, [1, 1], "mirror") : (tensor<4x2x3xf32>) -> tensor<4x2x5xf32>
  joint.output %y : tensor<4x2x5xf32>
}

// -----

joint.graph @circle(%a: tensor<4x2x3xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<4x2x?xf32>) gradients () {
  // expected-error @+1 {{'aten.pad' in a circle needs numbers}}
  %y = aten.pad(%a, [%n, 1], "circular") : (tensor<4x2x3xf32>, index) -> tensor<4x2x?xf32>
  joint.output %y : tensor<4x2x?xf32>
}

// -----

joint.graph @factors(%a: tensor<4x2x?xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2x?xf32>) gradients () {
  // expected-error @+1 {{'aten.upsample_nearest1d' by factors of sizes that are not known}}
  %y = aten.upsample_nearest1d.vec(%a, none, [2.0]) : (tensor<4x2x?xf32>) -> tensor<4x2x?xf32>
  joint.output %y : tensor<4x2x?xf32>
}

// -----

joint.graph @slopes(%a: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  // expected-error @+1 {{'aten.rrelu' in training draws slopes that are not saved}}
  %y = aten.rrelu(%a, 0.1, 0.3, true) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @matrix_norm(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+1 {{'aten.linalg_norm' of matrices is not supported}}
  %y = aten.linalg_norm(%a, 1) : (tensor<4x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @classes(%a: tensor<4xi64> {joint.role = #joint.role<input>}) -> (tensor<4x?xi64>) gradients () {
  // expected-error @+1 {{'aten.one_hot' needs the number of classes}}
  %y = aten.one_hot(%a) : (tensor<4xi64>) -> tensor<4x?xi64>
  joint.output %y : tensor<4x?xi64>
}

// -----

joint.graph @steps(%x: tensor<?x2x3xf32> {joint.role = #joint.role<input>}, %h: tensor<1x2x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4x3xf32> {joint.role = #joint.role<param>}, %u: tensor<4x4xf32> {joint.role = #joint.role<param>}) -> (tensor<?x2x4xf32>) gradients () {
  // expected-error @+1 {{'aten.rnn_tanh' over steps whose number is not known}}
  %y, %hn = aten.rnn_tanh.input(%x, %h, [%w, %u], false, 1, 0.0, true, false, false) : (tensor<?x2x3xf32>, tensor<1x2x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>) -> (tensor<?x2x4xf32>, tensor<1x2x4xf32>)
  joint.output %y : tensor<?x2x4xf32>
}

// -----

joint.graph @weights(%x: tensor<5x2x3xf32> {joint.role = #joint.role<input>}, %h: tensor<1x2x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4x3xf32> {joint.role = #joint.role<param>}) -> (tensor<5x2x4xf32>) gradients () {
  // expected-error @+1 {{'aten.rnn_tanh' has 1 weights for 1 layers}}
  %y, %hn = aten.rnn_tanh.input(%x, %h, [%w], false, 1, 0.0, true, false, false) : (tensor<5x2x3xf32>, tensor<1x2x4xf32>, tensor<4x3xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  joint.output %y : tensor<5x2x4xf32>
}

// -----

joint.graph @singular(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+1 {{'aten.linalg_matrix_norm' by singular values is not supported}}
  %y = aten.linalg_matrix_norm(%a, 2) : (tensor<4x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @conjugates(%a: tensor<4x2xcomplex<f32>> {joint.role = #joint.role<input>}) -> (tensor<2x4xcomplex<f32>>) gradients () {
  // expected-error @+1 {{'aten.adjoint' of complex numbers is not supported}}
  %y = aten.adjoint(%a) : (tensor<4x2xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  joint.output %y : tensor<2x4xcomplex<f32>>
}

// -----

joint.graph @resized(%a: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<8xcomplex<f32>>) gradients () {
  // expected-error @+1 {{'aten.fft_fft' to a size that is not known}}
  %y = aten.fft_fft(%a, 8) : (tensor<?xf32>) -> tensor<8xcomplex<f32>>
  joint.output %y : tensor<8xcomplex<f32>>
}

// -----

joint.graph @grid(%t: tensor<2x2x3xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<2x?x4x2xf32>) gradients () {
  // expected-error @+1 {{'aten.affine_grid_generator' of a size that is not known}}
  %y = aten.affine_grid_generator(%t, [2, 3, %n, 4], false) : (tensor<2x2x3xf32>, index) -> tensor<2x?x4x2xf32>
  joint.output %y : tensor<2x?x4x2xf32>
}
