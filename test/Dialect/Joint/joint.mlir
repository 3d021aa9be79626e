// The structure of a training graph, as text, bytecode and generic form.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: joint.graph @every_argument_has_a_role
// CHECK-SAME: %w: tensor<8x16xf32> {joint.role = #joint.role<param "fc.weight">}
// CHECK-SAME: %stat: tensor<8xf32> {joint.role = #joint.role<buffer "bn.mean">}
// CHECK-SAME: %x: tensor<?x16xf32> {joint.dims = ["s0", "16"], joint.role = #joint.role<input>}
// CHECK-SAME: %c: tensor<f32> {joint.role = #joint.role<constant>}
// CHECK-SAME: %s0: index {joint.role = #joint.role<size>}
// CHECK-SAME: %seed: tensor<i64> {joint.role = #joint.role<rng_seed>}
// CHECK-SAME: %offset: tensor<i64> {joint.role = #joint.role<rng_offset backward>}
// CHECK-SAME: %t: tensor<?x8xf32> {joint.role = #joint.role<tangent of 0>}
// CHECK-SAME: -> (tensor<?x8xf32>) gradients (tensor<8x16xf32>)
// CHECK-SAME: attributes {symbols = {s0 = #joint.symbol<hint = 24, min = 2, max = 64>, u0 = #joint.symbol<>}}
joint.graph @every_argument_has_a_role(
    %w: tensor<8x16xf32> {joint.role = #joint.role<param "fc.weight">},
    %stat: tensor<8xf32> {joint.role = #joint.role<buffer "bn.mean">},
    %x: tensor<?x16xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "16"]},
    %c: tensor<f32> {joint.role = #joint.role<constant>},
    %s0: index {joint.role = #joint.role<size>},
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %offset: tensor<i64> {joint.role = #joint.role<rng_offset backward>},
    %t: tensor<?x8xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<?x8xf32>) gradients (tensor<8x16xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 24, min = 2, max = 64>, u0 = #joint.symbol<>}} {
  %wt = aten.permute(%w, [1, 0]) : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %y = aten.mm(%x, %wt) : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %tt = aten.permute(%t, [1, 0]) : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %dw = aten.mm(%tt, %x) : (tensor<8x?xf32>, tensor<?x16xf32>) -> tensor<8x16xf32>
  // CHECK: joint.output %y gradients(%dw of 0) : tensor<?x8xf32>, tensor<8x16xf32>
  joint.output %y gradients(%dw of 0) : tensor<?x8xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: joint.graph @a_loss_seeds_its_own_gradient
// CHECK-SAME: %seed: tensor<f32> {joint.role = #joint.role<grad_seed>}
joint.graph @a_loss_seeds_its_own_gradient(
    %x: tensor<f32> {joint.role = #joint.role<input>},
    %seed: tensor<f32> {joint.role = #joint.role<grad_seed>})
    -> (tensor<f32>) gradients (tensor<f32>) {
  joint.output %x gradients(%seed of 0) : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: joint.graph @an_empty_graph() -> () gradients ()
joint.graph @an_empty_graph() -> () gradients () {
  // CHECK-NEXT: joint.output{{$}}
  joint.output
}

// CHECK-LABEL: joint.graph @results_may_have_attributes
// CHECK-SAME: attributes {res_attrs = [{joint.dims = ["s0"]}]}
joint.graph @results_may_have_attributes(
    %x: tensor<f32> {joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients () attributes {res_attrs = [{joint.dims = ["s0"]}]} {
  joint.output %x : tensor<f32>
}

// CHECK-LABEL: joint.graph @names_stay_with_values
// CHECK-SAME: %x: tensor<f32>
joint.graph @names_stay_with_values(
    %x: tensor<f32> {joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients () {
  // CHECK: %relu = aten.relu(%x)
  // CHECK: %0 = aten.relu(%relu)
  %relu = aten.relu(%x) : (tensor<f32>) -> tensor<f32>
  %0 = aten.relu(%relu) : (tensor<f32>) -> tensor<f32>
  joint.output %0 : tensor<f32>
}

// CHECK-LABEL: joint.graph @effects_stand_in_the_body
joint.graph @effects_stand_in_the_body(
    %stat: tensor<8xf32> {joint.role = #joint.role<buffer "bn.mean">},
    %v: tensor<8xf32> {joint.role = #joint.role<input>},
    %ok: tensor<i1> {joint.role = #joint.role<input>})
    -> () gradients () {
  // CHECK: %copy_ = joint.write %stat, %v : tensor<8xf32>, tensor<8xf32>
  %copy_ = joint.write %stat, %v : tensor<8xf32>, tensor<8xf32>
  // CHECK: %late = joint.write %stat, %v {side = #joint.side<backward>} : tensor<8xf32>, tensor<8xf32>
  %late = joint.write %stat, %v {side = #joint.side<backward>} : tensor<8xf32>, tensor<8xf32>
  // CHECK: joint.assert %ok, "index out of bounds" : tensor<i1>
  joint.assert %ok, "index out of bounds" : tensor<i1>
  joint.output
}

// CHECK-LABEL: joint.graph @unknown_calls_keep_what_they_were_given
joint.graph @unknown_calls_keep_what_they_were_given(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %s: index {joint.role = #joint.role<size>})
    -> (tensor<4xf32>, tensor<4xf32>) gradients () {
  // CHECK: %a, %b = joint.opaque "my.op.default"(%x, [%s, 4, none], 5.000000e-01, "mean", flag = true, dtype = f32) {effects, tuple} : (tensor<4xf32>, index) -> (tensor<4xf32>, tensor<4xf32>)
  %a, %b = joint.opaque "my.op.default"(%x, [%s, 4, none], 0.5, "mean", flag = true, dtype = f32) {effects, tuple} : (tensor<4xf32>, index) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: %c = joint.opaque "my.numbers"(inf, [-inf, -1, -5.000000e-01], nan) : () -> tensor<4xf32>
  %c = joint.opaque "my.numbers"(inf, [-inf, -1, -0.5], nan) : () -> tensor<4xf32>
  // CHECK: joint.opaque "my.nothing"() : () -> ()
  joint.opaque "my.nothing"() : () -> ()
  joint.output %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: joint.graph @a_checkpoint_region_gives_its_values
joint.graph @a_checkpoint_region_gives_its_values(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // CHECK: joint.checkpoint attributes {early_stop = false} {
  // CHECK: joint.yield %{{.*}} : tensor<4xf32>
  // CHECK: } : tensor<4xf32>
  %y = joint.checkpoint attributes {early_stop = false} {
    %a = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.checkpoint {
      joint.yield
    }
    joint.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// CHECK-LABEL: joint.graph @tags_and_plans_are_attributes_of_ops
joint.graph @tags_and_plans_are_attributes_of_ops(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // CHECK: aten.relu(%x) {joint.policy = #joint.policy<prefer_recompute, region = 3>, joint.save = array<i1: true>}
  %a = aten.relu(%x) {joint.policy = #joint.policy<prefer_recompute, region = 3>, joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aten.neg(%{{.*}}) {joint.policy = #joint.policy<must_save>, joint.side = #joint.side<forward>}
  %b = aten.neg(%a) {joint.policy = #joint.policy<must_save>, joint.side = #joint.side<forward>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aten.neg(%{{.*}}) {joint.policy = #joint.policy<advise_recompute, region = [3, 0, 1]>}
  %d = aten.neg(%a) {joint.policy = #joint.policy<advise_recompute, region = [3, 0, 1]>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aten.neg(%{{.*}}) {joint.policy = #joint.policy<must_recompute, region = [3, 0], run = 2>}
  %e = aten.neg(%d) {joint.policy = #joint.policy<must_recompute, region = [3, 0], run = 2>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: joint.rerun [3, 0] of %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  joint.rerun [3, 0] of %d, %e : tensor<4xf32>, tensor<4xf32>
  // CHECK: joint.rerun [1]
  joint.rerun [1]
  // CHECK: joint.barrier %{{.*}} : tensor<4xf32>
  %c = joint.barrier %b : tensor<4xf32>
  joint.output %c : tensor<4xf32>
}

// CHECK-LABEL: joint.partition @g forward @g_forward backward @g_backward saved ["relu"]
joint.partition @g forward @g_forward backward @g_backward saved ["relu"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64, num_writes = 0 : i64}
func.func private @g_forward(tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
func.func private @g_backward(tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: joint.graph @random_numbers_are_a_function_of_a_seed
// CHECK: %u = joint.random <uniform> %seed stream 0 : (tensor<i64>) -> tensor<4xf32>
// CHECK: %n = joint.random <normal> %seed stream 1 [%s] : (tensor<i64>, index) -> tensor<?x4xf32>
// CHECK: %b = joint.random <bits> %seed stream 2 : (tensor<i64>) -> tensor<4xi64>
// CHECK: %i = joint.random <normal> %seed stream 3 round %seed [%s] : (tensor<i64>, tensor<i64>, index) -> tensor<?x4xf32>
// CHECK: %p = joint.poisson %seed stream 4 of %u : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %q = joint.poisson %seed stream 4 round %seed of %u : (tensor<i64>, tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %k = joint.binomial %seed stream 5 of %q, %u : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %l = joint.binomial %seed stream 5 round %seed of %q, %u : (tensor<i64>, tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
joint.graph @random_numbers_are_a_function_of_a_seed(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %s: index {joint.role = #joint.role<size>})
    -> (tensor<4xf32>, tensor<?x4xf32>, tensor<4xi64>) gradients () {
  %u = joint.random <uniform> %seed stream 0 : (tensor<i64>) -> tensor<4xf32>
  %n = joint.random <normal> %seed stream 1 [%s] : (tensor<i64>, index) -> tensor<?x4xf32>
  %b = joint.random <bits> %seed stream 2 : (tensor<i64>) -> tensor<4xi64>
  %i = joint.random <normal> %seed stream 3 round %seed [%s] : (tensor<i64>, tensor<i64>, index) -> tensor<?x4xf32>
  %p = joint.poisson %seed stream 4 of %u : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  %q = joint.poisson %seed stream 4 round %seed of %u : (tensor<i64>, tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  %k = joint.binomial %seed stream 5 of %q, %u : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = joint.binomial %seed stream 5 round %seed of %q, %u : (tensor<i64>, tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %u, %n, %b : tensor<4xf32>, tensor<?x4xf32>, tensor<4xi64>
}
