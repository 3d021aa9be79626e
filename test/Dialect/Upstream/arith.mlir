// What the roofline model makes of `arith` and `math` on tensors, and of ops
// that no model knows.
//
// RUN: cutback-opt %s --allow-unregistered-dialect --cutback-print-analysis="columns=fusion,recompute-ps,save-ps device=%S/../../Analysis/Inputs/round.json" -o /dev/null | FileCheck %s
// RUN: cutback-opt %s --allow-unregistered-dialect --cutback-plan="device=%S/../../Analysis/Inputs/round.json" --cutback-extract --cutback-verify-partition | FileCheck %s --check-prefix=HALVES

// CHECK-LABEL: {{^}}x: fusion=argument
// CHECK-NEXT: {{^}}t: fusion=argument
joint.graph @pointwise(
    %x: tensor<100x100xf32> {joint.name = "x", joint.role = #joint.role<input>},
    %t: tensor<100x100xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  // CHECK-NEXT: {{^}}c: fusion=create recompute-ps=0 save-ps=never
  %c = arith.constant dense<2.0> : tensor<100x100xf32>
  // CHECK-NEXT: {{^}}a: fusion=pointwise recompute-ps=0 save-ps=40000
  %a = arith.mulf %x, %c : tensor<100x100xf32>
  // Ten FLOPs an element, while its kernel moves 40,000 bytes.
  // CHECK-NEXT: {{^}}e: fusion=pointwise recompute-ps=0 save-ps=40000
  %e = math.exp %a : tensor<100x100xf32>
  // The backward needs it neither saved nor made again.
  // CHECK-NEXT: {{^}}m: fusion=pointwise recompute-ps=0 save-ps=1
  %m = arith.maximumf %e, %x : tensor<100x100xf32>
  // Nobody knows what it does: it runs once, at its place, and is kept.
  // CHECK-NEXT: {{^}}u: fusion=never recompute-ps=never save-ps=40000
  %u = "who.knows"(%m) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}y: fusion=pointwise recompute-ps=1120000 save-ps=1
  %y = arith.addf %u, %e : tensor<100x100xf32>
  %g = arith.mulf %t, %u : tensor<100x100xf32>
  %g1 = arith.mulf %g, %e : tensor<100x100xf32>
  joint.output %y gradients(%g1 of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}

// HALVES-LABEL: func.func @pointwise_forward
// HALVES: return %{{.*}}, %[[E:.*]], %[[U:.*]] : tensor<100x100xf32>, tensor<100x100xf32>, tensor<100x100xf32>
// HALVES-LABEL: func.func @pointwise_backward
// HALVES-SAME: (%[[E:.*]]: tensor<100x100xf32> {{[{].*role<saved>}}}, %[[U:.*]]: tensor<100x100xf32> {{[{].*role<saved>}}}, %[[T:.*]]: tensor<100x100xf32> {
// HALVES-NEXT: %[[G:.*]] = arith.mulf %[[T]], %[[U]]
// HALVES-NEXT: %[[G1:.*]] = arith.mulf %[[G]], %[[E]]
// HALVES-NEXT: return %[[G1]]
