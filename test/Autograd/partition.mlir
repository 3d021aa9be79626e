// What differentiation gives is taken by the partitioner, under all strategies
// and both cost models, and the halves are proved.
//
// RUN: cutback-opt %s --cutback-differentiate --cutback-pipeline | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=eager" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=precompute" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=recompute-all" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=min-cut cost-model=pytorch" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=eager cost-model=pytorch" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=precompute cost-model=pytorch" --cutback-extract --cutback-verify-partition | FileCheck %s
// RUN: cutback-opt %s --cutback-differentiate --cutback-plan="strategy=recompute-all cost-model=pytorch" --cutback-extract --cutback-verify-partition | FileCheck %s

// CHECK: func.func @step_forward(
// CHECK: func.func @step_backward(
// CHECK-SAME: #joint.role<grad_seed of 0>
// CHECK: func.func @tangents_forward(
// CHECK: func.func @tangents_backward(
// CHECK-SAME: #joint.role<tangent of 0>

joint.graph @step(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<param "b">}, %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]}, %ok: tensor<i1> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<?x4xf32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 3>}} {
  joint.assert %ok, "must hold" : tensor<i1>
  %mm = aten.mm(%x, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %add = aten.add.Tensor(%mm, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %relu = aten.relu(%add) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %silu = aten.silu(%relu) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %detach = aten.detach(%silu) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %mul = aten.mul.Tensor(%silu, %detach) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %mean = aten.mean(%mul) : (tensor<?x4xf32>) -> tensor<f32>
  joint.output %mean, %silu : tensor<f32>, tensor<?x4xf32>
}

joint.graph @tangents(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}) -> (tensor<4xf32>) gradients () {
  %mul = aten.mul.Tensor(%w, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %exp = aten.exp(%mul) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %exp : tensor<4xf32>
}
