// The example in the description of --cutback-functionalize-rng.
//
// RUN: cutback-opt %s --cutback-functionalize-rng | FileCheck %s

// CHECK-LABEL: joint.graph @mask(%x: tensor<4xf32> {{.*}}, %rng_seed: tensor<i64> {joint.role = #joint.role<rng_seed>})
// CHECK-NEXT: %[[R:random]] = joint.random <uniform> %rng_seed stream 0 : (tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: %[[L:lt]] = aten.lt.Scalar(%[[R]], 2.500000e-01)
// CHECK-NEXT: %[[Y:y]] = aten._to_copy(%[[L]], dtype = f32)
// CHECK-NEXT: joint.output %[[Y]]

joint.graph @mask(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = aten.bernoulli.p(%x, 0.25) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
