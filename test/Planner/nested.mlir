// Two calls on the same operands are one op to PyTorch's CSE and to ours only
// if their graphs are one: PyTorch reads each graph by a node of its own, so it
// merges none, and neither do we.
//
// RUN: cutback-opt %s --cutback-pipeline | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline=cost-model=pytorch | FileCheck %s

// CHECK-LABEL: func.func @other_branches_are_other_ops_forward
// CHECK-COUNT-2: joint.nested
joint.graph @other_branches_are_other_ops(
    %p: tensor<i1> {joint.role = #joint.role<input>},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>, tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %yes.sin = aten.sin(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %yes.sin : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %yes.cos = aten.cos(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %yes.cos : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  %g = aten.mul.Tensor(%t, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y, %z gradients(%g of 1) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
