// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of dialect `joint`.
#ifndef CUTBACK_DIALECT_JOINT_JOINTOPS_TD
#define CUTBACK_DIALECT_JOINT_JOINTOPS_TD

include "cutback/Dialect/Joint/JointBase.td"
include "cutback/Dialect/Joint/JointInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

class Joint_Op<string mnemonic, list<Trait> traits = []>
    : Op<Joint_Dialect, mnemonic, traits>;

def Joint_GraphOp : Joint_Op<"graph", [
    IsolatedFromAbove, FunctionOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "forward and backward of one training step";
  let description = [{
    A function whose results are the forward results followed by the gradients:

    ```mlir
    joint.graph @step(%w: tensor<8x16xf32> {joint.role = #joint.role<param "fc.weight">},
                      %x: tensor<4x16xf32> {joint.role = #joint.role<input>},
                      %t: tensor<4x8xf32> {joint.role = #joint.role<tangent of 0>})
        -> (tensor<4x8xf32>) gradients (tensor<8x16xf32>) {
      ...
      joint.output %y gradients(%dw of 0) : tensor<4x8xf32>, tensor<8x16xf32>
    }
    ```

    Constraints:
    * C1: every argument has a role
    * C2: forward results do not depend on a tangent or on the gradient seed
    * C3: a tangent names a forward result, has its type, and is the only one
    * C4: the body ends with `joint.output`, whose operand types are the
      function's result types
    * C5: names of arguments are distinct
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       I64Attr:$num_forward_results,
                       OptionalAttr<DictionaryAttr>:$symbols,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                   "int64_t":$numForwardResults,
                   "::llvm::ArrayRef<::mlir::DictionaryAttr>":$argAttrs)>
  ];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::mlir::Block &getBlock() { return getBody().front(); }
    OutputOp getOutput();
    /// The role of argument `arg`; null only in a graph that does not verify.
    RoleAttr getRole(unsigned arg);
    /// The name of argument `arg`, as the source graph had it.
    ::llvm::StringRef getArgName(unsigned arg);
    ::mlir::LogicalResult verifyBody() { return ::mlir::success(); }
  }];
}

def Joint_OutputOp : Joint_Op<"output", [
    Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "results of a training graph";
  let description = [{
    Forward results, then gradients. Each gradient says the argument that it
    belongs to; an argument that is not named has none.

    Constraints:
    * C1: a gradient has the type of its argument; sizes that are known of both
      agree
    * C2: an argument has one gradient at most, and gradients come in the
      order of their arguments
  }];
  let arguments = (ins Variadic<AnyType>:$results,
                       DenseI32ArrayAttr:$gradient_of);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumForwardResults() {
      return getNumOperands() - getGradientOf().size();
    }
    ::mlir::OperandRange getForwardResults() {
      return getResults().take_front(getNumForwardResults());
    }
    ::mlir::OperandRange getGradients() {
      return getResults().drop_front(getNumForwardResults());
    }
  }];
}

def Joint_OpaqueOp : Joint_Op<"opaque", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<FrameworkCallOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>]> {
  let summary = "an op that is not known";
  let description = [{
    Keeps operands, results and arguments of a call that no dialect knows. It
    is saved, recomputed where its policy says so, fused never. With `effects`
    it also keeps its place among the ops with effects.

    With `joint.declared` it is a call of a known op whose arguments or types
    are not those that the op has here (Declared.h).
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$inputs,
                       ArrayAttr:$args, OptionalAttr<StrArrayAttr>:$keywords,
                       UnitAttr:$effects, UnitAttr:$tuple,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs Variadic<AnyType>:$outputs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Joint_WriteOp : Joint_Op<"write", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>]> {
  let summary = "an argument takes a new value";
  let description = [{
    Writes `value` into the argument `destination`, at this place in the body,
    in the half `side`. The result is the argument after the write. Whoever
    reads the argument later in the body reads its new value.

    Constraints:
    * C1: the destination is an argument of the graph
    * C2: value and destination have the same shape
  }];
  let arguments = (ins AnyType:$destination, AnyType:$value,
                       DefaultValuedAttr<Joint_SideAttr,
                           "::cutback::joint::Side::Forward">:$side,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs AnyType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Joint_AssertOp : Joint_Op<"assert", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>]> {
  let summary = "a check at run time";
  let description = [{
    Stops the step with `message` if `condition` is false. Runs once, in its
    order among the ops with effects.
  }];
  let arguments = (ins AnyType:$condition, StrAttr:$message,
                       OptionalAttr<StrAttr>:$callee,
                       OptionalAttr<StrArrayAttr>:$names);
  let assemblyFormat = [{
    $condition `,` $message attr-dict `:` type($condition)
  }];
}

def Joint_CheckpointOp : Joint_Op<"checkpoint", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "values inside are recomputed in the backward";
  let description = [{
    A region whose values are not saved: the backward computes them again from
    the values that the region reads. Regions nest to any depth.
    `--cutback-flatten-checkpoints` turns regions into policies and region
    numbers on the ops inside.

    * `policies`: by name of an op, what is saved nevertheless.
    * `early_stop = false`: the backward runs the region whole, also what it
      does not need of it.
    * `preserve_rng = false`: random ops draw other numbers when they run again.
    * `reentrant`: whole, and gradients flow only if the region reads a value
      that has one and is no parameter.
    * `advise`: a wish; the planner may save what it likes.

    Constraints:
    * C1: the region ends with `joint.yield` of the op's result types
    * C2: `policies` has a policy for each name
    * C3: a reentrant region has no `policies`
  }];
  let arguments = (ins DefaultValuedAttr<BoolAttr, "true">:$preserve_rng,
                       DefaultValuedAttr<BoolAttr, "true">:$early_stop,
                       DefaultValuedAttr<BoolAttr, "false">:$reentrant,
                       DefaultValuedAttr<BoolAttr, "false">:$advise,
                       OptionalAttr<DictionaryAttr>:$policies);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body (`:` type($outputs)^)?";
  let hasRegionVerifier = 1;
}

def Joint_YieldOp : Joint_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"CheckpointOp">]> {
  let summary = "results of a checkpoint region";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Joint_RerunOp : Joint_Op<"rerun", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>]> {
  let summary = "the backward has run a checkpoint region whole";
  let description = [{
    Stands for the end of a run of a region with `early_stop = false`: the
    backward computes `values`, which nothing else there reads. It computes
    nothing, and keeps its place among the ops with effects.
  }];
  let arguments = (ins Variadic<AnyType>:$values,
                       DenseI64ArrayAttr:$region);
  let assemblyFormat = [{
    $region (`of` $values^ `:` type($values))? attr-dict
  }];
}

def Joint_BarrierOp : Joint_Op<"barrier", [
    AllTypesMatch<["input", "output"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a saved value crosses from the forward to the backward";
  let description = [{
    The identity, which no CSE or folding looks through: where both halves
    stand in one function, it keeps a recomputed value apart from the original.
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Joint_PartitionOp : Joint_Op<"partition", [Symbol]> {
  let summary = "the two halves of a graph";
  let description = [{
    Links `@g_forward` and `@g_backward`, made from the graph `@g`, which it
    names where the module still has it. Both list the saved values in one
    order: sizes, then tensors, then random states. The forward returns them
    after its own results; the backward takes them first.

    Constraints:
    * C1: `forward` and `backward` are functions of the module
    * C2: the forward's last results and the backward's first arguments are
      the saved values, with equal types
    * C3: `graph` is a joint graph of the module
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<FlatSymbolRefAttr>:$graph,
                       FlatSymbolRefAttr:$forward, FlatSymbolRefAttr:$backward,
                       StrArrayAttr:$saved, I64Attr:$num_saved_sizes,
                       I64Attr:$num_forward_results,
                       DenseI32ArrayAttr:$gradient_of);
  let assemblyFormat = [{
    $sym_name (`of` $graph^)? `forward` $forward `backward` $backward
    `saved` $saved attr-dict
  }];
  let hasVerifier = 1;
}

#endif // CUTBACK_DIALECT_JOINT_JOINTOPS_TD
