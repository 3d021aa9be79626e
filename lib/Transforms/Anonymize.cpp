// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes out of a graph what could tell whose model it is. One walk in program
// order gives every op its new names, attributes and place:
//
//   attributes    of dialect `joint` by what they mean; other discardable ones
//                 go; inherent ones keep their form, with their texts, numbers
//                 and constants replaced
//   arguments     names by role; qualified names component by component
//   places        FILE:LINE becomes model:N, N counted by first appearance, so
//                 that ops of one line still are
//
// What replaces what is the matter of NeutralNames. Types stay as they are:
// sizes decide the plan.

#include "cutback/Transforms/Anonymize.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Dialect/Joint/Overlap.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/NeutralNames.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// How much a discardable attribute of dialect `joint` tells.
enum class Telling { Drop, Keep, Declared, Dims, Name, Path, Role, Symbols };

Telling tellingOf(StringRef name) {
  return llvm::StringSwitch<Telling>(name)
      .Cases({"joint.policy", "joint.save", "joint.recompute", "joint.side",
              "joint.strides", kUnannotatedText, "joint.aliases"},
             Telling::Keep)
      .Cases({kNoGrad, kRepeatable, kEarly, kLate, "joint.sequence_nr",
              "joint.requires_grad", "joint.num_forward_results",
              "joint.gradient_of", "no_inline"},
             Telling::Keep)
      .Case(kDeclared, Telling::Declared)
      .Case("joint.dims", Telling::Dims)
      .Cases({"joint.call", "joint.name"}, Telling::Name)
      .Cases({"joint.tied", "joint.shares"}, Telling::Path)
      .Case("joint.role", Telling::Role)
      .Case("joint.symbols", Telling::Symbols)
      .Default(Telling::Drop);
}

/// "mul" for `aten.mul.Tensor` and `joint.opaque "aten.mul.Tensor"`.
std::string kindOf(Operation *op) {
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    if (!opaque.getCallee().starts_with("aten."))
      return "opaque";
  StringRef name = op->getName().stripDialect();
  if (auto call = dyn_cast<FrameworkCallOpInterface>(op))
    name = call.getPacketName();
  std::string kind = name.rsplit('.').second.empty()
                         ? name.str()
                         : name.rsplit('.').second.str();
  return kind;
}

class Anonymizer {
public:
  explicit Anonymizer(ModuleOp module)
      : module(module), builder(module.getContext()) {}
  void run();

private:
  void collect();
  void renameSymbols();
  void visit(Operation *op);
  void visitArguments(FunctionOpInterface function);
  void visitPlaces(Operation *op);
  void nameResults(Operation *op);

  /// An attribute with its texts, numbers and constants replaced.
  Attribute neutral(Attribute attr);
  Attribute neutralInherent(Operation *op, NamedAttribute attr);
  Attribute discardable(NamedAttribute attr, StringRef kind);
  Attribute constant(ElementsAttr elements);
  Attribute sizes(Attribute attr);
  DictionaryAttr symbols(DictionaryAttr attr);
  ArrayAttr words(ArrayAttr attr, StringRef kind);
  ArrayAttr knownNames(ArrayAttr attr);
  RoleAttr role(RoleAttr attr);
  Location place(Location location);
  StringAttr text(const std::string &value) {
    return builder.getStringAttr(value);
  }

  ModuleOp module;
  Builder builder;
  NeutralNames names;
  DenseMap<Attribute, unsigned> constants;
  DenseMap<Location, Location> places;
};

} // namespace

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// True for what is a part of the op rather than of the model: a few integers
/// (sizes, axes, a permutation), zeros.
static bool isStructure(ElementsAttr elements) {
  constexpr int64_t kMostSizes = 8;
  Type element = elements.getElementType();
  if (element.isIntOrIndex())
    return elements.getNumElements() <= kMostSizes;
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense && dense.isSplat() && isa<FloatType>(element) &&
         dense.getSplatValue<APFloat>().isZero();
}

/// The elements go; different constants stay different.
Attribute Anonymizer::constant(ElementsAttr elements) {
  if (isStructure(elements))
    return elements;
  unsigned number =
      constants.try_emplace(elements, constants.size()).first->second;
  ShapedType type = elements.getShapedType();
  Type element = type.getElementType();
  if (isa<FloatType>(element))
    return DenseElementsAttr::get(
        type, builder.getFloatAttr(element, static_cast<double>(number)));
  if (element.isIntOrIndex())
    return DenseElementsAttr::get(type,
                                  builder.getIntegerAttr(element, number));
  return builder.getUnitAttr();
}

Attribute Anonymizer::neutral(Attribute attr) {
  if (auto value = dyn_cast<StringAttr>(attr))
    return text(names.text(value.getValue()));
  if (auto value = dyn_cast<FloatAttr>(attr))
    return FloatAttr::get(value.getType(),
                          names.number(value.getValueAsDouble()));
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    SmallVector<Attribute> entries;
    for (Attribute entry : list)
      entries.push_back(neutral(entry));
    return builder.getArrayAttr(entries);
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    SmallVector<NamedAttribute> entries;
    for (NamedAttribute entry : dictionary)
      entries.emplace_back(text(names.word("key", entry.getName().getValue())),
                           neutral(entry.getValue()));
    return builder.getDictionaryAttr(entries);
  }
  if (auto symbol = dyn_cast<SymbolRefAttr>(attr))
    return SymbolRefAttr::get(
        text(names.word("graph", symbol.getLeafReference().getValue())));
  if (isa<DenseArrayAttr>(attr))
    return attr;
  if (auto elements = dyn_cast<ElementsAttr>(attr))
    return constant(elements);
  return attr;
}

DictionaryAttr Anonymizer::symbols(DictionaryAttr attr) {
  SmallVector<NamedAttribute> entries;
  for (NamedAttribute entry : attr)
    entries.emplace_back(text(names.symbol(entry.getName().getValue())),
                         entry.getValue());
  return builder.getDictionaryAttr(entries);
}

/// Symbolic sizes: a string, or arrays of such.
Attribute Anonymizer::sizes(Attribute attr) {
  if (auto value = dyn_cast<StringAttr>(attr))
    return text(names.sizeExpr(value.getValue()));
  auto list = dyn_cast<ArrayAttr>(attr);
  if (!list)
    return attr;
  SmallVector<Attribute> entries;
  for (Attribute entry : list)
    entries.push_back(sizes(entry));
  return builder.getArrayAttr(entries);
}

ArrayAttr Anonymizer::words(ArrayAttr attr, StringRef kind) {
  SmallVector<Attribute> entries;
  for (Attribute entry : attr)
    entries.push_back(
        text(names.word(kind.str(), cast<StringAttr>(entry).getValue())));
  return builder.getArrayAttr(entries);
}

/// Names of values that stand elsewhere, too.
ArrayAttr Anonymizer::knownNames(ArrayAttr attr) {
  SmallVector<Attribute> entries;
  for (Attribute entry : attr)
    entries.push_back(
        text(names.value(cast<StringAttr>(entry).getValue(), "value")));
  return builder.getArrayAttr(entries);
}

RoleAttr Anonymizer::role(RoleAttr attr) {
  StringAttr name = attr.getName();
  if (name && !name.empty())
    name = text(names.path(name.getValue()));
  return RoleAttr::get(attr.getContext(), attr.getKind(), name, attr.getOf(),
                       attr.getBackward());
}

/// Null where the attribute goes. `kind` is what a name is made of.
Attribute Anonymizer::discardable(NamedAttribute attr, StringRef kind) {
  Attribute value = attr.getValue();
  auto string = dyn_cast<StringAttr>(value);
  switch (tellingOf(attr.getName())) {
  case Telling::Drop:
    return {};
  case Telling::Keep:
    return value;
  case Telling::Dims:
    return sizes(value);
  case Telling::Name:
    return string ? text(names.value(string.getValue(), kind.str()))
                  : Attribute();
  case Telling::Declared:
    return declaredAttr(builder.getContext(), "", "");
  case Telling::Path:
    return string ? text(names.path(string.getValue())) : Attribute();
  case Telling::Role:
    return isa<RoleAttr>(value) ? role(cast<RoleAttr>(value)) : Attribute();
  case Telling::Symbols:
    return isa<DictionaryAttr>(value) ? symbols(cast<DictionaryAttr>(value))
                                      : Attribute();
  }
  return {};
}

/// Attributes that belong to an op: those of `joint` by what they mean.
Attribute Anonymizer::neutralInherent(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (isa<NestedOp>(op) && (name == "callee" || name == "keywords"))
    return value; // PyTorch's own
  if (isa<OpaqueOp, AssertOp>(op) && name == "callee")
    return text(names.callee(cast<StringAttr>(value).getValue()));
  if (auto opaque = dyn_cast<OpaqueOp>(op); opaque && name == "keywords") {
    // Visited behind the callee, which stayed if it is one of PyTorch's.
    bool isCustom = opaque.getCallee().starts_with("custom.");
    return isCustom ? words(cast<ArrayAttr>(value), "keyword") : value;
  }
  if (isa<GraphOp>(op) && name == "symbols")
    return symbols(cast<DictionaryAttr>(value));
  if (isa<PartitionOp>(op) && name == "saved")
    return knownNames(cast<ArrayAttr>(value));
  if (isa<CheckpointOp>(op) && name == "policies")
    return value; // keys are names of ops
  return neutral(value);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Anonymizer::collect() {
  std::vector<double> numbers;
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk(
        [&](FloatAttr value) { numbers.push_back(value.getValueAsDouble()); });
  });
  names.addNumbers(std::move(numbers));
}

void Anonymizer::renameSymbols() {
  module.walk([&](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>("sym_name");
    if (name)
      op->setAttr("sym_name", text(names.word("graph", name.getValue())));
  });
}

void Anonymizer::nameResults(Operation *op) {
  if (!op->hasAttr("names"))
    return;
  // A copy of a region stays a copy of what it is one of: it gets its name,
  // behind which the run is read.
  auto policy = op->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
  std::string suffix = policy && policy.getRun()
                           ? (kRunSuffix + Twine(policy.getRun())).str()
                           : std::string();
  SmallVector<Attribute> entries;
  for (OpResult result : op->getResults()) {
    StringRef name = getValueName(result);
    name.consume_back(suffix);
    entries.push_back(text(name.empty() ? "" : names.value(name, kindOf(op))));
  }
  op->setAttr("names", builder.getArrayAttr(entries));
}

void Anonymizer::visitArguments(FunctionOpInterface function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto kept = function.getArgAttrOfType<RoleAttr>(i, JointDialect::kRole);
    std::string kind =
        kept ? stringifyRoleKind(kept.getKind()).str() : "argument";
    NamedAttrList attrs;
    if (DictionaryAttr given = function.getArgAttrDict(i))
      for (NamedAttribute attr : given)
        if (Attribute value = discardable(attr, kind))
          attrs.append(attr.getName(), value);
    function.setArgAttrs(i, attrs);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttrs(i, ArrayRef<NamedAttribute>());
}

Location Anonymizer::place(Location location) {
  auto [it, isNew] = places.try_emplace(location, builder.getUnknownLoc());
  if (!isNew)
    return it->second;
  FileLineColLoc line = location->findInstanceOf<FileLineColLoc>();
  Location out = builder.getUnknownLoc();
  if (line)
    out = FileLineColLoc::get(
        text("model"),
        names.line(line.getFilename().getValue(), line.getLine()), 0);
  return places.find(location)->second = out;
}

void Anonymizer::visitPlaces(Operation *op) {
  op->setLoc(place(op->getLoc()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setLoc(builder.getUnknownLoc());
}

void Anonymizer::visit(Operation *op) {
  visitPlaces(op);
  nameResults(op);
  bool isFunction = isa<FunctionOpInterface>(op);
  if (isFunction)
    visitArguments(cast<FunctionOpInterface>(op));
  DictionaryAttr attrs = op->getAttrDictionary();
  DictionaryAttr discarded = op->getDiscardableAttrDictionary();
  for (NamedAttribute attr : attrs) {
    StringRef name = attr.getName();
    if (discarded.contains(name)) {
      if (Attribute value = discardable(attr, kindOf(op)))
        op->setDiscardableAttr(attr.getName(), value);
      else
        op->removeDiscardableAttr(attr.getName());
      continue;
    }
    bool done = name == "names" || name == "sym_name" ||
                (isFunction && (name == "arg_attrs" || name == "res_attrs"));
    if (!done)
      op->setAttr(attr.getName(), neutralInherent(op, attr));
  }
}

void Anonymizer::run() {
  collect();
  renameSymbols();
  module->setLoc(builder.getUnknownLoc());
  module->setDiscardableAttrs(DictionaryAttr::get(module.getContext()));
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module.getOperation())
      visit(op);
  });
}

void cutback::anonymize(ModuleOp module) { Anonymizer(module).run(); }
