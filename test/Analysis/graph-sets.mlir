// Forward, backward, and what neither half claims.
//
// RUN: cutback-opt %s --cutback-print-analysis=columns=set -o /dev/null | FileCheck %s

// CHECK-LABEL: {{^}}w: set=F
// CHECK-NEXT: {{^}}x: set=F
// CHECK-NEXT: {{^}}t: set=B
// CHECK-NEXT: {{^}}fs: set=F
// CHECK-NEXT: {{^}}bs: set=B
joint.graph @arguments_are_forward_unless_they_come_with_the_gradients(
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>},
    %fs: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %bs: tensor<i64> {joint.role = #joint.role<rng_seed backward>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // CHECK-NEXT: {{^}}y: set=F
  %y = aten.mul.Tensor(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}g: set=B
  %g = aten.mul.Tensor(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: {{^}}a: set=F
joint.graph @a_mask_that_only_the_backward_reads_is_unclaimed(
    %a: tensor<4xf32> {joint.role = #joint.role<input>},
    %t_a: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // CHECK: {{^}}relu: set=F
  %relu = aten.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}mask: set=X
  %mask = aten.gt.Scalar(%relu, 0) : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: {{^}}ga: set=B
  %ga = aten.mul.Tensor(%t_a, %mask) : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  joint.output %relu gradients(%ga of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: {{^}}b: set=F
joint.graph @a_gradient_may_be_unclaimed(
    %b: tensor<4xf32> {joint.role = #joint.role<input>},
    %t_b: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // CHECK: {{^}}sin: set=F
  %sin = aten.sin(%b) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}cos: set=X
  %cos = aten.cos(%b) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %sin gradients(%cos of 0) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: {{^}}c: set=F
joint.graph @a_loss_inside_seeds_the_backward(
    %c: tensor<f32> {joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients (tensor<f32>) {
  // CHECK: {{^}}loss: set=F
  %loss = aten.sin(%c) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: {{^}}dsin: set=X
  %dsin = aten.cos(%c) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: {{^}}seed: set=B
  %seed = aten.full_like(%loss, 1) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: {{^}}dc: set=B
  %dc = aten.mul.Tensor(%seed, %dsin) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %loss gradients(%dc of 0) : tensor<f32>, tensor<f32>
}

// CHECK: {{^}}buf: set=F
joint.graph @effects_are_forward_unless_they_depend_on_a_gradient(
    %buf: tensor<4xf32> {joint.role = #joint.role<buffer>},
    %late: tensor<4xf32> {joint.role = #joint.role<buffer>},
    %d: tensor<4xf32> {joint.role = #joint.role<input>},
    %t_d: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  // CHECK: {{^}}out: set=F
  %out = aten.sin(%d) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}stat: set=F
  %stat = aten.exp(%d) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}written: set=F
  %written = joint.write %buf, %stat : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: {{^}}gd: set=B
  %gd = aten.mul.Tensor(%t_d, %stat) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}kept: set=B
  %kept = joint.write %late, %gd {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  joint.output %out gradients(%gd of 2) : tensor<4xf32>, tensor<4xf32>
}

// CHECK: {{^}}e: set=F
joint.graph @a_gradient_that_the_forward_returns_is_forward(
    %e: tensor<f32> {joint.role = #joint.role<input>})
    -> (tensor<f32>, tensor<f32>) gradients (tensor<f32>) {
  // CHECK: {{^}}objective: set=F
  %objective = aten.sin(%e) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: {{^}}one: set=F
  %one = aten.full_like(%objective, 1) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: {{^}}de: set=F
  %de = aten.mul.Tensor(%one, %objective) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %objective, %de gradients(%de of 0) : tensor<f32>, tensor<f32>, tensor<f32>
}
