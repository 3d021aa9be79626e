// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.hook`: assembly, verifier, and its answers to what passes ask.
//
// It is a call of functions that nobody here knows: ordered among the ops with
// effects, never run a second time, part of no kernel. What it gives back is
// its operand but for what they change, so a plan may put one over the other
// (IterationSpace::updated), and then a point without functions moves no bytes.
// Numbers of constraints (C1, …) are those of the op description.

#include "cutback/Dialect/Joint/Hook.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback::joint;

#include "cutback/Dialect/Joint/HookEnums.cpp.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/HookOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `@fc.weight tensor_pre(%g) key 3 : tensor<4xf32> -> tensor<4xf32>`
ParseResult HookOp::parse(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr point;
  StringRef word;
  SMLoc place;
  int64_t key = 0;
  Type type, result;
  OpAsmParser::UnresolvedOperand gradient;
  if (parser.parseAttribute(point) || parser.getCurrentLocation(&place) ||
      parser.parseKeyword(&word))
    return failure();
  std::optional<HookPointKind> kind = symbolizeHookPointKind(word);
  if (!kind)
    return parser.emitError(place, "unknown kind of hook '")
           << word
           << "': tensor_pre, retains_grad, node_pre, node_post or "
              "post_accumulate";
  if (parser.parseLParen() || parser.parseOperand(gradient) ||
      parser.parseRParen() || parser.parseKeyword("key") ||
      parser.parseInteger(key) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(gradient, type, state.operands))
    return failure();
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.point = point;
  properties.kind = HookPointKindAttr::get(parser.getContext(), *kind);
  properties.key = parser.getBuilder().getI64IntegerAttr(key);
  if (succeeded(parser.parseOptionalArrow())) {
    if (parser.parseType(result))
      return failure();
    state.addTypes(result);
    parseResultNames(parser, state);
  }
  return success();
}

void HookOp::print(OpAsmPrinter &p) {
  p << " " << getPointAttr() << " " << stringifyHookPointKind(getKind()) << "("
    << getGradient() << ") key " << static_cast<int64_t>(getKey());
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {"point", "kind", "key", "names"});
  p << " : " << getGradient().getType();
  if (getResult())
    p << " -> " << getResult().getType();
}

void HookOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setResultNames(*this, getNamesAttr(), setName);
}

LogicalResult HookOp::verify() {
  Type type = getGradient().getType();
  if (!isa<FloatType, ComplexType>(getElementTypeOrSelf(type))) // C1
    return emitOpError("is on a value of type ")
           << type << ", which is no gradient";
  if (getResult() && getResult().getType() != type) // C2
    return emitOpError("replaces a gradient of type ")
           << type << " by one of type " << getResult().getType();
  if (getResult() && getKind() == HookPointKind::RetainsGrad) // C3
    return emitOpError("of kind retains_grad gives a result, and only sees the "
                       "gradient behind all other hooks");
  if (static_cast<int64_t>(getKey()) < 0) // C4
    return emitOpError("has key ")
           << static_cast<int64_t>(getKey()) << "; keys are numbers from 0 on";
  return success();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

void HookOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

bool HookOp::isRecomputable() { return false; }
int64_t HookOp::getAliasedOperand(unsigned) { return -1; }
bool HookOp::isRandom() { return false; }
bool HookOp::isComputeIntensive() { return false; }
bool HookOp::hasOrderedEffects() { return true; }

FusionKind HookOp::getFusionKind() { return FusionKind::Never; }
bool HookOp::getIterationSpace(ArrayRef<ArrayRef<int64_t>> shapes,
                               IterationSpace &space) {
  if (!getResult() || !gatherSpace(shapes, 1, space))
    return false;
  space.updated = 0;
  return true;
}

/// What functions cost is theirs; a point without one costs nothing.
double HookOp::getFlops(ArrayRef<ArrayRef<int64_t>>) { return 0; }
bool HookOp::usesMatrixUnits() { return false; }

bool HookOp::evaluateSizes(ArrayRef<Type> operandTypes, ArrayRef<int64_t>,
                           SmallVectorImpl<Type> &resultTypes,
                           SmallVectorImpl<int64_t> &resultInts) {
  if (getResult()) {
    resultTypes.push_back(operandTypes.front());
    resultInts.push_back(ShapedType::kDynamic);
  }
  return true;
}
