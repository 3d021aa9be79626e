// RUN: cutback-opt %s --split-input-file --verify-diagnostics

// A third segment writes over a gradient that it reads later.
kernel.arena 96 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 1
  kernel.segment update @g_update keeps 0 takes backward[0 as 1]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y.out = kernel.launch call at [0] : () -> tensor<8xf32> {
    %y = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %y : tensor<8xf32>
  }
  return %y.out : tensor<8xf32>
}
func.func @g_backward(%t: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{they were written here}}
  %d.out = kernel.launch call at [32] : () -> tensor<8xf32> {
    %d = aten.neg(%t) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %d : tensor<8xf32>
  }
  return %d.out : tensor<8xf32>
}
func.func @g_update(%x: tensor<8xf32> {joint.name = "x"}, %d: tensor<8xf32>) {
  // expected-error@+1 {{writes bytes 32 to 63 of the arena, and bytes 32 to 63 are still read}}
  %s.out = kernel.launch call at [32] : () -> tensor<8xf32> {
    %s = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
    kernel.yield %s : tensor<8xf32>
  }
  %w.out = kernel.launch call at [-1] : () -> tensor<8xf32> {
    %n = aten.mul.Tensor(%s.out, %d) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %w = joint.write %x, %n : tensor<8xf32>, tensor<8xf32>
    kernel.yield %w : tensor<8xf32>
  }
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 0
  // expected-error@+1 {{runs no function of the module: @g_backwards}}
  kernel.segment backward @g_backwards keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward() {
  return
}
func.func @g_backward() {
  return
}

// -----

// expected-error@+1 {{does not begin with the segments forward and backward of @g_partition}}
kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward() {
  return
}
func.func @g_backward() {
  return
}

// -----

// expected-error@+1 {{hands over other values than @g_partition}}
kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 0
  kernel.segment backward @g_backward keeps 0
}
// expected-note@+1 {{the partition is here}}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved ["x"] {gradient_of = array<i32>, num_forward_results = 0 : i64,
                 num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward(%x: tensor<8xf32>) {
  return
}

// -----

kernel.arena 0 of @g_partition {
  // expected-error@+1 {{takes results of "backward", which is no earlier segment}}
  kernel.segment forward @g_forward keeps 0 takes backward[0 as 0]
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward() {
  return
}
func.func @g_backward() {
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  // expected-error@+1 {{takes result 1 of "forward", which has 1}}
  kernel.segment backward @g_backward keeps 0 takes forward[1 as 0]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward(%x: tensor<8xf32>) {
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  // expected-error@+1 {{takes a 'tensor<8xf32>' as argument 0, which is 'tensor<8xf64>'}}
  kernel.segment backward @g_backward keeps 0 takes forward[0 as 0]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward(%x: tensor<8xf64>) {
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  // expected-error@+1 {{takes argument 0 twice}}
  kernel.segment backward @g_backward keeps 0 takes forward[0 as 0, 0 as 0]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward(%x: tensor<8xf32>) {
  return
}

// -----

kernel.arena 0 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  // expected-error@+1 {{has no argument 1}}
  kernel.segment backward @g_backward keeps 0 takes forward[0 as 1]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward(%x: tensor<8xf32>) {
  return
}

// -----

kernel.arena 0 of @g_partition {
  // expected-error@+1 {{keeps 2 of 1 results}}
  kernel.segment forward @g_forward keeps 2
  kernel.segment backward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 1 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @g_backward() {
  return
}

// -----

kernel.arena 0 of @g_partition {
  // expected-note@+1 {{that one is here}}
  kernel.segment forward @g_forward keeps 0
  // expected-error@+1 {{has the name or the function of another segment}}
  kernel.segment forward @g_backward keeps 0
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64,
              num_saved_sizes = 0 : i64}
func.func @g_forward() {
  return
}
func.func @g_backward() {
  return
}

// -----

kernel.arena 0 of @g_partition {
  // expected-error@+1 {{is no segment of an arena}}
  %x = arith.constant 0 : i32
}

// -----

kernel.arena 0 of @g_partition {
  // expected-error@+1 {{takes other numbers of results and of arguments}}
  "kernel.segment"() <{name = "forward", function = @f, kept = 0 : i64, from = ["x"], results = array<i32: 1>, arguments = array<i32>}> : () -> ()
}
