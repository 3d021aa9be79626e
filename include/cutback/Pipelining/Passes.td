// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cutting into stages as a pass. The example is the test
// test/Pipelining/cut-stages-doc.mlir, line by line.
#ifndef CUTBACK_PIPELINING_PASSES_TD
#define CUTBACK_PIPELINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def CutStages : Pass<"cutback-cut-stages", "mlir::ModuleOp"> {
  let summary = "cut a forward program into the stages of a pipeline";
  let description = [{
    Puts the stages of each `joint.graph` in its place: graphs `NAME_stage0`,
    `NAME_stage1`, … with the ops between two boundaries. Boundaries are the
    markers in the graph (`aten.pipe_split`), or where `split-spec` names
    modules, or such that the slowest of `stages` takes the least time through
    the narrowest cuts that pay.

    A value that a later stage reads becomes a result of its maker and an
    argument of each reader, called `value.NAME` in files; it crosses once, and
    no stage between has it. What depends on no argument is made where it is
    read. A parameter of several stages is in each of them, or with
    `multi-use = transmit` in the first one, which sends it. With
    `differentiate` each stage has its backward: what it sends has a tangent if
    a reader gives a gradient.

    Assumes: forward programs of values (`cutback-functionalize`,
    `cutback-decompose`); a pass of another author may have put the markers in.
    Guarantees: ops keep order, names and locations; no stage is empty; the
    stages one after the other compute what the graph does.
    Never: cuts a region, or hands over a value whose size is not known.
    Cost: linear; with `stages` one plan.

    Example:

    ```mlir
    joint.graph @model(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
      %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      aten.pipe_split() : () -> ()
      %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
      %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
      joint.output %sum : tensor<f32>
    }
    ```

    becomes

    ```mlir
    joint.graph @model_stage0(%w: tensor<4xf32> {joint.file_name = "param.w", joint.requires_grad, joint.role = #joint.role<param "w">}, %x: tensor<4xf32> {joint.file_name = "input.0", joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () attributes {joint.result_names = ["value.mul"]} {
      %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %mul : tensor<4xf32>
    }
    joint.graph @model_stage1(%mul: tensor<4xf32> {joint.file_name = "value.mul", joint.requires_grad, joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () attributes {joint.result_names = ["loss"]} {
      %tanh = aten.tanh(%mul) : (tensor<4xf32>) -> tensor<4xf32>
      %sum = aten.sum(%tanh) : (tensor<4xf32>) -> tensor<f32>
      joint.output %sum : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"stages", "stages", "unsigned", "0",
           "number of stages; 0: at markers, or by split-spec">,
    Option<"splitSpec", "split-spec", "std::string", "",
           "MODULE=begin or MODULE=end, several with commas">,
    Option<"multiUse", "multi-use", "std::string", "\"replicate\"",
           "a parameter of several stages: replicate or transmit">,
    Option<"bandwidth", "bandwidth-gbps", "double", "50",
           "of a link between stages, with stages">,
    Option<"differentiate", "differentiate", "bool", "false",
           "give each stage its backward">
  ];
  let dependentDialects = ["cutback::joint::JointDialect"];
}

#endif // CUTBACK_PIPELINING_PASSES_TD
