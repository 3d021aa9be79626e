// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.nested`: assembly, verifier, and what passes ask. It is as its
// graphs are: it has effects if something in them has or draws random numbers
// (the order of draws is an effect here), and may run twice if all in them may.
// Two such ops are the same if their graphs are, op by op. Asking walks the
// graphs, which are small and few. Numbers of constraints (C1, …) are those of
// the op description.

#include "cutback/Dialect/Joint/Nested.h"

#include "NamedCall.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback::joint;

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/NestedOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

ParseResult NestedOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parseNamedCall(parser, state))
    return failure();
  do {
    if (parser.parseRegion(*state.addRegion(), {},
                           /*enableNameShadowing=*/true))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

void NestedOp::print(OpAsmPrinter &p) {
  printNamedCall(p, *this, getCalleeAttr(), getArgs(), getKeywordsAttr());
  p << " ";
  llvm::interleaveComma(getGraphs(), p,
                        [&](Region &graph) { p.printRegion(graph); });
}

void NestedOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setResultNames(*this, getNamesAttr(), setName);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult NestedOp::verify() {
  if (failed(verifyNamedCall(*this, getArgs(), getKeywordsAttr()))) // C1
    return failure();
  SmallVector<FlatSymbolRefAttr> names;
  collectGraphs(getArgs(), names);
  if (names.size() != getGraphs().size()) // C1
    return emitOpError("has ") << getGraphs().size() << " graphs, its argument "
                               << "list names " << names.size();
  std::optional<NestedKind> kind = nestedKindOf(getCallee());
  if (!kind || names.size() != numGraphsOf(*kind)) // C2
    return emitOpError("is no call that runs ")
           << names.size() << " graphs: '" << getCallee() << "'";
  return success();
}

/// The type of what is handed over; null for what the call makes up.
static Type typeOf(const GraphInput &input, TypeRange operands) {
  if (input.source == GraphInput::Own)
    return {};
  Type type = operands[input.operand];
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (input.source == GraphInput::Slice && tensor && tensor.getRank())
    return tensor.clone(tensor.getShape().drop_front());
  return type;
}

/// C3, of one graph.
static bool takesInputs(NestedOp op, NestedKind kind, unsigned number) {
  auto inputs = graphInputs(kind, op.getArgs(), number);
  if (!inputs)
    return false;
  llvm::erase_if(*inputs, [](const GraphInput &input) {
    return input.source == GraphInput::Literal;
  });
  Block &graph = op.getGraphs()[number].front();
  if (inputs->size() != graph.getNumArguments())
    return false;
  for (auto [input, argument] : llvm::zip(*inputs, graph.getArguments()))
    if (Type type = typeOf(input, op.getOperandTypes());
        type && (getElementTypeOrSelf(type) !=
                     getElementTypeOrSelf(argument.getType()) ||
                 failed(verifyCompatibleShape(type, argument.getType()))))
      return false;
  return true;
}

static bool areAlike(TypeRange left, TypeRange right) {
  return left.size() == right.size() &&
         llvm::all_of(llvm::zip(left, right), [](auto pair) {
           auto [a, b] = pair;
           return getElementTypeOrSelf(a) == getElementTypeOrSelf(b) &&
                  succeeded(verifyCompatibleShape(a, b));
         });
}

LogicalResult NestedOp::verifyRegions() {
  NestedKind kind = *nestedKindOf(getCallee());
  SmallVector<Region *> graphs;
  for (auto [i, graph] : llvm::enumerate(getGraphs())) {
    auto end = dyn_cast<ReturnOp>(graph.front().getTerminator());
    if (!end || (end.getPlaces() &&
                 llvm::count(*end.getPlaces(), true) != end.getNumOperands()))
      return emitOpError("has a graph that does not end with joint.return of "
                         "its values");
    if (!takesInputs(*this, kind, i)) // C3
      return emitOpError("does not hand to its graph number ")
             << i << " what that takes";
    graphs.push_back(&graph);
  }
  auto types = nestedResultTypes(kind, getArgs(), getOperandTypes(), graphs);
  bool fits = types && areAlike(*types, getResultTypes());
  if (fits && kind == NestedKind::Cond) {
    std::swap(graphs[0], graphs[1]);
    types = nestedResultTypes(kind, getArgs(), getOperandTypes(), graphs);
    fits = areAlike(*types, getResultTypes());
  }
  if (!fits) // C4
    return emitOpError("has results that its graphs do not give");
  return success();
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

StringRef NestedOp::getPacketName() { return getCallee(); }
StringRef NestedOp::getOverloadName() { return {}; }
ArrayAttr NestedOp::getCallArgs() { return getArgs(); }
bool NestedOp::returnsTuple() { return true; }

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

static bool hasEffects(Operation &op) {
  if (auto model = dyn_cast<RematerializableOpInterface>(op))
    return model.hasOrderedEffects() || model.isRandom();
  return !isMemoryEffectFree(&op);
}

static bool mayRunTwice(Operation &op) {
  if (auto model = dyn_cast<RematerializableOpInterface>(op))
    return model.isRecomputable();
  return isPure(&op);
}

template <typename Fn> static bool anyOp(NestedOp op, Fn fn) {
  return llvm::any_of(op.getGraphs(), [&](Region &graph) {
    return llvm::any_of(graph.front().without_terminator(), fn);
  });
}

bool NestedOp::hasOrderedEffects() { return anyOp(*this, hasEffects); }

/// As with an unknown op, the user's word counts where nothing is known.
bool NestedOp::isRecomputable() {
  if (hasOrderedEffects())
    return false;
  auto policy = (*this)->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
  if (policy && policy.asksToRecompute())
    return true;
  return !anyOp(*this, [](Operation &op) { return !mayRunTwice(op); });
}

int64_t NestedOp::getAliasedOperand(unsigned) { return -1; }
bool NestedOp::isRandom() { return false; }

bool NestedOp::isComputeIntensive() { return usesMatrixUnits(); }

void NestedOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!hasOrderedEffects())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
