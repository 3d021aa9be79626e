// The example of --cutback-expose-random-states.
//
// RUN: cutback-opt %s --cutback-expose-random-states | FileCheck %s

// CHECK: func.func @f_forward(%arg0: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xui8>) {
// CHECK-NEXT: %rng_state_0 = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
// CHECK-NEXT: %m = aten.bernoulli(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %m, %arg0, %rng_state_0 : tensor<4xf32>, tensor<4xf32>, tensor<?xui8>
// CHECK: func.func @f_backward(%[[X:.*]]: tensor<4xf32> {joint.name = "x"}, %[[STATE:.*]]: tensor<?xui8> {joint.name = "rng_state_0", joint.role = #joint.role<saved>}, %[[T:.*]]: tensor<4xf32> {joint.name = "t"}) -> tensor<4xf32> {
// CHECK-NEXT: joint.opaque "higher_order.run_with_rng_state"(%[[STATE]]) {effects} : (tensor<?xui8>) -> ()
// CHECK-NEXT: %m_recompute = aten.bernoulli(%[[X]]) {joint.recompute = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: joint.partition {{.*}} saved ["x", "rng_state_0"]
func.func @f_forward(%x: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = aten.bernoulli(%x) {joint.replay = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %m, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @f_backward(%x: tensor<4xf32> {joint.name = "x"}, %t: tensor<4xf32> {joint.name = "t"}) -> tensor<4xf32> {
  %m_recompute = aten.bernoulli(%x) {joint.recompute = 0 : i64, joint.replay = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %m_recompute) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
joint.partition @f_partition forward @f_forward backward @f_backward saved ["x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
