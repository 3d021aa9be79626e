// The example of --cutback-verify-partition.
//
// RUN: cutback-opt %s --cutback-verify-partition | FileCheck %s

joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
// CHECK-NEXT:   %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
