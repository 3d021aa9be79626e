// RUN: cutback-opt %s --split-input-file --verify-diagnostics \
// RUN:   --cutback-lower-kernels-to-gpu

// expected-error@+2 {{is one for all sizes}}
// expected-note@+1 {{`cutback compile --sym` gives them values}}
kernel.func @k_exp(%x: memref<?xf32>) to (%y: memref<?xf32>) schedule "pointwise" sizes (%s0: index) {
  kernel.nest (%i) in [symbol(%s0) * 64] {
    %0 = kernel.load %x[%i] : memref<?xf32>
    %1 = math.exp %0 : f32
    kernel.store %1, %y[%i] : memref<?xf32>
  }
}

// -----

kernel.func @k_zeros(%x: memref<4xi32>) to (%y: memref<4xi32>) schedule "pointwise" {
  kernel.nest (%i) in [4] {
    %0 = kernel.load %x[%i] : memref<4xi32>
    // expected-error@+1 {{has no machine code}}
    %1 = math.ctlz %0 : i32
    kernel.store %1, %y[%i] : memref<4xi32>
  }
}
