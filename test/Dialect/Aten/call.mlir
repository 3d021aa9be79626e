// What all calls have in common: effects decide what may go or be merged,
// names are no part of a call, and folding keeps every bit.
//
// RUN: cutback-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: cutback-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: cutback-opt %s --loop-invariant-code-motion | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s --check-prefix=NAMES

// CSE-LABEL: @equal_calls_merge_whatever_their_names
// CSE-COUNT-1: aten.relu
// CSE-NOT: aten.relu
// CSE: return %[[R:.*]], %[[R]]
func.func @equal_calls_merge_whatever_their_names(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %first = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %second = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %first, %second : tensor<4xf32>, tensor<4xf32>
}

// CSE-LABEL: @calls_with_other_arguments_do_not_merge
// CSE-COUNT-2: aten.unsqueeze
func.func @calls_with_other_arguments_do_not_merge(%x: tensor<1xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %first = aten.unsqueeze(%x, 0) : (tensor<1xf32>) -> tensor<1x1xf32>
  %second = aten.unsqueeze(%x, 1) : (tensor<1xf32>) -> tensor<1x1xf32>
  return %first, %second : tensor<1x1xf32>, tensor<1x1xf32>
}

// CSE-LABEL: @random_calls_never_merge
// CSE-COUNT-2: aten.rand
// FOLD-LABEL: @random_calls_never_merge
// FOLD-COUNT-2: aten.rand
func.func @random_calls_never_merge() -> (tensor<4xf32>, tensor<4xf32>) {
  %first = aten.rand([4], dtype = f32) : () -> tensor<4xf32>
  %second = aten.rand([4], dtype = f32) : () -> tensor<4xf32>
  return %first, %second : tensor<4xf32>, tensor<4xf32>
}

// FOLD-LABEL: @a_random_call_that_nobody_uses_goes
// FOLD-NOT: aten
// FOLD: return
func.func @a_random_call_that_nobody_uses_goes(%x: tensor<4xf32>) {
  %first = aten.rand([4], dtype = f32) : () -> tensor<4xf32>
  %kept, %mask = aten.native_dropout(%x, 0.5, true) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  return
}

// CSE-LABEL: @dropout_merges_when_it_drops_nothing
// CSE-COUNT-1: aten.native_dropout
// CSE-NOT: aten.native_dropout
// CSE: return
func.func @dropout_merges_when_it_drops_nothing(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a, %m = aten.native_dropout(%x, 0.0, true) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  %b, %n = aten.native_dropout(%x, 0.0, true) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// FOLD-LABEL: @a_collective_stays
// FOLD: aten.c10d.all_reduce
func.func @a_collective_stays(%x: tensor<4xf32>) {
  %sum = aten.c10d.all_reduce(%x, "sum", "0") : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// FOLD-LABEL: @views_and_casts_that_change_nothing_fold
// FOLD-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// FOLD-NEXT: return %[[X]]
func.func @views_and_casts_that_change_nothing_fold(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = aten.view(%x, [4, 8]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aten.expand(%a, [-1, 8]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = aten.slice.Tensor(%b, 0, 0, 9223372036854775807) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = aten.prims.convert_element_type(%c, f32) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// FOLD-LABEL: @what_might_change_bits_or_storage_does_not_fold
// FOLD-NEXT: aten.mul.Tensor
// FOLD-NEXT: aten.add.Tensor
// FOLD-NEXT: aten.alias
// FOLD-NEXT: aten.permute
// FOLD-NEXT: aten.clone
func.func @what_might_change_bits_or_storage_does_not_fold(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = aten.mul.Tensor(%x, 1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = aten.add.Tensor(%a, 0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = aten.alias(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = aten.permute(%c, [1, 0]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = aten.clone(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// FOLD-LABEL: @unknown_sizes_do_not_fold
// FOLD-NEXT: aten.view
func.func @unknown_sizes_do_not_fold(%x: tensor<?xf32>, %s: index) -> tensor<?xf32> {
  %a = aten.view(%x, [%s]) : (tensor<?xf32>, index) -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// FOLD-LABEL: @an_op_with_a_tag_does_not_fold
// FOLD-NEXT: aten.view
func.func @an_op_with_a_tag_does_not_fold(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = aten.view(%x, [4]) {joint.policy = #joint.policy<must_save>} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: @an_operand_given_by_keyword_takes_its_place
// CHECK: aten.sub.Tensor(%arg0, %arg1, alpha = 2)
func.func @an_operand_given_by_keyword_takes_its_place(%x: tensor<4xf32>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %a = aten.sub.Tensor(alpha = 2, other = %y, self = %x) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf64>
  return %a : tensor<4xf64>
}

// CHECK-LABEL: @numbers_keep_their_bits
// CHECK: aten.mul.Tensor(%arg0, 0.99565217364579439)
// CHECK: aten.mul.Tensor(%arg0, -inf)
// CHECK: aten.mul.Tensor(%arg0, nan)
// CHECK: aten.mul.Tensor(%arg0, -9223372036854775808)
func.func @numbers_keep_their_bits(%x: tensor<4xf32>) {
  %a = aten.mul.Tensor(%x, 0.9956521736457944) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.mul.Tensor(%x, -inf) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aten.mul.Tensor(%x, nan) : (tensor<4xf32>) -> tensor<4xf32>
  %d = aten.mul.Tensor(%x, -9223372036854775808) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// The only result's name may stand in a list: it is the same property.
// GENERIC-LABEL: sym_name = "one_name"
// GENERIC: "aten.relu"({{.*}}names = "a"
// GENERIC: "aten.sin"({{.*}}names = "b"
// GENERIC: "aten.max.dim"({{.*}}names = ["c", "d"]
// NAMES-LABEL: @one_name
// NAMES: %a = aten.relu
// NAMES: %b = aten.sin
// NAMES: %c, %d = aten.max.dim
func.func @one_name(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = "aten.relu"(%x) <{args = [#joint.operand], names = "a"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "aten.sin"(%0) <{args = [#joint.operand], names = ["b"]}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2:2 = "aten.max.dim"(%1) <{args = [#joint.operand, 0, false], names = ["c", "d"]}> : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %2#0 : tensor<4xf32>
}
