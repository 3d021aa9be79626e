// The example in the description of --cutback-expand-regions.
//
// RUN: cutback-opt %s --cutback-expand-regions | FileCheck %s

// CHECK-LABEL: joint.graph @nested(
// CHECK-NEXT: %[[A:.*]] = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>{{.*}}
// CHECK-NEXT: %[[A2:.*]] = math.exp %x {joint.policy = #joint.policy<must_recompute, region = [0, 0], run = 2>{{.*}}
// CHECK-NEXT: %[[B:.*]] = math.sin %[[A]] {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>{{.*}}
// CHECK-NEXT: %[[C:.*]] = arith.mulf %t, %[[A2]]
// CHECK-NEXT: joint.output %[[B]] gradients(%[[C]] of 0)

joint.graph @nested(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
  %b = math.sin %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
  %c = arith.mulf %t, %a : tensor<4xf32>
  joint.output %b gradients(%c of 0) : tensor<4xf32>, tensor<4xf32>
}
