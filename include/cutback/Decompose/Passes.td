// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes between what is exported and what can be differentiated. The
// examples are the tests test/Decompose/<pass>-doc.mlir, line by line.
#ifndef CUTBACK_DECOMPOSE_PASSES_TD
#define CUTBACK_DECOMPOSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Functionalize : Pass<"cutback-functionalize", "cutback::joint::GraphOp"> {
  let summary = "replace ops that write in place by ops on values";
  let description = [{
    Every in-place op becomes the op without `_`; its result takes the place of
    the tensor, of what the tensor is a view of, and of all other views of
    that, wherever they are read later. A written argument gets one
    `joint.write` at the end of the body. A batch norm that is training writes
    its running statistics.

    Assumes: a forward-only graph as `torch.export` makes it; ops of which
    strides decide whether they are views carry `joint.aliases` if they are.
    Guarantees: no op writes in place; results, and arguments after the step,
    are those of the program; gradients too, where they are defined.
    Never: reorders random ops, changes a graph that has gradients.
    Cost: ops times the depth of view chains.
    Fails: for a write through a view that shows an element twice (`expand`,
    `unfold`) or to an argument that takes a gradient, and where a tensor that
    has a gradient is read after a write through a detached alias.

    Example: the write to a column of `%y` is a write of `%y`.

    ```mlir
    joint.graph @column(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %count: tensor<i64> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
      %y = aten.relu(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %column = aten.select.int(%y, 1, 0) : (tensor<4x3xf32>) -> tensor<4xf32>
      %mul_ = aten.mul_.Tensor(%column, 2.0) : (tensor<4xf32>) -> tensor<4xf32>
      %add_ = aten.add_.Tensor(%count, 1) : (tensor<i64>) -> tensor<i64>
      joint.output %y : tensor<4x3xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @column(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %count: tensor<i64> {joint.role = #joint.role<buffer>}) -> (tensor<4x3xf32>) gradients () {
      %y = aten.relu(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %column = aten.select.int(%y, 1, 0) : (tensor<4x3xf32>) -> tensor<4xf32>
      %mul_ = aten.mul.Tensor(%column, 2.000000e+00) : (tensor<4xf32>) -> tensor<4xf32>
      %select_scatter = aten.select_scatter(%y, %mul_, 1, 0) : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
      %add_ = aten.add.Tensor(%count, 1) : (tensor<i64>) -> tensor<i64>
      %count_written = joint.write %count, %add_ : tensor<i64>, tensor<i64>
      joint.output %select_scatter : tensor<4x3xf32>
    }
    ```
  }];
}

def DecomposeComposites
    : Pass<"cutback-decompose-composites", "cutback::joint::GraphOp"> {
  let summary = "write composite ops in terms of ops that can be differentiated";
  let description = [{
    PyTorch runs `linear`, `layer_norm`, `cross_entropy_loss`, `lstm` and many
    others as several ops, and differentiates these. The pass does the same,
    until no op with a rule is left. The last op of a replacement takes the
    name of what it replaces; all inherit its location and its policy.

    Assumes: functional ops (`cutback-functionalize` comes first); rules are
    registered by a dialect extension.
    Guarantees: the same values up to rounding; saves no more than PyTorch.
    Never: touches an op without a rule; unrolls a loop whose length is not
    known (a recurrent layer over `?` steps is an error).
    Cost: linear in the ops of the result.

    Example:

    ```mlir
    joint.graph @fc(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<2x3xf32> {joint.role = #joint.role<param>}) -> (tensor<4x2xf32>) gradients () {
      %y = aten.linear(%x, %w) : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
      joint.output %y : tensor<4x2xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @fc(%x: tensor<4x3xf32> {joint.role = #joint.role<input>}, %w: tensor<2x3xf32> {joint.role = #joint.role<param>}) -> (tensor<4x2xf32>) gradients () {
      %t = aten.t(%w) : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %y = aten.mm(%x, %t) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
      joint.output %y : tensor<4x2xf32>
    }
    ```
  }];
}

def FunctionalizeRng
    : Pass<"cutback-functionalize-rng", "cutback::joint::GraphOp"> {
  let summary = "make random ops functions of a seed";
  let description = [{
    Random ops become `joint.random`, `joint.poisson`, `joint.binomial` and pure ops. Each has a stream of its own, in program
    order; the seed is a new argument of role `rng_seed`, behind the others. A
    backward that runs such an op again draws the same numbers, so a plan may
    recompute it. Graphs that ops run take the seed as an operand, those of a
    loop also the round, so that no two rounds draw the same.

    Assumes: functional ops, no composite ones; the caller does not need the
    numbers that the framework's generator would draw.
    Guarantees: the same distributions; no random op is left for which there is
    a rule.
    Never: touches a random op without a rule (it is drawn once, and saved).
    Cost: linear.

    Example:

    ```mlir
    joint.graph @mask(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %y = aten.bernoulli.p(%x, 0.25) : (tensor<4xf32>) -> tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @mask(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %rng_seed: tensor<i64> {joint.role = #joint.role<rng_seed>}) -> (tensor<4xf32>) gradients () {
      %random = joint.random <uniform> %rng_seed stream 0 : (tensor<i64>) -> tensor<4xf32>
      %lt = aten.lt.Scalar(%random, 2.500000e-01) : (tensor<4xf32>) -> tensor<4xi1>
      %y = aten._to_copy(%lt, dtype = f32) : (tensor<4xi1>) -> tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```
  }];
}

def DecomposeToCore
    : Pass<"cutback-decompose-to-core", "cutback::joint::GraphOp"> {
  let summary = "write norms, softmax and losses as pointwise ops and reductions";
  let description = [{
    Ops that are differentiated as a unit, and the gradients of those, become
    pointwise ops and reductions. A partitioner can then save the statistics of
    a row in place of a tensor, and recompute the rest.

    Assumes: a graph with its gradients (`cutback-differentiate` comes first: in
    parts these ops have a gradient that reads more).
    Guarantees: the same values up to rounding.
    Never: touches an op without a rule.
    Cost: linear in the ops of the result.

    Example:

    ```mlir
    joint.graph @probabilities(%x: tensor<4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<4x8xf32>) gradients () {
      %y = aten._softmax(%x, 1, false) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      joint.output %y : tensor<4x8xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @probabilities(%x: tensor<4x8xf32> {joint.role = #joint.role<input>}) -> (tensor<4x8xf32>) gradients () {
      %amax = aten.amax(%x, [1], true) : (tensor<4x8xf32>) -> tensor<4x1xf32>
      %sub = aten.sub.Tensor(%x, %amax) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
      %exp = aten.exp(%sub) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %sum = aten.sum.dim_IntList(%exp, [1], true) : (tensor<4x8xf32>) -> tensor<4x1xf32>
      %y = aten.div.Tensor(%exp, %sum) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
      joint.output %y : tensor<4x8xf32>
    }
    ```
  }];
}

#endif // CUTBACK_DECOMPOSE_PASSES_TD
