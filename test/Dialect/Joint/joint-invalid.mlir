// What the verifiers of dialect `joint` refuse. C1, C2, … are the constraints
// in the descriptions of the ops.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics

// expected-error@+2 {{'joint.graph' op argument 0 has no joint.role}}
// expected-note@+1 {{say what it is for: {joint.role = #joint.role<input>}, <param "NAME">, <buffer "NAME">, <tangent of RESULT>, ...}}
joint.graph @c1_every_argument_has_a_role(%x: tensor<4xf32>)
    -> (tensor<4xf32>) gradients () {
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op forward result 0 ('relu') depends on a tangent or on the gradient seed}}
joint.graph @c2_forward_results_do_not_depend_on_a_tangent(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients () {
  %relu = aten.relu(%t) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %relu : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op argument 0 is the tangent of forward result 1, and there are 1}}
joint.graph @c3_a_tangent_names_a_forward_result(
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 1>},
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op argument 1 is the tangent of forward result 0 of type 'tensor<4xf32>', but has type 'tensor<5xf32>'}}
joint.graph @c3_a_tangent_has_the_type_of_its_result(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<5xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients () {
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op forward result 0 has two tangents; the second is argument 2}}
joint.graph @c3_a_tangent_is_the_only_one(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>},
    %u: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients () {
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op must end with joint.output}}
joint.graph @c4_the_body_ends_with_an_output(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  tosa.yield %x : tensor<4xf32>
}

// -----

joint.graph @c4_the_output_has_the_results_types(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<5xf32>) gradients () {
  // expected-error@+1 {{'joint.output' op has operands of other types than the results of its graph}}
  joint.output %x : tensor<4xf32>
}

// -----

joint.graph @c4_the_output_has_the_forward_results_of_its_graph(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> () gradients (tensor<4xf32>) {
  // expected-error@+1 {{'joint.output' op has 1 forward results, its graph 0}}
  joint.output %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'joint.graph' op two arguments are called 'x'}}
joint.graph @c5_names_of_arguments_are_distinct(
    %a: tensor<4xf32> {joint.name = "x", joint.role = #joint.role<input>},
    %b: tensor<4xf32> {joint.name = "x", joint.role = #joint.role<input>})
    -> () gradients () {
  joint.output
}

// -----

// expected-error@+1 {{'joint.graph' op has 0 results, but 1 forward results}}
"joint.graph"() <{sym_name = "forward_results_are_results", function_type = () -> (), num_forward_results = 1 : i64}> ({
  "joint.output"() <{gradient_of = array<i32>}> : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'joint.graph' op has arguments of other types than its signature}}
"joint.graph"() <{sym_name = "the_body_has_the_arguments_of_the_signature", function_type = (tensor<4xf32>) -> (), num_forward_results = 0 : i64}> ({
^bb0(%x: tensor<5xf32>):
  "joint.output"() <{gradient_of = array<i32>}> : () -> ()
}) : () -> ()

// -----

joint.graph @c1_a_gradient_has_its_arguments_type(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %y: tensor<5xf32> {joint.role = #joint.role<input>})
    -> () gradients (tensor<4xf32>) {
  // expected-error@+1 {{'joint.output' op gradient of argument 1 has type 'tensor<4xf32>', the argument has type 'tensor<5xf32>'}}
  joint.output gradients(%x of 1) : tensor<4xf32>
}

// -----

joint.graph @c2_gradients_stand_in_the_order_of_the_arguments(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %y: tensor<4xf32> {joint.role = #joint.role<input>})
    -> () gradients (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{'joint.output' op gradients of arguments 1 and 0 are not in the order of the arguments}}
  joint.output gradients(%x of 1, %y of 0) : tensor<4xf32>, tensor<4xf32>
}

// -----

joint.graph @a_gradient_is_of_an_argument(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> () gradients (tensor<4xf32>) {
  // expected-error@+1 {{'joint.output' op gradient of argument 1, and there are 1}}
  joint.output gradients(%x of 1) : tensor<4xf32>
}

// -----

joint.graph @a_gradient_is_an_operand(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{'joint.output' op names more gradients than it has operands}}
  "joint.output"(%x) <{gradient_of = array<i32: 0, 1>}> : (tensor<4xf32>) -> ()
}

// -----

joint.graph @c1_only_arguments_are_written(
    %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> () gradients () {
  %relu = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'joint.write' op writes 'relu', which is not an argument of the graph}}
  %w = joint.write %relu, %x : tensor<4xf32>, tensor<4xf32>
  joint.output
}

// -----

joint.graph @c2_what_is_written_has_the_arguments_shape(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %y: tensor<5xf32> {joint.role = #joint.role<input>})
    -> () gradients () {
  // expected-error@+1 {{'joint.write' op writes a value of type 'tensor<5xf32>' into an argument of type 'tensor<4xf32>'}}
  %w = joint.write %x, %y : tensor<4xf32>, tensor<5xf32>
  joint.output
}

// -----

func.func @an_unknown_call_has_the_operands_of_its_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.opaque' op has 1 operands, its argument list asks for 0}}
  "joint.opaque"(%x) <{callee = "my.op", args = [1]}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @a_keyword_belongs_to_an_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.opaque' op has more keywords than arguments}}
  "joint.opaque"(%x) <{callee = "my.op", args = [#joint.operand], keywords = ["a", "b"]}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @c1_a_region_yields_the_results(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.checkpoint' op must end with joint.yield of its 1 results}}
  %y = joint.checkpoint {
    joint.yield
  } : tensor<4xf32>
  return
}

// -----

func.func @c2_a_region_has_policies(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.checkpoint' op has no #joint.policy for 'aten.mm'}}
  joint.checkpoint attributes {policies = {aten.mm = "save"}} {
    joint.yield
  }
  return
}

// -----

func.func @c3_a_reentrant_region_has_no_budget() {
  // expected-error@+1 {{'joint.checkpoint' op is reentrant, which runs whole: it has no budget}}
  joint.checkpoint attributes {budget = 0.5 : f64, reentrant = true} {
    joint.yield
  }
  return
}

// -----

func.func @c4_a_budget_is_a_fraction() {
  // expected-error@+1 {{'joint.checkpoint' op has a budget of 1.500000e+00 : f64, which is no fraction from 0 to 1}}
  joint.checkpoint attributes {budget = 1.5 : f64} {
    joint.yield
  }
  return
}

// -----

func.func @c3_a_reentrant_region_has_none(%x: tensor<4xf32>) {
  // expected-error@+1 {{'joint.checkpoint' op is reentrant, which runs whole: it has no policies}}
  joint.checkpoint attributes {policies = {aten.mm = #joint.policy<must_save>}, reentrant = true} {
    joint.yield
  }
  return
}

// -----

// expected-error@+1 {{'joint.partition' op names @g_backward, which is not a function of the module}}
joint.partition @g forward @g_forward backward @g_backward saved [] {gradient_of = array<i32>, num_forward_results = 0 : i64, num_saved_sizes = 0 : i64, num_writes = 0 : i64}
func.func private @g_forward()

// -----

// expected-error@+1 {{'joint.partition' op saves 1 values, which are not the last results of @g_forward and the first arguments of @g_backward with equal types}}
joint.partition @g forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32>, num_forward_results = 0 : i64, num_saved_sizes = 0 : i64, num_writes = 0 : i64}
func.func private @g_forward() -> tensor<4xf32>
func.func private @g_backward(tensor<5xf32>)

// -----

// expected-error@+1 {{'joint.partition' op is of @g, which is not a joint graph of the module; keep the graph beside its halves, or leave the name out}}
joint.partition @g_partition of @g forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32>, num_forward_results = 0 : i64, num_saved_sizes = 0 : i64}
func.func private @g_forward() -> tensor<4xf32>
func.func private @g_backward(tensor<4xf32>)

// -----

// expected-error@+1 {{unknown role 'weight'}}
func.func private @a_role_is_one_of_those_there_are(tensor<4xf32> {joint.role = #joint.role<weight>})

// -----

// expected-error@+1 {{unknown policy 'may_save'}}
func.func private @a_policy_is_one_of_those_there_are() attributes {joint.x = #joint.policy<may_save>}

// -----

// expected-error@+1 {{a region has a number from 0 on, not -1}}
func.func private @a_region_is_a_number() attributes {joint.x = #joint.policy<must_save, region = [2, -1]>}

// -----

// expected-error@+1 {{regions nest 17 deep; the most is 16}}
func.func private @regions_are_not_too_deep() attributes {joint.x = #joint.policy<must_save, region = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]>}

// -----

// expected-error@+1 {{a run is of one of the 2 regions that the op is in, not of number 3}}
func.func private @a_run_is_of_a_region() attributes {joint.x = #joint.policy<must_recompute, region = [0, 1], run = 3>}

// -----

func.func @a_policy_is_a_policy(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op attribute 'joint.policy' must be #joint.policy}}
  %y = aten.relu(%x) {joint.policy = "must_save"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_plan_says_something_of_each_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op attribute 'joint.save' must hold one bool for each of the op's 1 results}}
  %y = aten.relu(%x) {joint.save = array<i1: true, false>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_side_is_a_side(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op attribute 'joint.side' must be #joint.side}}
  %y = aten.relu(%x) {joint.side = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

joint.graph @random_numbers_have_a_known_distribution(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{unknown distribution 'cauchy': uniform, normal or bits}}
  %r = joint.random <cauchy> %seed stream 0 : (tensor<i64>) -> tensor<4xf32>
  joint.output %r : tensor<4xf32>
}

// -----

joint.graph @c1_random_has_a_size_for_each_open_one(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>})
    -> (tensor<?xf32>) gradients () {
  // expected-error@+1 {{has 0 sizes for the 1 sizes that its result type leaves open}}
  %r = joint.random <uniform> %seed stream 0 : (tensor<i64>) -> tensor<?xf32>
  joint.output %r : tensor<?xf32>
}

// -----

joint.graph @c2_bits_fill_integers(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{gives numbers of another kind than 'f32': 'bits'}}
  %r = joint.random <bits> %seed stream 0 : (tensor<i64>) -> tensor<4xf32>
  joint.output %r : tensor<4xf32>
}

// -----

joint.graph @c1_poisson_numbers_are_as_their_rates(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %rate: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xi64>) gradients () {
  // expected-error@+1 {{gives 'tensor<4xi64>' for rates of 'tensor<4xf32>'}}
  %r = joint.poisson %seed stream 0 of %rate : (tensor<i64>, tensor<4xf32>) -> tensor<4xi64>
  joint.output %r : tensor<4xi64>
}

// -----

joint.graph @c1_binomial_numbers_are_as_their_trials(
    %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
    %n: tensor<4xf32> {joint.role = #joint.role<input>},
    %p: tensor<4xf64> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{gives 'tensor<4xf32>' for trials of 'tensor<4xf32>' and chances of 'tensor<4xf64>'}}
  %r = joint.binomial %seed stream 0 of %n, %p : (tensor<i64>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  joint.output %r : tensor<4xf32>
}

// -----

// expected-error@+2 {{a joint.graph has one block: control flow stands inside of its ops}}
joint.graph @one_block(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  "joint.output"(%x)[^bb1] {gradient_of = array<i32>} : (tensor<4xf32>) -> ()
^bb1:
  joint.output %x : tensor<4xf32>
}

// -----

joint.graph @who_is_taken_as_declared_says_where(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  // expected-error@+1 {{attribute 'joint.declared' belongs to joint.opaque, and must hold the strings 'place' and 'why'}}
  %y = joint.opaque "aten.relu.default"(%x) {joint.declared = {place = "a:1"}} : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}

// -----

joint.graph @checkpoint_attribute() -> () gradients () {
  // expected-error@+2 {{'joint.checkpoint' op has no attribute 'erly_stop'}}
  // expected-note@+1 {{did you mean 'early_stop'?}}
  joint.checkpoint attributes {erly_stop = false} {
    joint.yield
  }
  joint.output
}

// -----

joint.graph @checkpoint_budget() -> () gradients () {
  // expected-error@+2 {{'joint.checkpoint' op has no attribute 'limit'}}
  // expected-note@+1 {{there are advise, budget, early_stop, policies, preserve_rng, reentrant}}
  joint.checkpoint attributes {limit = 0.5} {
    joint.yield
  }
  joint.output
}

// -----

joint.graph @checkpoint_policy_name(%x: tensor<f32> {joint.role = #joint.role<input>}) -> () gradients () {
  // expected-error@+2 {{'joint.checkpoint' op has a policy for 'aten.sinn', which no op is called}}
  // expected-note@+1 {{did you mean 'aten.sin'?}}
  joint.checkpoint attributes {policies = {aten.sinn = #joint.policy<must_save>}} {
    %y = aten.sin(%x) : (tensor<f32>) -> tensor<f32>
    joint.yield
  }
  joint.output
}
