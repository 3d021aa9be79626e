// RUN: cutback-opt %s --cutback-schedule-backward --split-input-file | FileCheck %s

// What starts a transfer stays in front of what stands behind it, and what
// waits for one stays behind what stands in front, though another order needs
// less memory.

func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}
func.func @g_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
  %wide = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %large = aten.c10d.all_reduce(%a, "sum", "0") {joint.early} : (tensor<64xf32>) -> tensor<64xf32>
  %small = aten.sum(%wide) : (tensor<64xf32>) -> tensor<f32>
  return %large, %small : tensor<64xf32>, tensor<f32>
}
joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @g_backward(
// CHECK-NEXT: aten.cumsum
// CHECK-NEXT: aten.c10d.all_reduce
// CHECK-NEXT: aten.sum

// -----

// The same without the mark.
func.func @h_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}
func.func @h_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
  %wide = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %large = aten.c10d.all_reduce(%a, "sum", "0") : (tensor<64xf32>) -> tensor<64xf32>
  %small = aten.sum(%wide) : (tensor<64xf32>) -> tensor<f32>
  return %large, %small : tensor<64xf32>, tensor<f32>
}
joint.partition @h_partition forward @h_forward backward @h_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @h_backward(
// CHECK-NEXT: aten.cumsum
// CHECK-NEXT: aten.sum
// CHECK-NEXT: aten.c10d.all_reduce

// -----

// %small is what it waited for; running the sum behind it would need less.
func.func @w_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}
func.func @w_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
  %wide = aten.c10d.all_reduce(%t, "sum", "0") {joint.early} : (tensor<64xf32>) -> tensor<64xf32>
  %large = aten.cumsum(%a, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %done = aten.c10d.wait_tensor(%wide) {joint.late} : (tensor<64xf32>) -> tensor<64xf32>
  %small = aten.sum(%done) : (tensor<64xf32>) -> tensor<f32>
  return %large, %small : tensor<64xf32>, tensor<f32>
}
joint.partition @w_partition forward @w_forward backward @w_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @w_backward(
// CHECK-NEXT: aten.c10d.all_reduce
// CHECK-NEXT: aten.cumsum
// CHECK-NEXT: aten.c10d.wait_tensor
// CHECK-NEXT: aten.sum

// -----

func.func @v_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}
func.func @v_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
  %wide = aten.c10d.all_reduce(%t, "sum", "0") : (tensor<64xf32>) -> tensor<64xf32>
  %large = aten.cumsum(%a, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %done = aten.c10d.wait_tensor(%wide) : (tensor<64xf32>) -> tensor<64xf32>
  %small = aten.sum(%done) : (tensor<64xf32>) -> tensor<f32>
  return %large, %small : tensor<64xf32>, tensor<f32>
}
joint.partition @v_partition forward @v_forward backward @v_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK-LABEL: func.func @v_backward(
// CHECK-NEXT: aten.c10d.all_reduce
// CHECK-NEXT: aten.c10d.wait_tensor
// CHECK-NEXT: aten.sum
// CHECK-NEXT: aten.cumsum
