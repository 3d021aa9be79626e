// RUN: cutback-opt %s --cutback-differentiate --mlir-print-debuginfo | FileCheck %s

// A backward op is tied to its forward op by name, number and the checkpoint
// regions around that, outermost first. Numbers count over all regions, as one
// thread runs them.
// CHECK-LABEL: joint.graph @regions_are_part_of_the_key
// CHECK-DAG: loc(fused<{backward_of = "a", sequence_nr = 0 : i64}>
// CHECK-DAG: loc(fused<{backward_of = "b", region = array<i64: 0>, sequence_nr = 1 : i64}>
// CHECK-DAG: loc(fused<{backward_of = "c", region = array<i64: 0, 0>, sequence_nr = 2 : i64}>
// CHECK-DAG: loc(fused<{backward_of = "d", region = array<i64: 1>, sequence_nr = 3 : i64}>
joint.graph @regions_are_part_of_the_key(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
  %a = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %outer = joint.checkpoint {
    %b = aten.sin(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %inner = joint.checkpoint {
      %c = aten.sin(%b) : (tensor<4xf32>) -> tensor<4xf32>
      joint.yield %c : tensor<4xf32>
    } : tensor<4xf32>
    joint.yield %inner : tensor<4xf32>
  } : tensor<4xf32>
  %second = joint.checkpoint {
    %d = aten.sin(%outer) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %d : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %second : tensor<4xf32>
}
