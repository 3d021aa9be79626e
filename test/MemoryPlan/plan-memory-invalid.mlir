// RUN: cutback-opt %s --cutback-plan-memory -verify-diagnostics -split-input-file -o /dev/null
// RUN: not cutback-opt %s --split-input-file --cutback-plan-memory=alignment-bytes=48 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALIGN
// RUN: not cutback-opt %s --split-input-file --cutback-plan-memory=alignment-bytes=8192 -o /dev/null 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not cutback-opt %s --split-input-file --cutback-plan-memory=sym=s0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYMBOL

// ALIGN: error: alignment of 48 bytes is not a power of two up to 4096
// LARGE: error: alignment of 8192 bytes is not a power of two up to 4096
// SYMBOL: error: {{.*}}s0

// expected-error @below {{size of 'x' of type 'tensor<?xf32>' is not known}}
// expected-note @below {{the memory plan needs the values of all symbols (--sym), and no size that depends on data}}
func.func @g_forward(%x: tensor<?xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = aten.exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %a : tensor<?xf32>, tensor<?xf32>
}
func.func @g_backward(%a: tensor<?xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<?xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<?xf32> {
  %c = aten.mul.Tensor(%a, %t) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}
joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
