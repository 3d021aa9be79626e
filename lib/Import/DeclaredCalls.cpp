// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls taken as declared. A recorded graph is what PyTorch did: where the
// arguments of an op or the types of its results are not those that the op has
// here, and the graph declares the results, the file is of another release and
// is right about itself. The op is kept as `joint.opaque` under its name, with
// the declared types and with what is wrong (joint.declared).
//
// What is wrong is found where it would be an error, and kept instead of
// emitted. It remains an error where nothing is declared, and under `strict`.

#include "Calls.h"
#include "NextSteps.h"

#include "cutback/Dialect/Aten/KernelTypes.h"
#include "cutback/Dialect/Joint/Declared.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

LogicalResult CallImporter::contradict(const char *at, const Twine &what,
                                       const Twine &next) {
  if (!contradiction)
    return scope.fail(at, what, next);
  *contradiction = {at, what.str(), next.str()};
  return failure();
}

bool CallImporter::isDeclared(const CallStatement &statement) {
  return statement.declared || !getItems.leavesOf(statement.name).empty();
}

LogicalResult CallImporter::checkElements(const aten::Schema &schema,
                                          const CallStatement &statement,
                                          ArrayRef<Type> types, bool isTuple) {
  if (statement.declared) {
    if (!isTuple)
      return success();
    return contradict(statement.typeAt,
                      quoted(statement.name) +
                          " is declared as one value, "
                          "but " +
                          schema.packet + " gives a tuple of " +
                          Twine(types.size()),
                      nextSteps(scope.source).otherMeaning);
  }
  for (const TupleLeaf &leaf : getItems.leavesOf(statement.name)) {
    unsigned index = leaf.path.front();
    if (!isTuple || leaf.path.size() > 1 || index >= types.size())
      return contradict(
          leaf.type.begin(),
          quoted(leaf.name) + " is element " + Twine(leaf.path.back()) +
              " of " + quoted(statement.name) + ", but " + schema.packet +
              (isTuple ? " gives " + Twine(types.size()) + " tensors"
                       : Twine(" gives one value")),
          nextSteps(scope.source).otherMeaning);
    CallStatement element;
    element.name = leaf.name;
    element.typeAt = leaf.type.begin();
    element.declared = scope.readType(leaf.type);
    if (!element.declared ||
        failed(reconcile(
            element,
            aten::resultAs(schema, index, types[index], element.declared->type),
            schema.packet)))
      return failure();
  }
  return success();
}

LogicalResult CallImporter::buildKnown(const CallTarget &target,
                                       const CallArguments &args,
                                       const CallStatement &statement,
                                       const Place &place) {
  Contradiction why;
  contradiction = scope.isStrict ? nullptr : &why;
  LogicalResult result = makeKnown(target, args, statement, place);
  contradiction = nullptr;
  if (succeeded(result) || !why.at)
    return result;
  if (!isDeclared(statement))
    return scope.fail(why.at, why.what, why.next);
  return buildUnknown(target, args, statement, place, why);
}

/// Writes through a view reach what it is a view of, so whether a result is one
/// must be known.
static bool givesViews(const aten::Schema &schema) {
  return llvm::any_of(schema.results, [](const aten::SchemaResult &result) {
    return result.aliasSet != 0;
  });
}

FailureOr<Operation *>
CallImporter::buildDeclared(const CallTarget &target, const CallArguments &args,
                            const CallStatement &statement,
                            ArrayRef<CallStatement> results,
                            const Place &place) {
  ++counts.ops;
  if (!target.schema)
    return makeUnknown(target, args, statement, results, {}, place);
  Contradiction why;
  bool mayDiffer = !scope.isStrict && target.kind == CallTarget::Known &&
                   !givesViews(*target.schema) &&
                   llvm::any_of(results, [](const CallStatement &result) {
                     return result.declared != nullptr;
                   });
  contradiction = mayDiffer ? &why : nullptr;
  FailureOr<Operation *> op =
      makeDeclared(target, args, statement, results, place);
  contradiction = nullptr;
  if (succeeded(op) || !why.at)
    return op;
  return makeUnknown(target, args, statement, results, why, place);
}

/// "joint.txt:14", without folders: reports say it, and files that are
/// compared.
static std::string placeText(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  StringRef file = llvm::sys::path::filename(place.getFilename().getValue());
  return (file + ":" + Twine(place.getLine())).str();
}

void CallImporter::markDeclared(joint::OpaqueOp op, const Contradiction &why) {
  // A program is one line: its lines of the model tell more.
  Location location = op.getLoc();
  if (&nextSteps(scope.source) == &kTextSteps)
    location = scope.source.locate(scope.context, why.at);
  if (counts.asDeclared++ == 0)
    counts.firstAsDeclared = location;
  op->setDiscardableAttr(
      joint::kDeclared,
      joint::declaredAttr(scope.context, placeText(location), why.what));
  std::optional<joint::CalleeFacts> facts = joint::calleeFacts(op);
  if (facts && (facts->isRandom || facts->hasOrderedEffects))
    op.setEffects(true);
}
