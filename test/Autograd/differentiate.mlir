// RUN: cutback-opt %s --cutback-differentiate --split-input-file | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --split-input-file \
// RUN:   --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Gradients of one value are added as they arrive: of the later op first.
// CHECK-LABEL: joint.graph @sums_uses_in_the_order_of_arrival(
// CHECK: %[[LATE:.*]] = aten.mul.Tensor(%expand, %mul)
// CHECK: %[[FIRST:.*]] = aten.mul.Tensor(%[[G:.*]], %exp)
// CHECK-NEXT: %[[SECOND:.*]] = aten.mul.Tensor(%[[G]], %exp)
// CHECK-NEXT: %[[BOTH:.*]] = aten.add.Tensor(%[[FIRST]], %[[SECOND]])
// CHECK-NEXT: %[[EARLY:.*]] = aten.mul.Tensor(%[[BOTH]], %exp)
// CHECK-NEXT: %[[SUM:.*]] = aten.add.Tensor(%[[LATE]], %[[EARLY]])
// CHECK-NEXT: joint.output %sum gradients(%[[SUM]] of 0)
// LOC-LABEL: joint.graph @sums_uses_in_the_order_of_arrival(
// LOC: #[[EXP:.*]] = loc("model.py":7:0)
// LOC: loc(fused<{backward_of = "exp", sequence_nr = 0 : i64}>[#[[EXP]]])
joint.graph @sums_uses_in_the_order_of_arrival(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
  %mul = aten.mul.Tensor(%exp, %exp) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul_1 = aten.mul.Tensor(%mul, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul_1) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @raised_numbers_run_first(
// CHECK: aten.cos(%w)
// CHECK: aten.mul.Tensor(%{{.*}}, %exp)
joint.graph @raised_numbers_run_first(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  %sin = aten.sin(%w) {joint.sequence_nr = 9 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %add = aten.add.Tensor(%sin, %exp) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %add : tensor<4xf32>
}

// -----

// Without a scalar first, every result that depends on a parameter has a
// tangent; the integer and the untouched one have none.
// CHECK-LABEL: joint.graph @several_results_have_tangents(
// CHECK-SAME: %tangents_1: tensor<4xf32> {joint.role = #joint.role<tangent of 1>}
// CHECK-SAME: %tangents_2: tensor<f32> {joint.role = #joint.role<grad_seed of 3>}
// CHECK: gradients(%{{.*}} of 0)
joint.graph @several_results_have_tangents(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f32>) gradients () {
  %neg = aten.neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %argmax = aten.argmax(%mul) : (tensor<4xf32>) -> tensor<i64>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  joint.output %neg, %mul, %argmax, %sum : tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @detach_stops_and_unused_has_none(
// CHECK: joint.output %sum gradients(%{{.*}} of 1) : tensor<f32>, tensor<4xf32>
joint.graph @detach_stops_and_unused_has_none(%v: tensor<4xf32> {joint.role = #joint.role<param "v">}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %u: tensor<4xf32> {joint.role = #joint.role<param "u">}) -> (tensor<f32>) gradients () {
  %detach = aten.detach(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%detach, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @inputs_may_ask_for_a_gradient(
// CHECK: joint.output %sum gradients(%{{.*}} of 1) : tensor<f32>, tensor<4xf32>
joint.graph @inputs_may_ask_for_a_gradient(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>, joint.requires_grad}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @tied_arguments_have_the_whole_sum(
// CHECK: %[[SUM:add.*]] = aten.add.Tensor
// CHECK: joint.output %sum gradients(%[[SUM]] of 0, %[[SUM]] of 1)
joint.graph @tied_arguments_have_the_whole_sum(%w: tensor<4xf32> {joint.role = #joint.role<param "in.weight">}, %v: tensor<4xf32> {joint.role = #joint.role<param "out.weight">, joint.tied = "in.weight"}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%exp, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// The forward read %b before the write, so the backward reads a copy of then.
// CHECK-LABEL: joint.graph @written_arguments_are_kept(
// CHECK: %clone = aten.clone(%b) {joint.policy = #joint.policy<must_save>}
// CHECK-NEXT: %mul = aten.mul.Tensor(%w, %b)
// CHECK: joint.write %b
// CHECK: aten.mul.Tensor(%{{.*}}, %clone)
joint.graph @written_arguments_are_kept(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  %b_1 = joint.write %b, %mul : tensor<4xf32>, tensor<4xf32>
  joint.output %sum : tensor<f32>
}

// -----

// A view of the argument shows the new value then, too.
// CHECK-LABEL: joint.graph @views_of_written_arguments_are_kept(
// CHECK: %[[ROW:.*]] = aten.select.int(%b, 0, 1)
// CHECK-NEXT: %clone = aten.clone(%[[ROW]]) {joint.policy = #joint.policy<must_save>}
// CHECK-NEXT: aten.atan2(%[[ROW]], %w)
// CHECK: joint.write %b
// CHECK: aten.mul.Tensor(%clone, %clone)
joint.graph @views_of_written_arguments_are_kept(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<2x4xf32> {joint.role = #joint.role<buffer "b">}) -> (tensor<f32>) gradients () {
  %row = aten.select.int(%b, 0, 1) : (tensor<2x4xf32>) -> tensor<4xf32>
  %atan2 = aten.atan2(%row, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %written = aten.select_scatter(%b, %atan2, 0, 1) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %sum = aten.sum(%written) : (tensor<2x4xf32>) -> tensor<f32>
  %b_1 = joint.write %b, %written : tensor<2x4xf32>, tensor<2x4xf32>
  joint.output %sum : tensor<f32>
}

// -----

// Policies and region numbers stay on the forward ops; regions are flattened.
// CHECK-LABEL: joint.graph @tags_survive(
// CHECK: aten.exp(%w) {joint.policy = #joint.policy<prefer_recompute, region = 0>}
// CHECK: aten.sum(%exp) {joint.policy = #joint.policy<must_save>}
// CHECK: aten.expand
// CHECK-NOT: joint.policy
joint.graph @tags_survive(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %y = joint.checkpoint {
    %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %exp : tensor<4xf32>
  } : tensor<4xf32>
  %sum = aten.sum(%y) {joint.policy = #joint.policy<must_save>} : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// Symbolic sizes: read from the forward value, as a size.
// CHECK-LABEL: joint.graph @sizes_are_values(
// CHECK: %sym_size = aten.sym_size.int(%mul, 0)
// CHECK: aten.expand(%{{.*}}, [%sym_size, 4])
joint.graph @sizes_are_values(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]}) -> (tensor<f32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 3>}} {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %sum = aten.sum(%mul) : (tensor<?x4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// Checks stay where they are, and what nobody needs of a VJP is not left.
// CHECK-LABEL: joint.graph @asserts_stay(
// CHECK: joint.assert
// CHECK: aten.sum
// CHECK-NEXT: aten.expand
// CHECK-NEXT: joint.output
joint.graph @asserts_stay(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %ok: tensor<i1> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  joint.assert %ok, "must hold" : tensor<i1>
  %sum = aten.sum(%w) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// A gradient of 16-bit floats that is more than one op is rounded once.
// CHECK-LABEL: joint.graph @log_sigmoid(
// CHECK: %[[X:.*]] = aten._to_copy(%x, dtype = f32)
// CHECK: %[[N:.*]] = aten.neg(%[[X]])
// CHECK: %[[S:.*]] = aten.sigmoid(%[[N]])
// CHECK: %[[G:.*]] = aten.mul.Tensor(%{{.*}}, %[[S]])
// CHECK: %[[H:.*]] = aten._to_copy(%[[G]], dtype = bf16)
// CHECK: joint.output %l gradients(%[[H]] of 0)
joint.graph @log_sigmoid(%x: tensor<4xbf16> {joint.role = #joint.role<param "x">}) -> (tensor<bf16>) gradients () {
  %y = aten.log_sigmoid(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  %l = aten.sum(%y) : (tensor<4xbf16>) -> tensor<bf16>
  joint.output %l : tensor<bf16>
}

// -----

// The same size is asked for once, whoever needs it.
// CHECK-LABEL: joint.graph @sizes_are_asked_for_once(
// CHECK: %[[N:.*]] = aten.sym_size.int(%[[X:.*]], 0)
// CHECK: aten.expand(%{{.*}}, [%[[N]], 4])
// CHECK: aten.expand(%{{.*}}, [%[[N]], 4])
// CHECK-NOT: aten.sym_size.int(%[[X]], 0)
// CHECK: joint.output
joint.graph @sizes_are_asked_for_once(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]}) -> (tensor<f32>, tensor<f32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 3>}} {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = aten.sum(%mul) : (tensor<?x4xf32>) -> tensor<f32>
  %b = aten.sum.dim_IntList(%mul, [0, 1]) : (tensor<?x4xf32>) -> tensor<f32>
  %sum = aten.add.Tensor(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %sum, %a : tensor<f32>, tensor<f32>
}

// -----

// Steps have gradients of zeros, as in PyTorch: a node that only zeros reach
// builds nothing, zeros change no sum, and an argument that gets nothing else
// gets them.
// CHECK-LABEL: joint.graph @zeros_are_a_gradient(
// CHECK: %sum = aten.sum(%sub)
// CHECK-NOT: aten.add
// CHECK: %[[W:.*]] = aten.mul.Tensor(%expand, %v)
// CHECK-NOT: aten.exp
// CHECK: %[[U:.*]] = aten.full([2, 4], 0.000000e+00, dtype = f32)
// CHECK: joint.output %sum gradients(%[[U]] of 0, %[[W]] of 1)
joint.graph @zeros_are_a_gradient(%u: tensor<2x4xf32> {joint.role = #joint.role<param "u">}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %v: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%u) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %floor = aten.floor(%exp) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %select = aten.select.int(%floor, 0, 1) : (tensor<2x4xf32>) -> tensor<4xf32>
  %sign = aten.sign(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%w, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add = aten.add.Tensor(%mul, %select) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sub = aten.sub.Tensor(%add, %sign) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%sub) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// What is written over has a gradient, of zeros; and so has what random numbers
// are drawn by.
// CHECK-LABEL: joint.graph @what_is_forgotten_has_a_gradient_of_zeros(
// CHECK: %[[ZEROS:.*]] = aten.full([4], 0.000000e+00, dtype = f32)
// CHECK: gradients(%[[ZEROS]] of 0)
joint.graph @what_is_forgotten_has_a_gradient_of_zeros(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %fill = aten.fill.Scalar(%exp, 3.0) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%fill) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @so_has_what_was_written_over_in_place(
// CHECK: %full_like = aten.full_like(%w, 0) : (tensor<4xf32>)
// CHECK: gradients(%{{.*}} of 0)
joint.graph @so_has_what_was_written_over_in_place(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %full_like = aten.full_like(%w, 0) {joint.forgets} : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%full_like) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @so_has_what_is_copied_over(
// CHECK: gradients(%{{.*}} of 0)
joint.graph @so_has_what_is_copied_over(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %copy = aten.copy(%exp, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%copy) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @so_has_what_random_numbers_are_drawn_by(
// CHECK: gradients(%{{.*}} of 0)
joint.graph @so_has_what_random_numbers_are_drawn_by(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %bernoulli = aten.bernoulli(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%bernoulli) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
