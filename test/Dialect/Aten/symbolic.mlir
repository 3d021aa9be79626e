// Arithmetic on symbolic sizes.
//
// RUN: cutback-opt %s | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --emit-bytecode | cutback-opt | FileCheck %s
// RUN: cutback-opt %s --mlir-print-op-generic | cutback-opt | FileCheck %s

// CHECK-LABEL: @sizes_are_index_values
// CHECK: %size = aten.sym_size.int(%arg0, 0) : (tensor<?x8xf32>) -> index
// CHECK: %count = aten.sym_numel(%arg0) : (tensor<?x8xf32>) -> index
// CHECK: %more = aten.sym.add(%size, 1) : (index) -> index
// CHECK: %half = aten.sym.floordiv(%more, 2) : (index) -> index
// CHECK: %float = aten.sym.float(%count) : (index) -> f64
// CHECK: %inverse = aten.sym.truediv(1.000000e+00, %float) : (f64) -> f64
// CHECK: %negative = aten.sym.neg(%inverse) : (f64) -> f64
// CHECK: %whole = aten.sym.trunc(%inverse) : (f64) -> index
// CHECK: %small = aten.sym.lt(%half, %size) : (index, index) -> i1
// CHECK: %choice = aten.sym.ite(%small, %half, %size) : (i1, index, index) -> index
func.func @sizes_are_index_values(%arg0: tensor<?x8xf32>) {
  %size = aten.sym_size.int(%arg0, 0) : (tensor<?x8xf32>) -> index
  %count = aten.sym_numel(%arg0) : (tensor<?x8xf32>) -> index
  %more = aten.sym.add(%size, 1) : (index) -> index
  %half = aten.sym.floordiv(%more, 2) : (index) -> index
  %float = aten.sym.float(%count) : (index) -> f64
  %inverse = aten.sym.truediv(1.000000e+00, %float) : (f64) -> f64
  %negative = aten.sym.neg(%inverse) : (f64) -> f64
  %whole = aten.sym.trunc(%inverse) : (f64) -> index
  %small = aten.sym.lt(%half, %size) : (index, index) -> i1
  %choice = aten.sym.ite(%small, %half, %size) : (i1, index, index) -> index
  return
}
