// What the roofline model makes of `linalg` on tensors: a layer with its
// backward, on a device that moves one byte a picosecond, computes one FLOP a
// picosecond (four in products) and takes a million picoseconds to launch a
// kernel.
//
// RUN: cutback-opt %s --cutback-print-analysis="columns=fusion,recompute-ps,save-ps device=%S/../../Analysis/Inputs/round.json" -o /dev/null | FileCheck %s
// RUN: cutback-opt %s --cutback-plan="device=%S/../../Analysis/Inputs/round.json" --cutback-extract --cutback-verify-partition | FileCheck %s --check-prefix=HALVES

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>

// CHECK-LABEL: {{^}}x: fusion=argument
// CHECK-NEXT: {{^}}w: fusion=argument
// CHECK-NEXT: {{^}}b: fusion=argument
// CHECK-NEXT: {{^}}t: fusion=argument
joint.graph @layer(
    %x: tensor<100x100xf32> {joint.name = "x", joint.role = #joint.role<input>},
    %w: tensor<100x100xf32> {joint.name = "w", joint.role = #joint.role<param "w">},
    %b: tensor<100xf32> {joint.name = "b", joint.role = #joint.role<param "b">},
    %t: tensor<100x100xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>, tensor<100x100xf32>, tensor<100xf32>) {
  // The host holds it.
  // CHECK-NEXT: {{^}}zero: fusion=create recompute-ps=0 save-ps=1
  %zero = arith.constant 0.0 : f32
  // What nobody has to make is free, and never saved.
  // CHECK-NEXT: {{^}}e: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}e1: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}init: fusion=create recompute-ps=0 save-ps=never
  // CHECK-NEXT: {{^}}init1: fusion=create recompute-ps=0 save-ps=never
  %e = tensor.empty() : tensor<100x100xf32>
  %e1 = tensor.empty() : tensor<100xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<100x100xf32>) -> tensor<100x100xf32>
  %init1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<100xf32>) -> tensor<100xf32>
  // 2 * 100^3 FLOPs at 4 a picosecond, and a launch. Only a copy of the sum
  // reads it in the backward, and has that in its price.
  // CHECK-NEXT: {{^}}h: fusion=never recompute-ps=1500000 save-ps=1
  %h = linalg.matmul ins(%x, %w : tensor<100x100xf32>, tensor<100x100xf32>) outs(%init : tensor<100x100xf32>) -> tensor<100x100xf32>
  // A broadcast moves nothing.
  // CHECK-NEXT: {{^}}wide: fusion=view recompute-ps=0 save-ps=never
  %wide = linalg.broadcast ins(%b : tensor<100xf32>) outs(%e : tensor<100x100xf32>) dimensions = [0]
  // Its copy is made where it is read, from the product and the bias. As it
  // stands it is written by a kernel of its own, anyway.
  // CHECK-NEXT: {{^}}sum: fusion=pointwise recompute-ps=40400 save-ps=40200
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %wide : tensor<100x100xf32>, tensor<100x100xf32>) outs(%e : tensor<100x100xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<100x100xf32>
  // Nobody reads it in the backward: a kernel of its own, written and read; ten
  // FLOPs for the function and one for the product, an element.
  // CHECK-NEXT: {{^}}act: fusion=pointwise recompute-ps=1110000 save-ps=40000
  %act = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<100x100xf32>) outs(%e : tensor<100x100xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %th = math.tanh %i0 : f32
    %r = arith.mulf %th, %i0 : f32
    linalg.yield %r : f32
  } -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}norm: fusion=reduction recompute-ps=1040400 save-ps=400
  %norm = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%act : tensor<100x100xf32>) outs(%init1 : tensor<100xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<100xf32>
  // 80,400 bytes and a launch.
  // CHECK-NEXT: {{^}}y: fusion=pointwise recompute-ps=1080400 save-ps=1
  %y = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%act, %norm : tensor<100x100xf32>, tensor<100xf32>) outs(%e : tensor<100x100xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<100x100xf32>
  // The backward.
  %dsum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %sum : tensor<100x100xf32>, tensor<100x100xf32>) outs(%e : tensor<100x100xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %th = math.tanh %i1 : f32
    %r = arith.mulf %i0, %th : f32
    linalg.yield %r : f32
  } -> tensor<100x100xf32>
  // CHECK: {{^}}db: fusion=reduction
  %db = linalg.reduce {arith.addf} ins(%dsum : tensor<100x100xf32>) outs(%init1 : tensor<100xf32>) dimensions = [0]
  // CHECK-NEXT: {{^}}xt: fusion=view recompute-ps=0 save-ps=never
  %xt = linalg.transpose ins(%x : tensor<100x100xf32>) outs(%e : tensor<100x100xf32>) permutation = [1, 0]
  %wt = linalg.transpose ins(%w : tensor<100x100xf32>) outs(%e : tensor<100x100xf32>) permutation = [1, 0]
  // CHECK: {{^}}dw: fusion=never
  %dw = linalg.matmul ins(%xt, %dsum : tensor<100x100xf32>, tensor<100x100xf32>) outs(%init : tensor<100x100xf32>) -> tensor<100x100xf32>
  %dx = linalg.matmul ins(%dsum, %wt : tensor<100x100xf32>, tensor<100x100xf32>) outs(%init : tensor<100x100xf32>) -> tensor<100x100xf32>
  joint.output %y gradients(%dx of 0, %dw of 1, %db of 2) : tensor<100x100xf32>, tensor<100x100xf32>, tensor<100x100xf32>, tensor<100xf32>
}

// The sum is in memory anyway, and saved: it takes no bias to read. Zeros are made
// again.
// HALVES-LABEL: func.func @layer_forward
// HALVES: %[[SUM:.*]] = linalg.generic {{.*}} attrs = {joint.save
// HALVES: return %{{.*}}, %arg0, %arg1, %[[SUM]] :
// HALVES-LABEL: func.func @layer_backward
// HALVES: %[[DSUM:.*]] = linalg.generic {{.*}} ins(%arg3, %arg2 :
// HALVES: linalg.fill {joint.recompute
// HALVES: linalg.reduce { arith.addf } ins(%[[DSUM]] :
// HALVES-NOT: linalg.matmul {joint.recompute
// HALVES: joint.partition @layer_partition {{.*}} saved ["x", "w", "sum"]
