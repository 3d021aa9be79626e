// Calls that run graphs of their own have a gradient of the same kind: their
// graphs are differentiated, and run again in front of their backward.
//
// RUN: cutback-opt %s --cutback-differentiate | FileCheck %s --enable-var-scope

// A branch that does not depend on an operand gives zeros for it.
// CHECK-LABEL: @branches
// CHECK: %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%w, %x])
// CHECK: joint.nested "higher_order.cond"(%p, @yes_backward, @no_backward, [%w, %x, %tangents_1])
// CHECK-NEXT: ^bb0(%[[W:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>, %[[T:.*]]: tensor<4xf32>):
// CHECK-NEXT: aten.sin(%[[X]])
// CHECK-NEXT: %[[G:.*]] = aten.mul.Tensor(%[[T]],
// CHECK-NEXT: joint.return %[[G]]
// CHECK: ^bb0(
// CHECK-NEXT: %[[Z:.*]] = aten.full([4], 0.000000e+00, dtype = f32)
// CHECK-NEXT: joint.return %[[Z]]
// CHECK: joint.output %y gradients(%{{.*}} of 1)
joint.graph @branches(
    %p: tensor<i1> {joint.role = #joint.role<input>},
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%w, %x]) {tuple} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = aten.sin(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %m = aten.mul.Tensor(%s, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.return %m : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = aten.cos(%b) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %c : tensor<4xf32>
  }
  joint.output %y : tensor<4xf32>
}

// The values that a scan carries are stacked; then it runs backwards, and sums
// the gradients of what all rounds read.
// CHECK-LABEL: @rounds
// CHECK: joint.nested "higher_order.scan"(@body, [%h], [%x], [%w])
// CHECK: %[[XS:.*]] = aten.flip(%x, [0])
// CHECK: joint.nested "higher_order.scan"(@body, [%h], [%x], [%w])
// CHECK: joint.return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[HS:.*]] = aten.flip(
// CHECK: joint.nested "higher_order.scan"(@body_backward, [%tangents_1, %{{.*}}], [%[[XS]], %[[HS]]], [%w])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %[[SUM:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
// CHECK: %[[NEXT:.*]] = aten.add.Tensor(%[[SUM]],
// CHECK: joint.return %{{.*}}, %[[NEXT]]
joint.graph @rounds(
    %h: tensor<4xf32> {joint.role = #joint.role<input>},
    %x: tensor<3x4xf32> {joint.role = #joint.role<input>},
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">})
    -> (tensor<4xf32>) gradients () {
  %y, %all = joint.nested "higher_order.scan"(@body, [%h], [%x], [%w]) {tuple} : (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %m = aten.mul.Tensor(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = aten.add.Tensor(%m, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.return %s, %b : tensor<4xf32>, tensor<4xf32>
  }
  joint.output %y : tensor<4xf32>
}
