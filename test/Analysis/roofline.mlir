// What the roofline model says of ops and values, on a device that moves one
// byte a picosecond, computes one FLOP a picosecond (four in products) and
// takes a million picoseconds to launch a kernel.
//
// RUN: cutback-opt %s --cutback-print-analysis="columns=fusion,materialized,recompute-ps,save-ps device=%S/Inputs/round.json" -o /dev/null | FileCheck %s

// What outlives the step and what the host holds costs nothing to keep.
// CHECK-LABEL: {{^}}w: fusion=argument materialized=yes recompute-ps=- save-ps=0
// CHECK-NEXT: {{^}}buf: fusion=argument materialized=yes recompute-ps=- save-ps=0
// CHECK-NEXT: {{^}}c: fusion=argument materialized=yes recompute-ps=- save-ps=0
// CHECK-NEXT: {{^}}s: fusion=argument materialized=yes recompute-ps=- save-ps=0
// An input is in memory: keeping it costs reading it, and nobody reads this one.
// CHECK-NEXT: {{^}}x: fusion=argument materialized=yes recompute-ps=- save-ps=1
// CHECK-NEXT: {{^}}t: fusion=argument materialized=yes recompute-ps=- save-ps=never
joint.graph @arguments_are_in_memory(
    %w: tensor<100x100xf32> {joint.role = #joint.role<param "w">},
    %buf: tensor<100x100xf32> {joint.role = #joint.role<buffer "b">},
    %c: tensor<100x100xf32> {joint.role = #joint.role<constant>},
    %s: index {joint.role = #joint.role<size>},
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %t: tensor<100x100xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  joint.output %x gradients(%t of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}

joint.graph @ops_cost_what_they_would_add(
    %a: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %idx: tensor<7xi64> {joint.role = #joint.role<input>},
    %n: index {joint.role = #joint.role<size>},
    %ta: tensor<100x100xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  // 2 * 100^3 FLOPs at 4 a picosecond, longer than moving 120,000 bytes, and a
  // launch; that its operand is read again is part of the price of that. The
  // backward does not read it: only the copy of neg would.
  // CHECK: {{^}}mm: fusion=never materialized=yes recompute-ps=1460000 save-ps=1
  %mm = aten.mm(%a, %a) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}turned: fusion=view materialized=no recompute-ps=0 save-ps=never
  %turned = aten.t(%mm) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // An unknown op reads it, so it is written anyway: keeping it costs what its
  // readers take longer. A copy has a home, the kernel of g, which reads mm for
  // it and writes it for the others.
  // CHECK-NEXT: {{^}}neg: fusion=pointwise materialized=yes recompute-ps=150000 save-ps=110000
  %neg = aten.neg(%turned) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // Its FLOPs take no longer than what its kernel moves meanwhile. Nothing else
  // writes it: keeping it costs a writing and a reading.
  // CHECK-NEXT: {{^}}again: fusion=pointwise materialized=no recompute-ps=0 save-ps=80000
  %again = aten.neg(%neg) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // It is read behind the unknown op: a kernel of its own, written and read.
  // CHECK-NEXT: {{^}}twice: fusion=pointwise materialized=no recompute-ps=1080000 save-ps=80000
  %twice = aten.neg(%again) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}total: fusion=reduction materialized=no recompute-ps=1040400 save-ps=1
  %total = aten.sum.dim_IntList(%again, [1], true) : (tensor<100x100xf32>) -> tensor<100x1xf32>
  // CHECK-NEXT: {{^}}noise: fusion=pointwise materialized=no recompute-ps=never save-ps=1
  %noise = aten.bernoulli(%neg) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}made: fusion=create materialized=no recompute-ps=1040000 save-ps=80000
  %made = aten.full([100, 100], 1.0) : () -> tensor<100x100xf32>
  // A kernel of its own: 160,000 bytes and a launch.
  // CHECK-NEXT: {{^}}both: fusion=concat materialized=no recompute-ps=1160000 save-ps=160000
  %both = aten.cat([%made, %neg], 0) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<200x100xf32>
  // CHECK-NEXT: {{^}}rows: fusion=gather
  %rows = aten.embedding(%a, %idx) : (tensor<100x100xf32>, tensor<7xi64>) -> tensor<7x100xf32>
  // CHECK-NEXT: {{^}}k: fusion=view materialized=no recompute-ps=0 save-ps=1
  %k = aten.sym.mul(%n, 2) : (index) -> index
  // CHECK-NEXT: {{^}}odd: fusion=never materialized=no recompute-ps=never save-ps=80000
  %odd = joint.opaque "my.op"(%neg) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // A forward result is written, and the backward does not read it. A copy has
  // a kernel of its own: 80,400 bytes, a launch.
  // CHECK-NEXT: {{^}}y: fusion=pointwise materialized=yes recompute-ps=1080400 save-ps=1
  %y = aten.mul.Tensor(%noise, %total) : (tensor<100x100xf32>, tensor<100x1xf32>) -> tensor<100x100xf32>
  // CHECK-NEXT: {{^}}g: fusion=pointwise materialized=no recompute-ps=never save-ps=never
  %g = aten.mul.Tensor(%ta, %neg) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g1 = aten.mul.Tensor(%g, %twice) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g2 = aten.mul.Tensor(%g1, %twice) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  joint.output %y gradients(%g2 of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}

joint.graph @a_lookup_is_free_where_its_reader_takes_it_in(
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %tx: tensor<100x100xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  // Lookups want it in memory: ten FLOPs an element and a launch.
  // CHECK: {{^}}source: fusion=pointwise materialized=yes recompute-ps=1100000 save-ps=40000
  %source = aten.exp(%x) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // It reads what is there, and the products that read it take it in. That they
  // read the source for it is part of its price: nothing else of theirs does.
  // CHECK-NEXT: {{^}}turned: fusion=gather materialized=no recompute-ps=80000 save-ps=80000
  %turned = aten.flip(%source, [0]) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  // A matrix product reads this one: a kernel of its own.
  // CHECK-NEXT: {{^}}alone: fusion=gather materialized=yes recompute-ps=1080000 save-ps=40000
  %alone = aten.flip(%source, [1]) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %y = aten.mul.Tensor(%x, %turned) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g1 = aten.mul.Tensor(%tx, %turned) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g = aten.mm(%g1, %alone) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  joint.output %y gradients(%g of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}

joint.graph @literals_are_made_where_they_are_read(
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %tx: tensor<100x100xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  // A product reads it from memory, and still nothing is saved.
  // CHECK: {{^}}two: fusion=create materialized=yes recompute-ps=0 save-ps=never
  %two = arith.constant dense<2.0> : tensor<100x100xf32>
  // CHECK-NEXT: {{^}}prod: fusion=never materialized=yes recompute-ps=1460000 save-ps=1
  %prod = aten.mm(%x, %two) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  // The kernel of g0 takes it in, and reads the product for it.
  // CHECK-NEXT: {{^}}scaled: fusion=pointwise materialized=yes recompute-ps=40000 save-ps=40000
  %scaled = aten.mul.Tensor(%prod, %two) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g0 = aten.mul.Tensor(%tx, %scaled) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g1 = aten.mm(%g0, %two) : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  joint.output %scaled gradients(%g1 of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}
