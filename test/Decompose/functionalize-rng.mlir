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

// -----

// A graph of a call takes the seed.
// CHECK-LABEL: joint.graph @branches(
// CHECK: joint.nested "higher_order.cond"(%p, @yes, @no, [%x, %rng_seed])
// CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[SEED:.*]]: tensor<i64>):
// CHECK: joint.random <uniform> %[[SEED]] stream 0 :
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %[[OTHER:.*]]: tensor<i64>):
// CHECK: joint.random <normal> %[[OTHER]] stream 1 :
joint.graph @branches(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %p: tensor<i1> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %r = aten.rand_like(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %r : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %r = aten.randn_like(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %r : tensor<4xf32>
  }
  joint.output %y : tensor<4xf32>
}

// -----

// A scan goes over the numbers of its rounds too.
// CHECK-LABEL: joint.graph @scan(
// CHECK: %[[ROUNDS:.*]] = aten.arange(3, dtype = i64)
// CHECK: joint.nested "higher_order.scan"(@body, [%x], [%n, %[[ROUNDS]]], [%rng_seed])
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %[[ROUND:.*]]: tensor<i64>, %[[SEED:.*]]: tensor<i64>):
// CHECK: joint.random <uniform> %[[SEED]] stream 0 round %[[ROUND]] : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
joint.graph @scan(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %n: tensor<3x4xf32> {joint.role = #joint.role<input>}) -> (tensor<3x4xf32>) gradients () {
  %h, %r = joint.nested "higher_order.scan"(@body, [%x], [%n], []) {tuple} : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%c: tensor<4xf32>, %a: tensor<4xf32>):
    %u = aten.rand_like(%a) : (tensor<4xf32>) -> tensor<4xf32>
    joint.return %c, %u : tensor<4xf32>, tensor<4xf32>
  }
  joint.output %r : tensor<3x4xf32>
}

// -----

// A while loop counts them.
// CHECK-LABEL: joint.graph @loop(
// CHECK: %[[ZERO:.*]] = aten.full([], 0, dtype = i64)
// CHECK: joint.nested "higher_order.while_loop"(@goes_on, @body, [%k, %x, %[[ZERO]]], [%rng_seed])
// CHECK: -> (tensor<i64>, tensor<4xf32>, tensor<i64>)
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<4xf32>, %[[ROUND:.*]]: tensor<i64>, %[[SEED:.*]]: tensor<i64>):
// CHECK: joint.poisson %[[SEED]] stream 0 round %[[ROUND]] of
// CHECK: %[[NEXT:.*]] = aten.add.Scalar(%[[ROUND]], 1)
// CHECK: joint.return %{{.*}}, %{{.*}}, %[[NEXT]]
joint.graph @loop(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %k: tensor<i64> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %i, %r = joint.nested "higher_order.while_loop"(@goes_on, @body, [%k, %x], []) {tuple} : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %s: tensor<4xf32>):
    %less = aten.lt.Scalar(%i, 3) : (tensor<i64>) -> tensor<i1>
    joint.return %less : tensor<i1>
  }, {
  ^bb0(%i: tensor<i64>, %s: tensor<4xf32>):
    %u = aten.poisson(%s) : (tensor<4xf32>) -> tensor<4xf32>
    %j = aten.add.Scalar(%i, 1) : (tensor<i64>) -> tensor<i64>
    joint.return %j, %u : tensor<i64>, tensor<4xf32>
  }
  joint.output %r : tensor<4xf32>
}
