// RUN: cutback-opt %s --cutback-differentiate --split-input-file --verify-diagnostics

// expected-error @below {{'g' has a backward: argument 't' is #joint.role<tangent of 0>}}
// expected-note @below {{differentiate the forward program, leave the differentiation out, or say which result is to be differentiated again (of=grad.w)}}
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients () {
  joint.output %w : tensor<4xf32>
}

// -----

// expected-error @below {{'g' has gradients}}
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  joint.output %w gradients(%w of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{no result of 'g' that is differentiated depends on an argument that takes a gradient}}
// expected-note @below {{arguments that take a gradient: 'w'; give a loss that is computed from one of them by ops that have gradients, or ask for the gradient of another argument}}
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<f32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  joint.output %x : tensor<f32>
}

// -----

// expected-error @below {{argument 'v' is tied to 'u', and no argument is called so}}
joint.graph @g(%v: tensor<4xf32> {joint.role = #joint.role<param "v">, joint.tied = "u"}) -> (tensor<4xf32>) gradients () {
  joint.output %v : tensor<4xf32>
}

// -----

// expected-error @below {{argument 'v' of type 'tensor<4xf32>' is tied to 'w' of type 'tensor<2xf32>'}}
joint.graph @g(%v: tensor<4xf32> {joint.role = #joint.role<param "v">, joint.tied = "w"}, %w: tensor<2xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  joint.output %v : tensor<4xf32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{written here; read the value that is written, or ask for no gradient of the argument}}
  %w_1 = joint.write %w, %exp : tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{argument 'w' takes a gradient, and is read here after it was written}}
  %sin = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %sin : tensor<4xf32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{no gradient through 'math.exp', which is not known here}}
  // expected-note @below {{give the graph with its gradients, or the op the interface DifferentiableOpInterface of dialect joint}}
  %y = math.exp %w : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{no gradient through 'my.op.default', which is not known here}}
  // expected-note @below {{write it in terms of other ops: run_decompositions() on the exported program does so for ops that PyTorch can take apart; or detach() what it reads}}
  %y = joint.opaque "my.op.default"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{no rule for the gradient of 'aten.view.dtype'}}
  // expected-note @below {{detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %y = aten.view.dtype(%w, f32) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @g(%w: tensor<2x2xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  // expected-error @below {{'aten.linalg_norm': no rule for the gradient of a matrix norm}}
  // expected-note @below {{detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %y = aten.linalg_norm(%w, 2.0) : (tensor<2x2xf32>) -> tensor<f32>
  joint.output %y : tensor<f32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{no result of 'g' that is differentiated depends on an argument that takes a gradient: gradients end at 'aten.gt'}}
  // expected-note @below {{arguments that take a gradient: 'w'; give a loss}}
  %gt = aten.gt.Scalar(%exp, 0) : (tensor<4xf32>) -> tensor<4xi1>
  %mean = aten.sum(%gt, dtype = f32) : (tensor<4xi1>) -> tensor<f32>
  joint.output %mean : tensor<f32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  // expected-error @below {{depends on an argument that takes a gradient: gradients end at 'aten.detach'}}
  // expected-note @below {{arguments that take a gradient: 'w'; give a loss}}
  // expected-note @below {{a detach is what was computed under torch.no_grad(), by detach() or .data; torch.export also puts all that comes after a checkpoint inside of another one, or after one with use_reentrant=True, under no_grad: export the model without these checkpoints, and name the modules to recompute by --checkpoint}}
  %detach = aten.detach(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%detach) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<5xf32>) gradients () {
  // expected-error @below {{no gradient through 'aten.exp.default', which is taken as joint.txt:7 declares it ('y' is declared as tensor<5xf32>)}}
  // expected-note @below {{give the graph with its gradients, or export the model again with a release whose op is the one that is known here}}
  %y = joint.opaque "aten.exp.default"(%w) {joint.declared = {place = "joint.txt:7", why = "'y' is declared as tensor<5xf32>"}} : (tensor<4xf32>) -> tensor<5xf32>
  joint.output %y : tensor<5xf32>
}

// -----

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{sequence number -1 is below 0, where they begin}}
  %sin = aten.sin(%w) {joint.sequence_nr = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %sin : tensor<4xf32>
}

// -----

// The gradients of bags, which rows they scale is no part of.
joint.graph @g(%w: tensor<3x2xf32> {joint.role = #joint.role<param "w">}, %i: tensor<3xi64> {joint.role = #joint.role<input>}) -> (tensor<4x2xf32>) gradients () {
  // expected-error @below {{no rule for the second derivative of rows that are scaled by how often they occur}}
  // expected-note @below {{detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %r = aten._embedding_bag_backward(%w, %i, %i, %i, %i, %i, 4, true, 0, false, none) : (tensor<3x2xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x2xf32>
  joint.output %r : tensor<4x2xf32>
}

// -----

joint.graph @g(%w: tensor<?x2xf32> {joint.role = #joint.role<param "w">}, %i: tensor<?xi64> {joint.role = #joint.role<input>}) -> (tensor<4x2xf32>) gradients () {
  // expected-error @below {{no rule for the second derivative of bags whose number is not known}}
  // expected-note @below {{export the model with fixed sizes where this op reads them (no Dim in dynamic_shapes), or detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %r = aten._embedding_bag_backward(%w, %i, %i, %i, %i, %i, 4, false, 0, false, none) : (tensor<?x2xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) -> tensor<4x2xf32>
  joint.output %r : tensor<4x2xf32>
}

// -----

// An operand that a rule has no gradient for is named, and is no zero.
joint.graph @g(%x: tensor<3x4xf32> {joint.role = #joint.role<input>}, %t: tensor<3xi64> {joint.role = #joint.role<input>}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  // expected-error @below {{no rule for the gradient of 'weight' of 'aten.nll_loss_forward.default', which is asked for}}
  // expected-note @below {{detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %l, %s = aten.nll_loss_forward(%x, %t, %w, 1, -100) : (tensor<3x4xf32>, tensor<3xi64>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  joint.output %l : tensor<f32>
}

// -----

joint.graph @g(%x: tensor<3x4xf32> {joint.role = #joint.role<param "x">}, %s: tensor<1xf32> {joint.role = #joint.role<param "s">}, %z: tensor<1xi32> {joint.role = #joint.role<input>}, %on: tensor<1xi64> {joint.role = #joint.role<input>}) -> (tensor<3x4xf32>) gradients () {
  // expected-error @below {{no rule for the gradient of 'scale' of 'aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default', which is asked for}}
  // expected-note @below {{detach its inputs if no gradient shall flow through it, or write the op in terms of others}}
  %q, %m = aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(%x, %s, %z, %on, -8, 7) : (tensor<3x4xf32>, tensor<1xf32>, tensor<1xi32>, tensor<1xi64>) -> (tensor<3x4xf32>, tensor<3x4xi1>)
  joint.output %q : tensor<3x4xf32>
}

// -----

joint.graph @g(%n: tensor<i64> {joint.role = #joint.role<input>}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{no gradient through 'higher_order.while_loop' here}}
  // expected-note @below {{how often it runs is known only then: use scan, or a Python loop, which the export unrolls}}
  %k, %y = joint.nested "higher_order.while_loop"(@goes_on, @body, [%n, %w], []) {tuple} : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%a: tensor<i64>, %b: tensor<4xf32>):
    %c = aten.lt.Scalar(%a, 3) : (tensor<i64>) -> tensor<i1>
    joint.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i64>, %b: tensor<4xf32>):
    %c = aten.add.Scalar(%a, 1) : (tensor<i64>) -> tensor<i64>
    %d = aten.sin(%b) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %c, %d : tensor<i64>, tensor<4xf32>
  }
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @g(%x: tensor<3x4xf32> {joint.role = #joint.role<input>}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{no gradient through 'higher_order.scan' that carries a number}}
  // expected-note @below {{let it carry a tensor of one element}}
  %y, %k = joint.nested "higher_order.scan"(@body, [%w, 2], [%x], []) {tuple} : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %d = aten.mul.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = aten.full([], 3, dtype = i64) : () -> tensor<i64>
    joint.return %d, %c : tensor<4xf32>, tensor<i64>
  }
  joint.output %y : tensor<4xf32>
}
