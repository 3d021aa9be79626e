// RUN: cutback-opt %s --cutback-functionalize --split-input-file --verify-diagnostics

joint.graph @a_parameter(%w: tensor<3xf32> {joint.role = #joint.role<param "w">}) -> (tensor<3xf32>) gradients () {
  // expected-error @+2 {{argument 'w' takes a gradient, and is written in place}}
  // expected-note @+1 {{update parameters outside of the program, or write a copy}}
  %mul_ = aten.mul_.Tensor(%w, 2) : (tensor<3xf32>) -> tensor<3xf32>
  joint.output %mul_ : tensor<3xf32>
}

// -----

joint.graph @expanded(%x: tensor<1x3xf32> {joint.role = #joint.role<input>}) -> (tensor<1x3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %e = aten.expand(%y, [4, 3]) : (tensor<1x3xf32>) -> tensor<4x3xf32>
  // expected-error @+1 {{'aten.expand' may show elements several times, and is written in place; write a clone of it}}
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<1x3xf32>
}

// -----

joint.graph @overlapping(%x: tensor<12xf32> {joint.role = #joint.role<input>}) -> (tensor<12xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<12xf32>) -> tensor<12xf32>
  %e = aten.as_strided(%y, [4, 3], [2, 1], 0) : (tensor<12xf32>) -> tensor<4x3xf32>
  // expected-error @+1 {{'aten.as_strided' may show elements several times, and is written in place; write a clone of it}}
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  joint.output %y : tensor<12xf32>
}

// -----

joint.graph @overlapping_or_not(%x: tensor<12xf32> {joint.role = #joint.role<input>}, %n: index {joint.role = #joint.role<input>}) -> (tensor<12xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<12xf32>) -> tensor<12xf32>
  %e = aten.as_strided(%y, [%n, 3], [3, 1], 0) : (tensor<12xf32>, index) -> tensor<?x3xf32>
  // expected-error @+1 {{'aten.as_strided' is written in place, and where its elements lie is known only when the step runs; give it sizes that are numbers, or write a clone of it}}
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  joint.output %y : tensor<12xf32>
}

// -----

joint.graph @windows_of_an_unknown_size(%x: tensor<?xf32> {joint.role = #joint.role<input>}) -> (tensor<?xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %e = aten.unfold(%y, 0, 3, 3) : (tensor<?xf32>) -> tensor<?x3xf32>
  // expected-error @+1 {{'aten.unfold' is written in place, and where its elements lie is known only when the step runs}}
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  joint.output %y : tensor<?xf32>
}

// -----

joint.graph @windows(%x: tensor<12xf32> {joint.role = #joint.role<input>}) -> (tensor<12xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<12xf32>) -> tensor<12xf32>
  %e = aten.unfold(%y, 0, 3, 1) : (tensor<12xf32>) -> tensor<10x3xf32>
  // expected-error @+1 {{'aten.unfold' may show elements several times, and is written in place; write a clone of it}}
  %mul_ = aten.mul_.Tensor(%e, 2) : (tensor<10x3xf32>) -> tensor<10x3xf32>
  joint.output %y : tensor<12xf32>
}

// -----

joint.graph @larger(%x: tensor<3xf32> {joint.role = #joint.role<input>}, %z: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{a value of type 'tensor<2x3xf32>' is written in place to a tensor of type 'tensor<3xf32>'}}
  %add_ = aten.add_.Tensor(%y, %z) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  joint.output %y : tensor<3xf32>
}

// -----

joint.graph @a_region(%x: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  %r = joint.checkpoint {
    %y = aten.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
    // expected-error @+2 {{an op that writes in place stands in a region}}
    // expected-note @+1 {{run --cutback-flatten-checkpoints first}}
    %add_ = aten.add_.Tensor(%y, 1) : (tensor<3xf32>) -> tensor<3xf32>
    joint.yield %add_ : tensor<3xf32>
  } : tensor<3xf32>
  joint.output %r : tensor<3xf32>
}

// -----

joint.graph @a_diagonal_of_sizes_unknown(%x: tensor<?x3xf32> {joint.role = #joint.role<input>}) -> (tensor<?x3xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  // expected-error @+1 {{'aten.fill_diagonal_' of more than a matrix, or with wrap, needs sizes that are known}}
  %fill_diagonal_ = aten.fill_diagonal_(%y, 1, true) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  joint.output %y : tensor<?x3xf32>
}

// -----

joint.graph @what_a_branch_is_called_with(%p: tensor<i1> {joint.role = #joint.role<input>}, %x: tensor<3xf32> {joint.role = #joint.role<input>}, %y: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<3xf32>) gradients () {
  // expected-error @+2 {{a graph of 'higher_order.cond' writes to what it is called with}}
  // expected-note @+1 {{let it give the new value, and write that behind the call}}
  %r = joint.nested "higher_order.cond"(%p, @yes, @no, [%x, %y]) {tuple} : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %m = aten.mul_.Tensor(%a, 2) : (tensor<3xf32>) -> tensor<3xf32>
    joint.return %m : tensor<3xf32>
  }, {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    joint.return %b : tensor<3xf32>
  }
  joint.output %r : tensor<3xf32>
}
