// From elements that lie side by side to those that do not.

// Neighbors, and one number for all of a row.
kernel.func @k_near(%x: memref<4096xf32>, %w: memref<64xf32>) to (%y: memref<4096xf32>) schedule "pointwise" {
  kernel.nest (%i, %j) in [64, 64] {
    %0 = kernel.load %x[%i * 64 + %j] : memref<4096xf32>
    %1 = kernel.load %w[%i] : memref<64xf32>
    %2 = arith.addf %0, %1 : f32
    kernel.store %2, %y[%i * 64 + %j] : memref<4096xf32>
  }
}

// Lanes go along %j, memory along %i.
kernel.func @k_transposed(%x: memref<4096xf32>) to (%y: memref<4096xf32>) schedule "pointwise" {
  kernel.nest (%i, %j) in [64, 64] {
    %0 = kernel.load %x[%j * 64 + %i] : memref<4096xf32>
    kernel.store %0, %y[%i * 64 + %j] : memref<4096xf32>
  }
}

// Columns are neighbors where rows of the same memory are not.
kernel.func @k_columns(%x: memref<4096xf32>) to (%y: memref<64xf32>) schedule "partial" {
  kernel.nest (%i, %j) in [64 reduced, 64] {
    %0 = kernel.load %x[%i * 64 + %j] : memref<4096xf32>
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%j] : memref<64xf32>
  }
}
kernel.func @k_rows(%x: memref<4096xf32>) to (%y: memref<64xf32>) schedule "row" {
  kernel.nest (%i, %j) in [64, 64 reduced] {
    %0 = kernel.load %x[%j * 64 + %i] : memref<4096xf32>
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%i] : memref<64xf32>
  }
}

// Data say which row, and which element of it.
kernel.func @k_data(%x: memref<4096xf32>, %at: memref<64xi64>) to (%y: memref<4096xf32>, %z: memref<64xf32>) schedule "pointwise" {
  kernel.nest (%i, %j) in [64, 64] {
    %0 = kernel.load %at[%i] : memref<64xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = kernel.load %x[%1 * 64 + %j] : memref<4096xf32>
    kernel.store %2, %y[%i * 64 + %j] : memref<4096xf32>
  }
  kernel.nest (%i) in [64] {
    %0 = kernel.load %at[%i] : memref<64xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = kernel.load %x[%1 * 8] : memref<4096xf32>
    kernel.store %2, %z[%i] : memref<64xf32>
  }
}

// One column of a wider result; an index that is computed, under a mask: where it
// is true, neighbors are.
kernel.func @k_apart(%x: memref<4096xf32>) to (%y: memref<4096xf32>, %z: memref<4096xf32>) schedule "pointwise" {
  kernel.nest (%i) in [64] {
    %0 = kernel.load %x[%i] : memref<4096xf32>
    kernel.store %0, %y[%i * 64] : memref<4096xf32>
  }
  kernel.nest (%i, %j) in [64, 64] {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %0 = arith.subi %j, %c2 : index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.cmpi sge, %0, %c0 : index
    %z0 = arith.constant 0.0 : f32
    %3 = kernel.load %x[%i * 64 + %1] if %2 else %z0 : memref<4096xf32>
    kernel.store %3, %z[%i * 64 + %j] : memref<4096xf32>
  }
}
