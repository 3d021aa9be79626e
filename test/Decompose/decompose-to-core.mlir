// RUN: cutback-opt %s --cutback-decompose-to-core | FileCheck %s

// CHECK-LABEL: joint.graph @statistics_of_an_evaluation_are_empty(
// CHECK-NOT: native_batch_norm
// CHECK: %[[MEAN:.*]] = aten.zeros([0], dtype = f32) : () -> tensor<0xf32>
// CHECK: joint.output %{{.*}}, %[[MEAN]]
joint.graph @statistics_of_an_evaluation_are_empty(%x: tensor<2x3x4xf32> {joint.role = #joint.role<input>}, %m: tensor<3xf32> {joint.role = #joint.role<input>}, %v: tensor<3xf32> {joint.role = #joint.role<input>}) -> (tensor<2x3x4xf32>, tensor<0xf32>) gradients () {
  %y:3 = aten.native_batch_norm(%x, none, none, %m, %v, false, 0.1, 0.5) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<0xf32>, tensor<0xf32>)
  joint.output %y#0, %y#1 : tensor<2x3x4xf32>, tensor<0xf32>
}

// CHECK-LABEL: joint.graph @a_pseudo_inverse_is_a_product_of_a_spectrum(
// CHECK: aten._linalg_svd(%a)
// CHECK: aten.amax(
// CHECK: aten.mm(
// CHECK-NOT: linalg_pinv
joint.graph @a_pseudo_inverse_is_a_product_of_a_spectrum(%a: tensor<2x3xf32> {joint.role = #joint.role<input>}) -> (tensor<3x2xf32>) gradients () {
  %y = aten.linalg_pinv.atol_rtol_tensor(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  joint.output %y : tensor<3x2xf32>
}

// By default the tolerance depends on the size.
// CHECK-LABEL: joint.graph @a_pseudo_inverse_of_unknown_size_stays(
// CHECK-NEXT: aten.linalg_pinv.atol_rtol_tensor(%a)
joint.graph @a_pseudo_inverse_of_unknown_size_stays(%a: tensor<2x?xf32> {joint.role = #joint.role<input>}) -> (tensor<?x2xf32>) gradients () {
  %y = aten.linalg_pinv.atol_rtol_tensor(%a) : (tensor<2x?xf32>) -> tensor<?x2xf32>
  joint.output %y : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: joint.graph @a_softmax_of_nothing_has_no_largest_element(
// CHECK-NOT: aten.amax
// CHECK: joint.output
joint.graph @a_softmax_of_nothing_has_no_largest_element(%x: tensor<0x3xf32> {joint.role = #joint.role<input>}) -> (tensor<0x3xf32>) gradients () {
  %y = aten._log_softmax(%x, 0, false) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  joint.output %y : tensor<0x3xf32>
}
