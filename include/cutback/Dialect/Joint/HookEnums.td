// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of `joint.hook`; alone in a file, because the generator writes
// every enum that it reads.
#ifndef CUTBACK_DIALECT_JOINT_HOOKENUMS_TD
#define CUTBACK_DIALECT_JOINT_HOOKENUMS_TD

include "mlir/IR/EnumAttr.td"

def Joint_HookKind : I32EnumAttr<"HookPointKind",
    "when functions of the user run on a gradient", [
  I32EnumAttrCase<"TensorPre", 0, "tensor_pre">,
  I32EnumAttrCase<"RetainsGrad", 1, "retains_grad">,
  I32EnumAttrCase<"NodePre", 2, "node_pre">,
  I32EnumAttrCase<"NodePost", 3, "node_post">,
  I32EnumAttrCase<"PostAccumulate", 4, "post_accumulate">]> {
  let cppNamespace = "::cutback::joint";
}

#endif // CUTBACK_DIALECT_JOINT_HOOKENUMS_TD
