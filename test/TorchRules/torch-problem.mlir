// PyTorch's own plans, by release and by what it takes for free.
//
// RUN: cutback-opt %s --cutback-plan=cost-model=pytorch | FileCheck %s --check-prefixes=CHECK,FREE,NEW
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch rules=torch-2.13 free-parameters=auto" | FileCheck %s --check-prefixes=CHECK,FREE,NEW
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch free-parameters=0" | FileCheck %s --check-prefixes=CHECK,FREE,NEW
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch free-parameters=none" | FileCheck %s --check-prefixes=CHECK,WEIGHED,NEW
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch free-parameters=1-2" | FileCheck %s --check-prefixes=CHECK,WEIGHED,NEW
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch rules=torch-2.3" | FileCheck %s --check-prefixes=CHECK,WEIGHED
// RUN: cutback-opt %s --cutback-plan=cost-model=pytorch --cutback-extract --cutback-verify-partition -o /dev/null

// Release 2.13 keeps a parameter for nothing, however large; 2.3 weighs it and
// saves the part that is read.
// CHECK-LABEL: joint.graph @a_parameter_is_there_anyway
joint.graph @a_parameter_is_there_anyway(
    %w: tensor<64x4xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // FREE: %row = aten.select.int(%w, 0, 0) {joint.recompute} :
  // WEIGHED: %row = aten.select.int(%w, 0, 0) {joint.save = array<i1: true>} :
  %row = aten.select.int(%w, 0, 0) : (tensor<64x4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%x, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 1) : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: joint.graph @tags_decide
joint.graph @tags_decide(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // Release 2.3 weighs what must be recomputed; 2.13 obeys.
  // NEW: %mm = aten.mm(%x, %x) {joint.policy = #joint.policy<must_recompute>, joint.recompute}
  %mm = aten.mm(%x, %x) {joint.policy = #joint.policy<must_recompute>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %sin = aten.sin(%mm) {joint.policy = #joint.policy<must_save>, joint.save = array<i1: true>}
  %sin = aten.sin(%mm) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.exp(%sin) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %sin) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %mm) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g1 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// A check of what types say is a reader that cannot fuse, in front of which a
// value is written anyway: half the price. Without it the sine would be saved.
// CHECK-LABEL: joint.graph @a_check_is_a_reader
joint.graph @a_check_is_a_reader(
    %x: tensor<8x8x8xf32> {joint.role = #joint.role<input>},
    %t: tensor<8x8xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<8x8xf32>) gradients (tensor<8x8xf32>) {
  // CHECK: %sum = aten.sum.dim_IntList(%x, [0]) {joint.save = array<i1: true>}
  %sum = aten.sum.dim_IntList(%x, [0]) : (tensor<8x8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: aten._assert_tensor_metadata(%sum)
  aten._assert_tensor_metadata(%sum) : (tensor<8x8xf32>) -> ()
  // CHECK-NEXT: %s = aten.sin(%sum) {joint.recompute}
  %s = aten.sin(%sum) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = aten.exp(%s) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = aten.mul.Tensor(%t, %s) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  joint.output %y gradients(%g of 1) : tensor<8x8xf32>, tensor<8x8xf32>
}
