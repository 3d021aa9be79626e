// The example of --cutback-plan.
//
// RUN: cutback-opt %s --cutback-plan | FileCheck %s

joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
  %e = aten.exp(%x) : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
}

// CHECK: joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
// CHECK-NEXT:   %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<1048576xf32>) -> tensor<1048576xf32>
// CHECK-NEXT:   %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
// CHECK-NEXT:   joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
// CHECK-NEXT: }
