// The example in the description of --cutback-decompose-to-core.
//
// RUN: cutback-opt %s --cutback-decompose-to-core | FileCheck %s

// CHECK-LABEL: joint.graph @probabilities(
// CHECK-NEXT: %[[AMAX:amax]] = aten.amax(%x, [1], true)
// CHECK-NEXT: %[[SUB:sub]] = aten.sub.Tensor(%x, %[[AMAX]])
// CHECK-NEXT: %[[EXP:exp]] = aten.exp(%[[SUB]])
// CHECK-NEXT: %[[SUM:sum]] = aten.sum.dim_IntList(%[[EXP]], [1], true)
// CHECK-NEXT: %[[Y:y]] = aten.div.Tensor(%[[EXP]], %[[SUM]])
// CHECK-NEXT: joint.output %[[Y]]

joint.graph @probabilities(%x: tensor<4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<4x8xf32>) gradients () {
  %y = aten._softmax(%x, 1, false) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  joint.output %y : tensor<4x8xf32>
}
