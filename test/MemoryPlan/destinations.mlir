// Ops of `linalg` lie where they say: in their destination, which takes no bytes
// of its own where nobody defined it, and what only hands its input through in
// that input.
//
// RUN: cutback-opt %s --cutback-plan-memory -o /dev/null | FileCheck %s

// The zeros that a product starts from lie nowhere: its launch has them in
// itself. The transposition lies in the product, so that one buffer of 1,024
// bytes serves all but the result.
// CHECK:      {{^}}@g_partition: arena 2048, lower bound 2048
// CHECK-NOT:  zeros
// CHECK:      product: temporary, ops 3 to 6, bytes 0 to 1023
// CHECK-NOT:  turned
// CHECK-NOT:  empty

func.func @g_forward(%x: tensor<16x16xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<16x16xf32>) {
  %zero = arith.constant {names = ["zero"]} 0.0 : f32
  %empty = tensor.empty() {names = ["empty"]} : tensor<16x16xf32>
  %zeros = linalg.fill {names = ["zeros"]} ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.matmul {names = ["product"]} ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zeros : tensor<16x16xf32>) -> tensor<16x16xf32>
  %turned = linalg.transpose ins(%product : tensor<16x16xf32>) outs(%empty : tensor<16x16xf32>) permutation = [1, 0] {names = ["turned"]}
  %again = linalg.fill {names = ["again"]} ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = linalg.matmul {names = ["y"]} ins(%x, %turned : tensor<16x16xf32>, tensor<16x16xf32>) outs(%again : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
func.func @g_backward(%t: tensor<16x16xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<16x16xf32> {
  return %t : tensor<16x16xf32>
}
joint.partition @g_partition forward @g_forward backward @g_backward saved [] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
