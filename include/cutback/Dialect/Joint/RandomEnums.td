// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributions of `joint.random`; alone in a file, because the generator
// writes every enum that it reads.
#ifndef CUTBACK_DIALECT_JOINT_RANDOMENUMS_TD
#define CUTBACK_DIALECT_JOINT_RANDOMENUMS_TD

include "mlir/IR/EnumAttr.td"

def Joint_Distribution : I32EnumAttr<"Distribution",
    "what random numbers look like", [
  I32EnumAttrCase<"Uniform", 0, "uniform">,
  I32EnumAttrCase<"Normal", 1, "normal">,
  I32EnumAttrCase<"Bits", 2, "bits">]> {
  let cppNamespace = "::cutback::joint";
}

#endif // CUTBACK_DIALECT_JOINT_RANDOMENUMS_TD
