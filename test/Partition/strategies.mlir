// The strategies on one graph: a product, dropout, and a chain of functions
// whose derivatives only the backward asks for.
//
// RUN: cutback-opt %s --cutback-plan | FileCheck %s --check-prefix=CUT
// RUN: cutback-opt %s --cutback-plan=strategy=min-cut | FileCheck %s --check-prefix=CUT
// RUN: cutback-opt %s --cutback-plan=strategy=eager | FileCheck %s --check-prefix=EAGER
// RUN: cutback-opt %s --cutback-plan=strategy=precompute | FileCheck %s --check-prefix=SAVE
// RUN: cutback-opt %s --cutback-plan=strategy=recompute-all | FileCheck %s --check-prefix=RECOMPUTE

// Former names are taken.
// RUN: cutback-opt %s --cutback-plan=strategy=default | FileCheck %s --check-prefix=EAGER
// RUN: cutback-opt %s --cutback-plan=strategy=save-all | FileCheck %s --check-prefix=SAVE

// Every plan can be extracted and proved, and a second plan replaces the first.
// RUN: cutback-opt %s --cutback-plan=strategy=eager --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan=strategy=precompute --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan=strategy=recompute-all --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan=strategy=precompute --cutback-plan=strategy=min-cut | FileCheck %s --check-prefix=CUT

// CUT-LABEL: joint.graph @dropout
// EAGER-LABEL: joint.graph @dropout
// SAVE-LABEL: joint.graph @dropout
// RECOMPUTE-LABEL: joint.graph @dropout
joint.graph @dropout(
    %w: tensor<64x64xf32> {joint.role = #joint.role<param "w">},
    %x: tensor<64x64xf32> {joint.role = #joint.role<input>},
    %t: tensor<64x64xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x64xf32>) gradients (tensor<64x64xf32>) {
  // The product is saved by the cut alone; only recompute-all runs it again.
  // CUT: %mm = aten.mm(%x, %w) {joint.save = array<i1: true>} :
  // EAGER: %mm = aten.mm(%x, %w) :
  // SAVE: %mm = aten.mm(%x, %w) :
  // RECOMPUTE: %mm = aten.mm(%x, %w) {joint.recompute} :
  %mm = aten.mm(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // A second run would draw other numbers: all save it.
  // CUT: aten.bernoulli(%mm) {joint.save = array<i1: true>} :
  // EAGER: aten.bernoulli(%mm) {joint.save = array<i1: true>} :
  // SAVE: aten.bernoulli(%mm) {joint.save = array<i1: true>} :
  // RECOMPUTE: aten.bernoulli(%mm) {joint.save = array<i1: true>} :
  %noise = aten.bernoulli(%mm) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CUT: %drop = aten.mul.Tensor(%mm, %noise) {joint.recompute} :
  // EAGER: %drop = aten.mul.Tensor(%mm, %noise) :
  // SAVE: %drop = aten.mul.Tensor(%mm, %noise) :
  // RECOMPUTE: %drop = aten.mul.Tensor(%mm, %noise) {joint.recompute} :
  %drop = aten.mul.Tensor(%mm, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CUT: %e = aten.exp(%drop) {joint.recompute} :
  // EAGER: %e = aten.exp(%drop) {joint.save = array<i1: true>} :
  // SAVE: %e = aten.exp(%drop) :
  // RECOMPUTE: %e = aten.exp(%drop) {joint.recompute} :
  %e = aten.exp(%drop) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CUT: %y = aten.sin(%e) :
  // EAGER: %y = aten.sin(%e) :
  // SAVE: %y = aten.sin(%e) :
  // RECOMPUTE: %y = aten.sin(%e) :
  %y = aten.sin(%e) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // What neither half claims runs in the backward, but for precompute.
  // CUT: %c = aten.cos(%e) {joint.side = #joint.side<backward>} :
  // EAGER: %c = aten.cos(%e) {joint.side = #joint.side<backward>} :
  // SAVE: %c = aten.cos(%e) {joint.save = array<i1: true>, joint.side = #joint.side<forward>} :
  // RECOMPUTE: %c = aten.cos(%e) {joint.side = #joint.side<backward>} :
  %c = aten.cos(%e) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %g0 = aten.mul.Tensor(%t, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g1 = aten.mul.Tensor(%g0, %noise) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CUT: %xt = aten.t(%x) {joint.side = #joint.side<backward>} :
  // EAGER: %xt = aten.t(%x) {joint.side = #joint.side<backward>} :
  // SAVE: %xt = aten.t(%x) {joint.save = array<i1: true>, joint.side = #joint.side<forward>} :
  // RECOMPUTE: %xt = aten.t(%x) {joint.side = #joint.side<backward>} :
  %xt = aten.t(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %dw = aten.mm(%xt, %g1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y gradients(%dw of 0) : tensor<64x64xf32>, tensor<64x64xf32>
}

// Where only the sizes of a tensor are needed, eager saves the sizes.
// EAGER-LABEL: joint.graph @sizes
joint.graph @sizes(
    %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]},
    %t: tensor<f32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<f32>) gradients (tensor<?x4xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 24>}} {
  // EAGER: %a = aten.sin(%x) :
  %a = aten.sin(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = aten.sum(%a) : (tensor<?x4xf32>) -> tensor<f32>
  // EAGER: aten.sym_size.int(%a, 0) {joint.save = array<i1: true>, joint.side = #joint.side<forward>}
  %n = aten.sym_size.int(%a, 0) : (tensor<?x4xf32>) -> index
  %g = aten.expand(%t, [%n, 4]) : (tensor<f32>, index) -> tensor<?x4xf32>
  joint.output %y gradients(%g of 0) : tensor<f32>, tensor<?x4xf32>
}
