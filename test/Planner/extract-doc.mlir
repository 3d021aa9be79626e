// The example of --cutback-extract.
//
// RUN: cutback-opt %s --cutback-extract | FileCheck %s

joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func @exp_forward(%arg0: tensor<4xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {no_inline} {
// CHECK-NEXT:   %e = aten.exp(%arg0) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return %e, %e : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @exp_backward(%arg0: tensor<4xf32> {joint.name = "e", joint.role = #joint.role<saved>}, %arg1: tensor<4xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<4xf32> attributes {no_inline} {
// CHECK-NEXT:   %g = aten.mul.Tensor(%arg1, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return %g : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: joint.partition @exp_partition of @exp forward @exp_forward backward @exp_backward saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
