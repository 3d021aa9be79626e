// Symbols that are not there, and sizes that no number holds.
//
// RUN: not cutback-opt %s --split-input-file --cutback-print-analysis="columns=bytes sym=s7=3,s6=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: cutback-opt %s --split-input-file --verify-diagnostics --cutback-print-analysis=columns=bytes

// SYMBOL: error: 'joint.graph' op has no symbol 's6'
// SYMBOL: note: {{.*}}its symbols are s0, s1
// SYMBOL: error: 'joint.graph' op has no symbol 's6'
// SYMBOL: note: {{.*}}all its sizes are static
joint.graph @only_these_symbols_may_be_given(
    %x: tensor<?x?xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "s1"]})
    -> () gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 2>, s1 = #joint.symbol<hint = 2>}} {
  joint.output
}

// -----

joint.graph @bytes_of_a_static_type_overflow(
    // expected-error @below {{size of 'x' of type 'tensor<4611686018427387904xf32>' does not fit 64 bits}}
    %x: tensor<4611686018427387904xf32> {joint.role = #joint.role<input>})
    -> () gradients () {
  joint.output
}

// -----

joint.graph @elements_under_hints_overflow(
    // expected-error @below {{does not fit 64 bits}}
    %y: tensor<?x?xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "s0"]})
    -> () gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 4294967296>}} {
  joint.output
}
