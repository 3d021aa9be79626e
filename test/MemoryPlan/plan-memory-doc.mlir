// The example of --cutback-plan-memory.
//
// RUN: cutback-opt %s --cutback-plan-memory -o /dev/null | FileCheck %s
// RUN: cutback-opt %s --cutback-plan-memory="alignment-bytes=256 in-place=false" -o /dev/null | FileCheck %s --check-prefix=APART

func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = aten.sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
  return %b, %b : tensor<64xf32>, tensor<64xf32>
}
func.func @g_backward(%b: tensor<64xf32> {joint.name = "b", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<64xf32> {
  %c = aten.mul.Tensor(%b, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}
joint.partition @g_partition forward @g_forward backward @g_backward saved ["b"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}

// CHECK:      {{^}}@g_partition: arena 512, lower bound 512
// CHECK-NEXT: peak at c (backward): saved 0, results 256, gradients 256, temporaries 0
// CHECK-NEXT: a: temporary, ops 0 to 0, bytes 0 to 255
// CHECK-NEXT: b: result, ops 1 to 4, bytes 0 to 255, in place of a
// CHECK-NEXT: c: gradient, ops 3 to 4, bytes 256 to 511

// APART:      {{^}}@g_partition: arena 512, lower bound 512
// APART:      a: temporary, ops 0 to 1
// APART-NOT:  in place
