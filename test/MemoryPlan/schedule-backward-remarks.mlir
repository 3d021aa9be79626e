// RUN: cutback-opt %s --cutback-schedule-backward -verify-diagnostics -o /dev/null
// RUN: not cutback-opt %s --cutback-schedule-backward=sym=s0 -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: {{.*}}s0

func.func @g_forward(%x: tensor<?xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = aten.exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %a : tensor<?xf32>, tensor<?xf32>
}
func.func @g_backward(%a: tensor<?xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<?xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<?xf32> {
  %c = aten.mul.Tensor(%a, %t) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}
// expected-remark @below {{the backward keeps its order: size of 'x' of type 'tensor<?xf32>' is not known}}
joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
