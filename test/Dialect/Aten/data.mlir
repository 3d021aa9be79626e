// Copies, concatenation, padding and creation.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @copies_and_moves
// CHECK: %clone = aten.clone(%arg0, memory_format = "contiguous_format") : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %half = aten._to_copy(%arg0, dtype = f16) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK: %cat = aten.cat([%arg0, %arg1], 1) : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
// CHECK: %stack = aten.stack([%arg0, %arg0]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
// CHECK: %pad = aten.constant_pad_nd(%arg0, [0, 1, 2, 0], -inf) : (tensor<4x8xf32>) -> tensor<6x9xf32>
// CHECK: %roll = aten.roll(%arg0, [-3, 1], [0, 1]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %scatter = aten.slice_scatter(%arg0, %arg1, 1, 6, 9223372036854775807) : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
// CHECK: %repeat = aten.repeat(%arg0, [2, 1, 1]) : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
func.func @copies_and_moves(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>) {
  %clone = aten.clone(%arg0, memory_format = "contiguous_format") : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %half = aten._to_copy(%arg0, dtype = f16) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %cat = aten.cat([%arg0, %arg1], 1) : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
  %stack = aten.stack([%arg0, %arg0]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %pad = aten.constant_pad_nd(%arg0, [0, 1, 2, 0], -inf) : (tensor<4x8xf32>) -> tensor<6x9xf32>
  %roll = aten.roll(%arg0, [-3, 1], [0, 1]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %scatter = aten.slice_scatter(%arg0, %arg1, 1, 6, 9223372036854775807) : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  %repeat = aten.repeat(%arg0, [2, 1, 1]) : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: @new_tensors_say_type_and_device
// CHECK: %full = aten.full([4, 4], -inf, dtype = f32, layout = "strided", device = "cuda:0", pin_memory = false) : () -> tensor<4x4xf32>
// CHECK: %rows = aten.full([%arg1, 8], 0, dtype = i64) : (index) -> tensor<?x8xi64>
// CHECK: %like = aten.full_like(%arg0, 1, pin_memory = false, memory_format = "preserve_format") : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %scalar = aten.scalar_tensor(0.000000e+00, dtype = f32, device = "cpu") : () -> tensor<f32>
// CHECK: %empty = aten.empty.memory_format([8, 1], dtype = bf16) : () -> tensor<8x1xbf16>
// CHECK: %range = aten.arange.start_step(0, 16, 2, dtype = f32) : () -> tensor<8xf32>
// CHECK: %fresh = aten.new_empty_strided(%arg0, [2, 3], [3, 1]) : (tensor<4x8xf32>) -> tensor<2x3xf32>
func.func @new_tensors_say_type_and_device(%arg0: tensor<4x8xf32>, %arg1: index) {
  %full = aten.full([4, 4], -inf, dtype = f32, layout = "strided", device = "cuda:0", pin_memory = false) : () -> tensor<4x4xf32>
  %rows = aten.full([%arg1, 8], 0, dtype = i64) : (index) -> tensor<?x8xi64>
  %like = aten.full_like(%arg0, 1, pin_memory = false, memory_format = "preserve_format") : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %scalar = aten.scalar_tensor(0.000000e+00, dtype = f32, device = "cpu") : () -> tensor<f32>
  %empty = aten.empty.memory_format([8, 1], dtype = bf16) : () -> tensor<8x1xbf16>
  %range = aten.arange.start_step(0, 16, 2, dtype = f32) : () -> tensor<8xf32>
  %fresh = aten.new_empty_strided(%arg0, [2, 3], [3, 1]) : (tensor<4x8xf32>) -> tensor<2x3xf32>
  return
}
