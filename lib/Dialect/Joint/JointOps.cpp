// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of dialect `joint` other than `joint.graph`: unknown calls, writes,
// checks, checkpoint regions, and the link between the two halves. What has
// effects reads and writes the default resource, so that no two such ops pass
// each other, none is merged, and none goes because nobody uses its results.
// Numbers of constraints (C1, …) are those of the op descriptions.

#include "NamedCall.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/Text.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback::joint;

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/JointOps.cpp.inc"

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// An effect that no other ordered op may pass.
static void addOrderedEffect(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// joint.opaque
//===----------------------------------------------------------------------===//

void OpaqueOp::getEffects(Effects &effects) {
  if (getEffects())
    addOrderedEffect(effects);
}

void OpaqueOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setResultNames(*this, getNamesAttr(), setName);
}

StringRef OpaqueOp::getPacketName() {
  StringRef callee = getCallee();
  return callee.count('.') >= 2 ? callee.rsplit('.').first : callee;
}

StringRef OpaqueOp::getOverloadName() {
  StringRef callee = getCallee();
  return callee.count('.') >= 2 ? callee.rsplit('.').second : StringRef();
}

ArrayAttr OpaqueOp::getCallArgs() { return getArgs(); }
bool OpaqueOp::returnsTuple() { return getTuple() || getNumResults() > 1; }

/// Only whoever wrote the model knows whether a second run gives the same; but
/// some calls are opaque for what they are given, not for what they do.
bool OpaqueOp::isRecomputable() {
  if (getEffects())
    return false;
  if ((*this)->hasAttr(kRepeatable))
    return true;
  if (std::optional<CalleeFacts> facts = calleeFacts(*this))
    return !facts->isRandom && !facts->hasOrderedEffects;
  auto policy = (*this)->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
  return policy && policy.asksToRecompute();
}

int64_t OpaqueOp::getAliasedOperand(unsigned) { return -1; }
bool OpaqueOp::hasOrderedEffects() { return getEffects(); }

ParseResult OpaqueOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseNamedCall(parser, state);
}

void OpaqueOp::print(OpAsmPrinter &p) {
  printNamedCall(p, *this, getCalleeAttr(), getArgs(), getKeywordsAttr());
}

LogicalResult OpaqueOp::verify() {
  return verifyNamedCall(*this, getArgs(), getKeywordsAttr());
}

//===----------------------------------------------------------------------===//
// joint.write, joint.assert, joint.barrier
//===----------------------------------------------------------------------===//

void WriteOp::getEffects(Effects &effects) { addOrderedEffect(effects); }
bool WriteOp::isRecomputable() { return false; }
int64_t WriteOp::getAliasedOperand(unsigned) { return 0; }
bool WriteOp::isRandom() { return false; }
bool WriteOp::isComputeIntensive() { return false; }
bool WriteOp::hasOrderedEffects() { return true; }

void WriteOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setResultNames(*this, getNamesAttr(), setName);
}

ParseResult WriteOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand destination, value;
  Type destinationType, valueType;
  if (parser.parseOperand(destination) || parser.parseComma() ||
      parser.parseOperand(value) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(destinationType) || parser.parseComma() ||
      parser.parseType(valueType) ||
      parser.resolveOperand(destination, destinationType, state.operands) ||
      parser.resolveOperand(value, valueType, state.operands))
    return failure();
  state.addTypes(destinationType);
  parseResultNames(parser, state);
  return success();
}

void WriteOp::print(OpAsmPrinter &p) {
  p << " " << getDestination() << ", " << getValue();
  SmallVector<StringRef> elided = {"names"};
  if (getSide() == Side::Forward)
    elided.push_back("side");
  p.printOptionalAttrDict((*this)->getAttrs(), elided);
  p << " : " << getDestination().getType() << ", " << getValue().getType();
}

LogicalResult WriteOp::verify() {
  if (!isa<BlockArgument>(getDestination())) // C1
    return emitOpError("writes '")
           << getValueName(getDestination())
           << "', which is not an argument of the graph";
  auto to = dyn_cast<ShapedType>(getDestination().getType());
  auto from = dyn_cast<ShapedType>(getValue().getType());
  if (to && from && failed(verifyCompatibleShape(to, from))) // C2
    return emitOpError("writes a value of type ")
           << from << " into an argument of type " << to;
  return success();
}

void AssertOp::getEffects(Effects &effects) { addOrderedEffect(effects); }
bool AssertOp::isRecomputable() { return false; }
int64_t AssertOp::getAliasedOperand(unsigned) { return -1; }
bool AssertOp::isRandom() { return false; }
bool AssertOp::isComputeIntensive() { return false; }
bool AssertOp::hasOrderedEffects() { return true; }

void RerunOp::getEffects(Effects &effects) { addOrderedEffect(effects); }
bool RerunOp::isRecomputable() { return false; }
int64_t RerunOp::getAliasedOperand(unsigned) { return -1; }
bool RerunOp::isRandom() { return false; }
bool RerunOp::isComputeIntensive() { return false; }
bool RerunOp::hasOrderedEffects() { return true; }

void BarrierOp::getEffects(Effects &effects) { addOrderedEffect(effects); }

//===----------------------------------------------------------------------===//
// joint.checkpoint
//===----------------------------------------------------------------------===//

/// What `name` may have meant of `known`, as the end of a sentence.
static std::string meant(StringRef name, ArrayRef<StringRef> known) {
  std::vector<std::string_view> candidates;
  for (StringRef each : known)
    candidates.emplace_back(each.data(), each.size());
  std::vector<std::string> near = cutback::nearestNames(
      std::string_view(name.data(), name.size()), candidates, 1);
  return near.empty() ? "there are " + llvm::join(known, ", ")
                      : "did you mean '" + near.front() + "'?";
}

/// An attribute that nothing reads would have no effect.
static LogicalResult checkAttributes(CheckpointOp op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName().getValue();
    if (name.contains('.') || name == "budget") // of a dialect, or C4
      continue;
    auto diagnostic = op.emitOpError("has no attribute '") << name << "'";
    diagnostic.attachNote()
        << meant(name, {"advise", "budget", "early_stop", "policies",
                        "preserve_rng", "reentrant"});
    return diagnostic;
  }
  return success();
}

/// A policy is for an op of the region, or for one that could be there.
static LogicalResult checkPolicy(CheckpointOp op, StringRef name) {
  StringRef dialect = name.split('.').first;
  MLIRContext *context = op.getContext();
  // What is loaded when the first op of it is read.
  bool isOpen = !context->getLoadedDialect(dialect) &&
                llvm::is_contained(context->getAvailableDialects(), dialect);
  if (isOpen || RegisteredOperationName::lookup(name, context))
    return success();
  llvm::SmallSetVector<StringRef, 8> inside;
  op.getBody().walk([&](Operation *each) {
    if (!isa<YieldOp>(each))
      inside.insert(each->getName().getStringRef());
  });
  if (inside.contains(name))
    return success();
  auto diagnostic = op.emitOpError("has a policy for '")
                    << name << "', which no op is called";
  diagnostic.attachNote() << meant(name, inside.getArrayRef());
  return diagnostic;
}

static LogicalResult checkBudget(CheckpointOp op) {
  Attribute given = op->getDiscardableAttr("budget");
  if (!given)
    return success();
  if (op.getReentrant()) // C3
    return op.emitOpError("is reentrant, which runs whole: it has no budget");
  auto budget = dyn_cast<FloatAttr>(given);
  double fraction = budget ? budget.getValueAsDouble() : -1;
  if (!(fraction >= 0 && fraction <= 1)) // C4
    return op.emitOpError("has a budget of ")
           << given << ", which is no fraction from 0 to 1";
  return success();
}

LogicalResult CheckpointOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes()) // C1
    return emitOpError("must end with joint.yield of its ")
           << getNumResults() << " results";
  if (failed(checkAttributes(*this)))
    return failure();
  if (failed(checkBudget(*this)))
    return failure();
  if (!getPoliciesAttr())
    return success();
  if (getReentrant()) // C3
    return emitOpError("is reentrant, which runs whole: it has no policies");
  for (NamedAttribute entry : getPoliciesAttr())
    if (!isa<PolicyAttr>(entry.getValue())) // C2
      return emitOpError("has no #joint.policy for '")
             << entry.getName().getValue() << "'";
    else if (failed(checkPolicy(*this, entry.getName().getValue())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// joint.partition
//===----------------------------------------------------------------------===//

LogicalResult PartitionOp::verify() {
  auto lookup = [&](FlatSymbolRefAttr name) {
    return dyn_cast_or_null<func::FuncOp>(
        SymbolTable::lookupNearestSymbolFrom((*this)->getParentOp(), name));
  };
  func::FuncOp forward = lookup(getForwardAttr());
  func::FuncOp backward = lookup(getBackwardAttr());
  if (!forward || !backward) // C1
    return emitOpError("names ")
           << (forward ? getBackwardAttr() : getForwardAttr())
           << ", which is not a function of the module";
  size_t saved = getSaved().size();
  ArrayRef<Type> results = forward.getResultTypes();
  ArrayRef<Type> arguments = backward.getArgumentTypes();
  if (results.size() < saved || arguments.size() < saved ||
      results.take_back(saved) != arguments.take_front(saved)) // C2
    return emitOpError("saves ")
           << saved << " values, which are not the last results of @"
           << forward.getName() << " and the first arguments of @"
           << backward.getName() << " with equal types";
  if (getGraphAttr() &&
      !SymbolTable::lookupNearestSymbolFrom<GraphOp>((*this)->getParentOp(),
                                                     getGraphAttr())) // C3
    return emitOpError("is of ")
           << getGraphAttr()
           << ", which is not a joint graph of the module; keep the graph "
              "beside its halves, or leave the name out";
  return success();
}
