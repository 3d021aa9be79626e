// The example of --cutback-partition, line by line.
//
// RUN: cutback-opt %s --cutback-partition | FileCheck %s

joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
  %e = aten.exp(%x) : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
}

// CHECK-LABEL: joint.graph @exp
// CHECK: func.func @exp_forward
// CHECK: func.func @exp_backward
// CHECK: joint.partition @exp_partition of @exp forward @exp_forward backward @exp_backward saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
