// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `kernel.launch`: assembly and verifier, and where in memory the tensors of
// a step of launches lie.
//
// A tensor is looked up through launches (their results are those of ops
// inside) and through views, down to the value that the memory was made for.

#include "cutback/Dialect/Kernel/Kernel.h"

#include "ByteText.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::kernel;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// A number, `?`, `own`, or `own max 48`.
static ParseResult parsePlace(AsmParser &parser, SmallVectorImpl<int64_t> &at,
                              SmallVectorImpl<int64_t> &most) {
  most.push_back(LaunchOp::kNoBound);
  at.push_back(LaunchOp::kOwn);
  if (failed(parser.parseOptionalKeyword("own")))
    return parseByteNumber(parser, at.back());
  return succeeded(parser.parseOptionalKeyword("max"))
             ? parser.parseInteger(most.back())
             : ParseResult(success());
}

static void printPlace(AsmPrinter &p, int64_t at, int64_t most) {
  if (at != LaunchOp::kOwn)
    return printByteNumber(p, at);
  p << "own";
  if (most != LaunchOp::kNoBound)
    p << " max " << most;
}

/// `scratch 512 at 1024`, or nothing.
static ParseResult parseScratch(AsmParser &parser,
                                LaunchOp::Properties &properties) {
  int64_t bytes = 0, at = 0;
  if (failed(parser.parseOptionalKeyword("scratch")))
    return success();
  if (parser.parseInteger(bytes) || parser.parseKeyword("at") ||
      parser.parseInteger(at))
    return failure();
  properties.scratch = parser.getBuilder().getI64IntegerAttr(bytes);
  properties.scratch_at = parser.getBuilder().getI64IntegerAttr(at);
  return success();
}

/// `@k(%x, %w) outputs [0] sizes ["s0"] at [4096] : (types) -> (types) { … }`;
/// a call has no kernel, no buffers, no outputs and no sizes, and may have
/// scratch.
ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::UnresolvedOperand> buffers;
  SmallVector<int32_t> outputs;
  SmallVector<int64_t> at, most;
  StringAttr name;
  FunctionType type;
  SMLoc place = parser.getCurrentLocation();
  constexpr auto kSquare = OpAsmParser::Delimiter::Square;
  auto parseOutput = [&] {
    return parser.parseInteger(outputs.emplace_back());
  };
  if (succeeded(parser.parseOptionalSymbolName(name))) {
    properties.kernel = FlatSymbolRefAttr::get(name);
    if (parser.parseOperandList(buffers, OpAsmParser::Delimiter::Paren) ||
        parser.parseKeyword("outputs") ||
        parser.parseCommaSeparatedList(kSquare, parseOutput) ||
        (succeeded(parser.parseOptionalKeyword("sizes")) &&
         parser.parseAttribute(properties.sizes)))
      return failure();
  } else if (parser.parseKeyword("call")) {
    return failure();
  }
  if (parser.parseKeyword("at") ||
      parser.parseCommaSeparatedList(
          kSquare, [&] { return parsePlace(parser, at, most); }) ||
      parseScratch(parser, properties) || parser.parseColonType(type) ||
      parser.resolveOperands(buffers, type.getInputs(), place,
                             state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  properties.outputs = builder.getDenseI32ArrayAttr(outputs);
  properties.at = builder.getDenseI64ArrayAttr(at);
  if (llvm::any_of(most, [](int64_t one) { return one != kNoBound; }))
    properties.most = builder.getDenseI64ArrayAttr(most);
  state.addTypes(type.getResults());
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, {}))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void LaunchOp::print(OpAsmPrinter &p) {
  p << ' ';
  if (getKernelAttr()) {
    p.printSymbolName(*getKernel());
    p << '(' << getBuffers() << ") outputs [";
    llvm::interleaveComma(getOutputs(), p);
    p << ']';
    if (ArrayAttr sizes = getSizesAttr())
      p << " sizes " << sizes;
  } else {
    p << "call";
  }
  p << " at [";
  llvm::interleaveComma(llvm::enumerate(getAt()), p, [&](auto place) {
    printPlace(p, place.value(), getMostOf(place.index()));
  });
  p << ']';
  if (getScratch())
    p << " scratch " << *getScratch() << " at " << getScratchAt().value_or(0);
  p << " : ";
  p.printFunctionalType(getBuffers().getTypes(), getResultTypes());
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << ' ';
  p.printRegion(getBody());
}

/// Those of the tensors inside, which keep their own for themselves.
void LaunchOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getBody().empty() || getBlock().empty())
    return;
  auto yield = dyn_cast<YieldOp>(getBlock().back());
  if (!yield || yield.getNumOperands() != getNumResults())
    return;
  for (auto [result, inside] :
       llvm::zip_equal(getResults(), yield.getOperands())) {
    if (StringRef name = joint::getValueName(inside); !name.empty())
      setName(result, (name + ".out").str());
  }
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

YieldOp LaunchOp::getYield() { return cast<YieldOp>(getBlock().back()); }

LogicalResult LaunchOp::verify() {
  if (getBlock().empty() || !isa<YieldOp>(getBlock().back()) || // C2
      getYield().getOperandTypes() != getResultTypes())
    return emitOpError("does not end with a yield of its results");
  if (getAt().size() != getNumResults()) // C3
    return emitOpError("has ") << getAt().size() << " offsets for "
                               << getNumResults() << " results";
  if (failed(verifyPlaces()))
    return failure();
  for (int32_t output : getOutputs())
    if (output < 0 || output >= static_cast<int32_t>(getNumResults()))
      return emitOpError("has no result ") << output;
  if (!getKernelAttr() &&
      !(getBuffers().empty() && getOutputs().empty() && !getSizesAttr()))
    return emitOpError("has buffers and no kernel");
  return success();
}

LogicalResult LaunchOp::verifyPlaces() {
  if (getMost() && getMost()->size() != getNumResults())
    return emitOpError("has ") << getMost()->size() << " bounds for "
                               << getNumResults() << " results";
  for (auto [i, at] : llvm::enumerate(getAt())) { // C4
    auto type = dyn_cast<RankedTensorType>(getResult(i).getType());
    bool isUnknown = type && !type.hasStaticShape();
    if (at == kOwn ? !isUnknown : getMostOf(i) != kNoBound)
      return emitOpError("has a buffer of its own for '")
             << joint::getValueName(getYield().getOperand(i))
             << "', whose size does not depend on data";
  }
  if (!getScratch() && !getScratchAt())
    return success();
  if (!getScratch() || !getScratchAt() || getKernelAttr()) // C5
    return emitOpError("has scratch, and is no call with a place for it");
  return success();
}

/// Whether memory of `type` is that of all elements of `tensor`, both known or
/// both not.
static bool isMemoryOf(Type type, Value tensor) {
  auto memory = dyn_cast<MemRefType>(type);
  auto shaped = dyn_cast<RankedTensorType>(tensor.getType());
  return memory && shaped && memory == kernel::memoryOf(shaped);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  if (!getKernelAttr())
    return success();
  auto kernel =
      symbolTables.lookupNearestSymbolFrom<FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names a kernel that is not there: ") << getKernelAttr();
  auto fail = [&](const Twine &what) {
    InFlightDiagnostic diagnostic = emitOpError(what);
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
    return diagnostic;
  };
  auto arguments = kernel.getMemories();
  size_t inputs = kernel.getNumInputs();
  size_t sizes = getSizesAttr() ? getSizesAttr().size() : 0;
  if (sizes != kernel.getSizes().size())
    return fail("gives its kernel another number of sizes than it takes");
  if (getBuffers().size() != inputs ||
      inputs + getOutputs().size() != arguments.size())
    return fail("gives its kernel another number of buffers than it takes");
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value tensor = i < inputs ? Value(getBuffers()[i])
                              : Value(getResult(getOutputs()[i - inputs]));
    if (!isMemoryOf(argument.getType(), tensor))
      return fail("gives its kernel other memory than argument " + Twine(i) +
                  " takes");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

MemRefType kernel::memoryOf(RankedTensorType tensor) {
  Type element = tensor.getElementType();
  int64_t count =
      tensor.hasStaticShape() ? tensor.getNumElements() : ShapedType::kDynamic;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    element = IntegerType::get(tensor.getContext(), integer.getWidth());
  } else if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    count = tensor.hasStaticShape() ? 2 * count : count;
  }
  return MemRefType::get({count}, element);
}

Value kernel::insideOf(Value value) {
  while (auto launch = value.getDefiningOp<LaunchOp>())
    value =
        launch.getYield().getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

static bool isSized(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return !type || type.hasStaticShape();
}

/// Of what is no view.
static Place ownPlace(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!isSized(value))
    return {value, Layout(), false};
  return {value,
          Layout::contiguous(type ? type.getShape() : ArrayRef<int64_t>()),
          true};
}

Place kernel::locate(Value tensor) {
  // From the tensor to its root, and back with layouts.
  SmallVector<OpResult> views;
  Value value = insideOf(tensor);
  for (;;) {
    auto result = dyn_cast<OpResult>(value);
    int64_t operand =
        result ? getViewedOperand(result.getOwner(), result.getResultNumber())
               : -1;
    if (operand < 0)
      break;
    views.push_back(result);
    value = insideOf(result.getOwner()->getOperand(operand));
  }
  Place place = ownPlace(value);
  for (OpResult view : llvm::reverse(views)) {
    if (!place.isKnown || !isSized(view)) {
      place = {place.root, Layout(), false};
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(view.getType());
    std::optional<Layout> layout =
        type ? viewLayout(view.getOwner(), view.getResultNumber(), place.layout,
                          type.getShape(), {})
             : std::nullopt;
    // Where strides do not allow it, it is a copy.
    place = layout ? Place{place.root, *layout, true} : ownPlace(view);
  }
  return place;
}
