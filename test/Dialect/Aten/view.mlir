// Views: new sizes for the same storage.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @views_of_known_sizes
// CHECK: %view = aten.view(%arg0, [2, 2, 8]) : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
// CHECK: %flat = aten.view(%arg0, [-1]) : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK: %permute = aten.permute(%arg0, [1, 0]) : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK: %wide = aten.unsqueeze(%arg0, 0) : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
// CHECK: %expand = aten.expand(%wide, [3, -1, 8]) : (tensor<1x4x8xf32>) -> tensor<3x4x8xf32>
// CHECK: %narrow = aten.squeeze.dims(%wide, [0]) : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// CHECK: %slice = aten.slice.Tensor(%arg0, 1, 2, 9223372036854775807) : (tensor<4x8xf32>) -> tensor<4x6xf32>
// CHECK: %row = aten.select.int(%arg0, 0, -1) : (tensor<4x8xf32>) -> tensor<8xf32>
// CHECK: %alias = aten.alias(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %strided = aten.as_strided(%arg0, [8, 4], [4, 1], 0) : (tensor<4x8xf32>) -> tensor<8x4xf32>
func.func @views_of_known_sizes(%arg0: tensor<4x8xf32>) {
  %view = aten.view(%arg0, [2, 2, 8]) : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  %flat = aten.view(%arg0, [-1]) : (tensor<4x8xf32>) -> tensor<32xf32>
  %permute = aten.permute(%arg0, [1, 0]) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %wide = aten.unsqueeze(%arg0, 0) : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %expand = aten.expand(%wide, [3, -1, 8]) : (tensor<1x4x8xf32>) -> tensor<3x4x8xf32>
  %narrow = aten.squeeze.dims(%wide, [0]) : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  %slice = aten.slice.Tensor(%arg0, 1, 2, 9223372036854775807) : (tensor<4x8xf32>) -> tensor<4x6xf32>
  %row = aten.select.int(%arg0, 0, -1) : (tensor<4x8xf32>) -> tensor<8xf32>
  %alias = aten.alias(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %strided = aten.as_strided(%arg0, [8, 4], [4, 1], 0) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @a_list_of_sizes_holds_numbers_and_operands
// CHECK: %view = aten.view(%arg0, [%arg1, 2, 4]) : (tensor<?x8xf32>, index) -> tensor<?x2x4xf32>
// CHECK: %slice = aten.slice.Tensor(%arg0, 0, 0, %arg1) : (tensor<?x8xf32>, index) -> tensor<?x8xf32>
func.func @a_list_of_sizes_holds_numbers_and_operands(%arg0: tensor<?x8xf32>, %arg1: index) {
  %view = aten.view(%arg0, [%arg1, 2, 4]) : (tensor<?x8xf32>, index) -> tensor<?x2x4xf32>
  %slice = aten.slice.Tensor(%arg0, 0, 0, %arg1) : (tensor<?x8xf32>, index) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @a_list_of_views_has_a_result_for_each
// CHECK: %a, %b = aten.split.Tensor(%arg0, 4, -1) : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: %c, %d = aten.split_with_sizes(%arg0, [3, 5], 1) : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>)
// CHECK: %e, %f, %g, %h = aten.unbind.int(%arg0) : (tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
func.func @a_list_of_views_has_a_result_for_each(%arg0: tensor<4x8xf32>) {
  %a, %b = aten.split.Tensor(%arg0, 4, -1) : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %c, %d = aten.split_with_sizes(%arg0, [3, 5], 1) : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>)
  %e, %f, %g, %h = aten.unbind.int(%arg0) : (tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// CHECK-LABEL: @complex_numbers_are_pairs
// CHECK: %pairs = aten.view_as_real(%arg0) : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
// CHECK: %back = aten.view_as_complex(%pairs) : (tensor<4x2xf32>) -> tensor<4xcomplex<f32>>
func.func @complex_numbers_are_pairs(%arg0: tensor<4xcomplex<f32>>) {
  %pairs = aten.view_as_real(%arg0) : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
  %back = aten.view_as_complex(%pairs) : (tensor<4x2xf32>) -> tensor<4xcomplex<f32>>
  return
}
