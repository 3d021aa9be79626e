// RUN: cutback-opt %s --cutback-lower-kernels-to-gpu | FileCheck %s
// RUN: cutback-opt %s --cutback-lower-kernels-to-gpu=kernel=k_columns \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: not cutback-opt %s --cutback-lower-kernels-to-gpu=kernel=k_none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: cutback-opt %s --cutback-lower-kernels-to-gpu \
// RUN:   | env CUDA_HOME= %llvm_tools/mlir-opt --pass-pipeline="builtin.module(gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true},canonicalize,reconcile-unrealized-casts),nvvm-attach-target{chip=sm_90 O=2},gpu-module-to-binary{format=isa})" \
// RUN:   | FileCheck %s --check-prefix=PTX

// ONE-NOT: @k_row_sum
// ONE: gpu.func @k_columns(
// ONE-NOT: gpu.func
// NONE: error: there is no kernel @k_none

// Each thread has a row: its sums are the 128 of any row of that length.
// CHECK-LABEL: gpu.func @k_row_sum(
// CHECK-SAME: %[[X:.*]]: memref<3000xf32>, %[[Y:.*]]: memref<10xf32>, %{{.*}}: memref<5xi64>) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK-NOT: llvm.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.shuffle
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: gpu.return
// PTX: .visible .entry k_row_sum(
// PTX: .maxntid 256
// PTX: add.rn.f32
kernel.func @k_row_sum(%x: memref<3000xf32>) to (%y: memref<10xf32>) schedule "row" {
  kernel.nest (%i, %j) in [10, 300 reduced] {
    %0 = kernel.load %x[%i * 300 + %j] : memref<3000xf32>
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%i] : memref<10xf32>
  }
}

// A thread has one column, and the eight sums of any.
// CHECK-LABEL: gpu.func @k_columns(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// PTX: .visible .entry k_columns(
kernel.func @k_columns(%x: memref<3000xf32>) to (%y: memref<300xf32>) schedule "partial" {
  kernel.nest (%i, %j) in [10 reduced, 300] {
    %0 = kernel.load %x[%i * 300 + %j] : memref<3000xf32>
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%j] : memref<300xf32>
  }
}

// A function without a formula is an op in double precision; truth values are
// bytes; what is looked up is tested.
// A root of single precision is rounded from one of double.
// CHECK-LABEL: gpu.func @k_rare(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %[[AT:.*]]: memref<4xi64>, %{{.*}}: memref<4xf32>, %[[M:.*]]: memref<4xi8>, %[[CELLS:.*]]: memref<5xi64>)
// CHECK: memref.store %{{.*}}, %[[CELLS]]
// CHECK: math.powf %{{.*}} : f64
// CHECK: arith.remf %{{.*}} : f64
// CHECK: math.log1p %{{.*}} : f64
// CHECK: %[[ROOT:.*]] = math.sqrt %{{.*}} : f64
// CHECK: arith.truncf %[[ROOT]] : f64 to f32
// CHECK: memref.store %{{.*}}, %[[M]]{{.*}} : memref<4xi8>
// PTX: .visible .entry k_rare(
// PTX: __nv_pow
// PTX: __nv_fmod
// PTX: __nv_log1p
// PTX: __nv_sqrt,
kernel.func @k_rare(%x: memref<8xf32>, %at: memref<4xi64>) to (%y: memref<4xf32>, %m: memref<4xi1>) schedule "pointwise" {
  kernel.nest (%i) in [4] {
    %0 = kernel.load %at[%i] : memref<4xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = kernel.load %x[%1] : memref<8xf32>
    %3 = math.powf %2, %2 : f32
    %4 = arith.remf %3, %2 : f32
    %5 = math.log1p %4 : f32
    %6 = arith.cmpf olt, %5, %2 : f32
    %7 = math.sqrt %5 : f32
    kernel.store %7, %y[%i] : memref<4xf32>
    kernel.store %6, %m[%i] : memref<4xi1>
  }
}
