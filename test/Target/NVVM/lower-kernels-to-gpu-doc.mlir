// RUN: cutback-opt %s --cutback-lower-kernels-to-gpu | FileCheck %s

// CHECK:      gpu.module @kernels {
// CHECK-NEXT:   gpu.func @k_neg(%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %{{.*}}: memref<5xi64>) kernel
// CHECK-DAG:      %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG:      %[[WIDTH:.*]] = gpu.block_dim x
// CHECK-DAG:      %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:      %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK:          scf.for %[[I:.*]] =
// CHECK:            %[[A:.*]] = memref.load %[[X]][
// CHECK:            %[[B:.*]] = arith.negf %[[A]] : f32
// CHECK:            memref.store %[[B]], %[[Y]][
// CHECK:          gpu.return
// CHECK-NOT:  kernel.
kernel.func @k_neg(%arg0: memref<4xf32>) to (%arg1: memref<4xf32>) schedule "pointwise" {
  kernel.nest (%i) in [4] {
    %0 = kernel.load %arg0[%i] : memref<4xf32>
    %1 = arith.negf %0 : f32
    kernel.store %1, %arg1[%i] : memref<4xf32>
  }
}
