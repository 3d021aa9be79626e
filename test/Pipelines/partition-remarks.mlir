// A remark for every decision, with what it costs.
//
// RUN: cutback-opt %s --cutback-plan --remark-policy=all --remarks-filter="cutback-.*" -o /dev/null 2>&1 | FileCheck %s
joint.graph @step(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // CHECK-DAG: 'mm' is saved, 16384 bytes: expensive to recompute
  %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = aten.exp(%mm) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.sin(%e) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %e) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %mm) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%g1 of 1) : tensor<64x64xf32>, tensor<64x64xf32>
}
