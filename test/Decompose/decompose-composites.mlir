// RUN: cutback-opt %s --cutback-decompose-composites --split-input-file | FileCheck %s
// RUN: cutback-opt %s --cutback-decompose-composites --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// The last op takes the name; all take the policy and the place.
// CHECK-LABEL: joint.graph @heirs(
// CHECK-NEXT: %[[V:.*]] = aten.view(%x, [8, 3]) {joint.policy = #joint.policy<prefer_recompute, region = 1>}
// CHECK-NEXT: %[[T:.*]] = aten.t(%w) {joint.policy = #joint.policy<prefer_recompute, region = 1>}
// CHECK-NEXT: %[[A:.*]] = aten.addmm(%b, %[[V]], %[[T]]) {joint.policy = #joint.policy<prefer_recompute, region = 1>}
// CHECK-NEXT: %[[Y:y]] = aten.view(%[[A]], [2, 4, 5]) {joint.policy = #joint.policy<prefer_recompute, region = 1>}
// CHECK-NEXT: joint.output %[[Y]]
// LOC-LABEL: joint.graph @heirs(
// LOC: aten.view(%x, [8, 3]){{.*}} loc("model.py":7:1)
// LOC: aten.addmm({{.*}} loc("model.py":7:1)
joint.graph @heirs(%x: tensor<2x4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<5x3xf32> {joint.role = #joint.role<param>}, %b: tensor<5xf32> {joint.role = #joint.role<param>}) -> (tensor<2x4x5xf32>) gradients () {
  %y = aten.linear(%x, %w, %b) {joint.policy = #joint.policy<prefer_recompute, region = 1>} : (tensor<2x4x3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> tensor<2x4x5xf32> loc("model.py":7:1)
  joint.output %y : tensor<2x4x5xf32>
}

// -----

// CHECK-LABEL: joint.graph @sizes_that_are_not_known(
// CHECK: %[[N:.*]] = aten.sym_size.int(%x, 0)
// CHECK: %[[ROWS:.*]] = aten.sym.mul(%[[N]], 4)
// CHECK: aten.view(%x, [%[[ROWS]], 3])
// CHECK: %[[Y:y]] = aten.view(%{{.*}}, [%{{.*}}, 4, 5]) : {{.*}} -> tensor<?x4x5xf32>
// CHECK: joint.output %[[Y]]
joint.graph @sizes_that_are_not_known(%x: tensor<?x4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<5x3xf32> {joint.role = #joint.role<param>}) -> (tensor<?x4x5xf32>) gradients () {
  %y = aten.linear(%x, %w) : (tensor<?x4x3xf32>, tensor<5x3xf32>) -> tensor<?x4x5xf32>
  joint.output %y : tensor<?x4x5xf32>
}

// -----

// Dropout that drops nothing is its input; the others save a mask.
// CHECK-LABEL: joint.graph @dropouts(
// CHECK-NEXT: %[[B:b]], %{{.*}} = aten.native_dropout(%x, 5.000000e-01, true)
// CHECK-NEXT: joint.output %x, %[[B]]
joint.graph @dropouts(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>, tensor<4xf32>) gradients () {
  %a = aten.dropout(%x, 0.5, false) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.dropout(%x, 0.5, true) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A mask that takes a gradient, or dropout, is for the math form.
// CHECK-LABEL: joint.graph @a_learned_bias(
// CHECK-NOT: flash
// CHECK: aten._safe_softmax
// CHECK: joint.output
joint.graph @a_learned_bias(%q: tensor<1x2x4x8xf32> {joint.role = #joint.role<input>}, %m: tensor<2x4x4xf32> {joint.role = #joint.role<param "bias">}) -> (tensor<1x2x4x8xf32>) gradients () {
  %y = aten.scaled_dot_product_attention(%q, %q, %q, %m) : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<2x4x4xf32>) -> tensor<1x2x4x8xf32>
  joint.output %y : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: joint.graph @a_fixed_mask(
// CHECK: %[[M:.*]] = aten.where.self(%m
// CHECK: %[[Y:y]], %{{.*}} = aten._scaled_dot_product_flash_attention_for_cpu(%q, %q, %q, attn_mask = %[[M]])
// CHECK: joint.output %[[Y]]
joint.graph @a_fixed_mask(%q: tensor<1x2x4x8xf32> {joint.role = #joint.role<param>}, %m: tensor<4x4xi1> {joint.role = #joint.role<input>}) -> (tensor<1x2x4x8xf32>) gradients () {
  %y = aten.scaled_dot_product_attention(%q, %q, %q, %m) : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4x4xi1>) -> tensor<1x2x4x8xf32>
  joint.output %y : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: joint.graph @half_precision_math(
// CHECK: aten._to_copy(%q, dtype = f32)
// CHECK: %[[D:.*]], %{{.*}} = aten.native_dropout(
// CHECK: %[[Y:y]] = aten._to_copy(%{{.*}}, dtype = bf16)
// CHECK: joint.output %[[Y]]
joint.graph @half_precision_math(%q: tensor<1x2x4x8xbf16> {joint.role = #joint.role<input>}) -> (tensor<1x2x4x8xbf16>) gradients () {
  %y = aten.scaled_dot_product_attention(%q, %q, %q, none, 0.1) : (tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>) -> tensor<1x2x4x8xbf16>
  joint.output %y : tensor<1x2x4x8xbf16>
}

// -----

// Ranks among elements whose number is not known.
// CHECK-LABEL: joint.graph @quantile_of_an_unknown_length(
// CHECK: %[[LINE:.*]] = aten.view(%x
// CHECK: %[[SIZE:.*]] = aten.sym_size.int(%[[LINE]], 0)
// CHECK-NEXT: %[[LAST:.*]] = aten.sym.sub(%[[SIZE]], 1)
// CHECK-NEXT: aten.mul.Scalar(%{{.*}}, %[[LAST]]) : (tensor<1xf32>, index)
// CHECK: aten.sort(%{{.*}}, 0)
joint.graph @quantile_of_an_unknown_length(%x: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %y = aten.quantile.scalar(%x, 0.25) : (tensor<?xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

// Lengths that another device has otherwise follow from no operand.
// CHECK-LABEL: joint.graph @an_op_that_gives_all_results_keeps_their_sizes(
// CHECK: %y, %b, %c, %d = aten._embedding_bag(%w, %x, %o) {joint.dims = {{\[}}["s1", "8"], unit, ["s1"], ["s1"]]}
joint.graph @an_op_that_gives_all_results_keeps_their_sizes(%w: tensor<4x8xf32> {joint.role = #joint.role<input>}, %x: tensor<?xi64> {joint.role = #joint.role<input>, joint.dims = ["s0"]}, %o: tensor<?xi64> {joint.role = #joint.role<input>, joint.dims = ["s1"]}) -> (tensor<?x8xf32>) gradients () attributes {symbols = {s0 = #joint.symbol<min = 2>, s1 = #joint.symbol<min = 2>}} {
  %y, %b, %c, %d = aten.embedding_bag(%w, %x, %o) {joint.dims = [["s1", "8"], unit, ["s1"], ["s1"]]} : (tensor<4x8xf32>, tensor<?xi64>, tensor<?xi64>) -> (tensor<?x8xf32>, tensor<0xi64>, tensor<?xi64>, tensor<?xi64>)
  joint.output %y : tensor<?x8xf32>
}

// -----

// The scale of heads whose size is not known is computed of it.
// CHECK-LABEL: joint.graph @attention_of_an_unknown_width(
// CHECK: %[[SIZE:.*]] = aten.sym_size.int(%q, 1)
// CHECK: %[[ROOT:.*]] = aten.sym.sqrt(%[[SIZE]])
// CHECK: %[[SCALE:.*]] = aten.sym.truediv(1.000000e+00, %[[ROOT]])
// CHECK: %[[HALF:.*]] = aten.sym.sqrt(%[[SCALE]])
// CHECK: aten.mul.Scalar(%q, %[[HALF]])
// CHECK: aten.mul.Scalar(%{{.*}}, %[[HALF]]) : (tensor<?x3xf32>, f64)
joint.graph @attention_of_an_unknown_width(%q: tensor<2x?xf32> {joint.role = #joint.role<input>}, %k: tensor<3x?xf32> {joint.role = #joint.role<input>}) -> (tensor<2x?xf32>) gradients () {
  %y = aten.scaled_dot_product_attention(%q, %k, %k) : (tensor<2x?xf32>, tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<2x?xf32>
  joint.output %y : tensor<2x?xf32>
}

// -----

// Dropouts of features and of what feeds selu draw on ones.
// CHECK-LABEL: joint.graph @other_dropouts(
// CHECK: aten.new_ones(%x, [2, 3, 1, 1])
// CHECK: aten.native_dropout(
// CHECK: aten.mul.Tensor(%x,
// CHECK: aten.ones_like(%x)
// CHECK: aten.bernoulli.p(
// CHECK: joint.output
joint.graph @other_dropouts(%x: tensor<2x3x4x4xf32> {joint.role = #joint.role<input>}) -> (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) gradients () {
  %a = aten.feature_dropout(%x, 0.5, true) : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %b = aten.alpha_dropout(%x, 0.5, true) : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  joint.output %a, %b : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>
}

// -----

// Where strides allow a view there is one; else a copy.
// CHECK-LABEL: joint.graph @reshapes(
// CHECK-NEXT: %[[A:a]] = aten.view(%x, [6])
// CHECK-NEXT: %[[C:.*]] = aten.clone(%x, memory_format = "contiguous_format")
// CHECK-NEXT: %[[B:b]] = aten._unsafe_view(%[[C]], [6])
// CHECK-NEXT: joint.output %[[A]], %[[B]]
joint.graph @reshapes(%x: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<6xf32>, tensor<6xf32>) gradients () {
  %a = aten.reshape(%x, [6]) {joint.aliases} : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = aten.reshape(%x, [6]) : (tensor<2x3xf32>) -> tensor<6xf32>
  joint.output %a, %b : tensor<6xf32>, tensor<6xf32>
}

// -----

// What lies between gates and state is f32 and rounded once; so is a norm of a
// weight.
// CHECK-LABEL: joint.graph @of_halves_round_once(
// CHECK: %[[GATES:.*]] = aten._to_copy(%add, dtype = f32)
// CHECK: aten.split_with_sizes(%[[GATES]]
// CHECK: %[[C:.*]] = aten.add.Tensor({{.*}}) : (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: %[[T:.*]] = aten.tanh(%[[C]])
// CHECK: %[[H:.*]] = aten.mul.Tensor(%{{.*}}, %[[T]])
// CHECK: %[[S:.*]] = aten._to_copy(%[[H]], dtype = bf16)
// CHECK: %[[C16:.*]] = aten._to_copy(%[[C]], dtype = bf16)
// CHECK: %[[V:.*]] = aten._to_copy(%w, dtype = f32)
// CHECK: %[[N:.*]] = aten.linalg_vector_norm(%[[V]]
// CHECK: %[[SCALE:.*]] = aten.div.Tensor(%{{.*}}, %[[N]]) : (tensor<8x1xf32>
// CHECK: %[[P:.*]] = aten.mul.Tensor(%[[V]], %[[SCALE]])
// CHECK: %[[W:.*]] = aten._to_copy(%[[P]], dtype = bf16)
// CHECK: joint.output %[[S]], %[[C16]], %[[W]]
joint.graph @of_halves_round_once(%x: tensor<2x3xbf16> {joint.role = #joint.role<input>}, %h: tensor<2x2xbf16> {joint.role = #joint.role<input>}, %c: tensor<2x2xbf16> {joint.role = #joint.role<input>}, %w: tensor<8x3xbf16> {joint.role = #joint.role<input>}, %u: tensor<8x2xbf16> {joint.role = #joint.role<input>}, %g: tensor<8x1xbf16> {joint.role = #joint.role<input>}) -> (tensor<2x2xbf16>, tensor<2x2xbf16>, tensor<8x3xbf16>) gradients () {
  %s:2 = aten.lstm_cell(%x, [%h, %c], %w, %u) : (tensor<2x3xbf16>, tensor<2x2xbf16>, tensor<2x2xbf16>, tensor<8x3xbf16>, tensor<8x2xbf16>) -> (tensor<2x2xbf16>, tensor<2x2xbf16>)
  %n = aten._weight_norm(%w, %g) : (tensor<8x3xbf16>, tensor<8x1xbf16>) -> tensor<8x3xbf16>
  joint.output %s#0, %s#1, %n : tensor<2x2xbf16>, tensor<2x2xbf16>, tensor<8x3xbf16>
}

// At the margin itself the slope is 0, as that of relu: clamp_min has 1 there.
// CHECK-LABEL: joint.graph @losses_of_rows_have_no_slope_at_the_margin(
// CHECK-NOT: aten.clamp_min(%{{.*}}, 0) : (tensor<4x3xf32>)
// CHECK: aten.relu({{.*}}) : (tensor<4x3xf32>)
// CHECK: aten.relu({{.*}}) : (tensor<4x3x3xf32>)
joint.graph @losses_of_rows_have_no_slope_at_the_margin(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %t: tensor<4xi64> {joint.role = #joint.role<input>}, %l: tensor<4x3xi64> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<f32>) gradients () {
  %y = aten.multi_margin_loss(%x, %t) : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<f32>
  %z = aten.multilabel_margin_loss(%x, %l) : (tensor<4x3xf32>, tensor<4x3xi64>) -> tensor<f32>
  joint.output %y, %z : tensor<f32>, tensor<f32>
}

// -----

// A row of one element stays a dimension beside the column of the other factor.
// CHECK-LABEL: joint.graph @an_outer_product_of_one_row(
// CHECK: %[[A:.*]] = aten.squeeze.dim(%a, 1) : (tensor<1x1xf32>) -> tensor<1xf32>
// CHECK: %[[B:.*]] = aten.sum.dim_IntList(%b, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK: %[[R:.*]] = aten.view(%[[A]], [1, 1])
// CHECK: aten.mul.Tensor(%[[R]], %[[B]]) : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
joint.graph @an_outer_product_of_one_row(%a: tensor<1x1xf32> {joint.role = #joint.role<input>}, %b: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<1x2xf32>) gradients () {
  %y = aten.einsum("ij,kj->ik", [%a, %b]) : (tensor<1x1xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  joint.output %y : tensor<1x2xf32>
}

// -----

// The bound of the norm has the value, the norm the gradient: PyTorch sets the
// bound without a record.
// CHECK-LABEL: joint.graph @a_small_vector_has_the_gradient_of_its_norm(
// CHECK: %[[NORM:.*]] = aten.linalg_vector_norm(%x
// CHECK: %[[BOUND:.*]] = aten.clamp_min(%[[NORM]], 5.000000e-01)
// CHECK: %[[N:.*]] = aten.nan_to_num(%[[NORM]])
// CHECK: %[[V:.*]] = aten.detach(%[[N]])
// CHECK: %[[ZERO:.*]] = aten.sub.Tensor(%[[N]], %[[V]])
// CHECK: %[[B:.*]] = aten.detach(%[[BOUND]])
// CHECK: %[[D:.*]] = aten.add.Tensor(%[[B]], %[[ZERO]])
// CHECK: aten.div.Tensor(%x, %[[D]])
joint.graph @a_small_vector_has_the_gradient_of_its_norm(%x: tensor<2x3xf32> {joint.role = #joint.role<input>}, %z: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<2xf32>) gradients () {
  %y = aten.cosine_similarity(%x, %z, 1, 0.5) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  joint.output %y : tensor<2xf32>
}

// -----

// The gradients that PyTorch makes ahead are nobody's: the loss has a gradient.
// CHECK-LABEL: joint.graph @a_loss_of_classes_in_pieces(
// CHECK: %[[LOGITS:.*]] = aten.mm(%x, %{{.*}}) : (tensor<4x3xf32>, tensor<3x5xf32>)
// CHECK: %[[LOG:.*]] = aten._log_softmax(%[[LOGITS]], 1, false)
// CHECK: %[[LOSS:.*]], %{{.*}} = aten.nll_loss_forward(%[[LOG]], %t, none, 2, 1)
// CHECK: joint.output %[[LOSS]]
joint.graph @a_loss_of_classes_in_pieces(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<5x3xf32> {joint.role = #joint.role<param "w">}, %t: tensor<4xi64> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %loss, %a, %b, %c = aten.torch_nn._linear_cross_entropy_batch_chunked(%x, %w, %t, none, none, "sum", 1, 0.0, 2, "compact", f32, true, true, true, false) : (tensor<4x3xf32>, tensor<5x3xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x3xf32>, tensor<5x3xf32>, tensor<0xf32>)
  joint.output %loss : tensor<f32>
}

// -----

// CHECK-LABEL: joint.graph @a_batch_norm_of_nothing_has_any_rank(
// CHECK: %[[Y:.*]] = aten.clone(%x)
// CHECK: joint.output %[[Y]]
joint.graph @a_batch_norm_of_nothing_has_any_rank(%x: tensor<0xf32> {joint.role = #joint.role<input>}, %m: tensor<0xf32> {joint.role = #joint.role<input>}) -> (tensor<0xf32>) gradients () {
  %y = aten.batch_norm(%x, none, none, %m, %m, false, 0.1, 1.0e-5, false) : (tensor<0xf32>, tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  joint.output %y : tensor<0xf32>
}

// -----

// CHECK-LABEL: joint.graph @its_factors_are_those_of_the_first_channel(
// CHECK: aten.select.int(%w, 0, 0)
// CHECK: aten.mul.Tensor
// CHECK: aten.select.int(%b, 0, 0)
// CHECK: aten.add.Tensor
joint.graph @its_factors_are_those_of_the_first_channel(%x: tensor<0x3xf32> {joint.role = #joint.role<input>}, %w: tensor<3xf32> {joint.role = #joint.role<input>}, %b: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<0x3xf32>) gradients () {
  %y = aten.batch_norm(%x, %w, %b, none, none, true, 0.1, 1.0e-5, false) : (tensor<0x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  joint.output %y : tensor<0x3xf32>
}
