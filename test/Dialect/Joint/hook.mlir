// Functions of the user on gradients, as text, bytecode and generic form; and
// nothing merges, drops or moves them past each other.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --cutback-eliminate-common-subexpressions \
// RUN:   --cutback-eliminate-dead-code --cse --canonicalize | FileCheck %s

// CHECK-LABEL: joint.graph @hooks_of_all_kinds(
// CHECK: %hook = joint.hook @fc.weight tensor_pre(%mul) key 0 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: joint.hook @fc.weight retains_grad(%hook) key 1 : tensor<4xf32>
// CHECK-NEXT: %hook_1 = joint.hook @mul node_pre(%hook) key 2 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: %hook_2 = joint.hook @mul node_post(%hook_1) key 3 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: %hook_3 = joint.hook @fc.weight post_accumulate(%hook_2) key 4 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: %hook_4 = joint.hook @fc.weight post_accumulate(%hook_2) key 4 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: joint.output
joint.graph @hooks_of_all_kinds(
    %w: tensor<4xf32> {joint.role = #joint.role<param "fc.weight">},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %mul = aten.mul.Tensor(%t, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hook = joint.hook @fc.weight tensor_pre(%mul) key 0 : tensor<4xf32> -> tensor<4xf32>
  joint.hook @fc.weight retains_grad(%hook) key 1 : tensor<4xf32>
  %hook_1 = joint.hook @mul node_pre(%hook) key 2 : tensor<4xf32> -> tensor<4xf32>
  %hook_2 = joint.hook @mul node_post(%hook_1) key 3 : tensor<4xf32> -> tensor<4xf32>
  %hook_3 = joint.hook @fc.weight post_accumulate(%hook_2) key 4 : tensor<4xf32> -> tensor<4xf32>
  %hook_4 = joint.hook @fc.weight post_accumulate(%hook_2) key 4 : tensor<4xf32> -> tensor<4xf32>
  joint.output %y gradients(%hook_3 of 0) : tensor<4xf32>, tensor<4xf32>
}
