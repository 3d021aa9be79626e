// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op, or the body, is copied with scalars in place of tensors and of block
// arguments. What a body reads from outside must be a constant, which is copied
// too. The argument of a result that is combined is not read: what is combined
// into it is (`addf %x, %out` is the sum of %x), and the start is combined with
// that in the end, by the op itself.

#include "Formulas.h"

#include "cutback/Dialect/Joint/ElementBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::upstream;

static bool isNumber(Type type) { return isa<FloatType, IntegerType>(type); }

/// A tensor of numbers, or a number.
static bool hasNumbers(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return isNumber(tensor ? tensor.getElementType() : value.getType());
}

//===----------------------------------------------------------------------===//
// arith, math
//===----------------------------------------------------------------------===//

/// The one number of a constant.
static std::optional<TypedAttr> splatOf(Operation *op) {
  DenseElementsAttr values;
  if (!matchPattern(op, m_Constant(&values)) || !values.isSplat())
    return std::nullopt;
  return dyn_cast<TypedAttr>(values.getSplatValue<Attribute>());
}

bool ElementwiseFormula::hasElement(Operation *op) const {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return hasNumbers(op->getResult(0)) && splatOf(op);
  return op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() &&
         hasNumbers(op->getResult(0)) &&
         llvm::all_of(op->getOperands(), hasNumbers);
}

LogicalResult
ElementwiseFormula::buildElement(Operation *op, ElementBuilder &elements,
                                 SmallVectorImpl<Value> &results) const {
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    results.push_back(arith::ConstantOp::create(elements.builder, elements.loc,
                                                *splatOf(op)));
    return success();
  }
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(elements.operand(i));
  Operation *scalar = Operation::create(
      elements.loc, op->getName(), getElementTypeOrSelf(op->getResult(0)),
      operands, elements.builder.getDictionaryAttr({}),
      op->getPropertiesStorage(), {}, 0);
  elements.builder.insert(scalar);
  results.push_back(scalar->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

static std::optional<Combine> combineOf(Operation *op) {
  using Result = std::optional<Combine>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) -> Result { return Combine::Add; })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) -> Result { return Combine::Mul; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](auto) -> Result { return Combine::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](auto) -> Result { return Combine::Min; })
      .Case([](arith::MaxUIOp) -> Result { return Combine::MaxUnsigned; })
      .Case([](arith::MinUIOp) -> Result { return Combine::MinUnsigned; })
      .Case([](arith::AndIOp) -> Result { return Combine::And; })
      .Case([](arith::OrIOp) -> Result { return Combine::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The op that combines, or null.
static Operation *combinerOf(linalg::LinalgOp op) {
  SmallVector<Operation *, 1> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || !combineOf(combiners[0]))
    return nullptr;
  return combiners[0];
}

static bool isConstant(Value value) {
  TypedAttr number;
  return isNumber(value.getType()) && matchPattern(value, m_Constant(&number));
}

/// What `op` reads of outside of the body is a constant, and it is scalar.
static bool canCopy(Operation &op, Block *body) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         llvm::all_of(
             op.getResultTypes(),
             [](Type type) { return isNumber(type) || type.isIndex(); }) &&
         llvm::all_of(op.getOperands(), [&](Value value) {
           return value.getParentBlock() == body || isConstant(value);
         });
}

bool StructuredFormula::hasElement(Operation *op) const {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureTensorSemantics() ||
      op->getNumResults() != 1 || !llvm::all_of(op->getOperands(), hasNumbers))
    return false;
  Block *body = structured.getBlock();
  for (Operation &inner : body->without_terminator())
    if (!canCopy(inner, body))
      return false;
  Value yielded = body->getTerminator()->getOperand(0);
  if (yielded.getParentBlock() != body && !isConstant(yielded))
    return false;
  return structured.getNumReductionLoops() == 0 || combinerOf(structured);
}

namespace {

class BodyCopy {
public:
  BodyCopy(linalg::LinalgOp op, ElementBuilder &elements)
      : op(op), elements(elements) {}

  /// What the body yields, of this iteration or of all that are combined.
  Value run() {
    Operation *combiner = op.getNumReductionLoops() ? combinerOf(op) : nullptr;
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        copies.map(index.getResult(), elements.index(index.getDim()));
      else if (&inner == combiner)
        copies.map(inner.getResult(0), combine(combiner));
      else
        copy(&inner);
    }
    return get(op.getBlock()->getTerminator()->getOperand(0));
  }

private:
  Value get(Value value) {
    if (Value known = copies.lookupOrNull(value))
      return known;
    if (auto argument = dyn_cast<BlockArgument>(value))
      copies.map(value, elements.operand(argument.getArgNumber()));
    else
      copies.map(value, constant(value));
    return copies.lookup(value);
  }

  /// Of outside.
  Value constant(Value value) {
    TypedAttr number;
    matchPattern(value, m_Constant(&number));
    return arith::ConstantOp::create(elements.builder, elements.loc, number);
  }

  void copy(Operation *inner) {
    for (Value operand : inner->getOperands())
      get(operand);
    elements.builder.clone(*inner, copies);
  }

  /// `combiner` with the combination of what it takes in.
  Value combine(Operation *combiner) {
    Value out = op.getRegionOutputArgs()[0];
    bool isFirst = combiner->getOperand(0) == out;
    Value element = get(combiner->getOperand(isFirst ? 1 : 0));
    Value all = elements.reduce(*combineOf(combiner), element);
    SmallVector<Value, 2> operands = {get(out), all};
    if (!isFirst)
      std::swap(operands[0], operands[1]);
    Operation *last = elements.builder.clone(*combiner);
    last->setOperands(operands);
    return last->getResult(0);
  }

  linalg::LinalgOp op;
  ElementBuilder &elements;
  IRMapping copies;
};

} // namespace

LogicalResult
StructuredFormula::buildElement(Operation *op, ElementBuilder &elements,
                                SmallVectorImpl<Value> &results) const {
  results.push_back(BodyCopy(cast<linalg::LinalgOp>(op), elements).run());
  return success();
}
