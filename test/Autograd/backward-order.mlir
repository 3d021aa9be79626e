// RUN: cutback-opt %s --cutback-differentiate | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate=collectives-first | FileCheck %s --check-prefix=FIRST
// RUN: cutback-opt %s --cutback-differentiate=collectives-first \
// RUN:   --mlir-print-debuginfo | FileCheck %s --check-prefix=KEY
// RUN: cutback-opt %s --cutback-differentiate=sequence=a2a=100 | FileCheck %s --check-prefix=RAISED
// RUN: cutback-opt %s "--cutback-differentiate=sequence=%%cos=0,relu=100" | FileCheck %s --check-prefix=LOWERED

// What is looked up on other ranks, next to a dense net; both meet behind them.
// By itself the backward goes through the dense net first, as that ran last.
// CHECK-LABEL: joint.graph @a2a_before_dense
// CHECK: aten.mul.Tensor(%tangents_1, %sin)
// CHECK: aten.sin(%relu)
// CHECK: aten.threshold_backward
// CHECK: %[[A2A:.*]] = aten.c10d.all_to_all_single(%{{.*}}, [2, 2], [2, 2], "0") : {{.*}}
// CHECK-NEXT: aten.c10d.wait_tensor(%[[A2A]]) :

// The exchange starts as soon as its gradient is there, what leads to it (the
// sine) in front of the dense net, and is waited for where it is read.
// FIRST-LABEL: joint.graph @a2a_before_dense
// FIRST: aten.cos(%wait)
// FIRST-NEXT: %[[G:.*]] = aten.mul.Tensor(
// FIRST-NEXT: %[[A2A:.*]] = aten.c10d.all_to_all_single(%[[G]], [2, 2], [2, 2], "0") {joint.early}
// FIRST-NEXT: aten.sin(%relu)
// FIRST: aten.threshold_backward
// FIRST-NEXT: %[[WAIT:.*]] = aten.c10d.wait_tensor(%[[A2A]]) {joint.late}
// FIRST-NEXT: aten.mul.Tensor(%[[WAIT]], %w)
// What leads to a collective has its place plus the number of ops, the collective
// itself twice that.
// KEY: {backward_of = "mul", sequence_nr = 14 : i64}
// KEY: {backward_of = "sin", sequence_nr = 11 : i64}
// KEY: {backward_of = "a2a", sequence_nr = 17 : i64}
// KEY: {backward_of = "cos", sequence_nr = 5 : i64}

// With a number, once what leads to it has run: the sine stays where it was.
// RAISED-LABEL: joint.graph @a2a_before_dense
// RAISED: aten.sin(%relu)
// RAISED: aten.threshold_backward
// RAISED: aten.c10d.all_to_all_single(%{{.*}}, [2, 2], [2, 2], "0") {joint.early}
// RAISED: aten.c10d.wait_tensor(%{{.*}}) {joint.late}

// LOWERED-LABEL: joint.graph @a2a_before_dense
// The last of all, though what is behind it has a high number.
// LOWERED: aten.mul.Tensor(%tangents_1, %sin)
// LOWERED: aten.c10d.all_to_all_single(
// LOWERED: aten.c10d.wait_tensor(
// LOWERED-NEXT: aten.sin(%relu)
// LOWERED-NEXT: aten.neg
// LOWERED-NEXT: aten.mul.Tensor
// LOWERED-NEXT: aten.threshold_backward
joint.graph @a2a_before_dense(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %v: tensor<4xf32> {joint.role = #joint.role<param "v">}) -> (tensor<4xf32>) gradients () {
  %rows = aten.mul.Tensor(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a2a = aten.c10d.all_to_all_single(%rows, [2, 2], [2, 2], "0") : (tensor<4xf32>) -> tensor<4xf32>
  %wait = aten.c10d.wait_tensor(%a2a) : (tensor<4xf32>) -> tensor<4xf32>
  %sin = aten.sin(%wait) : (tensor<4xf32>) -> tensor<4xf32>
  %relu = aten.relu(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %cos = aten.cos(%relu) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%sin, %cos) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %mul : tensor<4xf32>
}
