// What the parser and the verifier of calls refuse. C1 to C5 are the
// constraints in the description of dialect `aten`.
//
// RUN: cutback-opt %s --split-input-file --verify-diagnostics

func.func @an_argument_names_a_parameter(%x: tensor<4xf32>) {
  // expected-error@+1 {{there is no parameter 'beta'}}
  %y = aten.add.Tensor(%x, %x, beta = 2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_keyword_only_parameter_is_named(%x: tensor<4xf32>) {
  // expected-error@+1 {{argument 2 needs a keyword: only the first 2 parameters are positional}}
  %y = aten.add.Tensor(%x, %x, 2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_parameter_is_given_once(%x: tensor<4xf32>) {
  // expected-error@+1 {{parameter 'other' is given twice}}
  %y = aten.add.Tensor(%x, %x, other = %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_parameter_without_default_is_given(%x: tensor<4xf32>) {
  // expected-error@+1 {{parameter 'other' is not given}}
  %y = aten.add.Tensor(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @a_value_is_of_its_parameters_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{value "one" does not fit parameter 'dim'}}
  %y = aten.unsqueeze(%x, "one") : (tensor<4xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @none_is_not_for_every_parameter(%x: tensor<4xf32>) {
  // expected-error@+1 {{value #joint.none does not fit parameter 'self'}}
  %y = aten.relu(none) : () -> tensor<4xf32>
  return
}

// -----

func.func @only_a_list_with_a_size_takes_one_number(%x: tensor<4xf32>) {
  // expected-error@+1 {{value 4 : i64 does not fit parameter 'size'}}
  %y = aten.view(%x, 4) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_one_entry_a_parameter(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op has 2 arguments, its schema 1}}
  %y = "aten.relu"(%x) <{args = [#joint.operand, 1]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_there_are_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op requires attribute 'args'}}
  %y = "aten.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_each_argument_fits(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.unsqueeze' op argument 1.000000e+00 : f64 does not fit parameter 'dim'}}
  %y = "aten.unsqueeze"(%x) <{args = [#joint.operand, 1.0]}> : (tensor<4xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @c2_each_operand_fits(%x: tensor<4xf32>, %f: f64) {
  // expected-error@+1 {{'aten.unsqueeze' op operand 1 of type 'f64' does not fit parameter 'dim'}}
  %y = aten.unsqueeze(%x, %f) : (tensor<4xf32>, f64) -> tensor<4x1xf32>
  return
}

// -----

func.func @c2_a_tensor_is_no_scalar(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{'aten.mul.Scalar' op operand 1 of type 'tensor<f32>' does not fit parameter 'other'}}
  %y = aten.mul.Scalar(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @c3_as_many_operands_as_the_arguments_ask_for(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op has 2 operands, its argument list asks for 1}}
  %y = "aten.relu"(%x, %x) <{args = [#joint.operand]}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c4_a_name_is_of_one_result(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'aten.max.dim' op has 2 results and 1 names}}
  %v, %i = "aten.max.dim"(%x) <{args = [#joint.operand, 0, false], names = "a"}> : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return
}

// -----

func.func @c4_one_name_a_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op has 1 results and 2 names}}
  %y = "aten.relu"(%x) <{args = [#joint.operand], names = ["a", "b"]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c5_static_sizes_are_those_inferred(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op result 0 has type 'tensor<5xf32>', 'tensor<4xf32>' is inferred}}
  %y = aten.relu(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c5_element_types_are_those_inferred(%x: tensor<4xf32>) {
  // expected-error@+1 {{'aten.relu' op result 0 has type 'tensor<4xf64>', 'tensor<4xf32>' is inferred}}
  %y = aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @c5_there_are_as_many_results_as_inferred(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'aten.max.dim' op has 1 results, 2 are inferred}}
  %y = aten.max.dim(%x, 1) : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @args_is_an_array(%x: tensor<4xf32>) {
  // expected-error@+1 {{property 'args' must be an array, not 1 : i64}}
  %y = "aten.relu"(%x) <{args = 1}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @names_are_strings(%x: tensor<4xf32>) {
  // expected-error@+1 {{property 'names' must be a string or an array of strings, not [1]}}
  %y = "aten.relu"(%x) <{args = [#joint.operand], names = [1]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @properties_are_a_dictionary(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a dictionary of properties}}
  %y = "aten.relu"(%x) <"args"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @an_integer_has_64_bits(%x: tensor<4xf32>) {
  // expected-error@+1 {{integer does not fit 64 bits}}
  %y = aten.unsqueeze(%x, -9223372036854775809) : (tensor<4xf32>) -> tensor<4x1xf32>
  return
}
