// Warnings of --cutback-flatten-checkpoints, and regions that become tags
// which --cutback-clean-tags understands.
//
// RUN: cutback-opt %s --cutback-flatten-checkpoints --cutback-clean-tags --verify-diagnostics | FileCheck %s

// CHECK-LABEL: joint.graph @what_is_not_offered_is_said
joint.graph @what_is_not_offered_is_said(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  // expected-warning@+2 {{preserve_rng = false has no effect: what is recomputed draws the forward's numbers again}}
  // expected-warning@+1 {{early_stop = false has no effect: what the backward does not need is not recomputed}}
  %y = joint.checkpoint attributes {early_stop = false, preserve_rng = false} {
    %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// CHECK-LABEL: joint.graph @the_boundary_of_two_regions_is_saved
// CHECK: %a = aten.sin(%x) {joint.policy = #joint.policy<prefer_recompute, region = 0>}
// CHECK: %b = aten.cos(%a) {joint.policy = #joint.policy<must_save, region = 0>}
// CHECK: %c = aten.exp(%b) {joint.policy = #joint.policy<prefer_recompute, region = 1>}
joint.graph @the_boundary_of_two_regions_is_saved(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = joint.checkpoint {
    %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %b = aten.cos(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %z = joint.checkpoint {
    %c = aten.exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %c : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %z : tensor<4xf32>
}
