// A backward whose order is kept: two large values would live together where
// the order in the input frees one before the other is made.
//
// RUN: cutback-opt %s --cutback-reorder-backward --remark-policy=all --remarks-filter=cutback-reorder-backward 2>&1 | FileCheck %s

// CHECK: remark: [Missed] order-kept
// CHECK-SAME: Category:cutback-reorder-backward
// CHECK-SAME: Reason="recomputing right before the first use needs 148 bytes at the peak, the order kept 144"
// CHECK-LABEL: func.func @kept
// CHECK: aten.sum.dim_IntList
// CHECK-NEXT: aten.neg
func.func @kept(%x: tensor<4xf32> {joint.role = #joint.role<saved>}, %t: tensor<f32> {joint.role = #joint.role<tangent of 0>}) -> tensor<f32> {
  %big = aten.expand(%x, [8, 4]) : (tensor<4xf32>) -> tensor<8x4xf32>
  %copy = aten.exp(%big) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %small = aten.sum.dim_IntList(%copy, [0, 1]) : (tensor<8x4xf32>) -> tensor<f32>
  %g = aten.neg(%t) : (tensor<f32>) -> tensor<f32>
  %r = aten.mul.Tensor(%g, %small) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
