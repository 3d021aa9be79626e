// Graphs in which the forward needs what the backward computes.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-print-analysis=columns=set

joint.graph @an_effect_of_the_forward_depends_on_a_random_seed_of_the_backward(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>},
    %late: tensor<4xf32> {joint.role = #joint.role<rng_seed backward>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // expected-error @below {{is needed by the forward and depends on a tangent: late -> noise}}
  // expected-note @below {{a forward result must not depend on a gradient; check the number of forward outputs (--forward-outputs)}}
  %noise = aten.sin(%late) : (tensor<4xf32>) -> tensor<4xf32>
  %bad = aten.mul.Tensor(%noise, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %bad gradients(%t of 0) : tensor<4xf32>, tensor<4xf32>
}
