// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioner as passes. The examples are the tests
// test/Planner/<pass>-doc.mlir, line by line. Options of a plan are those of
// the command line: the passes declare them from its table.
#ifndef CUTBACK_PLANNER_PASSES_TD
#define CUTBACK_PLANNER_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanPartition : Pass<"cutback-plan", "mlir::ModuleOp"> {
  let summary = "decide what is saved and what is recomputed";
  let description = [{
    Writes a plan on every `joint.graph`: `joint.save` on ops with saved
    results, `joint.recompute` on forward ops that the backward runs again,
    `joint.side` on ops that neither half owns. A person, or another solver,
    may write the same attributes by hand; `--cutback-extract` applies either.
    Its options are those that `cutback report --help` calls options of a plan.

    Assumes: no dead code, no common subexpressions (a plan is right with them
    too, but saves more).
    Guarantees: the plan can be extracted; for `min-cut`, no plan of the same
    cost model is cheaper.
    Never: changes an op, a value or the order of ops.
    Cost: near linear, and one maximum flow.

    Example: `%e` is saved, for its gradient needs it and it costs more to
    compute again than to keep.

    ```mlir
    joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
      %e = aten.exp(%x) : (tensor<1048576xf32>) -> tensor<1048576xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
      joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
    }
    ```

    becomes

    ```mlir
    joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
      %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<1048576xf32>) -> tensor<1048576xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
      joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
    }
    ```
  }];
}

def PartitionStep : Pass<"cutback-partition", "mlir::ModuleOp"> {
  let summary = "prepare, plan, extract, order and prove, as `cutback` does";
  let description = [{
    The whole way of every `joint.graph` to its halves, by the function that the
    driver calls: the halves are those of `cutback compile` with the same
    options, to the byte. The graph is prepared as the plan that is taken asks
    for. (`--cutback-plan` plans a prepared graph by itself and writes the plan
    as attributes, which may be changed, for `--cutback-extract`.) Its options
    are those of a plan, by the names that `cutback report --help` has.

    Assumes: a graph as it was read; one that is prepared stays as it is.
    Guarantees: halves whose arena is planned, where all sizes are known, and
    that passed the certificate.
    Never: leaves halves that are not proved.
    Cost: of `--cutback-plan`, and of the memory plan; of several plans, where
    the minimum cut needs more memory than PyTorch's decision, or with
    `minimize=peak`.

    Example: `%e` is saved, and the halves stand behind the graph.

    ```mlir
    joint.graph @exp(%x: tensor<1048576xf32> {joint.role = #joint.role<input>}, %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
      %e = aten.exp(%x) : (tensor<1048576xf32>) -> tensor<1048576xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
      joint.output %e gradients(%g of 0) : tensor<1048576xf32>, tensor<1048576xf32>
    }
    ```

    gets, among others,

    ```mlir
    joint.partition @exp_partition of @exp forward @exp_forward backward @exp_backward saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
    ```
  }];
}

def ExtractPartition : Pass<"cutback-extract", "mlir::ModuleOp"> {
  let summary = "write the forward and the backward that a plan asks for";
  let description = [{
    Applies `joint.save` attributes: `@g_forward` computes the forward results
    and the saved values, `@g_backward` the gradients from the saved values,
    and `joint.partition` links the two. The graph stays, so that the result
    can be verified against it.

    Assumes: `joint.save` on the ops whose results are saved; nothing else of a
    plan is read.
    Guarantees: both functions are in an order that runs; a saved value that
    the backward does not read is dropped; arguments that it reads are passed.
    Never: runs an op twice that may run only once (an error at the op).
    Cost: linear.

    Example: the plan saves `%e`.

    ```mlir
    joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
      %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
    }
    ```

    gives, behind the graph,

    ```mlir
    func.func @exp_forward(%arg0: tensor<4xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {no_inline} {
      %e = aten.exp(%arg0) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
      return %e, %e : tensor<4xf32>, tensor<4xf32>
    }
    func.func @exp_backward(%arg0: tensor<4xf32> {joint.name = "e", joint.role = #joint.role<saved>}, %arg1: tensor<4xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<4xf32> attributes {no_inline} {
      %g = aten.mul.Tensor(%arg1, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %g : tensor<4xf32>
    }
    joint.partition @exp_partition of @exp forward @exp_forward backward @exp_backward saved ["e"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
    ```
  }];
  let options = [
    Option<"keepJoint", "keep-joint", "bool", "true",
           "keep the joint graph beside its halves">,
    Option<"reorder", "reorder-backward", "bool", "true",
           "order the backward as an autograd engine does">
  ];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def VerifyPartition : Pass<"cutback-verify-partition", "mlir::ModuleOp"> {
  let summary = "prove that two halves compute what their graph does";
  let description = [{
    The certificate: value numbering of the graph and of both functions of
    every `joint.partition`, compared result by result and effect by effect.
    The gate behind `--cutback-extract`.

    Assumes: nothing; the functions may come from anywhere.
    Guarantees: what passes computes the graph's results, gradients and writes.
    Never: changes anything.
    Cost: expected linear.

    Example: an accepted partition stays as it is.

    ```mlir
    joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
      %e = aten.exp(%x) {joint.save = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
}

def ExposeRandomStates
    : Pass<"cutback-expose-random-states", "mlir::ModuleOp"> {
  let summary = "hand states of the framework's generator from half to half";
  let description = [{
    Where both halves run a draw from the framework's own generator
    (`joint.replay`), the forward takes the state of the generator in front of
    it and returns it, behind sizes and tensors; the backward takes it as an
    argument and sets it in front of the draw. As PyTorch's own halves do with
    `functionalize_rng_ops`, so whoever runs the halves keeps nothing beside
    what they hand over.

    Assumes: partitions with their halves.
    Guarantees: no draw of both halves has a number; the certificate accepts
    what it accepted before.
    Never: gives a state to what is a function of a seed (`joint.random`).
    Cost: linear.

    Example: a draw of a checkpointed region.

    ```mlir
    func.func @f_forward(%x: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
      %m = aten.bernoulli(%x) {joint.replay = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      return %m, %x : tensor<4xf32>, tensor<4xf32>
    }
    func.func @f_backward(%x: tensor<4xf32> {joint.name = "x"}, %t: tensor<4xf32> {joint.name = "t"}) -> tensor<4xf32> {
      %m_recompute = aten.bernoulli(%x) {joint.recompute = 0 : i64, joint.replay = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %g = aten.mul.Tensor(%t, %m_recompute) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %g : tensor<4xf32>
    }
    joint.partition @f_partition forward @f_forward backward @f_backward saved ["x"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
    ```

    becomes

    ```mlir
    func.func @f_forward(%arg0: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xui8>) {
      %rng_state_0 = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
      %m = aten.bernoulli(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
      return %m, %arg0, %rng_state_0 : tensor<4xf32>, tensor<4xf32>, tensor<?xui8>
    }
    func.func @f_backward(%arg0: tensor<4xf32> {joint.name = "x"}, %arg1: tensor<?xui8> {joint.name = "rng_state_0", joint.role = #joint.role<saved>}, %arg2: tensor<4xf32> {joint.name = "t"}) -> tensor<4xf32> {
      joint.opaque "higher_order.run_with_rng_state"(%arg1) {effects} : (tensor<?xui8>) -> ()
      %m_recompute = aten.bernoulli(%arg0) {joint.recompute = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def CheckPhase : Pass<"cutback-check-phase", "mlir::ModuleOp"> {
  let summary = "refuse what must be gone behind a phase";
  let description = [{
    The gates of the pipelines; each names the first op that must not be there,
    and the pass that would have taken it away:

    * `functional`: no op of a `joint.graph` writes an operand in place
    * `units`: no composite op is left, only those that have a gradient
    * `core`: no norm, softmax or loss is left that has parts
    * `prepared`: no checkpoint region, no dead and no repeated op
    * `placed`: the halves of each `joint.partition` say which ops run as one,
      and all of their values get places in one arena, by a plan that is proved

    Assumes: nothing.
    Guarantees: what passes is as the phase says.
    Never: changes anything.
    Cost: linear; of `placed`, a memory plan.

    Example: with `phase=functional` a graph of values passes as it is.

    ```mlir
    joint.graph @double(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %y = aten.add.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %y : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"",
           "functional, units, core, prepared or placed">,
    ListOption<"symbols", "sym", "std::string",
               "values of symbolic sizes: s0=24, for placed">
  ];
}

def PrintAnalysis : Pass<"cutback-print-analysis", "mlir::ModuleOp"> {
  let summary = "print what the partitioner knows of each value";
  let description = [{
    Prints one line a value to the standard output: its name and the asked
    columns, of `set` (F, B or X), `bytes`, `storage` (whose storage it lies
    in), `fusion` (how its op fuses), `materialized`, `recompute-ps`,
    `save-ps`. For tests and for people who wonder.

    Assumes: nothing.
    Guarantees: the columns are those that `--cutback-plan` uses.
    Never: changes anything.
    Cost: linear.

    Example: with `columns=set,bytes`,

    ```mlir
    joint.graph @exp(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
      %e = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %g = aten.mul.Tensor(%t, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      joint.output %e gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
    }
    ```

    prints `x: set=F bytes=16`, `t: set=B bytes=16`, `e: set=F bytes=16`,
    `g: set=B bytes=16`.
  }];
  let options = [
    ListOption<"columns", "columns", "std::string",
               "which columns; all without it">,
    Option<"device", "device", "std::string", "\"h100\"",
           "name of a device, or a .json file">,
    ListOption<"symbols", "sym", "std::string",
               "values of symbolic sizes: s0=24">
  ];
}

def PlanMemory : Pass<"cutback-plan-memory", "mlir::ModuleOp"> {
  let summary = "print where each value of a step lies in one arena";
  let description = [{
    Plans the memory of every `joint.partition`, forward then backward in
    program order, and prints it: the arena and its lower bound, the op at
    which most bytes are live, and one line a storage with its use (saved,
    result, gradient, temporary), the ops during which it is live, and its
    place.

    Assumes: sizes that are static, or known from the hints of the graph's
    symbols.
    Guarantees: no two storages are live on the same bytes, every op finds its
    operands where they were put, and what is kept is there at the end; a plan
    for which that cannot be proved is an error.
    Never: changes anything; counts arguments, which lie outside.
    Cost: near linear, and a search for a smaller arena that is bounded in
    steps.

    Example: `%b` takes the place of `%a`, which nobody reads after it.

    ```mlir
    func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
      %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
      %b = aten.sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
      return %b, %b : tensor<64xf32>, tensor<64xf32>
    }
    func.func @g_backward(%b: tensor<64xf32> {joint.name = "b", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<64xf32> {
      %c = aten.mul.Tensor(%b, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      return %c : tensor<64xf32>
    }
    joint.partition @g_partition forward @g_forward backward @g_backward saved ["b"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
    ```

    prints an arena of 512 bytes, `%a` and `%b` at the same place and `%c`
    beside it, for `%b` is a result that is kept.
  }];
  let options = [
    Option<"alignmentBytes", "alignment-bytes", "int64_t", "64",
           "what offsets are multiples of: a power of two">,
    Option<"inPlace", "in-place", "bool", "true",
           "results of pointwise ops may take the place of operands that die "
           "there">,
    ListOption<"symbols", "sym", "std::string",
               "values of symbolic sizes: s0=24">
  ];
}

def ScheduleBackward : Pass<"cutback-schedule-backward", "mlir::ModuleOp"> {
  let summary = "order the backward so that the step needs less memory";
  let description = [{
    Moves ops of the backward of every `joint.partition`: away from the moment
    at which most bytes are live, behind it or in front of it, together with
    what has to go along; small windows around it are searched exactly. Bytes
    are counted as `--cutback-plan-memory` counts them: views and results in the
    place of an operand take none.

    Assumes: sizes that are static, or known from the hints of the graph's
    symbols; a backward for which they are not stays as it is, with a remark.
    Guarantees: the same values; a peak that is not above the one before; ops
    with effects and random ops without a seed keep their order.
    Never: touches the forward, adds or removes an op.
    Cost: linear in the ops, and a search that is bounded in steps.

    Example: `%small` is computed, and what it is made from dies, before
    `%large` comes.

    ```mlir
    func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
      %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
      return %a, %a : tensor<64xf32>, tensor<64xf32>
    }
    func.func @g_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
      %wide = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
      %large = aten.cumsum(%a, 0) : (tensor<64xf32>) -> tensor<64xf32>
      %small = aten.sum(%wide) : (tensor<64xf32>) -> tensor<f32>
      return %large, %small : tensor<64xf32>, tensor<f32>
    }
    joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0, 1>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
    ```

    becomes, in the backward,

    ```mlir
    func.func @g_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>, tensor<f32>) {
      %wide = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
      %small = aten.sum(%wide) : (tensor<64xf32>) -> tensor<f32>
      %large = aten.cumsum(%a, 0) : (tensor<64xf32>) -> tensor<64xf32>
      return %large, %small : tensor<64xf32>, tensor<f32>
    }
    ```
  }];
  let options = [
    ListOption<"symbols", "sym", "std::string",
               "values of symbolic sizes: s0=24">
  ];
}

def SplitBackward : Pass<"cutback-split-backward", "mlir::ModuleOp"> {
  let summary = "write forward, input gradients and weight gradients apart";
  let description = [{
    Prepares every `joint.graph` and writes three functions after it:
    `@g_forward`, `@g_input`, which computes the gradients of arguments with
    role input, and `@g_weight`, which computes all others. A pipeline's stage
    runs the last one when it has nothing else to do. What each hands to the
    next is decided by two minimum cuts (docs/Rationale/ThreeWayCut.md): values
    are handed over, or computed again where they are read, and small ops of the
    weight gradients run with the input gradients where less has to be kept
    then.

    Options: `rule` is `cuts`, or `closure`: one cut between forward and
    backward, what input gradients need, and the rest. A picosecond of the
    input phase costs `critical-price` more than one of the weight phase. A
    byte that waits for a phase costs `input-byte-price-ps` or
    `weight-byte-price-ps`; less than 0 means the price that a plan of two
    halves has.

    Assumes: a graph with gradients, as it was read.
    Guarantees: the three functions passed the certificate, which takes the
    input phase followed by the weight phase as the backward; with `cuts`, that
    no three phases cost less than the bound of the remark (category
    `cutback-phases`).
    Refuses: a graph in which two phases would read or write an argument that is
    written, for a schedule runs other micro-batches in between.
    Never: runs an op with an effect twice or in another order.
    Cost: some dozens of maximum flows, fewer for large graphs.

    Example: the gradient of `%w` waits, and needs what its product reads.

    ```mlir
    joint.graph @mm(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">}, %x: tensor<4x4xf32> {joint.role = #joint.role<input>}, %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4x4xf32>) {
      %y = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %xt = aten.t(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dw = aten.mm(%xt, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %wt = aten.t(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dx = aten.mm(%t, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      joint.output %y gradients(%dw of 0, %dx of 1) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
    }
    ```

    gets, after `@mm_forward`,

    ```mlir
    func.func @mm_input(%arg0: tensor<4x4xf32> {joint.name = "w", joint.role = #joint.role<saved>}, %arg1: tensor<4x4xf32> {joint.name = "x", joint.role = #joint.role<saved>}, %arg2: tensor<4x4xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) attributes {no_inline} {
      %wt = aten.t(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dx = aten.mm(%arg2, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %dx, %arg1, %arg2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
    }
    func.func @mm_weight(%arg0: tensor<4x4xf32> {joint.name = "x", joint.role = #joint.role<saved>}, %arg1: tensor<4x4xf32> {joint.name = "t", joint.role = #joint.role<saved>}) -> tensor<4x4xf32> attributes {no_inline} {
      %xt = aten.t(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dw = aten.mm(%xt, %arg1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %dw : tensor<4x4xf32>
    }
    ```
  }];
  let options = [
    Option<"rule", "rule", "std::string", "\"cuts\"", "cuts or closure">,
    Option<"criticalPrice", "critical-price", "double", "1",
           "what time in the input phase costs more than time in the weight "
           "phase">,
    Option<"inputBytePricePs", "input-byte-price-ps", "double", "-1",
           "of a byte from the forward to the input phase">,
    Option<"weightBytePricePs", "weight-byte-price-ps", "double", "-1",
           "of a byte from the input phase to the weight phase">,
    Option<"device", "device", "std::string", "\"h100\"",
           "name of a device, or a .json file">,
    ListOption<"symbols", "sym", "std::string",
               "values of symbolic sizes: s0=24">
  ];
}

def PrintParameterGroups
    : Pass<"cutback-print-parameter-groups", "mlir::ModuleOp"> {
  let summary = "print which parameters get their gradients from one place";
  let description = [{
    Prints the groups of parameters of every `joint.graph` to the standard
    output, one a line, as `get_param_groups` of PyTorch's pipelines has them: a
    group's parameters, and the values of the forward (its intermediates) at
    which what these compute meets what the inputs compute. The gradient of an
    input runs through the backward of those ops; what the group's gradients
    need follows from there. A parameter that meets no input, as all do in the
    first stage of a pipeline, is a group by itself.

    Assumes: a graph with gradients.
    Guarantees: each parameter that has a gradient is in one group; groups have
    no intermediate in common.
    Never: changes anything.
    Cost: linear in ops for each parameter at worst.

    Example: weight and bias meet the input at one op.

    ```mlir
    joint.graph @linear(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<param "b">}, %x: tensor<4x4xf32> {joint.role = #joint.role<input>}, %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
      %y = aten.addmm(%b, %x, %w) : (tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %xt = aten.t(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dw = aten.mm(%xt, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %db = aten.sum.dim_IntList(%t, [0]) : (tensor<4x4xf32>) -> tensor<4xf32>
      %wt = aten.t(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %dx = aten.mm(%t, %wt) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      joint.output %y gradients(%dw of 0, %db of 1, %dx of 2) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
    }
    ```

    prints `@linear: parameters w, b; intermediates y`.
  }];
}

#endif // CUTBACK_PLANNER_PASSES_TD
