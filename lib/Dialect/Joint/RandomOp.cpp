// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.random`: assembly, verifier, and the answers of a pure op to what
// passes ask.
//
// Seeded, it is not random in the sense of the interface: a second run gives
// the same bits, in whichever half it stands. So it may be recomputed, merged
// with an equal one, and dropped.

#include "cutback/Dialect/Joint/Random.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace cutback::joint;

#include "cutback/Dialect/Joint/RandomEnums.cpp.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/RandomOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `<uniform> %seed stream 3 [%n] : (tensor<i64>, index) -> tensor<?x16xf32>`
ParseResult RandomOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef word;
  SMLoc place;
  int64_t stream = 0;
  SmallVector<OpAsmParser::UnresolvedOperand> operands(1);
  if (parser.parseLess() || parser.getCurrentLocation(&place) ||
      parser.parseKeyword(&word) || parser.parseGreater() ||
      parser.parseOperand(operands[0]) || parser.parseKeyword("stream") ||
      parser.parseInteger(stream) ||
      parser.parseOperandList(operands,
                              OpAsmParser::Delimiter::OptionalSquare) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  std::optional<Distribution> distribution = symbolizeDistribution(word);
  if (!distribution)
    return parser.emitError(place, "unknown distribution '")
           << word << "': uniform, normal or bits";
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.distribution =
      DistributionAttr::get(parser.getContext(), *distribution);
  properties.stream = parser.getBuilder().getI64IntegerAttr(stream);
  if (parseCallTypes(parser, state, operands))
    return failure();
  parseResultNames(parser, state);
  return success();
}

void RandomOp::print(OpAsmPrinter &p) {
  p << " <" << stringifyDistribution(getDistribution()) << "> " << getSeed()
    << " stream " << getStream();
  if (!getSizes().empty())
    p << " [" << getSizes() << "]";
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {"distribution", "stream", "names"});
  printCallTypes(p, *this);
}

void RandomOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setResultNames(*this, getNamesAttr(), setName);
}

LogicalResult RandomOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  int64_t wanted = type.getNumDynamicDims();
  if (static_cast<int64_t>(getSizes().size()) != wanted) // C1
    return emitOpError("has ")
           << getSizes().size() << " sizes for the " << wanted
           << " sizes that its result type leaves open";
  bool fits = getDistribution() == Distribution::Bits
                  ? isa<IntegerType>(type.getElementType())
                  : isa<FloatType>(type.getElementType());
  if (!fits) // C2
    return emitOpError("gives numbers of another kind than ")
           << type.getElementType() << ": '"
           << stringifyDistribution(getDistribution()) << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

bool RandomOp::isRecomputable() { return true; }
int64_t RandomOp::getAliasedOperand(unsigned) { return -1; }
bool RandomOp::isRandom() { return false; }
bool RandomOp::isComputeIntensive() { return false; }
bool RandomOp::hasOrderedEffects() { return false; }

FusionKind RandomOp::getFusionKind() { return FusionKind::Create; }
bool RandomOp::getIterationSpace(ArrayRef<ArrayRef<int64_t>> shapes,
                                 IterationSpace &space) {
  return gatherSpace(shapes, getOperation()->getNumOperands(), space);
}

/// Ten rounds of a few integer operations for four elements.
double RandomOp::getFlops(ArrayRef<ArrayRef<int64_t>> shapes) {
  double elements = 1;
  for (int64_t size : shapes.back())
    elements *= ShapedType::isDynamic(size) ? 1 : static_cast<double>(size);
  return 20 * elements;
}
bool RandomOp::usesMatrixUnits() { return false; }

bool RandomOp::canHaveGradient(unsigned) { return false; }
LogicalResult RandomOp::buildVjp(VjpContext &) { return success(); }

bool RandomOp::evaluateSizes(ArrayRef<Type>, ArrayRef<int64_t> operandInts,
                             SmallVectorImpl<Type> &resultTypes,
                             SmallVectorImpl<int64_t> &resultInts) {
  auto type = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> shape(type.getShape());
  size_t next = 1; // operand 0 is the seed
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size) && next < operandInts.size())
      size = operandInts[next++];
  resultTypes.push_back(RankedTensorType::get(shape, type.getElementType()));
  resultInts.push_back(ShapedType::kDynamic);
  return true;
}
