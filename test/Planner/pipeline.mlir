// The whole pipeline: what is dead or computed twice goes, regions become
// tags, and both halves are written and proved.
//
// RUN: cutback-opt %s --cutback-pipeline | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline --emit-bytecode | cutback-opt --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline | cutback-opt | FileCheck %s

// The same, pass by pass.
// RUN: cutback-opt %s --pass-pipeline='builtin.module(joint.graph(cutback-flatten-checkpoints,cutback-eliminate-dead-code,cutback-eliminate-common-subexpressions,cutback-clean-tags),cutback-plan,cutback-extract,cutback-verify-partition)' | FileCheck %s

// With options, those of cutback-plan, and up to a phase.
// RUN: cutback-opt %s --cutback-pipeline='strategy=min-cut device=h100 byte-price=0' | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline=to=prepare | FileCheck %s --check-prefix=PREPARED
// PREPARED-NOT: joint.checkpoint
// PREPARED-NOT: func.func
// RUN: cutback-opt %s --cutback-pipeline=to=joint | FileCheck %s --check-prefix=JOINT
// JOINT: joint.checkpoint

// Without the joint graph, and in the order of the source.
// RUN: cutback-opt %s --pass-pipeline='builtin.module(joint.graph(cutback-flatten-checkpoints),cutback-plan,cutback-extract{keep-joint=false reorder-backward=false})' | FileCheck %s --check-prefix=ALONE

// CHECK-LABEL: joint.graph @step
// ALONE-NOT: joint.graph
joint.graph @step(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK-NOT: aten.neg
  %dead = aten.neg(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-NOT: joint.checkpoint
  // CHECK: %h = aten.mm(%x, %w) {joint.policy = #joint.policy<prefer_recompute, region = 0>{{(, joint.recompute)?}}}
  %y = joint.checkpoint {
    %h = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = aten.exp(%h) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    joint.yield %e : tensor<64x64xf32>
  } : tensor<64x64xf32>
  // CHECK: %c = aten.cos(%w)
  // CHECK-NOT: aten.cos
  %c = aten.cos(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = aten.cos(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mul.Tensor(%g1, %d) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g2 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @step_forward
// CHECK-SAME: no_inline
// CHECK: return %e, %{{.*}}, %{{.*}} : tensor<64x64xf32>
// CHECK-LABEL: func.func @step_backward
// CHECK-SAME: no_inline
// CHECK: %h_recompute = aten.mm({{.*}}joint.recompute = 0
// CHECK: %e_recompute = aten.exp({{.*}}joint.recompute = 1
// CHECK: joint.partition @step_partition of @step forward @step_forward backward @step_backward saved ["w", "x"]
// ALONE-LABEL: func.func @step_forward
// ALONE-LABEL: func.func @step_backward
// ALONE: joint.partition
