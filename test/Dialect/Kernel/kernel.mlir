// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode -o %t.bc && cutback-opt %t.bc | FileCheck %s

// CHECK: kernel.arena 64 of @g_partition
kernel.arena 64 of @g_partition {
  kernel.segment forward @g_forward keeps 1
  kernel.segment backward @g_backward keeps 1 takes forward[1 as 0]
}
joint.partition @g_partition forward @g_forward backward @g_backward
    saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64,
                 num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @g_forward
func.func @g_forward(%x: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {
  // CHECK: %e.out, %s.out = kernel.launch @exp_sum(%{{.*}}) outputs [0, 1] at [0, 32]
  // CHECK-SAME: : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
  %e.out, %s.out = kernel.launch @exp_sum(%x) outputs [0, 1] at [0, 32]
      : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
    %e = aten.exp(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %s = aten.sum.dim_IntList(%e, [1]) : (tensor<2x4xf32>) -> tensor<2xf32>
    // CHECK: kernel.yield %e, %s
    kernel.yield %e, %s : tensor<2x4xf32>, tensor<2xf32>
  }
  return %s.out, %e.out : tensor<2xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @g_backward
func.func @g_backward(%e: tensor<2x4xf32>, %t: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  // A call has no kernel; its result may take the place of what it reads last.
  // CHECK: kernel.launch call at [0] : () -> tensor<2x4xf32> {
  %d.out = kernel.launch call at [0] : () -> tensor<2x4xf32> {
    %d = aten.mul.Tensor(%t, %e) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    kernel.yield %d : tensor<2x4xf32>
  }
  return %d.out : tensor<2x4xf32>
}

// CHECK-LABEL: kernel.func @exp_sum(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>) to (%[[E:.*]]: memref<8xf32>, %[[S:.*]]: memref<2xf32>) schedule "row" {
kernel.func @exp_sum(%x: memref<8xf32>) to (%e: memref<8xf32>, %s: memref<2xf32>)
    schedule "row" {
  // CHECK: kernel.nest (%[[I:.*]], %[[J:.*]]) in [2, 4 reduced] {
  kernel.nest (%i, %j) in [2, 4 reduced] {
    // CHECK: kernel.load %[[X]][%[[I]] * 4 + %[[J]]] : memref<8xf32>
    %0 = kernel.load %x[%i * 4 + %j] : memref<8xf32>
    %1 = math.exp %0 : f32
    // CHECK: kernel.reduce add %{{.*}} : f32
    %2 = kernel.reduce add %1 : f32
    // CHECK: kernel.store %{{.*}}, %[[E]][%[[I]] * 4 + %[[J]]] : memref<8xf32>
    kernel.store %1, %e[%i * 4 + %j] : memref<8xf32>
    kernel.store %2, %s[%i] : memref<2xf32>
  }
}

// CHECK-LABEL: kernel.func @all
kernel.func @all(%x: memref<8xf32>, %seed: memref<1xi64>) to (%y: memref<2xf32>, %at: memref<2xi64>)
    schedule "row" {
  kernel.nest (%i, %j) in [2, 4 reduced] {
    %c0 = arith.constant 0 : index
    %m = arith.cmpi ne, %j, %c0 : index
    %z = arith.constant 0.0 : f32
    // CHECK: kernel.load %{{.*}}[%{{.*}} * 4 + %{{.*}} - 1] if %{{.*}} else %{{.*}} : memref<8xf32>
    %0 = kernel.load %x[%i * 4 + %j - 1] if %m else %z : memref<8xf32>
    // CHECK: kernel.reduce_index least %{{.*}} : f32
    %1 = kernel.reduce_index least %0 : f32
    // CHECK: kernel.pick %{{.*}} at %{{.*}} : f32
    %2 = kernel.pick %0 at %c0 : f32
    %3 = kernel.load %seed[0] : memref<1xi64>
    // CHECK: kernel.draw uniform %{{.*}} stream 7[%{{.*}}] : f32
    %4 = kernel.draw uniform %3 stream 7[%i] : f32
    // CHECK: kernel.choose %{{.*}} of %{{.*}}
    // CHECK: kernel.choose %{{.*}} of %{{.*}} wrapped
    %c2 = arith.constant 2 : index
    %s = arith.index_cast %3 : i64 to index
    %6 = kernel.choose %s of %c2
    %7 = kernel.choose %s of %c2 wrapped
    %8 = kernel.load %x[%6 * 4 + %7] : memref<8xf32>
    %9 = arith.addf %2, %8 : f32
    %5 = arith.addf %9, %4 : f32
    kernel.store %5, %y[%i] : memref<2xf32>
    kernel.store %1, %at[%i] : memref<2xi64>
  }
}

// A kernel for all sizes: extents, strides and numbers are expressions of them.
// CHECK: kernel.func @for_all_sizes(%{{.*}}: memref<?xf32>) to (%{{.*}}: memref<?xf32>) schedule "row" sizes (%[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
kernel.func @for_all_sizes(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "row" sizes (%n: index, %m: index) {
  // CHECK: kernel.nest (%i, %j, %k) in [symbol(%[[N]]) * symbol(%[[M]]), 4, symbol(%[[M]]) reduced]
  kernel.nest (%i, %j, %k) in [symbol(%n) * symbol(%m), 4, symbol(%m) reduced] {
    // CHECK: kernel.load %{{.*}}[%i * (symbol(%[[M]]) * 4) + %j * symbol(%[[M]]) + %k]
    %0 = kernel.load %x[%i * (symbol(%m) * 4) + %j * symbol(%m) + %k] : memref<?xf32>
    %1 = kernel.reduce add %0 : f32
    // CHECK: kernel.size [symbol(%[[M]]) - 1] : f32
    %2 = kernel.size [symbol(%m) - 1] : f32
    %3 = arith.divf %1, %2 : f32
    kernel.store %3, %y[%i * 4 + %j] : memref<?xf32>
  }
}

// A tensor whose size depends on data has a buffer of its own; a call of graphs
// has scratch for the launches in these.
// CHECK-LABEL: func.func @outside_of_the_arena
func.func @outside_of_the_arena(%x: tensor<2x4xf32>, %p: tensor<i1>)
    -> (tensor<?x2xi64>, tensor<?xf32>, tensor<2x4xf32>) {
  // CHECK: kernel.launch call at [own max 128, own] : () -> (tensor<?x2xi64>, tensor<?xf32>) {
  %n.out, %v.out = kernel.launch call at [own max 128, own] : () -> (tensor<?x2xi64>, tensor<?xf32>) {
    %n = aten.nonzero(%x) : (tensor<2x4xf32>) -> tensor<?x2xi64>
    %m = aten.gt.Scalar(%x, 0) : (tensor<2x4xf32>) -> tensor<2x4xi1>
    %v = aten.masked_select(%x, %m) : (tensor<2x4xf32>, tensor<2x4xi1>) -> tensor<?xf32>
    kernel.yield %n, %v : tensor<?x2xi64>, tensor<?xf32>
  }
  // CHECK: kernel.launch call at [0] scratch 64 at 128 : () -> tensor<2x4xf32> {
  // CHECK-NEXT: joint.nested
  // CHECK: kernel.launch call at [32]
  %y.out = kernel.launch call at [0] scratch 64 at 128 : () -> tensor<2x4xf32> {
    %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<2x4xf32>) -> tensor<2x4xf32> {
    ^bb0(%a: tensor<2x4xf32>):
      %s.out = kernel.launch call at [32] : () -> tensor<2x4xf32> {
        %s = aten.sin(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
        kernel.yield %s : tensor<2x4xf32>
      }
      joint.return %s.out : tensor<2x4xf32>
    }, {
    ^bb0(%a: tensor<2x4xf32>):
      joint.return %a : tensor<2x4xf32>
    }
    kernel.yield %y : tensor<2x4xf32>
  }
  return %n.out, %v.out, %y.out : tensor<?x2xi64>, tensor<?xf32>, tensor<2x4xf32>
}
