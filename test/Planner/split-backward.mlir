// One function a phase; what the rules decide differently; options.
//
// RUN: cutback-opt %s --cutback-split-backward=input-byte-price-ps=1 --verify-each | FileCheck %s
// RUN: cutback-opt %s --cutback-split-backward="rule=closure" --remark-policy=all --remarks-filter="cutback-phases" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLOSURE
// RUN: cutback-opt %s --cutback-split-backward="critical-price=0.5 weight-byte-price-ps=2" --remark-policy=all --remarks-filter="cutback-phases" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUTS
// RUN: not cutback-opt %s --cutback-split-backward=rule=best 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not cutback-opt %s --cutback-split-backward=critical-price=-1 2>&1 | FileCheck %s --check-prefix=PRICE
// RUN: not cutback-opt %s --cutback-split-backward=device=abacus 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not cutback-opt %s --cutback-split-backward=sym=s0 2>&1 | FileCheck %s --check-prefix=SYMBOL

// RULE: error: unknown rule 'best': cuts or closure
// PRICE: error: critical-price is {{-1.*}}, not a number from 0 to 1e6
// DEVICE: error: {{.*}}abacus
// SYMBOL: error: {{.*}}s0

// The sum for the bias is small: it runs with the input gradients, so that only
// the product's operands wait. The closure leaves it to the weight phase, which
// has the gradient anyway.
//
// CLOSURE: Function=bias | Remark="input phase {{.*}} moved to the input phase 0 ps
// CUTS: Function=bias | Remark="input phase {{.*}}; cost {{[0-9]+}}, bound {{[0-9]+}}"
// CHECK-LABEL: func.func @bias_forward(
// CHECK-LABEL: func.func @bias_input(
// CHECK:         %dx = aten.mm
// CHECK-LABEL: func.func @bias_weight(
// CHECK:         %dw = aten.mm
joint.graph @bias(
    %w: tensor<512x512xf32> {joint.role = #joint.role<param "w">},
    %b: tensor<512xf32> {joint.role = #joint.role<param "b">},
    %x: tensor<512x512xf32> {joint.role = #joint.role<input>},
    %t: tensor<512x512xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<512x512xf32>) gradients (tensor<512x512xf32>, tensor<512xf32>, tensor<512x512xf32>) {
  %y = aten.addmm(%b, %x, %w) : (tensor<512xf32>, tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %xt = aten.t(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %dw = aten.mm(%xt, %t) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %db = aten.sum.dim_IntList(%t, [0]) : (tensor<512x512xf32>) -> tensor<512xf32>
  %wt = aten.t(%w) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %dx = aten.mm(%t, %wt) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  joint.output %y gradients(%dw of 0, %db of 1, %dx of 2) : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512x512xf32>
}

// No input has a gradient, as in the first stage of a pipeline: the input phase
// hands over, and runs nothing.
//
// CHECK-LABEL: func.func @first_input(
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @first_weight(
// CHECK:         %dw = aten.mm
joint.graph @first(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  %a = aten.exp(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mm(%a, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %at = aten.t(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw = aten.mm(%at, %t) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%dw of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// A check of the weight phase that is before one of the input phase runs in
// front of it, as in the graph.
//
// CHECK-LABEL: func.func @effects_input(
// CHECK:         joint.assert %{{.*}}, "first"
// CHECK:         joint.assert %{{.*}}, "second"
// CHECK-LABEL: func.func @effects_weight(
// CHECK:         joint.assert %{{.*}}, "third"
joint.graph @effects(
    %w: tensor<4xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %y = aten.mul.Tensor(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dw = aten.mul.Tensor(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c1 = aten.isfinite(%dw) : (tensor<4xf32>) -> tensor<4xi1>
  %ok1 = aten.all(%c1) : (tensor<4xi1>) -> tensor<i1>
  joint.assert %ok1, "first" : tensor<i1>
  %hooked = joint.opaque "my.hook"(%t) {effects} : (tensor<4xf32>) -> tensor<4xf32>
  %c2 = aten.isfinite(%hooked) : (tensor<4xf32>) -> tensor<4xi1>
  %ok2 = aten.all(%c2) : (tensor<4xi1>) -> tensor<i1>
  joint.assert %ok2, "second" : tensor<i1>
  %dx = joint.opaque "my.hook"(%hooked) {effects} : (tensor<4xf32>) -> tensor<4xf32>
  joint.assert %ok1, "third" : tensor<i1>
  joint.output %y gradients(%dw of 0, %dx of 1) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
