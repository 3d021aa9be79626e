// Graphs of ops that Cutback has never heard of.

// A product is kept, and what was drawn. What is pointwise is kept as long as
// bytes cost nothing, for a random op reads it from memory, and runs again where
// they do.
// CHECK-LABEL: layer: 9 ops, 6 forward, 3 backward, verified
// CHECK-NEXT: saved 16777216 bytes of acme.dense
// CHECK-NEXT: saved 16777216 bytes of acme.swish
// CHECK-NEXT: saved 16777216 bytes of acme.dice
// DEAR-LABEL: layer: 9 ops, 6 forward, 4 backward, verified
// DEAR-NEXT: saved 16777216 bytes of acme.dense
// DEAR-NEXT: saved 16777216 bytes of acme.dice
// DEAR-NEXT: recomputed 1 acme.swish
joint.graph @layer(
    %x: tensor<4096x1024xf32> {joint.role = #joint.role<input>},
    %w: tensor<1024x1024xf32> {joint.role = #joint.role<param "w">},
    %t: tensor<4096x1024xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4096x1024xf32>) gradients (tensor<4096x1024xf32>) {
  %h = acme.dense %x, %w : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  %s = acme.swish %h : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %d = acme.dice %s : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %m = arith.mulf %s, %d : tensor<4096x1024xf32>
  acme.log %m : tensor<4096x1024xf32>
  %y = acme.blur %m : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %b = acme.blur %t : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %g0 = arith.mulf %b, %d : tensor<4096x1024xf32>
  %g1 = acme.swish_grad %g0, %h, %s : (tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  joint.output %y gradients(%g1 of 0) : tensor<4096x1024xf32>, tensor<4096x1024xf32>
}

// An op without models: that it is pure, and its bytes, are all that is known.
// Both of its results are kept, and where a byte is dear the second runs again.
// CHECK-LABEL: blurred: 4 ops
// CHECK-NEXT: saved 16777216 bytes of acme.blur
// CHECK-NEXT: saved 16777216 bytes of acme.blur
// CHECK-NOT: recomputed
// DEAR-LABEL: blurred: 4 ops
// DEAR-NEXT: saved 16777216 bytes of acme.blur
// DEAR-NEXT: recomputed 1 acme.blur
joint.graph @blurred(
    %x: tensor<4096x1024xf32> {joint.role = #joint.role<input>},
    %t: tensor<4096x1024xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4096x1024xf32>) gradients (tensor<4096x1024xf32>) {
  %a = acme.blur %x : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %b = acme.blur %a : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %y = acme.swish %b : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %g = acme.swish_grad %t, %a, %b : (tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  joint.output %y gradients(%g of 0) : tensor<4096x1024xf32>, tensor<4096x1024xf32>
}
