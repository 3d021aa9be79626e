// RUN: cutback-opt %s --cutback-decompose-to-core --split-input-file --verify-diagnostics

joint.graph @other_channels(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %on: tensor<1xi64> {joint.role = #joint.role<buffer>}, %m: tensor<3xf32> {joint.role = #joint.role<buffer>}, %z: tensor<3xi32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  // expected-error @+2 {{channels are observed along dimension 0 only, not 1}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %q:6 = aten._fused_moving_avg_obs_fq_helper_functional(%x, %on, %on, %m, %m, %m, %z, 0.01, 0, 255, 1, true) : (tensor<4x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>)
  joint.output %q#0 : tensor<4x3xf32>
}

// -----

joint.graph @no_channels(%x: tensor<3xf32> {joint.role = #joint.role<input>}, %on: tensor<1xi64> {joint.role = #joint.role<buffer>}, %m: tensor<3xf32> {joint.role = #joint.role<buffer>}, %z: tensor<3xi32> {joint.role = #joint.role<buffer>}) -> (tensor<3xf32>) gradients () {
  // expected-error @+2 {{channels of a tensor of 1 dimensions have no elements to observe}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %q:6 = aten._fused_moving_avg_obs_fq_helper_functional(%x, %on, %on, %m, %m, %m, %z, 0.01, 0, 255, 0, true) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>)
  joint.output %q#0 : tensor<3xf32>
}

// -----

joint.graph @unseen(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %on: tensor<1xi64> {joint.role = #joint.role<buffer>}, %m: tensor<0xf32> {joint.role = #joint.role<buffer>}, %s: tensor<1xf32> {joint.role = #joint.role<buffer>}, %z: tensor<1xi32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  // expected-error @+2 {{an observer that has seen nothing has no sizes yet: run the model once before it is exported}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %q:6 = aten._fused_moving_avg_obs_fq_helper_functional(%x, %on, %on, %m, %m, %s, %z, 0.01, 0, 255, 0, true) : (tensor<4x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<0xf32>, tensor<0xf32>, tensor<1xf32>, tensor<1xi32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<0xf32>, tensor<0xf32>, tensor<1xf32>, tensor<1xi32>)
  joint.output %q#0 : tensor<4x3xf32>
}

// -----

joint.graph @no_range(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %on: tensor<1xi64> {joint.role = #joint.role<buffer>}, %m: tensor<f32> {joint.role = #joint.role<buffer>}, %s: tensor<1xf32> {joint.role = #joint.role<buffer>}, %z: tensor<1xi32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  // expected-error @+2 {{quantization from 7 to 7 has no range}}
  // expected-note @+1 {{call run_decompositions() on the program before it is saved, or write the op in terms of others}}
  %q:6 = aten._fused_moving_avg_obs_fq_helper_functional(%x, %on, %on, %m, %m, %s, %z, 0.01, 7, 7, -1) : (tensor<4x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<f32>, tensor<f32>, tensor<1xf32>, tensor<1xi32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<f32>, tensor<f32>, tensor<1xf32>, tensor<1xi32>)
  joint.output %q#0 : tensor<4x3xf32>
}
