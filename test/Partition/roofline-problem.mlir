// The cut of the roofline model: what prices, policies and solvers do to it.
//
// RUN: cutback-opt %s --cutback-plan | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=cost-model=roofline | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=solver=auto | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=solver=boykov-kolmogorov | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=solver=push-relabel | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=solver=boost-push-relabel | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=solver=edmonds-karp | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan="device=cpu byte-price=140" | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: cutback-opt %s --cutback-plan=byte-price=140 | FileCheck %s --check-prefixes=CHECK,DEAR

// What the backward reads is kept, unless its bytes are worth more than the
// product behind it. A CPU takes longer for that.
// CHECK-LABEL: joint.graph @a_price_decides
joint.graph @a_price_decides(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // KEPT: aten.mm(%x, %w) :
  // DEAR: aten.mm(%x, %w) {joint.recompute} :
  %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // KEPT: aten.mul.Tensor(%mm, %w) :
  // DEAR: aten.mul.Tensor(%mm, %w) {joint.recompute} :
  %p = aten.mul.Tensor(%mm, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // KEPT: aten.exp(%p) {joint.save = array<i1: true>} :
  // DEAR: aten.exp(%p) {joint.recompute} :
  %e = aten.exp(%p) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.sin(%e) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %e) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g1 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// What may not run twice is saved, whatever a policy asks.
// CHECK-LABEL: joint.graph @policies_decide_where_they_can
joint.graph @policies_decide_where_they_can(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK: %kept = aten.sin(%x) {joint.policy = #joint.policy<must_save>, joint.save = array<i1: true>}
  %kept = aten.sin(%x) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %again = aten.mm(%x, %kept) {joint.policy = #joint.policy<must_recompute>, joint.recompute}
  %again = aten.mm(%x, %kept) {joint.policy = #joint.policy<must_recompute>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %too = aten.mm(%again, %kept) {joint.policy = #joint.policy<prefer_recompute, region = 1>, joint.recompute}
  %too = aten.mm(%again, %kept) {joint.policy = #joint.policy<prefer_recompute, region = 1>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: aten.bernoulli(%kept) {joint.policy = #joint.policy<must_recompute>, joint.save = array<i1: true>}
  %noise = aten.bernoulli(%kept) {joint.policy = #joint.policy<must_recompute>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mul.Tensor(%too, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %too) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mul.Tensor(%g1, %again) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g3 = aten.mul.Tensor(%g2, %kept) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g3 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: joint.graph @a_policy_on_a_view_is_one_on_its_base
joint.graph @a_policy_on_a_view_is_one_on_its_base(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK: %a = aten.sin(%x) {joint.save = array<i1: true>}
  %a = aten.sin(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %v = aten.t(%a) {joint.policy = #joint.policy<must_save>, joint.recompute}
  %v = aten.t(%a) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %vx = aten.t(%x) {joint.policy = #joint.policy<must_save>, joint.side = #joint.side<backward>}
  %vx = aten.t(%x) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = aten.mul.Tensor(%t, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = aten.mul.Tensor(%g, %vx) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %v gradients(%h of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// A random op that neither half claims may run in the backward; not so if the
// forward computes something from it.
// CHECK-LABEL: joint.graph @what_runs_once_runs_where_its_users_do
joint.graph @what_runs_once_runs_where_its_users_do(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  %big = aten.cat([%x, %x, %x, %x], 0) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %odd = joint.opaque "my.op"(%big) : (tensor<256x64xf32>) -> tensor<256x64xf32>
  %y = joint.opaque "my.sum"(%odd) : (tensor<256x64xf32>) -> tensor<64x64xf32>
  // CHECK: %noise = aten.bernoulli(%x) {joint.save = array<i1: true>, joint.side = #joint.side<forward>}
  %noise = aten.bernoulli(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %small = joint.opaque "my.product"(%noise, %odd) {joint.save = array<i1: true>, joint.side = #joint.side<forward>}
  %small = joint.opaque "my.product"(%noise, %odd) : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  // CHECK: %late = aten.bernoulli(%x) {joint.side = #joint.side<backward>}
  %late = aten.bernoulli(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %small) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mul.Tensor(%g1, %late) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g3 = aten.mul.Tensor(%g2, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g3 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// A region of the model is to be computed again, with an op of the user's in it.
// CHECK-LABEL: joint.graph @an_unknown_op_runs_twice_where_its_policy_says_so
joint.graph @an_unknown_op_runs_twice_where_its_policy_says_so(
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK: %odd = joint.opaque "my.op"(%x)
  // CHECK-SAME: joint.recompute
  %odd = joint.opaque "my.op"(%x) {joint.policy = #joint.policy<must_recompute>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.sin(%odd) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %once = joint.opaque "my.op"(%x)
  // CHECK-SAME: joint.save = array<i1: true>
  %once = joint.opaque "my.op"(%x) {effects, joint.policy = #joint.policy<must_recompute>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = aten.mul.Tensor(%y, %once) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %odd) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %once) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %z gradients(%g1 of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}
