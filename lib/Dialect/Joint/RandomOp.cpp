// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops `joint.random`, `joint.poisson` and `joint.binomial`: assembly, verifier,
// and the answers to what passes ask that are not those of all pure ops
// (Random.td).
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

/// Elements of the result, the last of `shapes`; an unknown size counts as one.
static double countDrawn(ArrayRef<ArrayRef<int64_t>> shapes) {
  double elements = 1;
  for (int64_t size : shapes.back())
    elements *= ShapedType::isDynamic(size) ? 1 : static_cast<double>(size);
  return elements;
}

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/RandomOps.cpp.inc"

unsigned cutback::joint::numExactBits(Type element) {
  if (auto floating = dyn_cast<FloatType>(element))
    return floating.getFPMantissaWidth();
  unsigned width = element.getIntOrFloatBitWidth();
  return width == 1 || element.isUnsignedInteger() ? width : width - 1;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// `%seed stream 3 round %i`; the number of rounds, 0 or 1, in `rounds`.
static ParseResult parseSource(OpAsmParser &parser, Operands &operands,
                               int64_t &stream, int32_t &rounds) {
  operands.resize(1);
  if (parser.parseOperand(operands[0]) || parser.parseKeyword("stream") ||
      parser.parseInteger(stream))
    return failure();
  rounds = succeeded(parser.parseOptionalKeyword("round"));
  return rounds ? parser.parseOperand(operands.emplace_back()) : success();
}

static void printSource(OpAsmPrinter &p, Value seed, uint64_t stream,
                        Value round) {
  p << seed << " stream " << stream;
  if (round)
    p << " round " << round;
}

/// `<uniform> %seed stream 3 [%n] : (tensor<i64>, index) -> tensor<?x16xf32>`
ParseResult RandomOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef word;
  SMLoc place;
  int64_t stream = 0;
  int32_t rounds = 0;
  Operands operands;
  if (parser.parseLess() || parser.getCurrentLocation(&place) ||
      parser.parseKeyword(&word) || parser.parseGreater() ||
      parseSource(parser, operands, stream, rounds) ||
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
  auto sizes = static_cast<int32_t>(operands.size()) - 1 - rounds;
  properties.operandSegmentSizes = {1, rounds, sizes};
  if (parseCallTypes(parser, state, operands))
    return failure();
  parseResultNames(parser, state);
  return success();
}

void RandomOp::print(OpAsmPrinter &p) {
  p << " <" << stringifyDistribution(getDistribution()) << "> ";
  printSource(p, getSeed(), getStream(), getRound());
  if (!getSizes().empty())
    p << " [" << getSizes() << "]";
  p.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"distribution", "stream", "names", "operandSegmentSizes"});
  printCallTypes(p, *this);
}

/// `%seed stream 3 of %rate : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>`
template <typename Op>
static ParseResult parseElementDraw(OpAsmParser &parser, OperationState &state,
                                    int parameters) {
  int64_t stream = 0;
  int32_t rounds = 0;
  Operands operands, others;
  if (parseSource(parser, operands, stream, rounds) ||
      parser.parseKeyword("of") ||
      parser.parseOperandList(others, parameters) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  llvm::append_range(operands, others);
  auto &properties = state.getOrAddProperties<typename Op::Properties>();
  properties.stream = parser.getBuilder().getI64IntegerAttr(stream);
  if (parseCallTypes(parser, state, operands))
    return failure();
  parseResultNames(parser, state);
  return success();
}

template <typename Op>
static void printElementDraw(OpAsmPrinter &p, Op op, ValueRange parameters) {
  p << " ";
  printSource(p, op.getSeed(), op.getStream(), op.getRound());
  p << " of " << parameters;
  p.printOptionalAttrDict(op->getAttrs(), {"stream", "names"});
  printCallTypes(p, op);
}

ParseResult PoissonOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseElementDraw<PoissonOp>(parser, state, 1);
}
void PoissonOp::print(OpAsmPrinter &p) {
  printElementDraw(p, *this, getRate());
}

ParseResult BinomialOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseElementDraw<BinomialOp>(parser, state, 2);
}
void BinomialOp::print(OpAsmPrinter &p) {
  printElementDraw(p, *this, {getTrials(), getChance()});
}

LogicalResult PoissonOp::verify() {
  auto type = cast<RankedTensorType>(getRate().getType());
  if (getResult().getType() == type && isa<FloatType>(type.getElementType()))
    return success();
  return emitOpError("gives ") // C1
         << getResult().getType() << " for rates of " << type;
}

LogicalResult BinomialOp::verify() {
  auto type = cast<RankedTensorType>(getTrials().getType());
  if (getResult().getType() == type && getChance().getType() == type &&
      isa<FloatType>(type.getElementType()))
    return success();
  return emitOpError("gives ") // C1
         << getResult().getType() << " for trials of " << type
         << " and chances of " << getChance().getType();
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

FusionKind RandomOp::getFusionKind() { return FusionKind::Create; }
bool RandomOp::getIterationSpace(ArrayRef<ArrayRef<int64_t>> shapes,
                                 IterationSpace &space) {
  return gatherSpace(shapes, getOperation()->getNumOperands(), space);
}

/// Ten rounds of a few integer operations for four elements.
double RandomOp::getFlops(ArrayRef<ArrayRef<int64_t>> shapes) {
  return 20 * countDrawn(shapes);
}

bool RandomOp::evaluateSizes(ArrayRef<Type>, ArrayRef<int64_t> operandInts,
                             SmallVectorImpl<Type> &resultTypes,
                             SmallVectorImpl<int64_t> &resultInts) {
  auto type = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> shape(type.getShape());
  size_t next = getRound() ? 2 : 1; // behind the seed
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size) && next < operandInts.size())
      size = operandInts[next++];
  resultTypes.push_back(RankedTensorType::get(shape, type.getElementType()));
  resultInts.push_back(ShapedType::kDynamic);
  return true;
}
