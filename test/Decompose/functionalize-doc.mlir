// The example in the description of --cutback-functionalize.
//
// RUN: cutback-opt %s --cutback-functionalize | FileCheck %s

// CHECK-LABEL: joint.graph @column(
// CHECK-SAME: %[[X:x]]: tensor<4x3xf32>
// CHECK-NEXT: %[[Y:.*]] = aten.relu(%[[X]])
// CHECK-NEXT: %[[COLUMN:.*]] = aten.select.int(%[[Y]], 1, 0)
// CHECK-NEXT: %[[MUL:mul_]] = aten.mul.Tensor(%[[COLUMN]], 2.000000e+00)
// CHECK-NEXT: %[[NEW:.*]] = aten.select_scatter(%[[Y]], %[[MUL]], 1, 0)
// CHECK-NEXT: %[[ADD:add_]] = aten.add.Tensor(%count, 1)
// CHECK-NEXT: %{{.*}} = joint.write %count, %[[ADD]]
// CHECK-NEXT: joint.output %[[NEW]]

joint.graph @column(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %count: tensor<i64> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  %y = aten.relu(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %column = aten.select.int(%y, 1, 0) : (tensor<4x3xf32>) -> tensor<4xf32>
  %mul_ = aten.mul_.Tensor(%column, 2.0) : (tensor<4xf32>) -> tensor<4xf32>
  %add_ = aten.add_.Tensor(%count, 1) : (tensor<i64>) -> tensor<i64>
  joint.output %y : tensor<4x3xf32>
}
