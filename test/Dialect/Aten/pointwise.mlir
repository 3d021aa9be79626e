// Elementwise ops: broadcasting, type promotion, numbers and symbolic scalars
// in place of tensors.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @operands_broadcast_and_promote
// CHECK: %add = aten.add.Tensor(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8xf64>) -> tensor<4x8xf64>
// CHECK: %sub = aten.sub.Tensor(%arg0, %arg2, alpha = 2) : (tensor<4x8xf32>, tensor<4x1xbf16>) -> tensor<4x8xf32>
// CHECK: %div = aten.div.Tensor(%arg3, %arg3) : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xf32>
// CHECK: %mode = aten.div.Tensor_mode(%arg3, %arg3, rounding_mode = "floor") : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xi64>
// CHECK: %exp = aten.exp(%arg3) : (tensor<4x8xi64>) -> tensor<4x8xf32>
// CHECK: %fma = aten.addcmul(%arg0, %arg0, %arg2, value = 5.000000e-01) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xbf16>) -> tensor<4x8xf32>
func.func @operands_broadcast_and_promote(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf64>, %arg2: tensor<4x1xbf16>, %arg3: tensor<4x8xi64>) {
  %add = aten.add.Tensor(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8xf64>) -> tensor<4x8xf64>
  %sub = aten.sub.Tensor(%arg0, %arg2, alpha = 2) : (tensor<4x8xf32>, tensor<4x1xbf16>) -> tensor<4x8xf32>
  %div = aten.div.Tensor(%arg3, %arg3) : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xf32>
  %mode = aten.div.Tensor_mode(%arg3, %arg3, rounding_mode = "floor") : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xi64>
  %exp = aten.exp(%arg3) : (tensor<4x8xi64>) -> tensor<4x8xf32>
  %fma = aten.addcmul(%arg0, %arg0, %arg2, value = 0.5) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xbf16>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @a_number_or_a_symbolic_scalar_takes_the_place_of_a_tensor
// CHECK: %mul = aten.mul.Tensor(%arg0, 1.250000e-01) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %rsub = aten.sub.Tensor(1, %arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %scaled = aten.mul.Tensor(%arg0, %arg1) : (tensor<4x8xf32>, f64) -> tensor<4x8xf32>
// CHECK: %pow = aten.pow.Tensor_Scalar(%arg0, %arg2) : (tensor<4x8xf32>, index) -> tensor<4x8xf32>
func.func @a_number_or_a_symbolic_scalar_takes_the_place_of_a_tensor(%arg0: tensor<4x8xf32>, %arg1: f64, %arg2: index) {
  %mul = aten.mul.Tensor(%arg0, 1.250000e-01) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %rsub = aten.sub.Tensor(1, %arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %scaled = aten.mul.Tensor(%arg0, %arg1) : (tensor<4x8xf32>, f64) -> tensor<4x8xf32>
  %pow = aten.pow.Tensor_Scalar(%arg0, %arg2) : (tensor<4x8xf32>, index) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @comparisons_give_bools
// CHECK: %le = aten.le.Scalar(%arg0, 0) : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK: %eq = aten.eq.Tensor(%arg0, %arg0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK: %not = aten.logical_not(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK: %and = aten.bitwise_and.Tensor(%arg1, %le) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
// CHECK: %where = aten.where.self(%le, %arg0, -inf) : (tensor<4x8xi1>, tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @comparisons_give_bools(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi1>) {
  %le = aten.le.Scalar(%arg0, 0) : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %eq = aten.eq.Tensor(%arg0, %arg0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %not = aten.logical_not(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %and = aten.bitwise_and.Tensor(%arg1, %le) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  %where = aten.where.self(%le, %arg0, -inf) : (tensor<4x8xi1>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @activations_keep_shape_and_type
// CHECK: %relu = aten.relu(%arg0) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %gelu = aten.gelu(%arg0, approximate = "tanh") : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %erf = aten.gelu(%arg0) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %clamp = aten.clamp(%arg0, none, 6) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %back = aten.threshold_backward(%arg0, %relu, 0) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %dgelu = aten.gelu_backward(%arg0, %arg0) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
func.func @activations_keep_shape_and_type(%arg0: tensor<4x8xbf16>) {
  %relu = aten.relu(%arg0) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %gelu = aten.gelu(%arg0, approximate = "tanh") : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %erf = aten.gelu(%arg0, approximate = "none") : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %clamp = aten.clamp(%arg0, none, 6) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %back = aten.threshold_backward(%arg0, %relu, 0) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %dgelu = aten.gelu_backward(%arg0, %arg0) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return
}

// CHECK-LABEL: @unknown_sizes_stay_compatible_with_static_ones
// CHECK: %known = aten.add.Tensor(%arg0, %arg1) : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %unknown = aten.neg(%arg0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %declared = aten.neg(%arg0) : (tensor<?x8xf32>) -> tensor<16x8xf32>
func.func @unknown_sizes_stay_compatible_with_static_ones(%arg0: tensor<?x8xf32>, %arg1: tensor<4x8xf32>) {
  %known = aten.add.Tensor(%arg0, %arg1) : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %unknown = aten.neg(%arg0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %declared = aten.neg(%arg0) : (tensor<?x8xf32>) -> tensor<16x8xf32>
  return
}
