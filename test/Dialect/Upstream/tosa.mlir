// What the roofline model makes of `tosa`: a convolution with its pool, and how
// one that is read by a pointwise op of the backward is kept.
//
// RUN: cutback-opt %s --cutback-print-analysis="columns=fusion,recompute-ps,save-ps device=%S/../../Analysis/Inputs/round.json" -o /dev/null | FileCheck %s
// RUN: cutback-opt %s --cutback-plan="device=%S/../../Analysis/Inputs/round.json" --cutback-extract --cutback-verify-partition | FileCheck %s --check-prefix=HALVES

// CHECK-LABEL: {{^}}x: fusion=argument
// CHECK-NEXT: {{^}}w: fusion=argument
// CHECK-NEXT: {{^}}b: fusion=argument
// CHECK-NEXT: {{^}}t: fusion=argument
joint.graph @convolution(
    %x: tensor<1x10x10x4xf32> {joint.name = "x", joint.role = #joint.role<input>},
    %w: tensor<8x3x3x4xf32> {joint.name = "w", joint.role = #joint.role<param "w">},
    %b: tensor<8xf32> {joint.name = "b", joint.role = #joint.role<param "b">},
    %t: tensor<1x4x4x8xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
    -> (tensor<1x4x4x8xf32>) gradients (tensor<8xf32>) {
  // Constants are part of the program.
  // CHECK-NEXT: {{^}}zp: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}shift: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}two: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}flat: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}twice: fusion=create recompute-ps=0 save-ps=never
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %flat = tosa.const_shape {values = dense<[8]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %twice = tosa.const_shape {values = dense<[1, 2, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  // 2 * 8 * 8 * 8 outputs * 3 * 3 * 4 at 4 a picosecond, and a launch. Its image
  // is read by its copy, or not at all: part of that one's price.
  // CHECK-NEXT: {{^}}h: fusion=never recompute-ps=1007616 save-ps=1
  %h = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x10x10x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  // CHECK-NEXT: {{^}}s: fusion=pointwise recompute-ps=2048 save-ps=4096
  %s = tosa.sigmoid %h : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  // CHECK-NEXT: {{^}}a: fusion=pointwise recompute-ps=1004096 save-ps=1
  %a = tosa.mul %s, %two, %shift : (tensor<1x8x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x8x8x8xf32>
  // A kernel of its own.
  // CHECK-NEXT: {{^}}y: fusion=never recompute-ps=1002560 save-ps=1
  %y = tosa.avg_pool2d %a, %zp, %zp {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  // The backward: each gradient goes to four places.
  // CHECK-NEXT: {{^}}wide: fusion=gather
  %wide = tosa.tile %t, %twice : (tensor<1x4x4x8xf32>, !tosa.shape<4>) -> tensor<1x8x8x8xf32>
  %g = tosa.mul %wide, %s, %shift : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1xi8>) -> tensor<1x8x8x8xf32>
  // CHECK: {{^}}g0: fusion=reduction
  %g0 = tosa.reduce_sum %g {axis = 1 : i32} : (tensor<1x8x8x8xf32>) -> tensor<1x1x8x8xf32>
  %g1 = tosa.reduce_sum %g0 {axis = 2 : i32} : (tensor<1x1x8x8xf32>) -> tensor<1x1x1x8xf32>
  // CHECK: {{^}}db: fusion=view
  %db = tosa.reshape %g1, %flat : (tensor<1x1x1x8xf32>, !tosa.shape<1>) -> tensor<8xf32>
  joint.output %y gradients(%db of 2) : tensor<1x4x4x8xf32>, tensor<8xf32>
}

// The convolution is in memory anyway and read once: its sigmoid is made again
// where it is read. Constants are not kept.
// HALVES-LABEL: func.func @convolution_forward
// HALVES: tosa.conv2d {{.*}}joint.save
// HALVES-LABEL: func.func @convolution_backward
// HALVES: %[[S:.*]] = tosa.sigmoid %arg0 {joint.recompute
// HALVES-NEXT: %[[SHIFT:.*]] = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> {joint.recompute
// HALVES: tosa.mul %{{.*}}, %[[S]], %[[SHIFT]]
// HALVES: joint.partition @convolution_partition {{.*}} saved ["h"]
