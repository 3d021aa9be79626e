// What the verifier of joint.nested refuses. C1, C2, … are the constraints in
// its description.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics

func.func @c1_a_region_for_each_name(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op has 1 graphs, its argument list names 2}}
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  return
}

// -----

func.func @c1_an_operand_for_each_place(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op has 2 operands, its argument list asks for 1}}
  "joint.nested"(%p, %x) <{callee = "higher_order.cond", args = [#joint.operand, @yes]}> ({
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @c1_keywords_are_of_arguments(%p: tensor<i1>) {
  // expected-error@+1 {{'joint.nested' op has more keywords than arguments}}
  "joint.nested"(%p) <{callee = "higher_order.cond", args = [#joint.operand], keywords = ["a", "b"]}> ({
    joint.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @c2_the_callee_is_known(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op is no call that runs 1 graphs: 'higher_order.map'}}
  %y = joint.nested "higher_order.map"(@f, [%x]) {tuple} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<f32>):
    joint.return %a : tensor<f32>
  }
  return
}

// -----

func.func @c3_a_graph_takes_what_it_is_given(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op does not hand to its graph number 1 what that takes}}
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<5xf32>):
    %no.full = aten.full([4], 1.0) : () -> tensor<4xf32>
    joint.return %no.full : tensor<4xf32>
  }
  return
}

// -----

func.func @c3_a_scan_hands_over_slices(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error@+1 {{'joint.nested' op does not hand to its graph number 0 what that takes}}
  %y = joint.nested "higher_order.scan"(@f, [%h], [%x], []) {tuple} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<3x4xf32>):
    joint.return %a : tensor<4xf32>
  }
  return
}

// -----

func.func @c4_results_are_those_of_the_graph(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op has results that its graphs do not give}}
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf64> {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  return
}

// -----

func.func @c4_a_branch_gives_what_the_other_gives(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op has results that its graphs do not give}}
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %no.eq = aten.eq.Scalar(%a, 0) : (tensor<4xf32>) -> tensor<4xi1>
    joint.return %no.eq : tensor<4xi1>
  }
  return
}

// -----

func.func @c4_a_graph_says_where_its_values_are(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.nested' op has a graph that does not end with joint.return of its values}}
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32> {places = array<i1: false>}
  }, {
  ^bb0(%a: tensor<4xf32>):
    joint.return %a : tensor<4xf32>
  }
  return
}
