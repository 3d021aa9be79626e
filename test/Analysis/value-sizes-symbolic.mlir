// Sizes that depend on symbols, under the hints of the file and others.
//
// RUN: cutback-opt %s --cutback-print-analysis=columns=bytes -o /dev/null | FileCheck %s --check-prefixes=CHECK,HINT
// RUN: cutback-opt %s --cutback-print-analysis="columns=bytes sym=s0=3" -o /dev/null | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: cutback-opt %s --cutback-print-analysis="columns=bytes sym=s0=3,s1=5" -o /dev/null | FileCheck %s --check-prefixes=CHECK,BOTH

// CHECK-LABEL: {{^}}s0: bytes=8
// HINT-NEXT: {{^}}x: bytes=384
// THREE-NEXT: {{^}}x: bytes=48
// BOTH-NEXT: {{^}}x: bytes=48
// HINT-NEXT: {{^}}twice: bytes=784
// THREE-NEXT: {{^}}twice: bytes=112
// BOTH-NEXT: {{^}}twice: bytes=112
// A symbol without a value: as many bytes as PyTorch assumes.
// HINT-NEXT: {{^}}free: bytes=16384?
// THREE-NEXT: {{^}}free: bytes=16384?
// BOTH-NEXT: {{^}}free: bytes=20{{$}}
joint.graph @arguments_have_the_sizes_of_their_symbols(
    %s0: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
    %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]},
    %twice: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["2*s0 + 1", "4"]},
    %free: tensor<?xf32> {joint.role = #joint.role<input>, joint.dims = ["s1"]})
    -> () gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24, min = 2, max = 64>, s1 = #joint.symbol<>}} {
  // What ops compute from sizes follows.
  // HINT-NEXT: {{^}}relu: bytes=384
  // BOTH-NEXT: {{^}}relu: bytes=48
  %relu = aten.relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // HINT-NEXT: {{^}}half: bytes=8
  %half = aten.sym.floordiv(%s0, 2) : (index) -> index
  // HINT-NEXT: {{^}}made: bytes=48
  // THREE: {{^}}made: bytes=4{{$}}
  // BOTH: {{^}}made: bytes=4{{$}}
  %made = aten.full([%half], 1.0) : (index) -> tensor<?xf32>
  // What depends on data is not known, unless the file says it.
  // HINT-NEXT: {{^}}picked: bytes=32768?
  %picked = aten.nonzero(%relu) : (tensor<?x4xf32>) -> tensor<?x2xi64>
  // HINT-NEXT: {{^}}told: bytes=384{{$}}
  // BOTH: {{^}}told: bytes=48{{$}}
  %told = aten.nonzero(%relu) {joint.dims = ["s0", "2"]} : (tensor<?x4xf32>) -> tensor<?x2xi64>
  joint.output
}
