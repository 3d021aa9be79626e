// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differentiation as a pass. The example is the test
// test/Autograd/differentiate-doc.mlir, line by line.
#ifndef CUTBACK_AUTOGRAD_PASSES_TD
#define CUTBACK_AUTOGRAD_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiateGraph : Pass<"cutback-differentiate", "cutback::joint::GraphOp"> {
  let summary = "append the backward to a forward graph";
  let description = [{
    Adds an argument for the gradient of each differentiated result
    (`grad_seed of N` for a scalar, `tangent of N` else), asks every op between
    the arguments that take a gradient and those results for its vector-Jacobian
    product, from the last op to the first, and returns the gradients.

    A gradient is taken of the arguments that `grad-of` names; without, of those
    with the attribute `joint.requires_grad`; where no argument has it, of the
    floating-point parameters. Arguments tied by `joint.tied = "other"` are one
    tensor: each has the whole sum as its gradient. An argument that no
    differentiated result depends on has none.

    The VJPs run in the order of PyTorch's engine: by sequence number, highest
    first (`joint.sequence_nr` on an op overrides the number that its place
    gives it, and `sequence` both), and gradients of one value are summed as
    they arrive. With `collectives-first` what leads to a collective of the
    backward runs before all else.

    With `of` the gradients of a graph that has some become results, and the
    results that `of` names are differentiated: `grad.w` of a graph with
    gradients gives products of the Hessian and a vector, the tangent.

    With `hooks` a `joint.hook` stands where the engine runs hooks of that kind:
    `tensor_pre` where the gradient of a value is complete, `retains_grad`
    behind it, `node_pre` and `node_post` around what the op of a value gives,
    `post_accumulate` in front of a result.

    Assumes: a graph without gradients or `of`, of functional ops that are
    differentiated as a unit.
    Guarantees: forward ops keep order, names and attributes; each backward op
    has the location of its forward op, with metadata `backward_of` and
    `sequence_nr`; gradients come in the order of their arguments; reads of an
    argument see what the forward op saw, also behind a `joint.write`.
    Never: differentiates through the value of a `joint.write`, through
    `detach`, or through integers; gives an unused argument a gradient of zeros.
    Cost: O(ops log ops), and the VJPs.

    Example: the result of `tanh` is read, not its operand.

    ```mlir
    joint.graph @loss(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
      %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
      %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
      joint.output %sum : tensor<f32>
    }
    ```

    becomes

    ```mlir
    joint.graph @loss(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}, %tangents_1: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}) -> (tensor<f32>) gradients (tensor<4xf32>) {
      %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
      %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
      %expand = aten.expand(%tangents_1, [4]) : (tensor<f32>) -> tensor<4xf32>
      %tanh_backward = aten.tanh_backward(%expand, %tanh) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %mul_1 = aten.mul.Tensor(%tanh_backward, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %sum gradients(%mul_1 of 0) : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    ListOption<"gradOf", "grad-of", "std::string",
               "arguments whose gradients are asked for, by name; default: all "
               "that take one">,
    ListOption<"lossOutputs", "loss-outputs", "unsigned",
               "numbers of the forward results to differentiate; default: "
               "result 0 if it is a scalar, else all">,
    ListOption<"of", "of", "std::string",
               "results of a graph with gradients to differentiate again: loss, "
               "output.N, grad.NAME">,
    ListOption<"sequence", "sequence", "std::string",
               "VALUE=N: the sequence number of the op that computes VALUE">,
    Option<"collectivesFirst", "collectives-first", "bool", "false",
           "start collectives of the backward as early as data allow, and wait "
           "for one where it is first read">,
    ListOption<"hooks", "hooks", "std::string",
               "places of joint.hook: KIND:NAME, where NAME is an argument, a "
               "value, or a pattern of parameters">
  ];
}

#endif // CUTBACK_AUTOGRAD_PASSES_TD
