// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes ask an op whose results are no work; beside the interfaces of
// JointInterfaces.td, which most of the project includes.
#ifndef CUTBACK_DIALECT_JOINT_LITERALINTERFACE_TD
#define CUTBACK_DIALECT_JOINT_LITERALINTERFACE_TD

include "mlir/IR/OpBase.td"

def LiteralOpInterface : OpInterface<"LiteralOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    Is there anything in the op's results that has to be computed? Literals are
    contents that nobody defined (`tensor.empty`), one number everywhere
    (`linalg.fill`), and constants of the program. They take no memory in a
    plan, are never saved, and are made again wherever they are read. An op
    without this interface is a literal when it is `ConstantLike`.
  }];
  let methods = [
    InterfaceMethod<[{
      True if all results are literals. Asked of ops that can be recomputed
      only.
    }], "bool", "isLiteral">,
    InterfaceMethod<[{
      True if nobody defined the contents: an op that writes over them as its
      destination needs no memory for them.
    }], "bool", "isUndefined">
  ];
}

#endif // CUTBACK_DIALECT_JOINT_LITERALINTERFACE_TD
