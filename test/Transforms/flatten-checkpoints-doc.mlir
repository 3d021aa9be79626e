// The example in the description of --cutback-flatten-checkpoints.
//
// RUN: cutback-opt %s --cutback-flatten-checkpoints | FileCheck %s

// CHECK-LABEL: joint.graph @region(
// CHECK-NEXT: %[[A:.*]] = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>}
// CHECK-NEXT: %[[B:.*]] = math.sin %[[A]] {joint.policy = #joint.policy<must_save, region = 0>}
// CHECK-NEXT: joint.output %[[B]]

joint.graph @region(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = joint.checkpoint attributes {policies = {math.sin = #joint.policy<must_save>}} {
    %a = math.exp %x : tensor<4xf32>
    %b = math.sin %a : tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
