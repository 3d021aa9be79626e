kernel.func @k_zeros(%x: memref<4xi32>) to (%y: memref<4xi32>) schedule "pointwise" {
  kernel.nest (%i) in [4] {
    %0 = kernel.load %x[%i] : memref<4xi32>
    %1 = math.ctlz %0 : i32
    kernel.store %1, %y[%i] : memref<4xi32>
  }
}

kernel.func @k_neg(%x: memref<4xf32>) to (%y: memref<4xf32>) schedule "pointwise" {
  kernel.nest (%i) in [4] {
    %0 = kernel.load %x[%i] : memref<4xf32>
    %1 = arith.negf %0 : f32
    kernel.store %1, %y[%i] : memref<4xf32>
  }
}
