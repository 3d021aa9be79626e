// RUN: cutback-opt %s --cutback-functionalize-rng --split-input-file | FileCheck %s

// Each op has a stream of its own, in program order; all read one seed.
// CHECK-LABEL: joint.graph @streams(
// CHECK-SAME: %rng_seed: tensor<i64> {joint.role = #joint.role<rng_seed>})
// CHECK: joint.random <uniform> %rng_seed stream 0
// CHECK: joint.random <normal> %rng_seed stream 1
// CHECK: joint.random <uniform> %rng_seed stream 2
// CHECK-NOT: aten.rand
// CHECK-NOT: aten.native_dropout
joint.graph @streams(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) gradients () {
  %u = aten.rand_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.randn_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y, %mask = aten.native_dropout(%x, 0.5, true) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  joint.output %u, %n, %y, %mask : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// -----

// Without a random op there is no seed.
// CHECK-LABEL: joint.graph @pure(
// CHECK-NOT: rng_seed
// CHECK: aten.exp(%x)
joint.graph @pure(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
