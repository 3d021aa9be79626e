// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes ask an op. `aten` implements these; any dialect can attach them
// as external models. No pass asks for an op's name.
#ifndef CUTBACK_DIALECT_JOINT_JOINTINTERFACES_TD
#define CUTBACK_DIALECT_JOINT_JOINTINTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def RematerializableOpInterface : OpInterface<"RematerializableOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    May the op run a second time in the backward, and what kind of op is it?
    An op without this interface is recomputable when it is `Pure`.
  }];
  let methods = [
    InterfaceMethod<[{
      True if a second execution on the same operands gives the same bits and
      has no other effect. False for writes, collectives, and random ops that
      take no seed.
    }], "bool", "isRecomputable">,
    InterfaceMethod<[{
      The operand whose storage result `result` shares, or -1. A view costs
      nothing to recompute; its base is what is saved.
    }], "int64_t", "getAliasedOperand", (ins "unsigned":$result)>,
    InterfaceMethod<"True for ops that draw random numbers.",
                    "bool", "isRandom">,
    InterfaceMethod<"True for matrix products, convolutions, attention.",
                    "bool", "isComputeIntensive">,
    InterfaceMethod<[{
      True if the op reads or writes memory beyond its operands and results
      (writes to arguments, communication, checks) and so must run exactly
      once, in its order.
    }], "bool", "hasOrderedEffects">
  ];
}

def FusionKind : I32EnumAttr<"FusionKind", "how an op takes part in fusion", [
  I32EnumAttrCase<"Never", 0, "never">,
  I32EnumAttrCase<"Pointwise", 1, "pointwise">,
  I32EnumAttrCase<"Reduction", 2, "reduction">,
  I32EnumAttrCase<"View", 3, "view">,
  I32EnumAttrCase<"Gather", 4, "gather">,
  I32EnumAttrCase<"Concat", 5, "concat">,
  I32EnumAttrCase<"Create", 6, "create">]> {
  let cppNamespace = "::cutback::joint";
  let genSpecializedAttr = 0;
}

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    Can producer and consumer become one kernel? The partitioner's idea of
    "fusible" and kernel formation both ask here: what the plan counts as free
    must be free.
  }];
  let methods = [
    InterfaceMethod<[{
      Pointwise: one output element from the same index of each operand.
      Reduction: many to one, fuses with pointwise producers and consumers.
      View: no data moves. Gather: reads by computed index, fuses with
      consumers. Concat: fuses with producers. Create: no tensor operands.
      Never: a library call or an effect.
    }], "::cutback::joint::FusionKind", "getFusionKind">,
    InterfaceMethod<[{
      The loops of one execution: which axes the op maps, reduces, broadcasts,
      gathers. `shapes` as in CostModelOpInterface. False if it has no such
      loops (a library call, a sort), or not for these shapes: then it is a
      kernel of its own.
    }], "bool", "getIterationSpace",
       (ins "::llvm::ArrayRef<::llvm::ArrayRef<int64_t>>":$shapes,
            "::cutback::joint::IterationSpace &":$space)>
  ];
}

def LowerableOpInterface : OpInterface<"LowerableOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    How one element of an op's results is computed from elements of its
    operands. An op with such a formula can be part of a generated kernel; any
    other is a launch of its own, which calls a library or the interpreter.
  }];
  let methods = [
    InterfaceMethod<[{
      True if the op, with its arguments and types, has a formula.
    }], "bool", "hasElement">,
    InterfaceMethod<[{
      Builds the formula with ops of `arith` and `math`: one scalar a result, of
      the result's element type, for the iteration that `elements` stands for.
      Fails, with an error at the op, if there is none.
    }], "::llvm::LogicalResult", "buildElement",
       (ins "::cutback::joint::ElementBuilder &":$elements,
            "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def CostModelOpInterface : OpInterface<"CostModelOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    What an op costs, from shapes. `shapes` holds the operands' shapes and then
    the results' shapes with symbolic sizes replaced by their hints; a
    dimension that is not known is `ShapedType::kDynamic`.
  }];
  let methods = [
    InterfaceMethod<[{
      Floating-point operations of one execution (a fused multiply-add counts
      two; a transcendental counts as its usual polynomial, about ten).
    }], "double", "getFlops",
       (ins "::llvm::ArrayRef<::llvm::ArrayRef<int64_t>>":$shapes)>,
    InterfaceMethod<[{
      True if the FLOPs run on matrix units (at the element type's matrix
      rate), false for vector units.
    }], "bool", "usesMatrixUnits">
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    How gradients flow through an op. Differentiation asks each op for its
    vector-Jacobian product (VJP) and knows no op by name.
  }];
  let methods = [
    InterfaceMethod<[{
      True if a gradient can flow from a result to operand `operand`: both are
      floating point and the op is differentiable there.
    }], "bool", "canHaveGradient", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Builds the VJP: from the gradients of the results, those of the operands
      that `vjp` asks for. An operand that stays without a gradient has none
      (zero). Reads as few values of the forward as it can, because each may
      have to be saved. Fails, with an error at the op, if there is no rule.
    }], "::llvm::LogicalResult", "buildVjp",
       (ins "::cutback::joint::VjpContext &":$vjp)>
  ];
}

def SizeEvaluationOpInterface : OpInterface<"SizeEvaluationOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    Shapes of a graph with symbolic sizes, once the symbols have values. An op
    without this interface keeps its declared result types.
  }];
  let methods = [
    InterfaceMethod<[{
      Result types and integer results for operands of the given types, whose
      symbolic sizes are filled in, and integer operands of the given values.
      What is not known is `ShapedType::kDynamic`, in types and in integers.
      Both lists get one entry a result. Emits nothing; false if the op cannot
      be evaluated.
    }], "bool", "evaluateSizes",
       (ins "::mlir::ArrayRef<::mlir::Type>":$operandTypes,
            "::mlir::ArrayRef<int64_t>":$operandInts,
            "::llvm::SmallVectorImpl<::mlir::Type> &":$resultTypes,
            "::llvm::SmallVectorImpl<int64_t> &":$resultInts)>
  ];
}

def FrameworkCallOpInterface : OpInterface<"FrameworkCallOpInterface"> {
  let cppNamespace = "::cutback::joint";
  let description = [{
    An op that stands for a call in the framework that the graph came from.
    Only the reader of recorded plans and the rules that reproduce PyTorch's
    decisions ask for names.
  }];
  let methods = [
    InterfaceMethod<[{
      Qualified name without overload: "aten.mul", "prims.iota",
      "operator.add".
    }], "::llvm::StringRef", "getPacketName">,
    InterfaceMethod<[{
      Name of the overload ("Tensor", "default"), empty for Python operators.
    }], "::llvm::StringRef", "getOverloadName">,
    InterfaceMethod<[{
      The argument list as written, see `joint::CallArgs`.
    }], "::mlir::ArrayAttr", "getCallArgs">,
    InterfaceMethod<[{
      True if the call gives a tuple or a list, even of one value.
    }], "bool", "returnsTuple">,
    InterfaceMethod<[{
      Number of entries of the argument list before the keyword-only ones.
    }], "unsigned", "getNumPositionalArgs", (ins), "",
       "return $_op.getCallArgs().size();">
  ];
}

#endif // CUTBACK_DIALECT_JOINT_JOINTINTERFACES_TD
