// RUN: cutback-opt %s --cutback-functionalize --split-input-file | FileCheck %s

// CHECK-LABEL: joint.graph @a_batch_norm_in_training_writes_its_statistics(
// CHECK: %[[R:y]], %{{.*}}, %{{.*}}, %[[MEAN:.*]], %[[VAR:.*]] = aten._native_batch_norm_legit_functional(%x, none, none, %mean, %var, true, 1.000000e-01, 1.000000e-05)
// CHECK-NEXT: joint.write %mean, %[[MEAN]]
// CHECK-NEXT: joint.write %var, %[[VAR]]
// CHECK-NEXT: joint.output %[[R]]
joint.graph @a_batch_norm_in_training_writes_its_statistics(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %mean: tensor<3xf32> {joint.role = #joint.role<buffer "bn.running_mean">}, %var: tensor<3xf32> {joint.role = #joint.role<buffer "bn.running_var">}) -> (tensor<4x3xf32>) gradients () {
  %y = aten.batch_norm(%x, none, none, %mean, %var, true, 0.1, 1.0e-5, false) : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: joint.graph @in_evaluation_it_writes_nothing(
// CHECK-NEXT: %[[R:y]] = aten.batch_norm(
// CHECK-NEXT: joint.output %[[R]]
joint.graph @in_evaluation_it_writes_nothing(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %mean: tensor<3xf32> {joint.role = #joint.role<buffer>}, %var: tensor<3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  %y = aten.batch_norm(%x, none, none, %mean, %var, false, 0.1, 1.0e-5, false) : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<4x3xf32>
}

// -----

// The result of a comparison is cast to the type of what it is written to.
// CHECK-LABEL: joint.graph @the_type_of_self_stays(
// CHECK-NEXT: %[[EQ:.*]] = aten.eq.Scalar(%x, 1)
// CHECK-NEXT: %[[CAST:eq_]] = aten._to_copy(%[[EQ]], dtype = f32)
// CHECK-NEXT: joint.write %x, %[[CAST]]
// CHECK-NEXT: joint.output %[[CAST]]
joint.graph @the_type_of_self_stays(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %eq_ = aten.eq_.Scalar(%x, 1) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %eq_ : tensor<4xf32>
}

// -----

// Strides decide about reshape: with joint.aliases it is a view.
// CHECK-LABEL: joint.graph @a_reshape_is_a_view_where_it_says_so(
// CHECK: %[[Y:y]] = aten.relu(%x)
// CHECK: %[[COPY:copied]] = aten.reshape(%[[Y]], [6])
// CHECK: %[[VIEW:viewed]] = aten.reshape(%[[Y]], [6])
// CHECK: %[[NEW:add_]] = aten.add.Tensor(%[[VIEW]], 1)
// CHECK: %[[BASE:.*]] = aten.view(%[[NEW]], [2, 3])
// CHECK: joint.output %[[BASE]], %[[COPY]]
joint.graph @a_reshape_is_a_view_where_it_says_so(%x: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<2x3xf32>, tensor<6xf32>) gradients () {
  %y = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %copied = aten.reshape(%y, [6]) : (tensor<2x3xf32>) -> tensor<6xf32>
  %viewed = aten.reshape(%y, [6]) {joint.aliases} : (tensor<2x3xf32>) -> tensor<6xf32>
  %add_ = aten.add_.Tensor(%viewed, 1) : (tensor<6xf32>) -> tensor<6xf32>
  joint.output %y, %copied : tensor<2x3xf32>, tensor<6xf32>
}

// -----

// What detach_ and squeeze_ change is the tensor, under all its names.
// CHECK-LABEL: joint.graph @metadata_in_place(
// CHECK: %[[Y:y]] = aten.relu(%x)
// CHECK: %[[S:squeeze_]] = aten.squeeze.dim(%[[Y]], 0)
// CHECK: %[[D:detach_]] = aten.detach(%[[S]])
// CHECK: joint.output %[[D]], %[[D]]
joint.graph @metadata_in_place(%x: tensor<1x3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>, tensor<3xf32>) gradients () {
  %y = aten.relu(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %squeeze_ = aten.squeeze_.dim(%y, 0) : (tensor<1x3xf32>) -> tensor<3xf32>
  %detach_ = aten.detach_(%squeeze_) : (tensor<3xf32>) -> tensor<3xf32>
  %requires_grad_ = aten.requires_grad_(%detach_) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %squeeze_, %requires_grad_ : tensor<3xf32>, tensor<3xf32>
}

// -----

// Tied arguments are one tensor.
// CHECK-LABEL: joint.graph @a_write_is_seen_by_the_tied_name(
// CHECK: %[[NEW:mul_]] = aten.mul.Tensor(%a, 2)
// CHECK: %[[SUM:.*]] = aten.add.Tensor(%[[NEW]], %[[NEW]])
// CHECK: joint.write %a, %[[NEW]]
// CHECK-NEXT: joint.output %[[SUM]]
joint.graph @a_write_is_seen_by_the_tied_name(%a: tensor<3xf32> {joint.role = #joint.role<buffer "a">}, %b: tensor<3xf32> {joint.role = #joint.role<buffer "b">, joint.tied = "a"}) -> (tensor<3xf32>) gradients () {
  %mul_ = aten.mul_.Tensor(%b, 2) : (tensor<3xf32>) -> tensor<3xf32>
  %sum = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %sum : tensor<3xf32>
}

// -----

// The importer's form of argument.copy_(value); a view of it made before.
// CHECK-LABEL: joint.graph @a_write_of_an_argument_is_seen_by_its_views(
// CHECK: %[[Y:y]] = aten.exp(%x)
// CHECK: %[[ROW:.*]] = aten.select.int(%[[Y]], 0, 0)
// CHECK: joint.write %b, %[[Y]]
// CHECK-NEXT: joint.output %[[ROW]]
joint.graph @a_write_of_an_argument_is_seen_by_its_views(%x: tensor<2x3xf32> {joint.role = #joint.role<input>}, %b: tensor<2x3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<3xf32>) gradients () {
  %row = aten.select.int(%b, 0, 0) : (tensor<2x3xf32>) -> tensor<3xf32>
  %y = aten.exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b_1 = joint.write %b, %y : tensor<2x3xf32>, tensor<2x3xf32>
  joint.output %row : tensor<3xf32>
}

// -----

// A graph with gradients has value semantics already.
// CHECK-LABEL: joint.graph @a_joint_graph_stays(
// CHECK-NEXT: %[[ROW:row]] = aten.select.int(%b, 0, 0)
// CHECK-NEXT: joint.write
// CHECK-NEXT: joint.output %[[ROW]] gradients(%x of 0)
joint.graph @a_joint_graph_stays(%x: tensor<2x3xf32> {joint.role = #joint.role<param>}, %b: tensor<2x3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<3xf32>) gradients (tensor<2x3xf32>) {
  %row = aten.select.int(%b, 0, 0) : (tensor<2x3xf32>) -> tensor<3xf32>
  %b_1 = joint.write %b, %x : tensor<2x3xf32>, tensor<2x3xf32>
  joint.output %row gradients(%x of 0) : tensor<3xf32>, tensor<2x3xf32>
}

// -----

// Sizes that are not known: a piece starts where those before it end.
// CHECK-LABEL: joint.graph @a_piece_of_an_unknown_size(
// CHECK: %[[Y:y]] = aten.relu(%x)
// CHECK: %[[P:.*]], %[[Q:.*]] = aten.chunk(%[[Y]], 2)
// CHECK: %[[NEW:zero_]] = aten.full_like(%[[Q]], 0)
// CHECK: %[[START:.*]] = aten.sym_size.int(%[[P]], 0)
// CHECK: %[[LENGTH:.*]] = aten.sym_size.int(%[[Q]], 0)
// CHECK: %[[END:.*]] = aten.sym.add(%[[START]], %[[LENGTH]])
// CHECK: %[[BASE:.*]] = aten.slice_scatter(%[[Y]], %[[NEW]], 0, %[[START]], %[[END]])
// CHECK: joint.output %[[BASE]]
joint.graph @a_piece_of_an_unknown_size(%x: tensor<?x3xf32> {joint.role = #joint.role<input>}) -> (tensor<?x3xf32>) gradients () {
  %y = aten.relu(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %p, %q = aten.chunk(%y, 2) : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %zero_ = aten.zero_(%q) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  joint.output %y : tensor<?x3xf32>
}

// -----

// An instance norm is a batch norm of one sample.
// CHECK-LABEL: joint.graph @an_instance_norm_writes_the_mean_over_samples(
// CHECK: %[[FLAT:.*]] = aten.view(%x, [1, 6, 5])
// CHECK: %[[M:.*]] = aten.repeat(%mean, [2])
// CHECK: %[[V:.*]] = aten.repeat(%var, [2])
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}}, %[[MEANS:.*]], %[[VARS:.*]] = aten._native_batch_norm_legit_functional(%[[FLAT]], none, none, %[[M]], %[[V]], true,
// CHECK: %[[Y:y]] = aten.view(%[[N]], [2, 3, 5])
// CHECK: %[[ROWS:.*]] = aten.view(%[[MEANS]], [2, 3])
// CHECK: %[[MEAN:.*]] = aten.mean.dim(%[[ROWS]], [0])
// CHECK: joint.write %mean, %[[MEAN]]
// CHECK: joint.output %[[Y]]
joint.graph @an_instance_norm_writes_the_mean_over_samples(%x: tensor<2x3x5xf32> {joint.role = #joint.role<input>}, %mean: tensor<3xf32> {joint.role = #joint.role<buffer>}, %var: tensor<3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<2x3x5xf32>) gradients () {
  %y = aten.instance_norm(%x, none, none, %mean, %var, true, 0.1, 1.0e-5, false) : (tensor<2x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5xf32>
  joint.output %y : tensor<2x3x5xf32>
}

// -----

// A detached tensor may be written: whoever reads it reads no history.
// CHECK-LABEL: joint.graph @a_detached_tensor_is_written(
// CHECK: %[[Y:y]] = aten.exp(%w)
// CHECK: %[[D:d]] = aten.detach(%[[Y]])
// CHECK: %[[M:mul_]] = aten.mul.Tensor(%[[D]], 2)
// CHECK: joint.output %[[M]]
joint.graph @a_detached_tensor_is_written(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %d = aten.detach(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %mul_ = aten.mul_.Tensor(%d, 2) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %d : tensor<3xf32>
}

// -----

// CHECK-LABEL: joint.graph @clips_a_parameter_without_gradient
joint.graph @clips_a_parameter_without_gradient(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  // CHECK: %[[C:.*]] = aten.clamp(%w, 0, 1)
  // CHECK: %[[W:.*]] = aten.detach(%w)
  // CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%w, %[[W]])
  // CHECK: %[[VALUE:.*]] = aten.detach(%[[C]])
  // CHECK: %[[NEW:.*]] = aten.add.Tensor(%[[VALUE]], %[[ZERO]])
  // CHECK: %[[Y:.*]] = aten.exp(%[[NEW]])
  // CHECK: joint.write %w, %[[NEW]]
  // CHECK: joint.output %[[Y]]
  %clamp_ = aten.clamp_(%w, 0, 1) {joint.no_grad} : (tensor<3xf32>) -> tensor<3xf32>
  %exp = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %exp : tensor<3xf32>
}

// -----

// As Embedding(max_norm) does.
// CHECK-LABEL: joint.graph @clips_a_parameter_through_a_detached_alias
joint.graph @clips_a_parameter_through_a_detached_alias(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  // CHECK: %[[D:.*]] = aten.detach(%w)
  // CHECK: %[[C:.*]] = aten.clamp(%[[D]], 0, 1)
  // CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%w, %{{.*}})
  // CHECK: %[[NEW:.*]] = aten.add.Tensor(%{{.*}}, %[[ZERO]])
  // CHECK: %[[Y:.*]] = aten.exp(%[[NEW]])
  // CHECK: joint.write %w, %[[NEW]]
  // CHECK: joint.output %[[Y]]
  %detach = aten.detach(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %clamp_ = aten.clamp_(%detach, 0, 1) : (tensor<3xf32>) -> tensor<3xf32>
  %exp = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %exp : tensor<3xf32>
}

// -----

// What is made where gradients are off has no history, and may be written there.
// CHECK-LABEL: joint.graph @writes_what_was_made_without_gradient
joint.graph @writes_what_was_made_without_gradient(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  // CHECK-NEXT: %[[E:.*]] = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[C:.*]] = aten.clamp(%[[E]], 0, 1) : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[D:.*]] = aten.detach(%[[C]])
  // CHECK-NEXT: joint.output %[[D]]
  %exp = aten.exp(%w) {joint.no_grad} : (tensor<3xf32>) -> tensor<3xf32>
  %clamp_ = aten.clamp_(%exp, 0, 1) {joint.no_grad} : (tensor<3xf32>) -> tensor<3xf32>
  %detach = aten.detach(%exp) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %detach : tensor<3xf32>
}

// -----

// Dropout that drops nothing, and mH of a real matrix, give what they are given.
// CHECK-LABEL: joint.graph @views_that_no_schema_tells_of(
// CHECK: %[[Y:y]] = aten.exp(%x)
// CHECK: %[[R:.*]] = aten.relu(%[[Y]])
// CHECK: %[[T:.*]] = aten.transpose.int(%[[R]], -2, -1)
// CHECK: %[[M:.*]] = aten.mul.Tensor(%[[T]], 2)
// CHECK: %[[NEW:.*]] = aten.transpose.int(%[[M]], -2, -1)
// CHECK: joint.output %[[NEW]]
joint.graph @views_that_no_schema_tells_of(%x: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<2x3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %drop = aten.dropout(%y, 0.5, false) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %relu_ = aten.relu_(%drop) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = aten.mH(%y) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %mul_ = aten.mul_.Tensor(%h, 2) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  joint.output %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: joint.graph @pieces_of_grids_and_lists(
// CHECK: %[[Y:y]] = aten.exp(%x)
// CHECK: aten.view(%[[Y]], [3, 1])
// CHECK: %[[NEG:.*]] = aten.neg(
// CHECK: %[[BASE:.*]] = aten.view(%[[NEG]], [3])
// CHECK: %[[NEW:.*]] = aten.mul.Tensor(%[[BASE]], 2)
// CHECK: joint.output %[[NEW]]
joint.graph @pieces_of_grids_and_lists(%x: tensor<3xf32> {joint.role = #joint.role<input>}, %one: tensor<1xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %rows, %columns = aten.meshgrid.indexing([%y, %one], indexing = "ij") : (tensor<3xf32>, tensor<1xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>)
  %neg_ = aten.neg_(%rows) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %same, %other = aten.broadcast_tensors([%y, %one]) : (tensor<3xf32>, tensor<1xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %mul_ = aten.mul_.Tensor(%same, 2) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %y : tensor<3xf32>
}

// -----

// What is written in place took no gradient before: PyTorch would have refused.
// CHECK-LABEL: joint.graph @an_input_that_is_written_took_no_gradient(
// CHECK-SAME: %w: tensor<3xf32> {joint.requires_grad,
// CHECK-SAME: %x: tensor<3xf32> {joint.role
// CHECK: %[[NEW:.*]] = aten.add.Tensor(%x, %w)
// CHECK: joint.write %x, %[[NEW]]
// CHECK: joint.output %[[NEW]]
joint.graph @an_input_that_is_written_took_no_gradient(%w: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %add_ = aten.add_.Tensor(%x, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %x : tensor<3xf32>
}

// -----

// What is written keeps its gradient where the alias is read.
// CHECK-LABEL: joint.graph @an_alias_has_the_history_of_what_is_written(
// CHECK: %[[D:.*]] = aten.detach(%w)
// CHECK: %[[NEW:.*]] = aten.add.Tensor(%[[D]], %x)
// CHECK: joint.output %[[NEW]]
joint.graph @an_alias_has_the_history_of_what_is_written(%w: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %d = aten.detach(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %add_ = aten.add_.Tensor(%d, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %d : tensor<3xf32>
}

// -----

// The copy has the old value of the argument, which is written later.
// CHECK-LABEL: joint.graph @a_copy_of_an_argument_is_one(
// CHECK: %[[OLD:.*]] = aten.clone(%b)
// CHECK: joint.write %b,
// CHECK: joint.output %[[OLD]]
joint.graph @a_copy_of_an_argument_is_one(%x: tensor<3xf32> {joint.role = #joint.role<input>}, %b: tensor<3xf32> {joint.role = #joint.role<buffer "b">}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %copy_ = aten.copy_(%y, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %add_ = aten.add_.Tensor(%b, 1) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %y : tensor<3xf32>
}

// -----

// A tensor keeps its history where a write is not recorded. Infinity in the old
// value must not come out as a number that is none.
// CHECK-LABEL: joint.graph @keeps_its_history_where_gradients_are_off(
// CHECK: %[[Y:.*]] = aten.exp(%w)
// CHECK: %[[M:.*]] = aten.mul.Tensor(%[[Y]], 2)
// CHECK: %[[OLD:.*]] = aten.nan_to_num(%[[Y]])
// CHECK: %[[D:.*]] = aten.detach(%[[OLD]])
// CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%[[OLD]], %[[D]])
// CHECK: %[[VALUE:.*]] = aten.detach(%[[M]])
// CHECK: %[[NEW:.*]] = aten.add.Tensor(%[[VALUE]], %[[ZERO]])
// CHECK: joint.output %[[NEW]]
joint.graph @keeps_its_history_where_gradients_are_off(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %mul_ = aten.mul_.Tensor(%y, 2) {joint.no_grad} : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %y : tensor<3xf32>
}

// -----

// An alias with a history of its own keeps that when the tensor is written.
// CHECK-LABEL: joint.graph @an_alias_keeps_its_history(
// CHECK: %[[Y:.*]] = aten.exp(%w)
// CHECK: %[[ALIAS:.*]] = aten.detach(%[[Y]])
// CHECK: %[[M:.*]] = aten.mul.Tensor(%[[ALIAS]], %w)
// CHECK: %[[TENSOR:.*]] = aten.add.Tensor(
// CHECK: %[[SUM:.*]] = aten.add.Tensor(%[[TENSOR]], 1)
// CHECK: %[[OLD:.*]] = aten.nan_to_num(%[[M]])
// CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%[[OLD]],
// CHECK: %[[NEW:.*]] = aten.add.Tensor(%{{.*}}, %[[ZERO]])
// CHECK: joint.output %[[SUM]], %[[NEW]]
joint.graph @an_alias_keeps_its_history(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>, tensor<3xf32>) gradients () {
  %y = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %d = aten.detach(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %mul_ = aten.mul_.Tensor(%d, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %add_ = aten.add_.Tensor(%y, 1) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %y, %d : tensor<3xf32>, tensor<3xf32>
}

// -----

// Differentiation keeps what the gradient of %x reads of %w.
// CHECK-LABEL: joint.graph @reads_what_is_there_before_the_write(
// CHECK: %[[D:.*]] = aten.detach(%w)
// CHECK-NEXT: %[[NEW:.*]] = aten.mul.Tensor(%[[D]], %x)
// CHECK: joint.output %[[NEW]]
joint.graph @reads_what_is_there_before_the_write(%w: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.requires_grad, joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %d = aten.detach(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %mul_ = aten.mul_.Tensor(%d, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %d : tensor<3xf32>
}

// -----

// Windows with gaps: the k-th elements of all of them are a slice.
// CHECK-LABEL: joint.graph @windows_that_do_not_overlap(
// CHECK: %[[W:.*]] = aten.unfold(%y, 0, 2, 3)
// CHECK: %[[M:.*]] = aten.mul.Tensor(%[[W]], 2)
// CHECK: %[[A:.*]] = aten.select.int(%[[M]], -1, 0)
// CHECK: %[[FIRST:.*]] = aten.slice_scatter(%y, %[[A]], 0, 0, 4, 3)
// CHECK: %[[B:.*]] = aten.select.int(%[[M]], -1, 1)
// CHECK: %[[BOTH:.*]] = aten.slice_scatter(%[[FIRST]], %[[B]], 0, 1, 5, 3)
// CHECK: joint.output %[[BOTH]]
joint.graph @windows_that_do_not_overlap(%x: tensor<7xf32> {joint.role = #joint.role<input>}) -> (tensor<7xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<7xf32>) -> tensor<7xf32>
  %e = aten.unfold(%y, 0, 2, 3) : (tensor<7xf32>) -> tensor<2x2xf32>
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  joint.output %y : tensor<7xf32>
}

// -----

// Every (9 + 3 + 1)th element of 27.
// CHECK-LABEL: joint.graph @the_diagonal_of_a_cube(
// CHECK: %[[FLAT:.*]] = aten.reshape(%y, [-1])
// CHECK: aten.slice_scatter(%[[FLAT]], %{{.*}}, 0, 0, 27, 13)
joint.graph @the_diagonal_of_a_cube(%x: tensor<3x3x3xf32> {joint.role = #joint.role<input>}) -> (tensor<3x3x3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %fill_diagonal_ = aten.fill_diagonal_(%y, 1) : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  joint.output %y : tensor<3x3x3xf32>
}

// -----

// A conjugate is a view, a resolved one is none.
// CHECK-LABEL: joint.graph @conjugates_are_views(
// CHECK: %[[C:.*]] = aten.conj(%y)
// CHECK: %[[COPY:.*]] = aten.resolve_conj(%[[C]])
// CHECK: aten.mul.Tensor(%[[COPY]], 3)
// CHECK: %[[M:.*]] = aten.mul.Tensor(%[[C]], 2)
// CHECK: %[[NEW:.*]] = aten._conj_physical(%[[M]])
// CHECK: joint.output %[[NEW]]
joint.graph @conjugates_are_views(%x: tensor<3xcomplex<f32>> {joint.role = #joint.role<input>}) -> (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) gradients () {
  %y = aten.exp(%x) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %conj = aten.conj(%y) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %copy = aten.resolve_conj(%conj) {joint.aliases} : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %three = aten.mul_.Tensor(%copy, 3) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %two = aten.mul_.Tensor(%conj, 2) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  joint.output %y, %copy : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
}

// -----

// CHECK-LABEL: joint.graph @complex_numbers_keep_their_history(
// CHECK-NOT: nan_to_num
// CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%y, %{{.*}})
// CHECK: %[[NEW:.*]] = aten.add.Tensor(%{{.*}}, %[[ZERO]])
// CHECK: joint.output %[[NEW]]
joint.graph @complex_numbers_keep_their_history(%w: tensor<3xcomplex<f32>> {joint.role = #joint.role<param "w">}) -> (tensor<3xcomplex<f32>>) gradients () {
  %y = aten.exp(%w) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %mul_ = aten.mul_.Tensor(%y, 2) {joint.no_grad} : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  joint.output %y : tensor<3xcomplex<f32>>
}

// -----

// CHECK-LABEL: joint.graph @no_rows_have_no_statistics(
// CHECK-NOT: joint.write
// CHECK: joint.output
joint.graph @no_rows_have_no_statistics(%x: tensor<0x3xf32> {joint.role = #joint.role<input>}, %mean: tensor<3xf32> {joint.role = #joint.role<buffer>}, %var: tensor<3xf32> {joint.role = #joint.role<buffer>}) -> (tensor<0x3xf32>) gradients () {
  %y = aten.batch_norm(%x, none, none, %mean, %var, true, 0.1, 1.0e-5, false) : (tensor<0x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  joint.output %y : tensor<0x3xf32>
}

// -----

// PyTorch gives a view by `einsum` and the operand itself by a dropout that
// drops nothing: what shows one otherwise in place leaves the former's operand.
// CHECK-LABEL: joint.graph @a_view_of_all_is_a_tensor_of_its_own(
// CHECK: %[[Y:.*]] = aten.exp(%x)
// CHECK: %[[T:.*]] = aten.t(%[[Y]])
// CHECK: %[[VIEW:.*]] = aten.alias(%[[T]])
// CHECK: %[[U:.*]] = aten.t(%[[VIEW]])
// CHECK: joint.output %[[U]], %[[T]]
joint.graph @a_view_of_all_is_a_tensor_of_its_own(%x: tensor<3x3xf32> {joint.role = #joint.role<input>}) -> (tensor<3x3xf32>, tensor<3x3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %same = aten.dropout(%y, 0.0, true) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %t_ = aten.t_(%same) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %view = aten.einsum("ij->ij", [%y]) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %t__1 = aten.t_(%view) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  joint.output %view, %y : tensor<3x3xf32>, tensor<3x3xf32>
}

// -----

// What is written over keeps its history where the new value has none.
// CHECK-LABEL: joint.graph @constants_over_a_history(
// CHECK: %[[Y:.*]] = aten.exp(%w)
// CHECK: aten.copy(%[[Y]], %x)
// CHECK: %[[FILL:.*]] = aten.copy(
// CHECK: aten.mul.Tensor(%[[FILL]], %w)
// CHECK-NOT: aten.copy(
joint.graph @constants_over_a_history(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}, %x: tensor<3xf32> {joint.role = #joint.role<input>}, %c: tensor<f32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %copy_ = aten.copy_(%y, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %fill_ = aten.fill_.Tensor(%y, %c) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %z = aten.mul.Tensor(%y, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %fresh = aten.clone(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %again = aten.copy_(%fresh, %z) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %last = aten.copy_(%z, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  joint.output %fresh : tensor<3xf32>
}

// What a branch writes is a value of its own.
// CHECK-LABEL: @a_branch_that_writes
// CHECK: ^bb0(%[[A:.*]]: tensor<3xf32>):
// CHECK-NEXT: %[[E:.*]] = aten.exp(%[[A]])
// CHECK-NEXT: %[[M:.*]] = aten.mul.Tensor(%[[E]], 2)
// CHECK-NEXT: joint.return %[[M]]
joint.graph @a_branch_that_writes(%p: tensor<i1> {joint.role = #joint.role<input>}, %x: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %r = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %e = aten.exp(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %m = aten.mul_.Tensor(%e, 2) : (tensor<3xf32>) -> tensor<3xf32>
    joint.return %e : tensor<3xf32>
  }, {
  ^bb0(%a: tensor<3xf32>):
    joint.return %a : tensor<3xf32>
  }
  joint.output %r : tensor<3xf32>
}

// An observer of quantization writes what it observes, scale and zero point.
// CHECK-LABEL: @an_observer
// CHECK: %q, %{{.*}}, %[[LEAST:.*]], %[[MOST:.*]], %[[SCALE:.*]], %[[ZERO:.*]] = aten._fused_moving_avg_obs_fq_helper_functional(%x, %on, %on, %least, %most, %scale, %zero, 1.000000e-02, 0, 255, -1)
// CHECK: joint.write %least, %[[LEAST]]
// CHECK: joint.write %most, %[[MOST]]
// CHECK: joint.write %scale, %[[SCALE]]
// CHECK: joint.write %zero, %[[ZERO]]
joint.graph @an_observer(%x: tensor<4x3xf32> {joint.role = #joint.role<param "x">}, %on: tensor<1xi64> {joint.role = #joint.role<buffer>}, %least: tensor<f32> {joint.role = #joint.role<buffer>}, %most: tensor<f32> {joint.role = #joint.role<buffer>}, %scale: tensor<1xf32> {joint.role = #joint.role<buffer>}, %zero: tensor<1xi32> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
  %q = aten.fused_moving_avg_obs_fake_quant(%x, %on, %on, %least, %most, %scale, %zero, 0.01, 0, 255, -1) : (tensor<4x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<f32>, tensor<f32>, tensor<1xf32>, tensor<1xi32>) -> tensor<4x3xf32>
  joint.output %q : tensor<4x3xf32>
}
