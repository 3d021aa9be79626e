// Functional collectives and stage markers.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @collectives
// CHECK: %sum = aten.c10d.all_reduce(%arg0, "sum", "0") : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %done = aten.c10d.wait_tensor(%sum) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %all = aten.c10d.all_gather_into_tensor(%arg0, 2, "0") : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK: %part = aten.c10d.reduce_scatter_tensor(%arg0, "sum", 2, "0") : (tensor<4x8xf32>) -> tensor<2x8xf32>
func.func @collectives(%arg0: tensor<4x8xf32>) {
  %sum = aten.c10d.all_reduce(%arg0, "sum", "0") : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %done = aten.c10d.wait_tensor(%sum) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %all = aten.c10d.all_gather_into_tensor(%arg0, 2, "0") : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %part = aten.c10d.reduce_scatter_tensor(%arg0, "sum", 2, "0") : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return
}
