// Warnings of --cutback-flatten-checkpoints, and regions that become tags
// which --cutback-clean-tags understands.
//
// RUN: cutback-opt %s --cutback-flatten-checkpoints --cutback-clean-tags --verify-diagnostics | FileCheck %s

// CHECK-LABEL: joint.graph @what_a_region_asks_for_stays_with_the_graph
// CHECK-SAME: attributes {joint.regions = {"0" = {early_stop = false, preserve_rng = false}}}
// expected-warning@+1 {{a checkpoint region with preserve_rng = false draws other random numbers when it runs again: gradients are not those of what the forward has computed}}
joint.graph @what_a_region_asks_for_stays_with_the_graph(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
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
