// Sizes through `tensor`, `arith`, `linalg` and `tosa` under the hint of a
// symbol: 64 for s, or what --sym says.
//
// RUN: cutback-opt %s --cutback-print-analysis="columns=bytes,storage,fusion" -o /dev/null | FileCheck %s
// RUN: cutback-opt %s --cutback-print-analysis="columns=bytes sym=s=8" -o /dev/null | FileCheck %s --check-prefix=EIGHT
// RUN: cutback-opt %s --cutback-pipeline=byte-price=100000 | FileCheck %s --check-prefix=HALVES

// CHECK-LABEL: {{^}}x: bytes=1024 storage=x fusion=argument
// CHECK-NEXT: {{^}}t: bytes=1024 storage=t fusion=argument
joint.graph @sizes(
    %x: tensor<?x4xf32> {joint.name = "x", joint.dims = ["s", "4"], joint.role = #joint.role<input>},
    %t: tensor<?x4xf32> {joint.name = "t", joint.dims = ["s", "4"], joint.role = #joint.role<tangent of 0>})
    -> (tensor<?x4xf32>) gradients (tensor<?x4xf32>)
    attributes {symbols = {s = #joint.symbol<hint = 64>}} {
  // CHECK-NEXT: {{^}}c0: bytes=0 storage=c0 fusion=create
  %c0 = arith.constant 0 : index
  // CHECK-NEXT: {{^}}c2: bytes=0 storage=c2 fusion=create
  %c2 = arith.constant 2 : index
  // CHECK-NEXT: {{^}}n: bytes=8 storage=n fusion=pointwise
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  // CHECK-NEXT: {{^}}half: bytes=8 storage=half fusion=pointwise
  %half = arith.divui %n, %c2 : index
  // Nothing has to be made, so nothing takes memory.
  // CHECK-NEXT: {{^}}e: bytes=0 storage=e fusion=create
  %e = tensor.empty(%n) : tensor<?x4xf32>
  // Its shape is that of its destination.
  // CHECK-NEXT: {{^}}p: bytes=1024 storage=p fusion=pointwise
  // EIGHT: {{^}}p: bytes=128
  %p = linalg.map {math.exp} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
  // Views lie in the storage of what they look at.
  // CHECK-NEXT: {{^}}split: bytes=1024 storage=p fusion=view
  %split = tensor.expand_shape %p [[0, 1], [2]] output_shape [%half, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
  // CHECK-NEXT: {{^}}flat: bytes=1024 storage=p fusion=view
  %flat = tensor.collapse_shape %split [[0, 1, 2]] : tensor<?x2x4xf32> into tensor<?xf32>
  // CHECK-NEXT: {{^}}part: bytes=512 storage=p fusion=view
  // EIGHT: {{^}}part: bytes=64
  %part = tensor.extract_slice %p[0, 0] [%half, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  // What tosa infers of it.
  // CHECK-NEXT: {{^}}twice: bytes=1024 storage=twice fusion=concat
  // EIGHT-NEXT: {{^}}twice: bytes=128
  %twice = tosa.concat %part, %part {axis = 0 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: {{^}}q: bytes=1024 storage=q fusion=pointwise
  // EIGHT-NEXT: {{^}}q: bytes=128
  %q = tosa.tanh %twice : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = arith.addf %q, %p : tensor<?x4xf32>
  %g = arith.mulf %t, %q : tensor<?x4xf32>
  %g1 = arith.mulf %g, %p : tensor<?x4xf32>
  joint.output %y gradients(%g1 of 0) : tensor<?x4xf32>, tensor<?x4xf32>
}

// What is made again is, with its size, which is saved as a number.
// HALVES-LABEL: func.func @sizes_backward
// HALVES-SAME: (%[[HALF:.*]]: index {joint.name = "half", {{.*}}, %[[P:.*]]: tensor<?x4xf32> {joint.name = "p"
// HALVES-NEXT: %[[PART:.*]] = tensor.extract_slice %[[P]][0, 0] [%[[HALF]], 4] [1, 1] {joint.recompute
// HALVES-NEXT: %[[TWICE:.*]] = tosa.concat %[[PART]], %[[PART]] {axis = 0 : i32, joint.recompute
// HALVES-NEXT: tosa.tanh %[[TWICE]] {joint.recompute
