// Hand-written plans: what the two halves hold.
//
// RUN: cutback-opt %s --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-extract --emit-bytecode | cutback-opt --cutback-verify-partition | FileCheck %s

// CHECK-LABEL: func.func @what_is_not_saved_is_recomputed_forward
// CHECK: return %y, %a : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @what_is_not_saved_is_recomputed_backward
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %[[T:.*]]: tensor<4xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
// CHECK-NEXT: %b_recompute = aten.exp(%[[A]]) {joint.recompute = 0 : i64}
// CHECK-NEXT: %g = aten.mul.Tensor(%[[T]], %b_recompute)
// CHECK-NEXT: return %g
// CHECK: joint.partition {{.*}} saved ["a"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
joint.graph @what_is_not_saved_is_recomputed(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %a = aten.sin(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.tanh(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// Sizes come before tensors.
// CHECK-LABEL: func.func @arguments_that_the_backward_reads_are_handed_over_forward
// CHECK-SAME: (%[[W:.*]]: tensor<4xf32> {joint.name = "w", joint.role = #joint.role<param "w">}, %[[X:.*]]: tensor<4xf32> {joint.name = "x", joint.role = #joint.role<input>}, %[[S:.*]]: index {joint.name = "s", joint.role = #joint.role<size>})
// CHECK: return %y, %[[S]], %[[X]] : tensor<4xf32>, index, tensor<4xf32>
// CHECK-LABEL: func.func @arguments_that_the_backward_reads_are_handed_over_backward
// CHECK-SAME: index {joint.name = "s", joint.role = #joint.role<saved>}, {{.*}}joint.name = "x", {{.*}}joint.name = "t",
// CHECK: joint.partition {{.*}} saved ["s", "x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 1 : i64}
joint.graph @arguments_that_the_backward_reads_are_handed_over(
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %s: index {joint.role = #joint.role<size>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.mul.Tensor(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.mul.Tensor(%g, %s) : (tensor<4xf32>, index) -> tensor<4xf32>
  joint.output %y gradients(%h of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @a_saved_value_that_nobody_reads_is_dropped_forward
// CHECK: return %b, %b : tensor<4xf32>, tensor<4xf32>
// CHECK: joint.partition {{.*}} saved ["b"]
joint.graph @a_saved_value_that_nobody_reads_is_dropped(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %a = aten.sin(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.exp(%a) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %b gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @results_of_one_op_are_saved_one_by_one_forward
// CHECK: return %l, %r : tensor<2xf32>, tensor<2xf32>
// CHECK-LABEL: func.func @results_of_one_op_are_saved_one_by_one_backward
// CHECK-NOT: aten.split
// CHECK: joint.partition {{.*}} saved ["r"]
joint.graph @results_of_one_op_are_saved_one_by_one(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<2xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<2xf32>) gradients (tensor<4xf32>) {
  %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %l, %r = aten.split.Tensor(%a, 2) {joint.save = array<i1: false, true>} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %g = aten.mul.Tensor(%t, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = aten.cat([%g, %g], 0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  joint.output %l gradients(%c of 0) : tensor<2xf32>, tensor<4xf32>
}

// Not a recomputation: the forward does not run it.
// CHECK-LABEL: func.func @what_is_unclaimed_runs_where_it_is_not_saved_forward
// CHECK-NOT: aten.gt
// CHECK: return %y, %y
// CHECK-LABEL: func.func @what_is_unclaimed_runs_where_it_is_not_saved_backward
// CHECK: %mask = aten.gt.Scalar(%{{.*}}, 0) : (tensor<4xf32>) -> tensor<4xi1>
joint.graph @what_is_unclaimed_runs_where_it_is_not_saved(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.relu(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %mask = aten.gt.Scalar(%y, 0) : (tensor<4xf32>) -> tensor<4xi1>
  %g = aten.mul.Tensor(%t, %mask) : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @effects_stay_in_their_half_forward
// CHECK: joint.assert
// CHECK: joint.write %{{.*}}, %a : tensor
// CHECK: %noise = aten.bernoulli
// CHECK-NOT: joint.write
// CHECK-LABEL: func.func @effects_stay_in_their_half_backward
// CHECK-NOT: joint.assert
// CHECK-NOT: aten.bernoulli
// CHECK: joint.write %{{.*}}, %g {side = #joint.side<backward>}
// CHECK-NEXT: return
// CHECK: joint.partition {{.*}} saved ["acc", "noise"]
joint.graph @effects_stay_in_their_half(
    %buf: tensor<4xf32> {joint.role = #joint.role<buffer "b">},
    %acc: tensor<4xf32> {joint.role = #joint.role<buffer "a">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %ok: tensor<i1> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  joint.assert %ok, "index out of bounds" : tensor<i1>
  %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %w = joint.write %buf, %a : tensor<4xf32>, tensor<4xf32>
  %noise = aten.bernoulli(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%a, %noise) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %noise) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = joint.write %acc, %g {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  joint.output %y gradients(%g of 2) : tensor<4xf32>, tensor<4xf32>
}

// Two equal draws, one in each half only once, the other in both: the numbers
// keep them apart.
// CHECK-LABEL: func.func @a_draw_with_a_number_may_run_twice_forward
// CHECK: %m = aten.bernoulli{{.*}} {joint.replay = 0 : i64
// CHECK: %n = aten.bernoulli{{.*}} {joint.replay = 1 : i64
// CHECK-LABEL: func.func @a_draw_with_a_number_may_run_twice_backward
// CHECK-NOT: %m
// CHECK: %n_recompute = aten.bernoulli{{.*}} {joint.recompute = 0 : i64, joint.replay = 1 : i64}
joint.graph @a_draw_with_a_number_may_run_twice(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %m = aten.bernoulli(%x) {joint.replay = 0 : i64, joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%x) {joint.replay = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.mul.Tensor(%g, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%h of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @a_region_is_given_what_it_reads_from_outside_forward
// CHECK: %[[Z:.*]] = aten.exp
// CHECK: joint.checkpoint
// CHECK-NEXT: aten.sin(%[[Z]])
joint.graph @a_region_is_given_what_it_reads_from_outside(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %z = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = joint.checkpoint attributes {joint.save = array<i1: true>} {
    %b = aten.sin(%z) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  %g = aten.mul.Tensor(%t, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// Both halves write the buffer: what the backward reads of it is what the
// forward has left there.
// CHECK-LABEL: func.func @both_halves_write_a_buffer_forward
// CHECK: joint.write %[[B:.*]], %y
// CHECK: return %y, {{.*}}%[[B]]
// CHECK-LABEL: func.func @both_halves_write_a_buffer_backward
// CHECK: %g = aten.mul.Tensor
// CHECK: joint.write {{.*}}, %g
joint.graph @both_halves_write_a_buffer(
    %buf: tensor<4xf32> {joint.role = #joint.role<buffer "b">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %w = joint.write %buf, %y : tensor<4xf32>, tensor<4xf32>
  %g = aten.mul.Tensor(%t, %buf) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %late = joint.write %buf, %g {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  joint.output %y gradients(%g of 1) : tensor<4xf32>, tensor<4xf32>
}
