// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:fc1.wieght 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:zzzzzzzzzzzz 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:bn.* 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:fc[ 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:input.0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cutback-opt %s --cutback-differentiate=hooks=tensor_pre:exp 2>&1 | FileCheck %s --check-prefix=UNREACHED
// RUN: not cutback-opt %s --cutback-differentiate=hooks=post_accumulate:mul 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not cutback-opt %s --cutback-differentiate=hooks=node_post:fc1.weight 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not cutback-opt %s --cutback-differentiate=hooks=fc1.weight 2>&1 | FileCheck %s --check-prefix=KIND

// NAME: error: hook: no argument or value of 'g' is called 'fc1.wieght'
// NAME: note: did you mean 'fc1.weight', 'fc2.weight'?
// FAR: error: hook: no argument or value of 'g' is called 'zzzzzzzzzzzz'
// FAR: note: parameters go by their names in the model, inputs are input.N
// PATTERN: error: hook: no parameter that takes a gradient fits 'bn.*'
// PATTERN: note: there are 'fc1.weight', 'fc2.weight'
// BAD: error: hook: 'fc[' is no pattern of names
// NONE: error: hook on 'input.0', which has no gradient
// NONE: note: it takes none, or does not depend on what takes one; ask for it (--grad-of), or name another value
// UNREACHED: error: hook on 'exp', at which no gradient arrives
// UNREACHED: note: no result that is differentiated depends on it, or the gradients that are asked for (--grad-of) do not
// INSIDE: error: hook of kind post_accumulate on 'mul', which is no argument: its gradient is no result; take tensor_pre
// BEHIND: error: hook of kind node_post on 'fc1.weight', which is an argument: nothing is computed from its gradient; take post_accumulate
// KIND: error: hooks are given as KIND:NAME (tensor_pre:fc.weight), not 'fc1.weight'

joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "fc1.weight">}, %v: tensor<4xf32> {joint.role = #joint.role<param "fc2.weight">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<4xf32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul) : (tensor<4xf32>) -> tensor<f32>
  %exp = aten.exp(%v) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %sum, %exp : tensor<f32>, tensor<4xf32>
}
