// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls taken as declared, and the interfaces of `joint.opaque` that differ for
// them. A call that nobody knows is saved and costs one FLOP a result element;
// of one that is known by its name the loaded dialects are asked, which are
// few, and such calls too.

#include "cutback/Dialect/Joint/Declared.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback::joint;

DictionaryAttr cutback::joint::declaredAttr(MLIRContext *context,
                                            StringRef place, StringRef why) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("place", builder.getStringAttr(place)),
       builder.getNamedAttr("why", builder.getStringAttr(why))});
}

bool cutback::joint::isTakenAsDeclared(Operation *op) {
  return op->hasAttr(kDeclared);
}

static StringRef entryOf(Operation *op, StringRef name) {
  auto facts = op->getAttrOfType<DictionaryAttr>(kDeclared);
  auto text = facts ? facts.getAs<StringAttr>(name) : StringAttr();
  return text ? text.getValue() : StringRef();
}

StringRef cutback::joint::declaredPlace(Operation *op) {
  return entryOf(op, "place");
}

StringRef cutback::joint::declaredWhy(Operation *op) {
  return entryOf(op, "why");
}

std::string cutback::joint::declaredText(Operation *op) {
  StringRef place = declaredPlace(op), why = declaredWhy(op);
  return ("taken as " + (place.empty() ? "the input" : place) + " declares it" +
          (why.empty() ? "" : " (" + why + ")"))
      .str();
}

static const CalleeInterface *calleesOf(OpaqueOp call) {
  if (!isTakenAsDeclared(call))
    return nullptr;
  for (Dialect *dialect : call->getContext()->getLoadedDialects())
    if (auto *callees = dialect->getRegisteredInterface<CalleeInterface>())
      return callees;
  return nullptr;
}

std::optional<CalleeFacts> cutback::joint::calleeFacts(OpaqueOp call) {
  const CalleeInterface *callees = calleesOf(call);
  return callees ? callees->factsOf(call) : std::nullopt;
}

/// Of what is not known, one for each element of the results.
double OpaqueOp::getFlops(ArrayRef<ArrayRef<int64_t>> shapes) {
  if (const CalleeInterface *callees = calleesOf(*this);
      callees && callees->factsOf(*this))
    return callees->flopsOf(*this, shapes);
  double elements = 0;
  for (auto [i, type] : llvm::enumerate(getResultTypes())) {
    size_t at = getNumOperands() + i;
    ArrayRef<int64_t> shape =
        at < shapes.size() ? shapes[at] : ArrayRef<int64_t>();
    if (isa<RankedTensorType>(type) && !ShapedType::isDynamicShape(shape))
      elements += static_cast<double>(ShapedType::getNumElements(shape));
  }
  return elements;
}

bool OpaqueOp::usesMatrixUnits() {
  std::optional<CalleeFacts> facts = calleeFacts(*this);
  return facts && facts->usesMatrixUnits;
}

bool OpaqueOp::isRandom() {
  std::optional<CalleeFacts> facts = calleeFacts(*this);
  return facts && facts->isRandom;
}

bool OpaqueOp::isComputeIntensive() {
  std::optional<CalleeFacts> facts = calleeFacts(*this);
  return facts && facts->isComputeIntensive;
}
