// What --cutback-eliminate-common-subexpressions merges, and what it keeps.
//
// RUN: cutback-opt %s --cutback-eliminate-common-subexpressions | FileCheck %s
// RUN: cutback-opt %s --cutback-eliminate-common-subexpressions --emit-bytecode | cutback-opt | FileCheck %s

// CHECK-LABEL: func.func @recomputed_copies_stay_apart
// CHECK: %[[A:.*]] = aten.sin
// CHECK: %[[B:.*]] = aten.sin{{.*}} {joint.recompute = 0
// CHECK: aten.mul.Tensor(%[[A]], %[[B]])
func.func @recomputed_copies_stay_apart(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.sin(%x) {joint.recompute = 0} : (tensor<4xf32>) -> tensor<4xf32>
  %c = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @random_draws_stay_apart
// CHECK: %[[A:.*]] = aten.rand(
// CHECK: %[[B:.*]] = aten.rand(
// CHECK: aten.mul.Tensor(%[[A]], %[[B]])
func.func @random_draws_stay_apart() -> tensor<4xf32> {
  %a = aten.rand([4]) : () -> tensor<4xf32>
  %b = aten.rand([4]) : () -> tensor<4xf32>
  %c = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @names_do_not_count
// CHECK: %[[A:first]] = aten.sin
// CHECK-NEXT: aten.mul.Tensor(%[[A]], %[[A]])
func.func @names_do_not_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  %first = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %second = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aten.mul.Tensor(%first, %second) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @names_of_ops_of_other_dialects_do_not_count
// CHECK: %[[A:.*]] = arith.negf %{{.*}} {names = ["first"], other = 1 : i64}
// CHECK-NEXT: %[[B:.*]] = arith.negf %{{.*}} {names = ["third"], other = 2 : i64}
// CHECK-NEXT: aten.mul.Tensor(%[[A]], %[[A]])
// CHECK-NEXT: aten.mul.Tensor(%{{.*}}, %[[B]])
func.func @names_of_ops_of_other_dialects_do_not_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.negf %x {names = ["first"], other = 1} : tensor<4xf32>
  %b = arith.negf %x {names = ["second"], other = 1} : tensor<4xf32>
  %c = arith.negf %x {names = ["third"], other = 2} : tensor<4xf32>
  %d = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = aten.mul.Tensor(%d, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// CHECK-LABEL: func.func @two_results_get_two_buffers
// CHECK: %[[A:.*]] = aten.sin
// CHECK: %[[B:.*]] = aten.sin
// CHECK: return %[[A]], %[[B]]
func.func @two_results_get_two_buffers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
