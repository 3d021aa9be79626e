// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops `kernel.arena` and `kernel.segment`: assembly, and what is said of the
// segments of a step. The proof of the arena is in ArenaProof.cpp.
//
// What a segment takes is written by the segment that it comes from:
// `takes forward[1 as 0, 2 as 1]` are results 1 and 2 of the forward as
// arguments 0 and 1. Linear.

#include "Segments.h"

#include "ByteText.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::kernel;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

ParseResult kernel::parseBytes(OpAsmParser &parser, IntegerAttr &bytes) {
  int64_t number = 0;
  if (parseByteNumber(parser, number))
    return failure();
  bytes = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

void kernel::printBytes(OpAsmPrinter &p, Operation *, IntegerAttr bytes) {
  printByteNumber(p, bytes.getInt());
}

ParseResult kernel::parseSegmentName(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

void kernel::printSegmentName(OpAsmPrinter &p, Operation *, StringAttr name) {
  p.printKeywordOrString(name);
}

/// `takes forward[1 as 0, 2 as 1], backward[0 as 2]`, or nothing.
ParseResult kernel::parseTaken(OpAsmParser &parser, ArrayAttr &from,
                               DenseI32ArrayAttr &results,
                               DenseI32ArrayAttr &arguments) {
  SmallVector<int32_t> resultNumbers, argumentNumbers;
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> sources;
  auto parseSource = [&]() -> ParseResult {
    StringAttr name;
    if (parseSegmentName(parser, name))
      return failure();
    return parser.parseCommaSeparatedList(
        OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
          sources.push_back(name);
          return failure(parser.parseInteger(resultNumbers.emplace_back()) ||
                         parser.parseKeyword("as") ||
                         parser.parseInteger(argumentNumbers.emplace_back()));
        });
  };
  if (succeeded(parser.parseOptionalKeyword("takes")) &&
      parser.parseCommaSeparatedList(parseSource))
    return failure();
  from = builder.getArrayAttr(sources);
  results = builder.getDenseI32ArrayAttr(resultNumbers);
  arguments = builder.getDenseI32ArrayAttr(argumentNumbers);
  return success();
}

void kernel::printTaken(OpAsmPrinter &p, Operation *, ArrayAttr from,
                        DenseI32ArrayAttr results,
                        DenseI32ArrayAttr arguments) {
  Attribute last;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == last) {
      p << ", ";
    } else {
      p << (last ? "], " : "takes ");
      p.printKeywordOrString(cast<StringAttr>(from[i]));
      p << '[';
    }
    p << results[i] << " as " << arguments[i];
    last = from[i];
  }
  if (last)
    p << ']';
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

func::FuncOp SegmentOp::getFunctionOp() {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      (*this)->getParentOp(), getFunctionAttr());
}

LogicalResult SegmentOp::verify() {
  if (getFrom().size() != getResults().size() ||
      getFrom().size() != getArguments().size())
    return emitOpError("takes other numbers of results and of arguments");
  return success();
}

SegmentOp ArenaOp::getSegment(StringRef name) {
  for (SegmentOp segment : getSegments())
    if (segment.getName() == name)
      return segment;
  return {};
}

ArenaOp kernel::findArena(joint::PartitionOp partition) {
  if (partition)
    for (auto arena : partition->getBlock()->getOps<ArenaOp>())
      if (arena.getPartition() == partition.getSymName())
        return arena;
  return {};
}

/// What the halves of a partition are, as segments.
static void describeHalves(joint::PartitionOp partition, func::FuncOp backward,
                           int64_t &forwardKeeps, int64_t &backwardKeeps,
                           size_t &saved) {
  forwardKeeps = partition.getNumForwardResults();
  // Behind gradients stands what later segments alone take.
  backwardKeeps = static_cast<int64_t>(partition.getGradientOf().size());
  saved = partition.getSaved().size();
}

void kernel::addHalves(ArenaOp arena, joint::PartitionOp partition) {
  auto backward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      partition, partition.getBackwardAttr());
  int64_t forwardKeeps = 0, backwardKeeps = 0;
  size_t saved = 0;
  describeHalves(partition, backward, forwardKeeps, backwardKeeps, saved);
  if (arena.getBody().empty())
    arena.getBody().emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&arena.getBody().front());
  SegmentOp::create(builder, arena.getLoc(), kForward, partition.getForward(),
                    forwardKeeps, builder.getArrayAttr({}), ArrayRef<int32_t>(),
                    ArrayRef<int32_t>());
  SmallVector<int32_t> results(saved), arguments(saved);
  std::iota(results.begin(), results.end(), static_cast<int32_t>(forwardKeeps));
  std::iota(arguments.begin(), arguments.end(), 0);
  SmallVector<Attribute> from(saved, builder.getStringAttr(kForward));
  SegmentOp::create(builder, arena.getLoc(), kBackward, partition.getBackward(),
                    backwardKeeps, builder.getArrayAttr(from), results,
                    arguments);
}

/// Adds what `segment` takes.
static LogicalResult addTaken(SegmentOp segment, func::FuncOp function,
                              StepSegments &step) {
  for (auto [name, result, argument] :
       llvm::zip_equal(segment.getFrom().getAsRange<StringAttr>(),
                       segment.getResults(), segment.getArguments())) {
    func::FuncOp source;
    for (auto [other, itsFunction] : llvm::zip_equal(step.ops, step.functions))
      if (other.getNameAttr() == name)
        source = itsFunction;
    if (!source)
      return segment.emitOpError("takes results of ")
             << name << ", which is no earlier segment";
    Operation *output = source.front().getTerminator();
    if (result < 0 || result >= static_cast<int32_t>(output->getNumOperands()))
      return segment.emitOpError("takes result ")
             << result << " of " << name << ", which has "
             << output->getNumOperands();
    if (argument < 0 ||
        argument >= static_cast<int32_t>(function.getNumArguments()))
      return segment.emitOpError("has no argument ") << argument;
    Value to = function.getArgument(argument),
          value = output->getOperand(result);
    if (to.getType() != value.getType())
      return segment.emitOpError("takes a ")
             << value.getType() << " as argument " << argument << ", which is "
             << to.getType();
    if (!step.handed.try_emplace(to, value).second)
      return segment.emitOpError("takes argument ") << argument << " twice";
  }
  return success();
}

FailureOr<StepSegments> kernel::findSegments(ArenaOp arena) {
  StepSegments step;
  for (SegmentOp segment : arena.getSegments()) {
    func::FuncOp function = segment.getFunctionOp();
    if (!function || function.isExternal()) {
      segment.emitOpError("runs no function of the module: ")
          << segment.getFunctionAttr();
      return failure();
    }
    for (SegmentOp other : step.ops)
      if (other.getName() == segment.getName() ||
          other.getFunction() == segment.getFunction()) {
        InFlightDiagnostic diagnostic = segment.emitOpError(
            "has the name or the function of another segment");
        diagnostic.attachNote(other.getLoc()) << "that one is here";
        return diagnostic;
      }
    auto results = function.getFunctionType().getNumResults();
    if (static_cast<int64_t>(segment.getKept()) < 0 ||
        segment.getKept() > results) {
      segment.emitOpError("keeps ")
          << segment.getKept() << " of " << results << " results";
      return failure();
    }
    if (failed(addTaken(segment, function, step)))
      return failure();
    step.ops.push_back(segment);
    step.functions.push_back(function);
  }
  return std::move(step);
}

//===----------------------------------------------------------------------===//
// kernel.arena
//===----------------------------------------------------------------------===//

LogicalResult ArenaOp::verify() {
  auto number = static_cast<int64_t>(getBytes());
  bool isOpen = ShapedType::isDynamic(number);
  if (isOpen != static_cast<bool>(getSymbolsAttr()))
    return emitOpError(isOpen ? "is of an unknown size, and has no symbols"
                              : "has symbols, and is of a known size");
  if (!isOpen && number < 0)
    return emitOpError("has ") << number << " bytes";
  for (Operation &op : getBody().front())
    if (!isa<SegmentOp>(op))
      return op.emitOpError("is no segment of an arena");
  return success();
}

/// The first two segments are the halves of the partition (C1).
LogicalResult kernel::verifyHalves(ArenaOp arena, joint::PartitionOp partition,
                                   const StepSegments &step) {
  SegmentOp forward, backward;
  if (step.ops.size() >= 2) {
    forward = step.ops[0];
    backward = step.ops[1];
  }
  if (!backward || forward.getFunctionAttr() != partition.getForwardAttr() ||
      backward.getFunctionAttr() != partition.getBackwardAttr() ||
      forward.getName() != kForward || backward.getName() != kBackward)
    return arena.emitOpError("does not begin with the segments forward and "
                             "backward of ")
           << arena.getPartitionAttr();
  int64_t forwardKeeps = 0, backwardKeeps = 0;
  size_t saved = 0;
  describeHalves(partition, step.functions[1], forwardKeeps, backwardKeeps,
                 saved);
  bool isRight = static_cast<int64_t>(forward.getKept()) == forwardKeeps &&
                 static_cast<int64_t>(backward.getKept()) == backwardKeeps &&
                 forward.getFrom().empty() &&
                 backward.getFrom().size() == saved;
  for (size_t i = 0; isRight && i < saved; ++i)
    isRight =
        backward.getResults()[i] == forwardKeeps + static_cast<int64_t>(i) &&
        backward.getArguments()[i] == static_cast<int64_t>(i);
  if (isRight)
    return success();
  InFlightDiagnostic diagnostic =
      arena.emitOpError("hands over other values than ")
      << arena.getPartitionAttr();
  diagnostic.attachNote(partition.getLoc()) << "the partition is here";
  return diagnostic;
}
