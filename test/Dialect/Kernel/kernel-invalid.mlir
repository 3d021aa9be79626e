// RUN: cutback-opt %s --split-input-file --verify-diagnostics

kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "row" {
  kernel.nest (%i, %j) in [2, 4] {
    // expected-error@+1 {{reaches elements 1 to 8 of 8}}
    %0 = kernel.load %x[%i * 4 + %j + 1] : memref<8xf32>
    kernel.store %0, %y[%i * 4 + %j] : memref<8xf32>
  }
}

// -----

kernel.func @k(%x: memref<8xf32>) to (%y: memref<2xf32>) schedule "row" {
  kernel.nest (%i, %j) in [2, 4 reduced] {
    %0 = kernel.load %x[%i * 4 + %j] : memref<8xf32>
    // expected-error@+1 {{stores the scalars of many iterations at one place}}
    kernel.store %0, %y[%i] : memref<2xf32>
  }
}

// -----

kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "row" {
  kernel.nest (%i) in [8] {
    %0 = kernel.load %x[%i] : memref<8xf32>
    // expected-error@+1 {{combines along no axis}}
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%i] : memref<8xf32>
  }
}

// -----

kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "row" {
  kernel.nest (%i) in [8] {
    // expected-error@+1 {{reads an output of its kernel}}
    %0 = kernel.load %y[%i] : memref<8xf32>
    kernel.store %0, %y[%i] : memref<8xf32>
  }
}

// -----

// expected-error@+1 {{does not write its output 1}}
kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "row" {
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{names a kernel that is not there: @k}}
  %y.out = kernel.launch @k(%x) outputs [0] at [0] : (tensor<8xf32>) -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.func @k(%x: memref<9xf32>) to (%y: memref<9xf32>) schedule "pointwise" {
  kernel.nest (%i) in [9] {
    %0 = kernel.load %x[%i] : memref<9xf32>
    kernel.store %0, %y[%i] : memref<9xf32>
  }
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{gives its kernel other memory than argument 0 takes}}
  %y.out = kernel.launch @k(%x) outputs [0] at [0] : (tensor<8xf32>) -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{does not end with a yield of its results}}
  %y.out = kernel.launch call at [0] : () -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

// expected-error@+1 {{names no joint.partition: @g_partition}}
kernel.arena 64 of @g_partition {}

// -----

// Two results at one place, the first of which is read behind the second.
kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{they were written here}}
  %a.out = kernel.launch call at [0] : () -> tensor<8xf32> {
    %a = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %a : tensor<8xf32>
  }
  // expected-error@+1 {{writes bytes 16 to 47 of the arena, and bytes 0 to 31 are still read}}
  %b.out = kernel.launch call at [16] : () -> tensor<8xf32> {
    %b = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %b : tensor<8xf32>
  }
  %c.out = kernel.launch call at [16] : () -> tensor<8xf32> {
    %c = aten.mul.Tensor(%a.out, %b.out) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %c : tensor<8xf32>
  }
  return %c.out : tensor<8xf32>
}
func.func @g_backward() {
  return
}

// -----

kernel.arena 31 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{writes 'a' beyond the arena of 31 bytes}}
  %a.out = kernel.launch call at [0] : () -> tensor<8xf32> {
    %a = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %a : tensor<8xf32>
  }
  return %a.out : tensor<8xf32>
}
func.func @g_backward() {
  return
}

// -----

// In place, but the kernel broadcasts: its second iteration reads what the
// first has written.
kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 2
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 2 : i64,
              num_saved_sizes = 0 : i64}
kernel.func @k(%v: memref<2xf32>, %x: memref<4xf32>)
    to (%r: memref<2xf32>, %y: memref<4xf32>) schedule "pointwise" {
  kernel.nest (%i, %j) in [2, 2] {
    %0 = kernel.load %v[%i] : memref<2xf32>
    %1 = math.exp %0 : f32
    %2 = kernel.load %x[%i * 2 + %j] : memref<4xf32>
    %3 = arith.mulf %1, %2 : f32
    kernel.store %1, %r[%i] : memref<2xf32>
    kernel.store %3, %y[%i * 2 + %j] : memref<4xf32>
  }
}
func.func @g_forward(%x: tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  // expected-note@+1 {{they were written here}}
  %v.out = kernel.launch call at [0] : () -> tensor<2x1xf32> {
    %v = aten.sum.dim_IntList(%x, [1], true) : (tensor<2x2xf32>) -> tensor<2x1xf32>
    kernel.yield %v : tensor<2x1xf32>
  }
  // expected-error@+1 {{writes bytes 0 to 7 of the arena, and bytes 0 to 7 are still read}}
  %r.out, %y.out = kernel.launch @k(%v.out, %x) outputs [0, 1] at [0, 16]
      : (tensor<2x1xf32>, tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
    %r = aten.exp(%v.out) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %y = aten.mul.Tensor(%r, %x) : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    kernel.yield %r, %y : tensor<2x1xf32>, tensor<2x2xf32>
  }
  return %r.out, %y.out : tensor<2x1xf32>, tensor<2x2xf32>
}
func.func @g_backward() {
  return
}

// -----

// expected-error@+1 {{argument 0 is no memref of one dimension}}
kernel.func @k(%x: memref<2x4xf32>) to () schedule "row" {
}

// -----

kernel.func @k() to () schedule "row" {
  // expected-error@+1 {{stands outside of the loops of a kernel}}
  %c = arith.constant 0.0 : f32
}

// -----

func.func @f(%x: memref<4xf32>, %i: index) {
  // expected-error@+1 {{stands outside of the loops of a kernel}}
  %0 = kernel.load %x[%i] : memref<4xf32>
  return
}

// -----

kernel.func @k(%x: memref<4xf32>) to () schedule "row" {
  // expected-error@+1 {{has another number of indices than of axes}}
  "kernel.nest"() <{extents = array<i64: 4>, reduced = array<i1: false>}> ({
  ^bb0(%i: index, %j: index):
    %0 = kernel.load %x[%i] : memref<4xf32>
  }) : () -> ()
}

// -----

kernel.func @k() to () schedule "row" {
  // expected-error@+1 {{has an axis of 0 iterations}}
  kernel.nest (%i) in [0] {
  }
}

// -----

kernel.func @k() to () schedule "row" {
  kernel.nest (%i) in [2] {
    // expected-error@+1 {{is no scalar op}}
    builtin.module {
    }
  }
}

// -----

kernel.func @k(%x: memref<4xf32>) to () schedule "row" {
  kernel.nest (%i) in [2] {
    // expected-error@+1 {{has a map that does not fit its indices}}
    %0 = "kernel.load"(%x, %i) <{map = affine_map<(d0, d1) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<4xf32>, index) -> f32
  }
}

// -----

kernel.func @k(%x: memref<4xf32>) to () schedule "row" {
  kernel.nest (%i) in [2] {
    // expected-error@+1 {{gives another type than its memory has}}
    %0 = "kernel.load"(%x, %i) <{map = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<4xf32>, index) -> f64
  }
}

// -----

kernel.func @k(%x: memref<4xf32>) to () schedule "row" {
  kernel.nest (%i) in [2] {
    %m = arith.constant true
    // expected-error@+1 {{has a mask or what is elsewhere, not both}}
    %0 = "kernel.load"(%x, %i, %m) <{map = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<4xf32>, index, i1) -> f32
  }
}

// -----

kernel.func @k() to (%y: memref<4xf32>) schedule "row" {
  kernel.nest (%i) in [2] {
    %c = arith.constant 0.0 : f64
    // expected-error@+1 {{writes another type than its memory has}}
    "kernel.store"(%c, %y, %i) <{map = affine_map<(d0) -> (d0)>}> : (f64, memref<4xf32>, index) -> ()
  }
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has buffers and no kernel}}
  %y.out = "kernel.launch"(%x) <{at = array<i64: 0>, outputs = array<i32>}> ({
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %y.out : tensor<8xf32>
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "pointwise" {
  kernel.nest (%i) in [8] {
    %0 = kernel.load %x[%i] : memref<8xf32>
    kernel.store %0, %y[%i] : memref<8xf32>
  }
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{gives its kernel another number of buffers than it takes}}
  %y.out = kernel.launch @k() outputs [0] at [0] : () -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{has a place for 'v', which is no tensor of its own}}
  %v.out = kernel.launch call at [0] : () -> tensor<2x4xf32> {
    %v = aten.view(%x, [2, 4]) : (tensor<8xf32>) -> tensor<2x4xf32>
    kernel.yield %v : tensor<2x4xf32>
  }
  return %v.out : tensor<2x4xf32>
}
func.func @g_backward() {
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 0
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%b: tensor<2x2xf32> {joint.name = "b"}, %x: tensor<2x2xf32>) {
  // expected-error@+1 {{reads elements of 'b' that it has written}}
  %w.out = kernel.launch @k(%b, %x) outputs [0] at [-1]
      : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    %t = aten.t(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %n = aten.add.Tensor(%t, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %w = joint.write %b, %n : tensor<2x2xf32>, tensor<2x2xf32>
    kernel.yield %w : tensor<2x2xf32>
  }
  return
}
func.func @g_backward() {
  return
}
kernel.func @k(%b: memref<4xf32>, %x: memref<4xf32>) to (%w: memref<4xf32>) schedule "pointwise" {
  kernel.nest (%i, %j) in [2, 2] {
    %0 = kernel.load %b[%i + %j * 2] : memref<4xf32>
    %1 = kernel.load %x[%i * 2 + %j] : memref<4xf32>
    %2 = arith.addf %0, %1 : f32
    kernel.store %2, %w[%i * 2 + %j] : memref<4xf32>
  }
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 1
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"}) -> tensor<4xf32> {
  %v = aten.view(%x, [2, 2]) : (tensor<4xf32>) -> tensor<2x2xf32>
  %w.out = kernel.launch call at [-1] : () -> tensor<4xf32> {
    // expected-note@+1 {{it is written here}}
    %w = joint.write %x, %x : tensor<4xf32>, tensor<4xf32>
    kernel.yield %w : tensor<4xf32>
  }
  %y.out = kernel.launch call at [0] : () -> tensor<4xf32> {
    %y = aten.exp(%w.out) : (tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %y : tensor<4xf32>
  }
  %z.out = kernel.launch call at [32] : () -> tensor<2x2xf32> {
    // expected-error@+1 {{reads argument 'x' behind a write, as it was in front of it}}
    %z = aten.exp(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    kernel.yield %z : tensor<2x2xf32>
  }
  return %y.out : tensor<4xf32>
}
func.func @g_backward(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 1 takes forward[1 as 0]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved ["x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
                 num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %y.out = kernel.launch call at [0] : () -> tensor<4xf32> {
    %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %y : tensor<4xf32>
  }
  %w.out = kernel.launch call at [-1] : () -> tensor<4xf32> {
    // expected-note@+1 {{it is written here}}
    %w = joint.write %x, %y.out : tensor<4xf32>, tensor<4xf32>
    kernel.yield %w : tensor<4xf32>
  }
  // expected-error@+1 {{reads argument 'x' behind a write, as it was in front of it}}
  return %y.out, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @g_backward(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 1
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"}) -> tensor<4xf32> {
  %y.out = kernel.launch call at [0] : () -> tensor<4xf32> {
    // expected-note@+1 {{that one is here}}
    %y = aten.rand_like(%x) {kernel.draw_number = 1} : (tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %y : tensor<4xf32>
  }
  %z.out = kernel.launch call at [32] : () -> tensor<4xf32> {
    // expected-error@+1 {{is draw 0 of the step, behind draw 1}}
    %z = aten.rand_like(%x) {kernel.draw_number = 0} : (tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %z : tensor<4xf32>
  }
  return %y.out : tensor<4xf32>
}
func.func @g_backward(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 has an unknown size, and the kernel takes no sizes}}
kernel.func @k(%x: memref<?xf32>) to (%y: memref<8xf32>) schedule "pointwise" {
  kernel.nest (%i) in [8] {
    %0 = kernel.load %x[%i] : memref<?xf32>
    kernel.store %0, %y[%i] : memref<8xf32>
  }
}

// -----

kernel.func @k(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%n: index) {
  kernel.nest (%i, %j) in [symbol(%n), 2] {
    // expected-error@+1 {{has a symbol that is no size of its kernel}}
    %0 = kernel.load %x[%i + symbol(%j)] : memref<?xf32>
    kernel.store %0, %y[%i] : memref<?xf32>
  }
}

// -----

kernel.func @k(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%n: index) {
  // expected-error@+1 {{has another number of sizes than its extents take}}
  "kernel.nest"(%n) ({
  ^bb0(%i: index):
    %0 = kernel.load %x[%i] : memref<?xf32>
    kernel.store %0, %y[%i] : memref<?xf32>
  }) {extents = array<i64: -9223372036854775808>, reduced = array<i1: false>} : (index) -> ()
}

// -----

kernel.func @k(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%n: index) {
  kernel.nest (%i) in [symbol(%n)] {
    %0 = kernel.load %x[%i] : memref<?xf32>
    // expected-error@+1 {{has a map that does not fit its sizes}}
    %1 = "kernel.size"(%n) {map = affine_map<() -> (4)>} : (index) -> f32
    kernel.store %0, %y[%i] : memref<?xf32>
  }
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.func @k(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%n: index) {
  kernel.nest (%i) in [symbol(%n) * 8] {
    %0 = kernel.load %x[%i] : memref<?xf32>
    kernel.store %0, %y[%i] : memref<?xf32>
  }
}
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{gives its kernel another number of sizes than it takes}}
  %y.out = kernel.launch @k(%x) outputs [0] at [?] : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %y = aten.exp(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    kernel.yield %y : tensor<?x8xf32>
  }
  return %y.out : tensor<?x8xf32>
}

// -----

// expected-error@+1 {{is of an unknown size, and has no symbols}}
kernel.arena ? of @g_partition {}

// -----

// expected-error@+1 {{has symbols, and is of a known size}}
kernel.arena 64 of @g_partition symbols {s0 = #joint.symbol<>} {}

// -----

// expected-error@+1 {{has -64 bytes}}
kernel.arena -64 of @g_partition {}

// -----

kernel.func @k(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%n: index) {
  // expected-error@+1 {{is no number of sizes}}
  kernel.nest (%i) in [%n] {
    %0 = kernel.load %x[%i] : memref<?xf32>
    kernel.store %0, %y[%i] : memref<?xf32>
  }
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has a buffer of its own for 'y', whose size does not depend on data}}
  %y.out = kernel.launch call at [own] : () -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<?x1xi64> {
  // expected-error@+1 {{has 2 bounds for 1 results}}
  %y.out = "kernel.launch"() <{at = array<i64: -2>, outputs = array<i32>, most = array<i64: 8, 8>}> ({
    %y = aten.nonzero(%x) : (tensor<8xf32>) -> tensor<?x1xi64>
    kernel.yield %y : tensor<?x1xi64>
  }) : () -> tensor<?x1xi64>
  return %y.out : tensor<?x1xi64>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<?x1xi64> {
  // expected-error@+1 {{has a buffer of its own for 'y', whose size does not depend on data}}
  %y.out = "kernel.launch"() <{at = array<i64: -1>, outputs = array<i32>, most = array<i64: 8>}> ({
    %y = aten.nonzero(%x) : (tensor<8xf32>) -> tensor<?x1xi64>
    kernel.yield %y : tensor<?x1xi64>
  }) : () -> tensor<?x1xi64>
  return %y.out : tensor<?x1xi64>
}

// -----

kernel.func @k(%x: memref<8xf32>) to (%y: memref<8xf32>) schedule "pointwise" {
  kernel.nest (%i) in [8] {
    %0 = kernel.load %x[%i] : memref<8xf32>
    kernel.store %0, %y[%i] : memref<8xf32>
  }
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has scratch, and is no call with a place for it}}
  %y.out = kernel.launch @k(%x) outputs [0] at [0] scratch 8 at 64 : (tensor<8xf32>) -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<?x1xi64> {
  // expected-error@+1 {{has no buffer for 'places', whose size depends on data}}
  %places.out = kernel.launch call at [-1] : () -> tensor<?x1xi64> {
    %places = aten.nonzero(%x) : (tensor<8xf32>) -> tensor<?x1xi64>
    kernel.yield %places : tensor<?x1xi64>
  }
  return %places.out : tensor<?x1xi64>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%x: tensor<8xf32>, %n: index) -> tensor<?xf32> {
  // expected-error@+1 {{has a buffer of its own for 'some', which is a view}}
  %some.out = kernel.launch call at [own] : () -> tensor<?xf32> {
    %some = aten.slice.Tensor(%x, 0, 0, %n) : (tensor<8xf32>, index) -> tensor<?xf32>
    kernel.yield %some : tensor<?xf32>
  }
  return %some.out : tensor<?xf32>
}

// -----

kernel.arena 128 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{they were written here}}
  %y.out = kernel.launch call at [32] : () -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  // expected-error@+1 {{writes bytes 0 to 63 of the arena, and bytes 32 to 63 are still read}}
  %z.out = kernel.launch call at [64] scratch 64 at 0 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%y.out]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+2 {{writes bytes 32 to 63 of the arena, and bytes 0 to 63 are still read}}
  // expected-note@+1 {{they were written here}}
  %z.out = kernel.launch call at [32] scratch 64 at 0 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has scratch beyond the arena of 64 bytes}}
  %z.out = kernel.launch call at [0] scratch 64 at 32 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 192 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z.out = kernel.launch call at [0] scratch 128 at 64 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      // expected-note@+1 {{they were written here}}
      %b.out = kernel.launch call at [0] : () -> tensor<8xf32> {
        %b = aten.exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %b : tensor<8xf32>
      }
      // expected-error@+1 {{writes bytes 16 to 47 of the scratch of its call, and bytes 0 to 31 are still read}}
      %c.out = kernel.launch call at [16] : () -> tensor<8xf32> {
        %c = aten.exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %c : tensor<8xf32>
      }
      %d.out = kernel.launch call at [64] : () -> tensor<8xf32> {
        %d = aten.add.Tensor(%b.out, %c.out) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %d : tensor<8xf32>
      }
      joint.return %d.out : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 192 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z.out = kernel.launch call at [0] scratch 16 at 64 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      // expected-error@+1 {{writes 'b' beyond the scratch of its call of 16 bytes}}
      %b.out = kernel.launch call at [0] : () -> tensor<8xf32> {
        %b = aten.exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %b : tensor<8xf32>
      }
      joint.return %b.out : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 192 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z.out = kernel.launch call at [0] scratch 64 at 64 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      // expected-error@+1 {{names a kernel that is not there: @k}}
      %b.out = kernel.launch @k(%a) outputs [0] at [0] : (tensor<8xf32>) -> tensor<8xf32> {
        %b = aten.exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %b : tensor<8xf32>
      }
      joint.return %b.out : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.arena 192 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_backward() {
  return
}
func.func @g_forward(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z.out = kernel.launch call at [0] scratch 64 at 64 : () -> tensor<8xf32> {
    %z = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %b.out = kernel.launch call at [0] : () -> tensor<8xf32> {
        // expected-error@+1 {{operand #0 does not dominate this use}}
        %b = aten.exp(%c.out) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %b : tensor<8xf32>
      }
      // expected-note@+1 {{operand defined here (op in a parent region)}}
      %c.out = kernel.launch call at [32] : () -> tensor<8xf32> {
        %c = aten.exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
        kernel.yield %c : tensor<8xf32>
      }
      joint.return %b.out : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      joint.return %a : tensor<8xf32>
    }
    kernel.yield %z : tensor<8xf32>
  }
  return %z.out : tensor<8xf32>
}

// -----

kernel.func @chosen(%x: memref<8xf32>, %at: memref<2xi64>) to (%y: memref<2xf32>) schedule "pointwise" {
  kernel.nest (%i) in [2] {
    %0 = kernel.load %at[%i] : memref<2xi64>
    %1 = arith.index_cast %0 : i64 to index
    %c3 = arith.constant 3 : index
    %2 = kernel.choose %1 of %c3
    // expected-error@+1 {{reaches elements 0 to 9 of 8}}
    %3 = kernel.load %x[%2 * 4 + %i] : memref<8xf32>
    kernel.store %3, %y[%i] : memref<2xf32>
  }
}
