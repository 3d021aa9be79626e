// Reductions, scans and sorting.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @reductions_drop_or_keep_dimensions
// CHECK: %all = aten.sum(%arg0) : (tensor<4x8xf32>) -> tensor<f32>
// CHECK: %rows = aten.sum.dim_IntList(%arg0, [1]) : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: %kept = aten.sum.dim_IntList(%arg0, [0], true, dtype = f64) : (tensor<4x8xf32>) -> tensor<1x8xf64>
// CHECK: %mean = aten.mean.dim(%arg0, [-1, -2], true) : (tensor<4x8xf32>) -> tensor<1x1xf32>
// CHECK: %amax = aten.amax(%arg0, [-1], true) : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK: %one = aten.sum.dim_IntList(%arg0, [1]) : (tensor<4x8xf32>) -> tensor<4xf32>
func.func @reductions_drop_or_keep_dimensions(%arg0: tensor<4x8xf32>) {
  %all = aten.sum(%arg0) : (tensor<4x8xf32>) -> tensor<f32>
  %rows = aten.sum.dim_IntList(%arg0, [1]) : (tensor<4x8xf32>) -> tensor<4xf32>
  %kept = aten.sum.dim_IntList(%arg0, [0], true, dtype = f64) : (tensor<4x8xf32>) -> tensor<1x8xf64>
  %mean = aten.mean.dim(%arg0, [-1, -2], true) : (tensor<4x8xf32>) -> tensor<1x1xf32>
  %amax = aten.amax(%arg0, [-1], true) : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %one = aten.sum.dim_IntList(%arg0, 1) : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @several_results_have_several_names
// CHECK: %var, %mean = aten.var_mean.correction(%arg0, [1], correction = 0, keepdim = true) : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
// CHECK: %values, %indices = aten.max.dim(%arg0, 1) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
// CHECK: %top, %places = aten.topk(%arg0, 2) : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
// CHECK: %sorted, %order = aten.sort(%arg0, -1, true) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
func.func @several_results_have_several_names(%arg0: tensor<4x8xf32>) {
  %var, %mean = aten.var_mean.correction(%arg0, [1], correction = 0, keepdim = true) : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
  %values, %indices = aten.max.dim(%arg0, 1) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  %top, %places = aten.topk(%arg0, 2) : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %sorted, %order = aten.sort(%arg0, -1, true) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
  return
}

// CHECK-LABEL: @integers_are_counted_in_64_bits
// CHECK: %count = aten.sum(%arg0) : (tensor<4x8xi1>) -> tensor<i64>
// CHECK: %any = aten.any.dim(%arg0, 1) : (tensor<4x8xi1>) -> tensor<4xi1>
// CHECK: %best = aten.argmax(%arg1, 1) : (tensor<4x8xi32>) -> tensor<4xi64>
// CHECK: %running = aten.cumsum(%arg1, 0) : (tensor<4x8xi32>) -> tensor<4x8xi64>
func.func @integers_are_counted_in_64_bits(%arg0: tensor<4x8xi1>, %arg1: tensor<4x8xi32>) {
  %count = aten.sum(%arg0) : (tensor<4x8xi1>) -> tensor<i64>
  %any = aten.any.dim(%arg0, 1) : (tensor<4x8xi1>) -> tensor<4xi1>
  %best = aten.argmax(%arg1, 1) : (tensor<4x8xi32>) -> tensor<4xi64>
  %running = aten.cumsum(%arg1, 0) : (tensor<4x8xi32>) -> tensor<4x8xi64>
  return
}
