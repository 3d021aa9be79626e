// The example in the description of --cutback-clean-tags.
//
// RUN: cutback-opt %s --cutback-clean-tags | FileCheck %s

// CHECK-LABEL: joint.graph @boundary(
// CHECK-NEXT: math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>{{.*}}}
// CHECK-NEXT: math.sin {{.*}} {joint.policy = #joint.policy<must_save, region = 0>{{.*}}}
// CHECK-NEXT: math.cos {{.*}} {joint.policy = #joint.policy<prefer_recompute, region = 1>{{.*}}}

joint.graph @boundary(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
  %b = math.sin %a {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
  %c = math.cos %b {joint.policy = #joint.policy<prefer_recompute, region = 1>} : tensor<4xf32>
  joint.output %c : tensor<4xf32>
}
