// What a text calls the results of ops of MLIR's dialects is kept when a graph
// is read, in whatever program: in an attribute that passes carry along.
//
// RUN: cutback-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: cutback-opt %s --allow-unregistered-dialect | cutback-opt --allow-unregistered-dialect | FileCheck %s
// RUN: cutback-opt %s --allow-unregistered-dialect --emit-bytecode | cutback-opt --allow-unregistered-dialect | FileCheck %s

// Groups of results, custom and generic form, strings and comments that look
// like more. A number is no name.
// CHECK-LABEL: joint.graph @every_way_to_write_a_result
// CHECK: %h = math.exp %x {names = ["h"]}
// CHECK: "who.knows"(%h) {names = ["pair", "pair_1", "last"], text = "%no = math.sin %x"}
// CHECK: %{{[0-9]+}} = math.tanh %{{[^ ]*}} :
// CHECK: linalg.map {{.*}} {names = ["map"]}
// CHECK: %aten = aten.exp(%
// CHECK: %sum = arith.addf {{.*}} {names = ["sum"]}
joint.graph @every_way_to_write_a_result(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %h = math.exp %x : tensor<4xf32> // %not = math.cos %x
  %pair:2, %last = "who.knows"(%h) {text = "%no = math.sin %x"} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %0 = math.tanh %pair#1 : tensor<4xf32>
  %map = linalg.map ins(%0, %last : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)
    (%a: f32, %b: f32, %out: f32) {
      %inner = arith.mulf %a, %b : f32
      linalg.yield %inner : f32
    }
  %aten = aten.exp(%map) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = "arith.addf"(%aten, %pair#0) <{fastmath = #arith.fastmath<none>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %sum : tensor<4xf32>
}

// An attribute that is there wins.
// CHECK-LABEL: joint.graph @names_that_are_given
// CHECK: %mine = math.exp %x {names = ["mine"]}
joint.graph @names_that_are_given(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %h = math.exp %x {names = ["mine"]} : tensor<4xf32>
  joint.output %h : tensor<4xf32>
}

// A result that the text does not name at all: nobody guesses.
// CHECK-LABEL: joint.graph @a_result_without_a_name
// CHECK-NOT: names
joint.graph @a_result_without_a_name(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  math.sin %x : tensor<4xf32>
  %h = math.exp %x : tensor<4xf32>
  joint.output %h : tensor<4xf32>
}
