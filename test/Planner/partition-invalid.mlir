// Graphs that cannot be partitioned, whatever the plan.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --cutback-pipeline

joint.graph @memory(
    // expected-error @below {{'x' is of type 'memref<8xf32>': a joint graph computes values, not memory}}
    // expected-note @below {{partition before tensors become buffers}}
    %x: memref<8xf32> {joint.role = #joint.role<input>},
    %t: memref<8xf32> {joint.role = #joint.role<tangent of 0>})
    -> (memref<8xf32>) gradients (memref<8xf32>) {
  %a = "acme.exp"(%x) : (memref<8xf32>) -> memref<8xf32>
  %g = "acme.mul"(%t, %a) : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  joint.output %a gradients(%g of 0) : memref<8xf32>, memref<8xf32>
}

// -----

joint.graph @no_rank(
    %x: tensor<8xf32> {joint.role = #joint.role<input>},
    %t: tensor<8xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<8xf32>) gradients (tensor<8xf32>) {
  // expected-error @below {{'a' is of type 'tensor<*xf32>': a plan needs the rank of every tensor}}
  // expected-note @below {{give it a ranked type; sizes that are not static may be symbols (joint.dims)}}
  %a = "acme.exp"(%x) : (tensor<8xf32>) -> tensor<*xf32>
  %b = "acme.cast"(%a) : (tensor<*xf32>) -> tensor<8xf32>
  %g = arith.mulf %t, %b : tensor<8xf32>
  joint.output %b gradients(%g of 0) : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-error @below {{'joint.graph' op is partitioned already, or there is another '@twice_backward'}}
joint.graph @twice(
    %x: tensor<8xf32> {joint.role = #joint.role<input>},
    %t: tensor<8xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<8xf32>) gradients (tensor<8xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %g = arith.mulf %t, %a : tensor<8xf32>
  joint.output %a gradients(%g of 0) : tensor<8xf32>, tensor<8xf32>
}
// expected-note @below {{the halves would have the same names; erase or rename it}}
func.func private @twice_backward()
