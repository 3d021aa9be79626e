// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes over training graphs. The examples are the tests
// test/Transforms/<pass>-doc.mlir, line by line.
#ifndef CUTBACK_TRANSFORMS_PASSES_TD
#define CUTBACK_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def EliminateDeadCode : Pass<"cutback-eliminate-dead-code"> {
  let summary = "erase ops that nothing needs";
  let description = [{
    Erases every op whose results are unused and that has no effects, from the
    last op of a body to the first, so that one walk removes whole chains.
    Takes all functions in what it runs on (graphs, halves, the module).

    Assumes: bodies of one block (others are left alone).
    Guarantees: results, gradients, writes and checks are computed as before.
    Never: erases an op with effects, an argument or a result of the function.
    Cost: linear; only ops without users are asked about effects.

    Example: nothing reads `%unused`, and then nothing reads `%before`.

    ```mlir
    func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
      %before = math.exp %x : tensor<4xf32>
      %unused = arith.negf %before : tensor<4xf32>
      %y = arith.mulf %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.mulf %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
}

def EliminateCommonSubexpressions
    : Pass<"cutback-eliminate-common-subexpressions"> {
  let summary = "replace an op by an earlier one that computes the same";
  let description = [{
    Two ops are the same when name, operands, result types and attributes are
    (the names of results aside). The later one is erased and its users read
    the earlier one. Takes all functions in what it runs on.

    Assumes: bodies of one block (others are left alone), value semantics.
    Guarantees: every value is computed from the same values as before.
    Never: merges ops with effects, random ops, ops that may run only once, ops
    with regions, ops with different policies or plan attributes (so that a
    recomputed copy stays apart from its original), readers of an argument with
    a write of it between them, or two ops that allocate storages which the
    function returns.
    Cost: expected linear, one hash table.

    Example: the second read of the written argument stays.

    ```mlir
    joint.graph @epochs(%w: tensor<4xf32> {joint.role = #joint.role<buffer>}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %a = arith.addf %w, %x : tensor<4xf32>
      %b = arith.addf %w, %x : tensor<4xf32>
      %c = arith.mulf %a, %b : tensor<4xf32>
      %w_1 = joint.write %w, %c : tensor<4xf32>, tensor<4xf32>
      %d = arith.addf %w, %x : tensor<4xf32>
      %y = arith.mulf %c, %d : tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @epochs(%w: tensor<4xf32> {joint.role = #joint.role<buffer>}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %a = arith.addf %w, %x : tensor<4xf32>
      %c = arith.mulf %a, %a : tensor<4xf32>
      %w_1 = joint.write %w, %c : tensor<4xf32>, tensor<4xf32>
      %d = arith.addf %w, %x : tensor<4xf32>
      %y = arith.mulf %c, %d : tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```
  }];
}

def CleanTags : Pass<"cutback-clean-tags", "cutback::joint::GraphOp"> {
  let summary = "save what lies between two checkpoint regions";
  let description = [{
    An op that is to be recomputed (`must_recompute`, `prefer_recompute`) and
    has a user that is to be recomputed too in a region with a larger number
    becomes `must_save`: else recomputing the later region would recompute the
    earlier one from its beginning. So does what it looks at, if it is a view.
    Both keep their region numbers.

    Assumes: region numbers grow in program order.
    Guarantees: nothing but `joint.policy` of such ops changes.
    Never: adds a policy to an op that has none.
    Cost: linear; one look at the users of each tagged op.

    Example: `%b` ends region 0 and is read in region 1.

    ```mlir
    joint.graph @boundary(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
      %b = math.sin %a {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
      %c = math.cos %b {joint.policy = #joint.policy<prefer_recompute, region = 1>} : tensor<4xf32>
      joint.output %c : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @boundary(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
      %b = math.sin %a {joint.policy = #joint.policy<must_save, region = 0>} : tensor<4xf32>
      %c = math.cos %b {joint.policy = #joint.policy<prefer_recompute, region = 1>} : tensor<4xf32>
      joint.output %c : tensor<4xf32>
    }
    ```
  }];
}

def FlattenCheckpoints
    : Pass<"cutback-flatten-checkpoints", "cutback::joint::GraphOp"> {
  let summary = "turn checkpoint regions into policies on the ops inside";
  let description = [{
    Moves the ops of every `joint.checkpoint` in front of it, with the policy
    `prefer_recompute` (or what the region's `policies` say for the op's name)
    and the number of the region, and erases the region. Numbers start behind
    the largest one in the graph. A region inside of another one has its number
    behind that of its parent, from 0 on: `region = [3, 0]`. What a region asks
    for besides (`early_stop`, `preserve_rng`) stands in the graph's attribute
    `joint.regions`.

    Assumes: regions of one block, which the verifier checks.
    Guarantees: no `joint.checkpoint` is left; program order stays; an op that
    had a policy keeps its kind; `must_save` by any level wins.
    Never: copies an op.
    Cost: linear.

    Example:

    ```mlir
    joint.graph @region(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %y = joint.checkpoint attributes {policies = {math.sin = #joint.policy<must_save>}} {
        %a = math.exp %x : tensor<4xf32>
        %b = math.sin %a : tensor<4xf32>
        joint.yield %b : tensor<4xf32>
      } : tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @region(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
      %b = math.sin %a {joint.policy = #joint.policy<must_save, region = 0>} : tensor<4xf32>
      joint.output %b : tensor<4xf32>
    }
    ```
  }];
}

def ExpandRegions
    : Pass<"cutback-expand-regions", "cutback::joint::GraphOp"> {
  let summary = "copy ops for each run of a nested checkpoint region";
  let description = [{
    The backward runs each region by itself: that of an outer one keeps what
    inner regions read, and each inner one runs again when its values are first
    needed. The outermost run is what recomputation gives. For each further
    region around it, an op with a gradient behind it gets a copy, marked
    `run = <number of regions>`, and the backward reads the last copy. A region
    that runs whole ends with a `joint.rerun`; where random ops draw other
    numbers, the outermost run is copied, too.

    Assumes: a joint graph with gradients, tags and no `joint.checkpoint`
    (`--cutback-flatten-checkpoints`, `--cutback-clean-tags`).
    Guarantees: but for other random numbers, every value is computed from the
    same values as before; a graph with copies stays as it is.
    Never: copies an op that is saved, has effects, or computes a size.
    Cost: linear in ops times regions around them.

    Example: `%a` is in region 0 of region 0, and `%b` reads it there.

    ```mlir
    joint.graph @nested(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
      %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
      %b = math.sin %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
      %c = arith.mulf %t, %a : tensor<4xf32>
      joint.output %b gradients(%c of 0) : tensor<4xf32>, tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @nested(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
      %a = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
      %a_run2 = math.exp %x {joint.policy = #joint.policy<must_recompute, region = [0, 0], run = 2>} : tensor<4xf32>
      %b = math.sin %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
      %c = arith.mulf %t, %a_run2 : tensor<4xf32>
      joint.output %b gradients(%c of 0) : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
}

def ReorderBackward
    : Pass<"cutback-reorder-backward", "mlir::func::FuncOp"> {
  let summary = "run recomputed ops right before their first user";
  let description = [{
    An extracted backward holds the recomputed forward ops in front of
    everything else. The pass starts at the first op that uses a tangent or the
    gradient seed and, before each op to the end, places what it lacks: depth
    first, deepest operand first. Ops that nothing needs disappear; ops with
    effects keep their order.

    Assumes: a function of one block with a tangent or gradient seed among its
    arguments (`joint.role`); other functions are left alone.
    Guarantees: a topological order of the same ops; the op-by-op peak is not
    above that of the input order, which is kept otherwise, with a remark of
    category `cutback-reorder-backward`.
    Never: moves a reader of an argument over a write of it.
    Cost: linear.

    Example: `%b` is recomputed where it is used.

    ```mlir
    func.func @step_backward(%x: tensor<4xf32> {joint.role = #joint.role<saved>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>, tensor<4xf32>) {
      %a = math.exp %x {joint.recompute = 0} : tensor<4xf32>
      %b = math.sin %x {joint.recompute = 1} : tensor<4xf32>
      %c = arith.mulf %t, %a : tensor<4xf32>
      %d = arith.mulf %t, %b : tensor<4xf32>
      return %c, %d : tensor<4xf32>, tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @step_backward(%x: tensor<4xf32> {joint.role = #joint.role<saved>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>, tensor<4xf32>) {
      %a = math.exp %x {joint.recompute = 0} : tensor<4xf32>
      %c = arith.mulf %t, %a : tensor<4xf32>
      %b = math.sin %x {joint.recompute = 1} : tensor<4xf32>
      %d = arith.mulf %t, %b : tensor<4xf32>
      return %c, %d : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"unknownDimension", "unknown-dimension-elements", "int64_t", "16",
           "what a dynamic dimension counts in the comparison of peaks, in "
           "elements">
  ];
}

#endif // CUTBACK_TRANSFORMS_PASSES_TD
