// What must be gone behind a phase, and is not: each gate names the op and the
// pass that takes it away.
//
// RUN: split-file %s %t
// RUN: cutback-opt %t/functional.mlir --verify-diagnostics --cutback-check-phase=phase=functional
// RUN: cutback-opt %t/units.mlir --verify-diagnostics --cutback-check-phase=phase=units
// RUN: cutback-opt %t/core.mlir --verify-diagnostics --cutback-check-phase=phase=core
// RUN: cutback-opt %t/dead.mlir --verify-diagnostics --cutback-check-phase=phase=prepared
// RUN: cutback-opt %t/twice.mlir --verify-diagnostics --cutback-check-phase=phase=prepared
// RUN: cutback-opt %t/region.mlir --verify-diagnostics --cutback-check-phase=phase=prepared
// RUN: cutback-opt %t/launches.mlir --verify-diagnostics --cutback-check-phase=phase=placed
// RUN: not cutback-opt %t/twice.mlir --cutback-check-phase=phase=lowered 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not cutback-opt %t/twice.mlir '--cutback-check-phase=phase=placed sym=s0' 2>&1 | FileCheck %s --check-prefix=SYMBOL

// What the pipeline leaves behind passes its gate; a size that nobody knows has
// no place.
// RUN: cutback-opt %S/pipeline.mlir --cutback-pipeline --cutback-check-phase=phase=placed -o /dev/null
// RUN: cutback import %corpus/mlp/joint.txt -o %t/unknown.mlir
// RUN: not cutback-opt %t/unknown.mlir --cutback-pipeline --cutback-check-phase=phase=placed 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: cutback-opt %t/unknown.mlir --cutback-pipeline=sym=s1=8 '--cutback-check-phase=phase=placed sym=s1=8' -o /dev/null
// UNKNOWN: error: has no places, behind phase placed: size of 'primals_7'
// UNKNOWN: note: give the sizes of symbols: sym=s0=24

// PHASE: unknown phase 'lowered'; there are functional, units, core, prepared, placed
// SYMBOL: a symbol is given as NAME=SIZE (s0=24), not 's0'

//--- functional.mlir
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'aten.relu_' writes in place, behind phase functional}}
  // expected-note @below {{--cutback-functionalize makes values of it}}
  %z = aten.relu_(%y) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %z : tensor<4xf32>
}

//--- units.mlir
joint.graph @g(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<2x3xf32> {joint.role = #joint.role<param>}) -> (tensor<4x2xf32>) gradients () {
  // expected-error @below {{'aten.linear' is composite, behind phase units}}
  // expected-note @below {{--cutback-decompose-composites decomposes it}}
  %y = aten.linear(%x, %w) : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  joint.output %y : tensor<4x2xf32>
}

//--- core.mlir
joint.graph @g(%x: tensor<4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<4x8xf32>) gradients () {
  // expected-error @below {{'aten._softmax' is no core op, behind phase core}}
  // expected-note @below {{--cutback-decompose-to-core decomposes it}}
  %y = aten._softmax(%x, 1, false) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  joint.output %y : tensor<4x8xf32>
}

//--- dead.mlir
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{'aten.sin' is dead or computed twice, behind phase prepared}}
  // expected-note @below {{--cutback-eliminate-dead-code and --cutback-eliminate-common-subexpressions take it away}}
  %dead = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.cos(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

//--- twice.mlir
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'aten.sin' is dead or computed twice, behind phase prepared}}
  // expected-note @below {{--cutback-eliminate-dead-code and}}
  %b = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.add.Tensor(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

//--- region.mlir
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  // expected-error @below {{a checkpoint region, behind phase prepared}}
  // expected-note @below {{--cutback-flatten-checkpoints makes tags of it}}
  %y = joint.checkpoint {
    %a = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

//--- launches.mlir
// expected-error @below {{does not say which of its ops run as one (joint.launches), behind phase placed}}
// expected-note @below {{--cutback-partition forms kernels}}
func.func private @g_forward(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
func.func private @g_backward(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
joint.partition @g_partition forward @g_forward backward @g_backward saved ["x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
