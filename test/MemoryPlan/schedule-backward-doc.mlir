// The example of --cutback-schedule-backward.
//
// RUN: cutback-opt %s --cutback-schedule-backward | FileCheck %s

func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}
func.func @g_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
  %wide = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %large = aten.cumsum(%a, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %small = aten.sum(%wide) : (tensor<64xf32>) -> tensor<f32>
  return %large, %small : tensor<64xf32>, tensor<f32>
}
joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @g_backward(
// CHECK-NEXT: %[[WIDE:.*]] = aten.cumsum(%arg1, 0)
// CHECK-NEXT: %[[SMALL:.*]] = aten.sum(%[[WIDE]])
// CHECK-NEXT: %[[LARGE:.*]] = aten.cumsum(%arg0, 0)
// CHECK-NEXT: return %[[LARGE]], %[[SMALL]]
