// The example of --cutback-split-backward.
//
// RUN: cutback-opt %s --cutback-split-backward | FileCheck %s

joint.graph @mm(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4x4xf32> {joint.role = #joint.role<input>}, %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %xt = aten.t(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dw = aten.mm(%xt, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %wt = aten.t(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = aten.mm(%t, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %y gradients(%dw of 0, %dx of 1) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: func.func @mm_forward
// CHECK: func.func @mm_input(%arg0: tensor<4x4xf32> {joint.name = "w", joint.role = #joint.role<saved>}, %arg1: tensor<4x4xf32> {joint.name = "x", joint.role = #joint.role<saved>}, %arg2: tensor<4x4xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) attributes {no_inline} {
// CHECK-NEXT:   %wt = aten.t(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   %dx = aten.mm(%arg2, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   return %dx, %arg1, %arg2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @mm_weight(%arg0: tensor<4x4xf32> {joint.name = "x", joint.role = #joint.role<saved>}, %arg1: tensor<4x4xf32> {joint.name = "t", joint.role = #joint.role<saved>}) -> tensor<4x4xf32> attributes {no_inline} {
// CHECK-NEXT:   %xt = aten.t(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   %dw = aten.mm(%xt, %arg1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   return %dw : tensor<4x4xf32>
// CHECK-NEXT: }
