// Bytes of values, and the storages that they lie in.
//
// RUN: cutback-opt %s --cutback-print-analysis=columns=bytes,storage -o /dev/null | FileCheck %s

// CHECK-LABEL: {{^}}f32: bytes=32 storage=f32
// CHECK-NEXT: {{^}}f64: bytes=64 storage=f64
// CHECK-NEXT: {{^}}bf16: bytes=16 storage=bf16
// CHECK-NEXT: {{^}}f8: bytes=8 storage=f8
// CHECK-NEXT: {{^}}mask: bytes=8 storage=mask
// CHECK-NEXT: {{^}}i64: bytes=64 storage=i64
// CHECK-NEXT: {{^}}cplx: bytes=64 storage=cplx
// CHECK-NEXT: {{^}}scalar: bytes=4 storage=scalar
// CHECK-NEXT: {{^}}empty: bytes=0 storage=empty
// CHECK-NEXT: {{^}}size: bytes=8 storage=size
// CHECK-NEXT: {{^}}number: bytes=8 storage=number
// CHECK-NEXT: {{^}}flag: bytes=8 storage=flag
// CHECK-NEXT: {{^}}nothing: bytes=0 storage=nothing
joint.graph @bytes_are_elements_times_item_size(
    %f32: tensor<2x4xf32> {joint.role = #joint.role<input>},
    %f64: tensor<2x4xf64> {joint.role = #joint.role<input>},
    %bf16: tensor<2x4xbf16> {joint.role = #joint.role<input>},
    %f8: tensor<2x4xf8E4M3FN> {joint.role = #joint.role<input>},
    %mask: tensor<2x4xi1> {joint.role = #joint.role<input>},
    %i64: tensor<2x4xi64> {joint.role = #joint.role<input>},
    %cplx: tensor<2x4xcomplex<f32>> {joint.role = #joint.role<input>},
    %scalar: tensor<f32> {joint.role = #joint.role<input>},
    %empty: tensor<0x4xf32> {joint.role = #joint.role<input>},
    %size: index {joint.role = #joint.role<size>},
    %number: f64 {joint.role = #joint.role<input>},
    %flag: i1 {joint.role = #joint.role<input>},
    %nothing: none {joint.role = #joint.role<input>})
    -> () gradients () {
  joint.output
}

// CHECK: {{^}}base: bytes=64 storage=base
joint.graph @views_lie_in_their_base(
    %base: tensor<4x4xf32> {joint.role = #joint.role<input>})
    -> () gradients () {
  // CHECK-NEXT: {{^}}turned: bytes=64 storage=base
  %turned = aten.t(%base) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: {{^}}flat: bytes=64 storage=base
  %flat = aten.view(%turned, [16]) : (tensor<4x4xf32>) -> tensor<16xf32>
  // CHECK-NEXT: {{^}}copy: bytes=64 storage=copy
  %copy = aten.clone(%flat) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK-NEXT: {{^}}part: bytes=16 storage=copy
  %part = aten.slice.Tensor(%copy, 0, 0, 4) : (tensor<16xf32>) -> tensor<4xf32>
  // CHECK-NEXT: {{^}}left: bytes=32 storage=copy
  // CHECK-NEXT: {{^}}right: bytes=32 storage=copy
  %left, %right = aten.split.Tensor(%copy, 8) : (tensor<16xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  joint.output
}
