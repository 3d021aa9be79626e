// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of dialect `joint` and of its attributes, and the verifier of
// the discardable attributes (`joint.policy`, `joint.save`, …) that it lends
// to ops of other dialects. A role is written as people say it ("tangent of
// 0"), which takes a parser of its own; the other attributes have formats in
// JointBase.td.

#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Dialect/Joint/Random.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

#include "cutback/Dialect/Joint/JointDialect.cpp.inc"
#include "cutback/Dialect/Joint/JointEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cutback/Dialect/Joint/JointAttrs.cpp.inc"

#include "cutback/Dialect/Joint/JointInterfaces.cpp.inc"

void JointDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cutback/Dialect/Joint/JointAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "cutback/Dialect/Joint/JointOps.cpp.inc"
      >();
  addOperations<RandomOp, PoissonOp, BinomialOp>();
  addOperations<NestedOp, ReturnOp>();
  addOperations<HookOp>();
}

//===----------------------------------------------------------------------===//
// #joint.role
//===----------------------------------------------------------------------===//

Attribute RoleAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  std::string name;
  int64_t of = -1;
  bool backward = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<RoleKind> kind = symbolizeRoleKind(word);
  if (!kind) {
    parser.emitError(loc, "unknown role '") << word << "'";
    return {};
  }
  StringAttr nameAttr;
  if (succeeded(parser.parseOptionalString(&name)))
    nameAttr = StringAttr::get(parser.getContext(), name);
  if (succeeded(parser.parseOptionalKeyword("of")) && parser.parseInteger(of))
    return {};
  if (succeeded(parser.parseOptionalKeyword("backward")))
    backward = true;
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, nameAttr, of, backward);
}

void RoleAttr::print(AsmPrinter &p) const {
  p << "<" << stringifyRoleKind(getKind());
  if (getName()) {
    p << " ";
    p.printAttributeWithoutType(getName());
  }
  if (getOf() >= 0)
    p << " of " << getOf();
  if (getBackward())
    p << " backward";
  p << ">";
}

//===----------------------------------------------------------------------===//
// #joint.policy
//===----------------------------------------------------------------------===//

/// `3`, or `[3, 0]` for a region inside of another one.
static ParseResult parseRegion(AsmParser &parser,
                               SmallVectorImpl<int64_t> &region) {
  auto parseNumber = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(region.emplace_back()))
      return failure();
    if (region.back() < 0)
      return parser.emitError(loc, "a region has a number from 0 on, not ")
             << region.back();
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare()))
    return parseNumber();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::None, parseNumber) ||
      parser.parseRSquare())
    return failure();
  if (region.size() > kMaxRegionDepth)
    return parser.emitError(loc, "regions nest ")
           << region.size() << " deep; the most is " << kMaxRegionDepth;
  return success();
}

std::string joint::regionText(ArrayRef<int64_t> region) {
  std::string text;
  for (int64_t number : region)
    text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

Attribute PolicyAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<PolicyKind> kind = symbolizePolicyKind(word);
  if (!kind) {
    parser.emitError(loc, "unknown policy '") << word << "'";
    return {};
  }
  SmallVector<int64_t> region;
  int64_t run = 0;
  while (succeeded(parser.parseOptionalComma())) {
    loc = parser.getCurrentLocation();
    bool isRegion = succeeded(parser.parseOptionalKeyword("region"));
    if ((!isRegion && parser.parseKeyword("run")) || parser.parseEqual())
      return {};
    if (isRegion ? parseRegion(parser, region) : parser.parseInteger(run))
      return {};
  }
  if (parser.parseGreater())
    return {};
  if (run < 0 || run > static_cast<int64_t>(region.size())) {
    parser.emitError(loc, "a run is of one of the ")
        << region.size() << " regions that the op is in, not of number " << run;
    return {};
  }
  return get(parser.getContext(), *kind, region, run);
}

void PolicyAttr::print(AsmPrinter &p) const {
  p << "<" << stringifyPolicyKind(getKind());
  if (getRegion().size() == 1) {
    p << ", region = " << getRegion().front();
  } else if (!getRegion().empty()) {
    p << ", region = [";
    llvm::interleaveComma(getRegion(), p);
    p << "]";
  }
  if (getRun())
    p << ", run = " << getRun();
  p << ">";
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

LogicalResult JointDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName().getValue();
  if (name == kPolicy && !isa<PolicyAttr>(attr.getValue()))
    return op->emitOpError("attribute '")
           << kPolicy << "' must be #joint.policy";
  if (name == kSave) {
    auto flags = dyn_cast<DenseBoolArrayAttr>(attr.getValue());
    if (!flags || flags.size() != static_cast<int64_t>(op->getNumResults()))
      return op->emitOpError("attribute '")
             << kSave << "' must hold one bool for each of the op's "
             << op->getNumResults() << " results";
  }
  if (name == kDeclared) {
    auto entries = dyn_cast<DictionaryAttr>(attr.getValue());
    if (!isa<OpaqueOp>(op) || !entries || !entries.getAs<StringAttr>("place") ||
        !entries.getAs<StringAttr>("why"))
      return op->emitOpError("attribute '")
             << kDeclared << "' belongs to joint.opaque, and must hold the "
             << "strings 'place' and 'why'";
  }
  if (name == kSide && !isa<SideAttr>(attr.getValue()))
    return op->emitOpError("attribute '") << kSide << "' must be #joint.side";
  return success();
}
