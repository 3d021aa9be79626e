// Reads and writes at computed places.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @an_index_list_may_hold_none
// CHECK: %read = aten.index.Tensor(%arg0, [none, none, %arg1, %arg2]) : (tensor<2x3x8x8xf32>, tensor<4x1xi64>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
// CHECK: %write = aten.index_put(%arg0, [none, none, %arg1, %arg2], %arg3, true) : (tensor<2x3x8x8xf32>, tensor<4x1xi64>, tensor<4xi64>, tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32>
func.func @an_index_list_may_hold_none(%arg0: tensor<2x3x8x8xf32>, %arg1: tensor<4x1xi64>, %arg2: tensor<4xi64>, %arg3: tensor<2x3x4x4xf32>) {
  %read = aten.index.Tensor(%arg0, [none, none, %arg1, %arg2]) : (tensor<2x3x8x8xf32>, tensor<4x1xi64>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %write = aten.index_put(%arg0, [none, none, %arg1, %arg2], %arg3, true) : (tensor<2x3x8x8xf32>, tensor<4x1xi64>, tensor<4xi64>, tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32>
  return
}

// CHECK-LABEL: @tables_are_read_by_row
// CHECK: %rows = aten.embedding(%arg0, %arg1, 0) : (tensor<100x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
// CHECK: %gradient = aten.embedding_dense_backward(%arg2, %arg1, 100, 0, false) : (tensor<4x8x16xf32>, tensor<4x8xi64>) -> tensor<100x16xf32>
func.func @tables_are_read_by_row(%arg0: tensor<100x16xf32>, %arg1: tensor<4x8xi64>, %arg2: tensor<4x8x16xf32>) {
  %rows = aten.embedding(%arg0, %arg1, 0) : (tensor<100x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
  %gradient = aten.embedding_dense_backward(%arg2, %arg1, 100, 0, false) : (tensor<4x8x16xf32>, tensor<4x8xi64>) -> tensor<100x16xf32>
  return
}

// CHECK-LABEL: @gather_and_scatter
// CHECK: %picked = aten.gather(%arg0, 1, %arg1) : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
// CHECK: %set = aten.scatter.value(%arg0, 1, %arg1, -1.000000e+00) : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4x8xf32>
// CHECK: %sum = aten.scatter_add(%arg0, 1, %arg1, %picked) : (tensor<4x8xf32>, tensor<4x1xi64>, tensor<4x1xf32>) -> tensor<4x8xf32>
func.func @gather_and_scatter(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi64>) {
  %picked = aten.gather(%arg0, 1, %arg1) : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
  %set = aten.scatter.value(%arg0, 1, %arg1, -1.000000e+00) : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4x8xf32>
  %sum = aten.scatter_add(%arg0, 1, %arg1, %picked) : (tensor<4x8xf32>, tensor<4x1xi64>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return
}
