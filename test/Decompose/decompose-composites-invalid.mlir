// RUN: cutback-opt %s --cutback-decompose-composites --split-input-file --verify-diagnostics

joint.graph @statistics(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %m: tensor<3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  // expected-error @+2 {{'aten.batch_norm' updates its running statistics: run --cutback-functionalize first}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.batch_norm(%x, none, none, %m, %m, true, 0.1, 1.0e-5, false) : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<4x3xf32>
}

// -----

joint.graph @channels(%x: tensor<4x?x2xf32> {joint.role = #joint.role<input>}) -> (tensor<4x?x2xf32>) gradients () {
  // expected-error @+2 {{'aten.instance_norm' over channels whose number is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.instance_norm(%x, none, none, none, none, true, 0.1, 1.0e-5, false) : (tensor<4x?x2xf32>) -> tensor<4x?x2xf32>
  joint.output %y : tensor<4x?x2xf32>
}

// -----

joint.graph @filters(%x: tensor<4x2x8xf32> {joint.role = #joint.role<input>}, %w: tensor<3x2x?xf32> {joint.role = #joint.role<param>}) -> (tensor<4x3x8xf32>) gradients () {
  // expected-error @+2 {{'aten.conv1d' pads by the size of a filter that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.conv1d.padding(%x, %w, none, [1], "same") : (tensor<4x2x8xf32>, tensor<3x2x?xf32>) -> tensor<4x3x8xf32>
  joint.output %y : tensor<4x3x8xf32>
}

// -----

joint.graph @heads(%q: tensor<1x4x4x8xf32> {joint.role = #joint.role<input>}, %k: tensor<1x?x4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<1x4x4x8xf32>) gradients () {
  // expected-error @+2 {{the heads of 'aten.scaled_dot_product_attention' cannot be grouped}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.scaled_dot_product_attention(%q, %k, %k, enable_gqa = true) : (tensor<1x4x4x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) -> tensor<1x4x4x8xf32>
  joint.output %y : tensor<1x4x4x8xf32>
}

// -----

joint.graph @no_three(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2xf32>) gradients () {
  // expected-error @+2 {{'aten.cross' finds no dimension of size 3}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.cross(%a, %a) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  joint.output %y : tensor<4x2xf32>
}

// -----

joint.graph @mode(%a: tensor<4x2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2x5xf32>) gradients () {
  // expected-error @+2 {{'aten.pad' of 2 sides in mode 'mirror' is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.pad(%a, [1, 1], "mirror") : (tensor<4x2x3xf32>) -> tensor<4x2x5xf32>
  joint.output %y : tensor<4x2x5xf32>
}

// -----

joint.graph @circle(%a: tensor<4x2x3xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<4x2x?xf32>) gradients () {
  // expected-error @+2 {{'aten.pad' in a circle needs numbers}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.pad(%a, [%n, 1], "circular") : (tensor<4x2x3xf32>, index) -> tensor<4x2x?xf32>
  joint.output %y : tensor<4x2x?xf32>
}

// -----

joint.graph @factors(%a: tensor<4x2x?xf32> {joint.role = #joint.role<input>}) -> (tensor<4x2x?xf32>) gradients () {
  // expected-error @+2 {{'aten.upsample_nearest1d' by factors of sizes that are not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.upsample_nearest1d.vec(%a, none, [0.3]) : (tensor<4x2x?xf32>) -> tensor<4x2x?xf32>
  joint.output %y : tensor<4x2x?xf32>
}

// -----

joint.graph @classes(%a: tensor<4xi64> {joint.role = #joint.role<input>}) -> (tensor<4x?xi64>) gradients () {
  // expected-error @+2 {{'aten.one_hot' needs the number of classes}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.one_hot(%a) : (tensor<4xi64>) -> tensor<4x?xi64>
  joint.output %y : tensor<4x?xi64>
}

// -----

joint.graph @steps(%x: tensor<?x2x3xf32> {joint.role = #joint.role<input>}, %h: tensor<1x2x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4x3xf32> {joint.role = #joint.role<param>}, %u: tensor<4x4xf32> {joint.role = #joint.role<param>}) -> (tensor<?x2x4xf32>) gradients () {
  // expected-error @+2 {{'aten.rnn_tanh' over steps whose number is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y, %hn = aten.rnn_tanh.input(%x, %h, [%w, %u], false, 1, 0.0, true, false, false) : (tensor<?x2x3xf32>, tensor<1x2x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>) -> (tensor<?x2x4xf32>, tensor<1x2x4xf32>)
  joint.output %y : tensor<?x2x4xf32>
}

// -----

joint.graph @weights(%x: tensor<5x2x3xf32> {joint.role = #joint.role<input>}, %h: tensor<1x2x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4x3xf32> {joint.role = #joint.role<param>}) -> (tensor<5x2x4xf32>) gradients () {
  // expected-error @+2 {{'aten.rnn_tanh' has 1 weights for 1 layers}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y, %hn = aten.rnn_tanh.input(%x, %h, [%w], false, 1, 0.0, true, false, false) : (tensor<5x2x3xf32>, tensor<1x2x4xf32>, tensor<4x3xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  joint.output %y : tensor<5x2x4xf32>
}

// -----

joint.graph @order(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+2 {{a matrix has norms of order 1, 2 and infinity, and their negatives}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.linalg_matrix_norm(%a, 3) : (tensor<4x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @resized(%a: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<8xcomplex<f32>>) gradients () {
  // expected-error @+2 {{'aten.fft_fft' to a size that is not known}}
  // expected-note @+1 {{export the model with fixed sizes where this op reads them (no Dim in dynamic_shapes), or call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.fft_fft(%a, 8) : (tensor<?xf32>) -> tensor<8xcomplex<f32>>
  joint.output %y : tensor<8xcomplex<f32>>
}

// -----

joint.graph @grid(%t: tensor<2x2x3xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<2x?x4x2xf32>) gradients () {
  // expected-error @+2 {{'aten.affine_grid_generator' of a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.affine_grid_generator(%t, [2, 3, %n, 4], false) : (tensor<2x2x3xf32>, index) -> tensor<2x?x4x2xf32>
  joint.output %y : tensor<2x?x4x2xf32>
}

// -----

joint.graph @norm_name(%a: tensor<4x2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+2 {{a norm called 'max' is not supported}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.linalg_matrix_norm.str_ord(%a, "max") : (tensor<4x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @condition(%a: tensor<2x2xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+2 {{'aten.linalg_cond' is supported for p = 1, 2 and inf}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.linalg_cond(%a, 3) : (tensor<2x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @reflections(%a: tensor<4x?xf32> {joint.role = #joint.role<input>}, %t: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<4x?xf32>) gradients () {
  // expected-error @+2 {{'aten.linalg_householder_product' of a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.linalg_householder_product(%a, %t) : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  joint.output %y : tensor<4x?xf32>
}

// -----

joint.graph @pieces(%a: tensor<12xcomplex<f32>> {joint.role = #joint.role<input>}) -> (tensor<4x5xcomplex<f32>>) gradients () {
  // expected-error @+2 {{'aten.stft' of complex numbers is not supported}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.stft(%a, 4, 2, none, none, false, none, true) : (tensor<12xcomplex<f32>>) -> tensor<4x5xcomplex<f32>>
  joint.output %y : tensor<4x5xcomplex<f32>>
}

// -----

joint.graph @signal(%a: tensor<3x?xcomplex<f32>> {joint.role = #joint.role<input>}) -> (tensor<?xf32>) gradients () {
  // expected-error @+2 {{'aten.istft' of sizes that are not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.istft(%a, 4, 2) : (tensor<3x?xcomplex<f32>>) -> tensor<?xf32>
  joint.output %y : tensor<?xf32>
}

// -----

joint.graph @pairs(%a: tensor<?x3xf32> {joint.role = #joint.role<input>}) -> (tensor<?xf32>) gradients () {
  // expected-error @+2 {{'aten.pdist' of a number of rows that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.pdist(%a) : (tensor<?x3xf32>) -> tensor<?xf32>
  joint.output %y : tensor<?xf32>
}

// -----

joint.graph @covariance(%a: tensor<3x?xf32> {joint.role = #joint.role<input>}) -> (tensor<3x3xf32>) gradients () {
  // expected-error @+2 {{'aten.cov' over a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.cov(%a) : (tensor<3x?xf32>) -> tensor<3x3xf32>
  joint.output %y : tensor<3x3xf32>
}

// -----

joint.graph @powers(%a: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<?x?xf32>) gradients () {
  // expected-error @+2 {{'aten.vander' of a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.vander(%a) : (tensor<?xf32>) -> tensor<?x?xf32>
  joint.output %y : tensor<?x?xf32>
}

// -----

joint.graph @reflections_without_number(%a: tensor<2x?xf32> {joint.role = #joint.role<input>}, %t: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<2x?xf32>) gradients () {
  // expected-error @+2 {{'aten.orgqr' of a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.orgqr(%a, %t) : (tensor<2x?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  joint.output %y : tensor<2x?xf32>
}

// -----

joint.graph @ranks_between(%a: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+2 {{'aten.quantile' has no interpolation 'cubic'}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.quantile.scalar(%a, 0.5, interpolation = "cubic") : (tensor<4xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @weighted(%a: tensor<3x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4xi64> {joint.role = #joint.role<input>}) -> (tensor<3x3xf32>) gradients () {
  // expected-error @+2 {{'aten.cov' with weights is not supported}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.cov(%a, fweights = %w) : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x3xf32>
  joint.output %y : tensor<3x3xf32>
}

// -----

joint.graph @two_sided(%a: tensor<4x5xcomplex<f32>> {joint.role = #joint.role<input>}) -> (tensor<8xf32>) gradients () {
  // expected-error @+2 {{'aten.istft' is supported to a real signal from a one-sided spectrum}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.istft(%a, 4, 2, none, none, true, false, false) : (tensor<4x5xcomplex<f32>>) -> tensor<8xf32>
  joint.output %y : tensor<8xf32>
}

// -----

joint.graph @rank(%a: tensor<2x?xf32> {joint.role = #joint.role<input>}) -> (tensor<i64>) gradients () {
  // expected-error @+2 {{a rank of a matrix whose size is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.linalg_matrix_rank(%a, 0.5) : (tensor<2x?xf32>) -> tensor<i64>
  joint.output %y : tensor<i64>
}

// -----

joint.graph @ranks_of_numbers(%a: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  // expected-error @+2 {{'aten.nanquantile' has no interpolation 'cubic'}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.nanquantile.scalar(%a, 0.5, interpolation = "cubic") : (tensor<4xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @distances(%a: tensor<4xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<4xf32>) gradients () {
  // expected-error @+2 {{'aten.gradient' needs distances that are numbers or tensors}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.gradient.scalararray(%a, spacing = %n, dim = [0]) : (tensor<4xf32>, index) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @sequences(%a: tensor<4xf32> {joint.role = #joint.role<input>}, %b: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<?x2xf32>) gradients () {
  // expected-error @+2 {{'aten.pad_sequence' of lengths that are not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.pad_sequence([%a, %b]) : (tensor<4xf32>, tensor<?xf32>) -> tensor<?x2xf32>
  joint.output %y : tensor<?x2xf32>
}

// -----

joint.graph @steps(%n: index {joint.role = #joint.role<size>}) -> (tensor<?xf32>) gradients () {
  // expected-error @+2 {{'aten.range' of bounds that are not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.range(0, %n) : (index) -> tensor<?xf32>
  joint.output %y : tensor<?xf32>
}

// -----

joint.graph @chunks(%a: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<2x?xf32>) gradients () {
  // expected-error @+2 {{'aten._chunk_cat' along a size that is not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten._chunk_cat([%a], 0, 2) : (tensor<?xf32>) -> tensor<2x?xf32>
  joint.output %y : tensor<2x?xf32>
}

// -----

joint.graph @sizes_of_data(%a: tensor<4xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<size>}) -> (tensor<?xf32>) gradients () {
  // expected-error @+2 {{a tensor is resized to sizes that are not known}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %y = aten.resize(%a, [%n]) : (tensor<4xf32>, index) -> tensor<?xf32>
  joint.output %y : tensor<?xf32>
}
