// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect as somebody else might have it. Its ops say through the interfaces
// of `joint` what they cost, how large they are, and whether they may run
// twice; `acme.blur` says nothing.
#ifndef ACME_OPS_TD
#define ACME_OPS_TD

include "cutback/Dialect/Joint/JointInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Acme_Dialect : Dialect {
  let name = "acme";
  let cppNamespace = "::acme";
}

class Acme_Op<string mnemonic, list<Trait> traits>
    : Op<Acme_Dialect, mnemonic, traits> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
}

def Acme_DenseOp : Acme_Op<"dense", [
    Pure, DeclareOpInterfaceMethods<RematerializableOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>,
    DeclareOpInterfaceMethods<SizeEvaluationOpInterface>]> {
  let summary = "a matrix product";
  let arguments = (ins AnyRankedTensor:$left, AnyRankedTensor:$right);
}

def Acme_SwishOp : Acme_Op<"swish", [
    Pure, Elementwise, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<FusibleOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>]> {
  let summary = "x / (1 + exp(-x))";
  let arguments = (ins AnyRankedTensor:$input);
}

def Acme_SwishGradOp : Acme_Op<"swish_grad", [
    Pure, Elementwise, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<FusibleOpInterface>]> {
  let summary = "gradient of swish, from its input and its output";
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$input,
                       AnyRankedTensor:$output);
}

def Acme_DiceOp : Acme_Op<"dice", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>]> {
  let summary = "random zeros and ones of the operand's shape, other each time";
  let arguments = (ins AnyRankedTensor:$like);
}

def Acme_BlurOp : Acme_Op<"blur", [Pure]> {
  let summary = "an op without models: pure, and that is all that is known";
  let arguments = (ins AnyRankedTensor:$input);
}

def Acme_LogOp : Op<Acme_Dialect, "log"> {
  let summary = "tells somebody about a value; has effects that it hides";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // ACME_OPS_TD
