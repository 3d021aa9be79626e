// The example of --cutback-print-analysis.
//
// RUN: cutback-opt %s --cutback-print-analysis=columns=set,bytes -o /dev/null | FileCheck %s

joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %e = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: {{^}}x: set=F bytes=16
// CHECK-NEXT: {{^}}t: set=B bytes=16
// CHECK-NEXT: {{^}}e: set=F bytes=16
// CHECK-NEXT: {{^}}g: set=B bytes=16
