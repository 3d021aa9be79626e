// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that run graphs of their own: branches, loops, attention with a
// function of the scores.
#ifndef CUTBACK_DIALECT_JOINT_NESTED_TD
#define CUTBACK_DIALECT_JOINT_NESTED_TD

include "cutback/Dialect/Joint/JointBase.td"
include "cutback/Dialect/Joint/JointInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Joint_NestedOp : Op<Joint_Dialect, "nested", [
    IsolatedFromAbove,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<FrameworkCallOpInterface>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>]> {
  let summary = "a call that runs graphs of its own";
  let description = [{
    A higher-order op of PyTorch with the graphs that it runs. The graphs stand
    in its regions; in its argument list, each has its name where the call has
    the graph:

    ```mlir
    %y = joint.nested "higher_order.cond"(%p, @true_graph, @false_graph, [%x])
        {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %sin = aten.sin(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
      joint.return %sin : tensor<4xf32>
    }, {
    ^bb0(%arg0: tensor<4xf32>):
      %cos = aten.cos(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
      joint.return %cos : tensor<4xf32>
    }
    ```

    Known are `cond`, `while_loop`, `while_loop_stack_output`, `scan`,
    `flex_attention` and its backward. The op has effects if one of its graphs
    has, or draws random numbers; it may run twice if all that is in its graphs
    may. Its cost is that of the more expensive branch, of a loop as often as the
    sizes tell (once where they do not), of attention on all pairs (half of them
    where the mask is causal).

    Constraints:
    * C1: there is a region for each name in the argument list, and an operand
      for each place
    * C2: the callee is known and has as many graphs as it runs
    * C3: a graph takes what the call hands to it
    * C4: the results are those of the graph
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$inputs,
                       ArrayAttr:$args, OptionalAttr<StrArrayAttr>:$keywords,
                       UnitAttr:$tuple, OptionalAttr<StrArrayAttr>:$names);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$graphs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Joint_ReturnOp : Op<Joint_Dialect, "return", [
    Pure, Terminator, ReturnLike, HasParent<"NestedOp">]> {
  let summary = "results of a nested graph";
  let description = [{
    What a graph of `joint.nested` gives. Where it gives None, `places` says
    so: one entry a result, true for a value.
  }];
  let arguments = (ins Variadic<AnyType>:$operands,
                       OptionalAttr<DenseBoolArrayAttr>:$places);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // CUTBACK_DIALECT_JOINT_NESTED_TD
