// Calls that run graphs of their own: the text is kept, and what passes learn
// of them follows from their graphs. The device moves one byte a picosecond,
// computes one FLOP a picosecond (four in products) and takes a million
// picoseconds to launch a kernel.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s --enable-var-scope
// RUN: cutback-opt %s --cutback-print-analysis="columns=recompute-ps device=%S/../../Analysis/Inputs/round.json" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=COST

// CHECK-LABEL: @the_dearer_branch_counts
// CHECK: %y, %none = joint.nested "higher_order.cond"(%p, @yes, @no, [%x])
// CHECK-SAME: {tuple} : (tensor<i1>, tensor<100x100xf32>) -> (tensor<100x100xf32>, none) {
// CHECK-NEXT: ^bb0(%[[ARG:.*]]: tensor<100x100xf32>):
// CHECK-NEXT:   %yes.mm = aten.mm(%[[ARG]], %[[ARG]])
// CHECK-NEXT:   joint.return %yes.mm : tensor<100x100xf32> {places = array<i1: true, false>}
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[ARG]]: tensor<100x100xf32>):
// CHECK-NEXT:   %no.sin = aten.sin(%[[ARG]])
// 2 * 100^3 FLOPs at 4 a picosecond, and a launch.
// COST: {{^}}y: recompute-ps=1500000
joint.graph @the_dearer_branch_counts(
    %p: tensor<i1> {joint.role = #joint.role<input>},
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>})
    -> (tensor<100x100xf32>) gradients () {
  %y, %none = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<100x100xf32>) -> (tensor<100x100xf32>, none) {
  ^bb0(%a: tensor<100x100xf32>):
    %yes.mm = aten.mm(%a, %a) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    joint.return %yes.mm : tensor<100x100xf32> {places = array<i1: true, false>}
  }, {
  ^bb0(%a: tensor<100x100xf32>):
    %no.sin = aten.sin(%a) : (tensor<100x100xf32>) -> tensor<100x100xf32>
    joint.return %no.sin : tensor<100x100xf32> {places = array<i1: true, false>}
  }
  joint.output %y : tensor<100x100xf32>
}

// CHECK-LABEL: @a_scan_costs_as_often_as_it_runs
// CHECK: joint.nested "higher_order.scan"(@body, [%h], [%x], [2])
// Ten times as much.
// COST: {{^}}last: recompute-ps=6000000
joint.graph @a_scan_costs_as_often_as_it_runs(
    %h: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %x: tensor<10x100x100xf32> {joint.role = #joint.role<input>})
    -> (tensor<100x100xf32>) gradients () {
  %last, %all = joint.nested "higher_order.scan"(@body, [%h], [%x], [2]) {tuple} : (tensor<100x100xf32>, tensor<10x100x100xf32>) -> (tensor<100x100xf32>, tensor<10x100x100xf32>) {
  ^bb0(%a: tensor<100x100xf32>, %b: tensor<100x100xf32>):
    %body.mm = aten.mm(%a, %b) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    joint.return %body.mm, %a : tensor<100x100xf32>, tensor<100x100xf32>
  }
  joint.output %last : tensor<100x100xf32>
}

// Sizes that are open inside follow from those of the call. The condition is a
// quarter of a picosecond.
// COST: {{^}}looped: recompute-ps=1500001
joint.graph @a_loop_of_unknown_length_counts_once(
    %n: tensor<i64> {joint.role = #joint.role<input>},
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>})
    -> (tensor<100x100xf32>) gradients () {
  %k, %looped = joint.nested "higher_order.while_loop"(@goes_on, @body, [%n, %x], []) {tuple} : (tensor<i64>, tensor<100x100xf32>) -> (tensor<i64>, tensor<100x100xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<?x?xf32>):
    %goes_on.lt = aten.lt.Scalar(%i, 3) : (tensor<i64>) -> tensor<i1>
    joint.return %goes_on.lt : tensor<i1>
  }, {
  ^bb0(%i: tensor<i64>, %a: tensor<?x?xf32>):
    %body.add = aten.add.Tensor(%i, 1) : (tensor<i64>) -> tensor<i64>
    %body.mm = aten.mm(%a, %a) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    joint.return %body.add, %body.mm : tensor<i64>, tensor<?x?xf32>
  }
  joint.output %looped : tensor<100x100xf32>
}

// Five rounds, as the stack says, each with two additions or comparisons.
// COST: {{^}}rounds: recompute-ps=3500003
joint.graph @a_loop_that_stacks_says_how_often_it_runs(
    %n: tensor<i64> {joint.role = #joint.role<input>},
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>})
    -> (tensor<5x100x100xf32>) gradients () {
  %rounds, %stack = joint.nested "higher_order.while_loop_stack_output"(@goes_on, @body, [%n, %x], []) {tuple} : (tensor<i64>, tensor<100x100xf32>) -> (tensor<5xi64>, tensor<5x100x100xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<100x100xf32>):
    %goes_on.lt = aten.lt.Scalar(%i, 5) : (tensor<i64>) -> tensor<i1>
    joint.return %goes_on.lt : tensor<i1>
  }, {
  ^bb0(%i: tensor<i64>, %a: tensor<100x100xf32>):
    %body.add = aten.add.Tensor(%i, 1) : (tensor<i64>) -> tensor<i64>
    %body.mm = aten.mm(%a, %a) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    joint.return %body.add, %body.mm : tensor<i64>, tensor<100x100xf32>
  }
  joint.output %stack : tensor<5x100x100xf32>
}

// Two heads of 1,000 queries and keys, of width 10: two products of 4 * 10^7
// FLOPs each, half of them below the diagonal; and the gradients' five.
// COST: {{^}}dense: recompute-ps=21000000
// COST: {{^}}causal: recompute-ps=11000000
// COST: {{^}}dq: recompute-ps=51000000
joint.graph @attention_counts_pairs(
    %q: tensor<1x2x1000x10xf32> {joint.role = #joint.role<input>},
    %s: tensor<1x2x1000xf32> {joint.role = #joint.role<input>})
    -> (tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>) gradients () {
  %dense, %d1, %d2 = joint.nested "higher_order.flex_attention"(%q, %q, %q, @score, [1000, 1000, @mask], 1.0, [], [], []) {tuple} : (tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>) -> (tensor<1x2x1000x10xf32>, tensor<1x2x1000xf32>, tensor<1x2x1000xf32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    joint.return %a : tensor<f32>
  }, {
  ^bb0(%b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %mask.le = aten.le.Tensor(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    joint.return %mask.le : tensor<i1>
  }
  %causal, %c1, %c2 = joint.nested "higher_order.flex_attention"(%q, %q, %q, @score, [1000, 1000, @mask], 1.0, [], [], []) {tuple} : (tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>) -> (tensor<1x2x1000x10xf32>, tensor<1x2x1000xf32>, tensor<1x2x1000xf32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    joint.return %a : tensor<f32>
  }, {
  ^bb0(%b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %mask.ge = aten.ge.Tensor(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    joint.return %mask.ge : tensor<i1>
  }
  %dq, %dk, %dv = joint.nested "higher_order.flex_attention_backward"(%q, %q, %q, %dense, %s, %q, none, @score, @joint, [1000, 1000, @mask], 1.0, [], [], []) {tuple} : (tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000xf32>, tensor<1x2x1000x10xf32>) -> (tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    joint.return %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %g: tensor<f32>):
    joint.return %g : tensor<f32> {places = array<i1: true, false, false, false, false>}
  }, {
  ^bb0(%b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %mask.le = aten.le.Tensor(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    joint.return %mask.le : tensor<i1>
  }
  joint.output %dense, %causal, %dq : tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>, tensor<1x2x1000x10xf32>
}

// A draw in a branch is an effect: it runs once.
// COST: {{^}}drawn: recompute-ps=never
// What is not known may run only once, unless the user says so.
// COST: {{^}}unknown: recompute-ps=never
// COST: {{^}}asked: recompute-ps=1{{[0-9]+}}
joint.graph @a_call_may_run_as_often_as_its_graphs(
    %p: tensor<i1> {joint.role = #joint.role<input>},
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) gradients () {
  %drawn = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %yes.noise = aten.bernoulli(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %yes.noise : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  %unknown = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %yes.one = joint.opaque "mylib.one.default"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %yes.one : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  %asked = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {joint.policy = #joint.policy<must_recompute>, tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %yes.one = joint.opaque "mylib.one.default"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %yes.one : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  joint.output %drawn, %unknown, %asked : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
