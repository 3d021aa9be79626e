// Graphs for which PyTorch's network has no finite cut.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-plan=cost-model=pytorch
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-plan="cost-model=pytorch rules=torch-2.3"

// expected-error @below {{has no plan: what must be saved is needed by what must be recomputed along 'call_0' -> 'state' -> 'g'}}
joint.graph @a_state_that_is_no_tensor_cannot_be_saved(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // expected-note @below {{the path starts here; change a tag or a policy on it}}
  %a, %state = joint.opaque "my.op"(%x) {tuple} : (tensor<4xf32>) -> (tensor<4xf32>, none)
  %g = joint.opaque "my.gradient"(%t, %state) : (tensor<4xf32>, none) -> tensor<4xf32>
  joint.output %a gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}
