// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a kernel's body: assembly and verifiers.
//
// What loops and maps say about an access is checked here, so that no target
// has to: an index that the extents bound must stay inside of its memory.
// Indices that depend on values (a row of a table) are for who runs the kernel
// to check: at kernel.choose, each against its dimension.

#include "cutback/Dialect/Kernel/Kernel.h"

#include "Segments.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace cutback::kernel;

//===----------------------------------------------------------------------===//
// kernel.func
//===----------------------------------------------------------------------===//

/// `@name(%x: memref<4xf32>) to (%y: memref<4xf32>) schedule "row" { … }`, with
/// `sizes (%n: index)` behind the schedule of a kernel for all sizes.
ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name, schedule;
  SmallVector<OpAsmParser::Argument> inputs, outputs, sizes;
  auto &properties = state.getOrAddProperties<Properties>();
  if (parser.parseSymbolName(name) ||
      parser.parseArgumentList(inputs, OpAsmParser::Delimiter::Paren, true) ||
      parser.parseKeyword("to") ||
      parser.parseArgumentList(outputs, OpAsmParser::Delimiter::Paren, true) ||
      parser.parseKeyword("schedule") || parser.parseAttribute(schedule) ||
      (succeeded(parser.parseOptionalKeyword("sizes")) &&
       parser.parseArgumentList(sizes, OpAsmParser::Delimiter::Paren, true)) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  properties.sym_name = name;
  properties.schedule = schedule;
  properties.num_inputs = parser.getBuilder().getI64IntegerAttr(inputs.size());
  inputs.append(outputs);
  inputs.append(sizes);
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, inputs))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void FuncOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  auto printArguments = [&](auto arguments) {
    p << '(';
    llvm::interleaveComma(arguments, p, [&](BlockArgument argument) {
      p.printRegionArgument(argument);
    });
    p << ')';
  };
  printArguments(getMemories().take_front(getNumInputs()));
  p << " to ";
  printArguments(getMemories().drop_front(getNumInputs()));
  p << " schedule " << getScheduleAttr();
  if (!getSizes().empty()) {
    p << " sizes ";
    printArguments(getSizes());
  }
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

MutableArrayRef<BlockArgument> FuncOp::getMemories() {
  return getBody().getArguments().drop_back(getSizes().size());
}

MutableArrayRef<BlockArgument> FuncOp::getSizes() {
  MutableArrayRef<BlockArgument> arguments = getBody().getArguments();
  size_t memories = arguments.size();
  while (memories && arguments[memories - 1].getType().isIndex())
    --memories;
  return arguments.drop_front(memories);
}

LogicalResult FuncOp::verify() {
  int64_t inputs = getNumInputs();
  auto arguments = getMemories();
  if (inputs < 0 || inputs > static_cast<int64_t>(arguments.size()))
    return emitOpError("has ")
           << arguments.size() << " arguments, not " << inputs << " inputs";
  for (BlockArgument argument : arguments) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() != 1 || !type.getLayout().isIdentity()) // C1
      return emitOpError("argument ")
             << argument.getArgNumber() << " is no memref of one dimension";
    if (!type.hasStaticShape() && getSizes().empty()) // C3
      return emitOpError("argument ")
             << argument.getArgNumber()
             << " has an unknown size, and the kernel takes no sizes";
    bool isOutput = argument.getArgNumber() >= inputs;
    for (Operation *user : argument.getUsers()) // C2
      if (isa<StoreOp>(user) != isOutput)
        return user->emitOpError(isOutput ? "reads an output of its kernel"
                                          : "writes an input of its kernel");
    if (isOutput && argument.use_empty())
      return emitOpError("does not write its output ")
             << argument.getArgNumber();
  }
  for (Operation &op : getBlock())
    if (!isa<NestOp>(op))
      return op.emitOpError("stands outside of the loops of a kernel");
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.nest
//===----------------------------------------------------------------------===//

/// `(%i, %j) in [8, symbol(%n) * 128 reduced] { … }`
ParseResult NestOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<int64_t> extents;
  SmallVector<bool> reduced;
  SmallVector<OpAsmParser::UnresolvedOperand> dims, sizes;
  SmallVector<AffineExpr> exprs;
  auto parseAxis = [&]() -> ParseResult {
    AffineExpr expr;
    SMLoc place = parser.getCurrentLocation();
    // Each expression counts its own symbols from 0.
    SmallVector<OpAsmParser::UnresolvedOperand> own;
    if (parser.parseAffineExprOfSSAIds(dims, own, expr))
      return failure();
    SmallVector<AffineExpr> symbols;
    for (const OpAsmParser::UnresolvedOperand &size : own) {
      auto *known = llvm::find_if(sizes, [&](const auto &other) {
        return other.name == size.name && other.number == size.number;
      });
      symbols.push_back(getAffineSymbolExpr(std::distance(sizes.begin(), known),
                                            parser.getContext()));
      if (known == sizes.end())
        sizes.push_back(size);
    }
    expr = expr.replaceSymbols(symbols);
    if (!dims.empty())
      return parser.emitError(place, "is no number of sizes");
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    extents.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
    if (!constant)
      exprs.push_back(expr);
    reduced.push_back(succeeded(parser.parseOptionalKeyword("reduced")));
    return success();
  };
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseAxis) ||
      parser.resolveOperands(sizes, parser.getBuilder().getIndexType(),
                             state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  if (arguments.size() != extents.size())
    return parser.emitError(place, "has ")
           << arguments.size() << " indices for " << extents.size() << " axes";
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.extents = parser.getBuilder().getDenseI64ArrayAttr(extents);
  properties.reduced = parser.getBuilder().getDenseBoolArrayAttr(reduced);
  if (!exprs.empty())
    properties.size_map = AffineMapAttr::get(
        AffineMap::get(0, sizes.size(), exprs, parser.getContext()));
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void NestOp::print(OpAsmPrinter &p) {
  p << " (";
  llvm::interleaveComma(getBody().getArguments(), p);
  p << ") in [";
  unsigned next = 0;
  llvm::interleaveComma(
      llvm::zip_equal(getExtents(), getReduced()), p, [&](auto axis) {
        auto [extent, isReduced] = axis;
        if (ShapedType::isDynamic(extent))
          p.printAffineExprOfSSAIds(getSizeMap()->getResult(next++), {},
                                    getSizes());
        else
          p << extent;
        p << (isReduced ? " reduced" : "");
      });
  p << ']';
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void NestOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names = "ijklmnpq";
  for (BlockArgument argument : region.getArguments())
    if (argument.getArgNumber() < names.size())
      setName(argument, names.substr(argument.getArgNumber(), 1));
}

llvm::DenseMap<Value, bool> NestOp::findReduced() {
  llvm::DenseMap<Value, bool> isReduced;
  for (auto [argument, reduced] :
       llvm::zip(getBody().getArguments(), getReduced()))
    isReduced[argument] = reduced;
  for (Operation &op : getBlock()) {
    bool any = !isa<ReduceOp, ReduceIndexOp, PickOp>(op) &&
               llvm::any_of(op.getOperands(), [&](Value operand) {
                 return isReduced.lookup(operand);
               });
    for (Value result : op.getResults())
      isReduced[result] = any;
  }
  return isReduced;
}

/// What stands for a size is an argument of the kernel.
static LogicalResult checkSizes(Operation *op, ValueRange sizes) {
  auto kernel = op->getParentOfType<FuncOp>();
  for (Value size : sizes)
    if (!kernel || !llvm::is_contained(kernel.getSizes(), size))
      return op->emitOpError("has a symbol that is no size of its kernel");
  return success();
}

LogicalResult NestOp::verify() {
  if (getExtents().size() != getReduced().size() ||
      getExtents().size() != getBody().getNumArguments())
    return emitOpError("has another number of indices than of axes");
  AffineMap map = getSizeMap().value_or(AffineMap());
  if (llvm::count(getExtents(), ShapedType::kDynamic) !=
          (map ? static_cast<int64_t>(map.getNumResults()) : 0) ||
      (map && (map.getNumDims() || map.getNumSymbols() != getSizes().size())))
    return emitOpError("has another number of sizes than its extents take");
  if (failed(checkSizes(*this, getSizes())))
    return failure();
  for (int64_t extent : getExtents())
    if (extent < 1 && !ShapedType::isDynamic(extent))
      return emitOpError("has an axis of ") << extent << " iterations";
  llvm::DenseMap<Value, bool> isReduced = findReduced();
  bool hasReduced = llvm::is_contained(getReduced(), true);
  for (Operation &op : getBlock()) {
    if (op.getNumRegions() || op.getNumSuccessors())
      return op.emitOpError("is no scalar op");
    if (isa<ReduceOp, ReduceIndexOp, PickOp>(op) && !hasReduced)
      return op.emitOpError("combines along no axis");
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      continue;
    bool isAtReduced = llvm::any_of(
        store.getIndices(), [&](Value index) { return isReduced[index]; });
    if (!isAtReduced && isReduced.lookup(store.getElement())) // C4
      return op.emitOpError(
          "stores the scalars of many iterations at one place");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.load, kernel.store
//===----------------------------------------------------------------------===//

namespace {
/// Least and greatest value of an expression.
struct Range {
  int64_t low = 0, high = 0;
};
} // namespace

static std::optional<Range> rangeOf(AffineExpr expr, ArrayRef<Range> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Range> a = rangeOf(binary.getLHS(), dims);
  std::optional<Range> b = rangeOf(binary.getRHS(), dims);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Range{a->low + b->low, a->high + b->high};
  if (b->low != b->high)
    return std::nullopt;
  int64_t by = b->low;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return by < 0 ? Range{a->high * by, a->low * by}
                  : Range{a->low * by, a->high * by};
  case AffineExprKind::FloorDiv:
    if (by <= 0)
      return std::nullopt;
    return Range{llvm::divideFloorSigned(a->low, by),
                 llvm::divideFloorSigned(a->high, by)};
  case AffineExprKind::Mod:
    if (by <= 0)
      return std::nullopt;
    if (a->low >= 0 && a->high < by)
      return a;
    return Range{0, by - 1};
  default:
    return std::nullopt;
  }
}

/// C1 and C3, and that the access stands in loops.
static LogicalResult checkAccess(Operation *op, Value memory, AffineMap map,
                                 ValueRange indices, bool isMasked) {
  auto nest = dyn_cast<NestOp>(op->getParentOp());
  if (!nest)
    return op->emitOpError("stands outside of the loops of a kernel");
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type || type.getRank() != 1)
    return success(); // the kernel's verifier says so
  if (map.getNumResults() != 1 || map.getNumInputs() != indices.size())
    return op->emitOpError("has a map that does not fit its indices");
  if (failed(checkSizes(op, indices.drop_front(map.getNumDims()))))
    return failure();
  if (map.getNumSymbols() ||
      llvm::is_contained(nest.getExtents(), ShapedType::kDynamic))
    return success(); // known when sizes are
  SmallVector<Range> ranges;
  for (Value index : indices) {
    auto argument = dyn_cast<BlockArgument>(index);
    auto chosen = index.getDefiningOp<ChooseOp>();
    std::optional<int64_t> size =
        argument && argument.getOwner() == &nest.getBlock()
            ? nest.getExtents()[argument.getArgNumber()]
        : chosen ? chosen.findSize()
                 : std::nullopt;
    if (!size)
      return success(); // known at run time
    ranges.push_back({0, *size - 1});
  }
  std::optional<Range> range = rangeOf(map.getResult(0), ranges);
  if (isMasked || !range || !type.hasStaticShape())
    return success();
  if (range->low < 0 || range->high >= type.getDimSize(0))
    return op->emitOpError("reaches elements ")
           << range->low << " to " << range->high << " of "
           << type.getDimSize(0);
  return success();
}

static ParseResult parseAccess(OpAsmParser &parser, OperationState &state,
                               OpAsmParser::UnresolvedOperand &memory,
                               SmallVectorImpl<Value> &indices,
                               AffineMapAttr &map) {
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  NamedAttrList attrs;
  if (parser.parseOperand(memory) ||
      parser.parseAffineMapOfSSAIds(names, map, "map", attrs,
                                    OpAsmParser::Delimiter::Square))
    return failure();
  return parser.resolveOperands(names, parser.getBuilder().getIndexType(),
                                indices);
}

static void printAccess(OpAsmPrinter &p, Value memory, AffineMapAttr map,
                        ValueRange indices) {
  p << memory << '[';
  p.printAffineMapOfSSAIds(map, indices);
  p << ']';
}

/// `%x[%i * 128 + %j] if %mask else %other : memref<1024xf32>`
ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand memory, mask, otherwise;
  SmallVector<Value> indices, memories, masked;
  auto &properties = state.getOrAddProperties<Properties>();
  MemRefType type;
  if (parseAccess(parser, state, memory, indices, properties.map))
    return failure();
  bool hasMask = succeeded(parser.parseOptionalKeyword("if"));
  if (hasMask && (parser.parseOperand(mask) || parser.parseKeyword("else") ||
                  parser.parseOperand(otherwise)))
    return failure();
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(memory, type, memories))
    return failure();
  if (hasMask &&
      (parser.resolveOperand(mask, parser.getBuilder().getI1Type(), masked) ||
       parser.resolveOperand(otherwise, type.getElementType(), masked)))
    return failure();
  state.addOperands(memories);
  state.addOperands(indices);
  state.addOperands(masked);
  properties.operandSegmentSizes = {1, static_cast<int32_t>(indices.size()),
                                    hasMask, hasMask};
  state.addTypes(type.getElementType());
  return success();
}

void LoadOp::print(OpAsmPrinter &p) {
  p << ' ';
  printAccess(p, getMemory(), getMapAttr(), getIndices());
  if (getMask())
    p << " if " << getMask() << " else " << getOtherwise();
  p.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  p << " : " << getMemory().getType();
}

LogicalResult LoadOp::verify() {
  auto type = dyn_cast<MemRefType>(getMemory().getType());
  if (!type || getElement().getType() != type.getElementType() || // C2
      (getOtherwise() && getOtherwise().getType() != type.getElementType()))
    return emitOpError("gives another type than its memory has");
  if (!getMask() != !getOtherwise())
    return emitOpError("has a mask or what is elsewhere, not both");
  return checkAccess(*this, getMemory(), getMap(), getIndices(),
                     static_cast<bool>(getMask()));
}

/// `%value, %y[%i * 128 + %j] : memref<1024xf32>`
ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand element, memory;
  SmallVector<Value> indices;
  auto &properties = state.getOrAddProperties<Properties>();
  MemRefType type;
  if (parser.parseOperand(element) || parser.parseComma() ||
      parseAccess(parser, state, memory, indices, properties.map) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(element, type.getElementType(), state.operands) ||
      parser.resolveOperand(memory, type, state.operands))
    return failure();
  state.addOperands(indices);
  return success();
}

void StoreOp::print(OpAsmPrinter &p) {
  p << ' ' << getElement() << ", ";
  printAccess(p, getMemory(), getMapAttr(), getIndices());
  p.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  p << " : " << getMemory().getType();
}

LogicalResult StoreOp::verify() {
  auto type = dyn_cast<MemRefType>(getMemory().getType());
  if (!type || getElement().getType() != type.getElementType())
    return emitOpError("writes another type than its memory has");
  return checkAccess(*this, getMemory(), getMap(), getIndices(), false);
}

//===----------------------------------------------------------------------===//
// kernel.choose
//===----------------------------------------------------------------------===//

std::optional<int64_t> ChooseOp::findSize() {
  APInt size;
  if (!matchPattern(getSize(), m_ConstantInt(&size)))
    return std::nullopt;
  return size.getSExtValue();
}

//===----------------------------------------------------------------------===//
// kernel.size
//===----------------------------------------------------------------------===//

/// `[symbol(%n) * 64] : f32`
ParseResult SizeOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> sizes;
  NamedAttrList attrs;
  Type type;
  return failure(parser.parseAffineMapOfSSAIds(
                     sizes, state.getOrAddProperties<Properties>().map, "map",
                     attrs, OpAsmParser::Delimiter::Square) ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 parser.parseColonType(type) ||
                 parser.resolveOperands(sizes,
                                        parser.getBuilder().getIndexType(),
                                        state.operands) ||
                 parser.addTypeToList(type, state.types));
}

void SizeOp::print(OpAsmPrinter &p) {
  p << " [";
  p.printAffineMapOfSSAIds(getMapAttr(), getSizes());
  p << ']';
  p.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  p << " : " << getResult().getType();
}

LogicalResult SizeOp::verify() {
  if (getMap().getNumResults() != 1 || getMap().getNumDims() != 0 ||
      getMap().getNumSymbols() != getSizes().size())
    return emitOpError("has a map that does not fit its sizes");
  return checkSizes(*this, getSizes());
}

#define GET_OP_CLASSES
#include "cutback/Dialect/Kernel/KernelOps.cpp.inc"

bool cutback::kernel::isInside(ValueRange indices) {
  return llvm::all_of(indices, [](Value index) {
    return isa<BlockArgument>(index) || index.getDefiningOp<ChooseOp>();
  });
}

bool cutback::kernel::isNatural(AffineExpr expr, ValueRange indices) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return isInside(indices[dim.getPosition()]);
  if (isa<AffineSymbolExpr>(expr))
    return true;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return isNatural(binary.getLHS(), indices) &&
         isNatural(binary.getRHS(), indices);
}
