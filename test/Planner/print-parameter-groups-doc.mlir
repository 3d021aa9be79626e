// The example of --cutback-print-parameter-groups.
//
// RUN: cutback-opt %s --cutback-print-parameter-groups -o /dev/null | FileCheck %s

joint.graph @linear(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<param "b">}, %x: tensor<4x4xf32> {joint.role = #joint.role<input>}, %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
  %y = aten.addmm(%b, %x, %w) : (tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %xt = aten.t(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dw = aten.mm(%xt, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %db = aten.sum.dim_IntList(%t, [0]) : (tensor<4x4xf32>) -> tensor<4xf32>
  %wt = aten.t(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = aten.mm(%t, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %y gradients(%dw of 0, %db of 1, %dx of 2) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
}

// CHECK: {{^}}@linear: parameters w, b; intermediates y{{$}}
