// A remark for every decision, with the reason and what it costs; in any
// order.
//
// RUN: cutback-opt %s --cutback-plan --remark-policy=all --remarks-filter="cutback-.*" -o /dev/null 2>&1 | FileCheck %s
// RUN: cutback-opt %s --cutback-plan --remark-policy=all --remarks-filter="cutback-.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT --implicit-check-not=Remark=

// COUNT-COUNT-7: Remark=

joint.graph @step(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %s: index {joint.role = #joint.role<size>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK-DAG: Remark="'s' is saved, 8 bytes: an input: in memory anyway"
  // CHECK-DAG: Remark="'mm' is saved, 16384 bytes: expensive to recompute"
  %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-DAG: Remark="'noise' is saved, 16384 bytes: random: a second run gives other numbers"
  %noise = aten.bernoulli(%mm) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-DAG: Remark="'kept' is saved, 16384 bytes: asked for by a policy"
  %kept = aten.sin(%noise) {joint.policy = #joint.policy<must_save>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-DAG: Remark="'neg' is recomputed in the backward: {{[0-9]+}} ps"
  %neg = aten.neg(%kept) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-DAG: Remark="'odd' is saved, 16384 bytes: must not run twice: unknown, or with effects"
  %odd = joint.opaque "my.op"(%kept) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = aten.mul.Tensor(%neg, %odd) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.sin(%sum) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %neg) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %mm) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g2 = aten.mul.Tensor(%g1, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g3 = aten.mul.Tensor(%g2, %kept) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g4 = aten.mul.Tensor(%g3, %odd) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g5 = aten.mul.Tensor(%g4, %s) : (tensor<64x64xf32>, index) -> tensor<64x64xf32>
  // CHECK-DAG: Remark="peak {{[0-9]+}} bytes at '{{[a-z0-9]+}}' in the {{forward|backward}}"
  joint.output %y gradients(%g5 of 1) : tensor<64x64xf32>, tensor<64x64xf32>
}
