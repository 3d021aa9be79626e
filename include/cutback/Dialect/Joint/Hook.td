// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in the backward at which functions of the user run.
#ifndef CUTBACK_DIALECT_JOINT_HOOK_TD
#define CUTBACK_DIALECT_JOINT_HOOK_TD

include "cutback/Dialect/Joint/JointBase.td"
include "cutback/Dialect/Joint/JointInterfaces.td"
include "cutback/Dialect/Joint/HookEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Joint_HookOp : Op<Joint_Dialect, "hook", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>,
    DeclareOpInterfaceMethods<FusibleOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>,
    DeclareOpInterfaceMethods<SizeEvaluationOpInterface>]> {
  let summary = "functions of the user run on a gradient";
  let description = [{
    A point of the backward at which functions that are added to a step run, on
    the memory of `gradient`. With a result they may change it: the result is
    the gradient behind them. It runs once, in the backward, in its order among
    the ops with effects; it is not recomputed, merged or dropped.

    ```mlir
    %h = joint.hook @fc1.weight tensor_pre(%g) key 3
        : tensor<8x16xf32> -> tensor<8x16xf32>
    joint.hook @relu retains_grad(%h) key 4 : tensor<8x16xf32>
    ```

    The symbol is the name by which the user knows what the gradient is of: an
    argument, a value of the forward, or for hooks of a node a value that its op
    gives. The key tells the points of a graph apart; it grows in the order of
    the engine (NodeGraph.h).

    Constraints:
    * C1: the gradient is of a floating-point or complex type
    * C2: a result has the gradient's type
    * C3: `retains_grad` gives no result: it sees what all others have made
    * C4: the key is no negative number
  }];
  let arguments = (ins FlatSymbolRefAttr:$point, Joint_HookKind:$kind,
                       AnyRankedTensor:$gradient, I64Attr:$key,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // CUTBACK_DIALECT_JOINT_HOOK_TD
