// A partition whose graph is gone cannot be proved.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-verify-partition
// RUN: not cutback-opt %s --cutback-extract=keep-joint=false --cutback-verify-partition 2>&1 | FileCheck %s

// CHECK: error: 'joint.partition' op does not say of which joint graph it is
joint.graph @kept(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  joint.output %x gradients(%t of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @gone_forward(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
func.func private @gone_backward(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// expected-error @below {{does not say of which joint graph it is}}
// expected-note @below {{keep the joint graph (keep-joint) to verify its halves}}
joint.partition @gone_partition forward @gone_forward backward @gone_backward saved ["x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
