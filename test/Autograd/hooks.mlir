// Hooks where the engine runs them.
//
// RUN: cutback-opt %s --split-input-file \
// RUN:   --cutback-differentiate=hooks=post_accumulate:w,tensor_pre:w,retains_grad:tanh,tensor_pre:tanh,node_pre:tanh,node_post:tanh,node_pre:w,tensor_pre:sum \
// RUN:   | FileCheck %s
// RUN: cutback-opt %s --split-input-file --cutback-differentiate=hooks=tensor_pre:* \
// RUN:   | FileCheck %s --check-prefix=ALL
// RUN: cutback-opt %s --split-input-file --mlir-print-debuginfo \
// RUN:   --cutback-differentiate=hooks=node_pre:tanh,tensor_pre:w \
// RUN:   | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: joint.graph @the_order_of_the_engine(
// CHECK: %[[SEED:.*]] = joint.hook @sum tensor_pre(%tangents_1) key 0 : tensor<f32> -> tensor<f32>
// CHECK: %[[EXPAND:.*]] = aten.expand(%[[SEED]], [4])
// CHECK-NEXT: %[[TENSOR:.*]] = joint.hook @tanh tensor_pre(%[[EXPAND]]) key 1 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: joint.hook @tanh retains_grad(%[[TENSOR]]) key 2 : tensor<4xf32>
// CHECK-NEXT: %[[PRE:.*]] = joint.hook @tanh node_pre(%[[TENSOR]]) key 3
// CHECK-NEXT: %[[BACK:.*]] = aten.tanh_backward(%[[PRE]], %tanh)
// CHECK-NEXT: %[[POST:.*]] = joint.hook @tanh node_post(%[[BACK]]) key 4
// CHECK-NEXT: %[[MUL:.*]] = aten.mul.Tensor(%[[POST]], %x)
// CHECK-NEXT: %[[W:.*]] = joint.hook @w tensor_pre(%[[MUL]]) key 5
// CHECK-NEXT: %[[WPRE:.*]] = joint.hook @w node_pre(%[[W]]) key 6
// CHECK-NEXT: %[[ACC:.*]] = joint.hook @w post_accumulate(%[[WPRE]]) key 7
// CHECK-NEXT: joint.output %sum gradients(%[[ACC]] of 0)

// ALL-LABEL: joint.graph @the_order_of_the_engine(
// ALL: joint.hook @w tensor_pre
// ALL-NOT: joint.hook
// ALL: joint.graph

// LOC-LABEL: joint.graph @the_order_of_the_engine(
// LOC: joint.hook @tanh node_pre({{.*}} loc(#[[AT:.*]])
// LOC: #[[AT]] = loc(fused<{backward_of = "tanh", sequence_nr = 1 : i64}>[#{{.*}}])
joint.graph @the_order_of_the_engine(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
  %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}

// -----

// Zeros that nobody computes are computed for a hook, which may replace them.
// CHECK-LABEL: joint.graph @a_hook_sees_zeros(
// CHECK: %[[ZEROS:.*]] = aten.full([4], 0.0{{.*}})
// CHECK-NEXT: %[[TENSOR:.*]] = joint.hook @tanh tensor_pre(%[[ZEROS]]) key 1
// CHECK: aten.tanh_backward(%{{.*}}, %tanh)
// CHECK: joint.hook @w post_accumulate
joint.graph @a_hook_sees_zeros(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %tanh = aten.tanh(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %floor = aten.floor(%tanh) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%floor) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
