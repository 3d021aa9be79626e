// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-cut-stages

// expected-error@+2 {{'no_markers' has no markers, and where to cut is not said}}
// expected-note@+1 {{give a number of stages, or the modules with which stages begin (--stages, --split-spec)}}
joint.graph @no_markers(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %tanh = aten.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %tanh : tensor<4xf32>
}

// -----

joint.graph @inside_of_a_region(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-note@+1 {{this one; move the marker before or after it}}
  %out = joint.checkpoint {
    %tanh = aten.tanh(%w) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{a stage would begin inside of a region, which runs whole}}
    aten.pipe_split() : () -> ()
    %sin = aten.sin(%tanh) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %sin : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %out : tensor<4xf32>
}

// -----

// expected-note@+1 {{cut where it is not read on both sides}}
joint.graph @size_crosses(%x: tensor<f32> {joint.role = #joint.role<input>}, %w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{'item' of type 'f64' would go from one stage to another, and is no tensor}}
  %item = aten.item(%x) : (tensor<f32>) -> f64
  aten.pipe_split() : () -> ()
  %mul = aten.mul.Scalar(%w, %item) : (tensor<4xf32>, f64) -> tensor<4xf32>
  joint.output %mul : tensor<4xf32>
}

// -----

// expected-note@+1 {{give sizes of symbols with --sym, or cut where such a value is not read on both sides}}
joint.graph @unknown_size_crosses(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<?x1xi64>) gradients () {
  // expected-error@+1 {{'nonzero' of type 'tensor<?x1xi64>' would go from one stage to another, and its size is not known}}
  %nonzero = aten.nonzero(%x) : (tensor<4xf32>) -> tensor<?x1xi64>
  aten.pipe_split() : () -> ()
  %neg = aten.neg(%nonzero) : (tensor<?x1xi64>) -> tensor<?x1xi64>
  joint.output %neg : tensor<?x1xi64>
}

// -----

// expected-note@+1 {{of two micro-batches at once the earlier stage would read an old value: cut where one stage reads and writes it}}
joint.graph @buffer_is_written_later(%b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %mul = aten.mul.Tensor(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %add = aten.add.Tensor(%mul, %mul) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'buffer.b' is written in stage 1, and stage 0 reads it before}}
  %write = joint.write %b, %add : tensor<4xf32>, tensor<4xf32>
  joint.output %add : tensor<4xf32>
}

// -----

// expected-note@+1 {{micro-batches would change what was given: write a buffer, or a copy}}
joint.graph @input_is_written(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %add = aten.add.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %mul = aten.mul.Tensor(%add, %add) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'input.0' is written, and is no buffer}}
  %write = joint.write %x, %add : tensor<4xf32>, tensor<4xf32>
  joint.output %mul : tensor<4xf32>
}

// -----

// expected-error@+2 {{'has_a_backward' has a backward, and stages are cut before there is one}}
// expected-note@+1 {{give the forward program: a .pt2 of torch.export}}
joint.graph @has_a_backward(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %tanh = aten.tanh(%w) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %tanh gradients(%t of 0) : tensor<4xf32>, tensor<4xf32>
}
