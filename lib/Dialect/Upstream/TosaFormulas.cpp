// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas of `tosa`, by its specification (version 1.0). On floating point;
// integers have those that need no rounding, scaling or saturation. A NaN goes
// through maximum, minimum and clamp, unless the op is asked to ignore it: then
// it has no formula.

#include "Formulas.h"

#include "cutback/Dialect/Joint/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::upstream;

namespace {

bool isReal(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }
bool isTruth(Value value) { return getElementTypeOrSelf(value).isInteger(1); }

/// One number everywhere, and that is 0.
bool isZero(Value value) {
  DenseElementsAttr numbers;
  if (!matchPattern(value, m_Constant(&numbers)) || !numbers.isSplat())
    return false;
  Attribute number = numbers.getSplatValue<Attribute>();
  return matchPattern(number, m_AnyZeroFloat()) ||
         matchPattern(number, m_Zero());
}

template <typename Op> bool ignoresNaN(Op op) {
  return op.getNanMode() != tosa::NanPropagationMode::PROPAGATE;
}

/// Scalars of one iteration, and ops on them.
class Scalars {
public:
  Scalars(Operation *op, ElementBuilder &elements)
      : op(op), elements(elements) {}

  Value in(unsigned i) { return elements.operand(i); }
  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(elements.builder, elements.loc, args...).getResult();
  }
  /// `Real` on floating point, else `Integer`.
  template <typename Real, typename Integer> Value both() {
    return isReal(op->getOperand(0)) ? make<Real>(in(0), in(1))
                                     : make<Integer>(in(0), in(1));
  }
  template <typename Real> Value unary() { return make<Real>(in(0)); }
  Value compare(arith::CmpFPredicate real, arith::CmpIPredicate integer) {
    return isReal(op->getOperand(0))
               ? make<arith::CmpFOp>(real, in(0), in(1))
               : make<arith::CmpIOp>(integer, in(0), in(1));
  }
  Value number(Type type, double value) {
    return make<arith::ConstantOp>(
        cast<TypedAttr>(elements.builder.getFloatAttr(type, value)));
  }
  Value truth(bool value) {
    return make<arith::ConstantOp>(
        cast<TypedAttr>(elements.builder.getBoolAttr(value)));
  }
  Value over(double numerator, Value denominator) {
    return make<arith::DivFOp>(number(denominator.getType(), numerator),
                               denominator);
  }

private:
  Operation *op;
  ElementBuilder &elements;
};

} // namespace

/// Of one operand of floating point.
static Value unaryFormula(Operation *op, Scalars &s) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tosa::AbsOp) { return s.unary<math::AbsFOp>(); })
      .Case([&](tosa::CeilOp) { return s.unary<math::CeilOp>(); })
      .Case([&](tosa::CosOp) { return s.unary<math::CosOp>(); })
      .Case([&](tosa::ErfOp) { return s.unary<math::ErfOp>(); })
      .Case([&](tosa::ExpOp) { return s.unary<math::ExpOp>(); })
      .Case([&](tosa::FloorOp) { return s.unary<math::FloorOp>(); })
      .Case([&](tosa::IdentityOp) { return s.in(0); })
      .Case([&](tosa::LogOp) { return s.unary<math::LogOp>(); })
      .Case([&](tosa::NegateOp) { return s.unary<arith::NegFOp>(); })
      .Case([&](tosa::ReciprocalOp) { return s.over(1.0, s.in(0)); })
      .Case([&](tosa::RsqrtOp) { return s.unary<math::RsqrtOp>(); })
      .Case([&](tosa::SinOp) { return s.unary<math::SinOp>(); })
      .Case([&](tosa::TanhOp) { return s.unary<math::TanhOp>(); })
      .Case([&](tosa::SigmoidOp) {
        Value power = s.make<math::ExpOp>(s.make<arith::NegFOp>(s.in(0)));
        Value one = s.number(power.getType(), 1.0);
        return s.over(1.0, s.make<arith::AddFOp>(one, power));
      })
      .Default([](Operation *) { return Value(); });
}

/// Of floating point and of integers that need no care.
static Value binaryFormula(Operation *op, Scalars &s) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tosa::AddOp) { return s.both<arith::AddFOp, arith::AddIOp>(); })
      .Case([&](tosa::SubOp) { return s.both<arith::SubFOp, arith::SubIOp>(); })
      .Case([&](tosa::MulOp) { return s.both<arith::MulFOp, arith::MulIOp>(); })
      .Case([&](tosa::MaximumOp) {
        return s.both<arith::MaximumFOp, arith::MaxSIOp>();
      })
      .Case([&](tosa::MinimumOp) {
        return s.both<arith::MinimumFOp, arith::MinSIOp>();
      })
      .Case([&](tosa::PowOp) { return s.make<math::PowFOp>(s.in(0), s.in(1)); })
      .Case([&](tosa::EqualOp) { return s.compare(F::OEQ, I::eq); })
      .Case([&](tosa::GreaterOp) { return s.compare(F::OGT, I::sgt); })
      .Case([&](tosa::GreaterEqualOp) { return s.compare(F::OGE, I::sge); })
      .Case<tosa::LogicalAndOp, tosa::BitwiseAndOp>(
          [&](auto) { return s.make<arith::AndIOp>(s.in(0), s.in(1)); })
      .Case<tosa::LogicalOrOp, tosa::BitwiseOrOp>(
          [&](auto) { return s.make<arith::OrIOp>(s.in(0), s.in(1)); })
      .Case<tosa::LogicalXorOp, tosa::BitwiseXorOp>(
          [&](auto) { return s.make<arith::XOrIOp>(s.in(0), s.in(1)); })
      .Case([&](tosa::LogicalNotOp) {
        return s.make<arith::XOrIOp>(s.in(0), s.truth(true));
      })
      .Default([](Operation *) { return Value(); });
}

static Value castFormula(tosa::CastOp op, Scalars &s) {
  Type from = getElementTypeOrSelf(op.getInput());
  Type to = getElementTypeOrSelf(op.getType());
  Value x = s.in(0);
  if (from == to)
    return x;
  if (isTruth(op.getInput()))
    return isa<FloatType>(to) ? s.make<arith::UIToFPOp>(to, x)
                              : s.make<arith::ExtUIOp>(to, x);
  if (isa<IntegerType>(from))
    return s.make<arith::SIToFPOp>(to, x);
  return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
             ? s.make<arith::ExtFOp>(to, x)
             : s.make<arith::TruncFOp>(to, x);
}

static bool isCastOfNumbers(tosa::CastOp op) {
  Type from = getElementTypeOrSelf(op.getInput());
  Type to = getElementTypeOrSelf(op.getType());
  unsigned width = from.getIntOrFloatBitWidth();
  return from == to || isTruth(op.getInput()) ||
         (isa<FloatType>(to) &&
          (isa<IntegerType>(from) || width != to.getIntOrFloatBitWidth()));
}

static Value clampFormula(tosa::ClampOp op, ElementBuilder &elements) {
  auto constant = [&](Attribute value) -> Value {
    return arith::ConstantOp::create(elements.builder, elements.loc,
                                     cast<TypedAttr>(value));
  };
  Value x = elements.operand(0), low = constant(op.getMinVal()),
        high = constant(op.getMaxVal());
  OpBuilder &b = elements.builder;
  if (isReal(op.getInput()))
    return arith::MinimumFOp::create(
        b, elements.loc, arith::MaximumFOp::create(b, elements.loc, x, low),
        high);
  return arith::MinSIOp::create(
      b, elements.loc, arith::MaxSIOp::create(b, elements.loc, x, low), high);
}

static std::optional<Combine> combineOf(Operation *op) {
  using Result = std::optional<Combine>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](tosa::ReduceSumOp) -> Result { return Combine::Add; })
      .Case([](tosa::ReduceProductOp) -> Result { return Combine::Mul; })
      .Case([](tosa::ReduceMaxOp) -> Result { return Combine::Max; })
      .Case([](tosa::ReduceMinOp) -> Result { return Combine::Min; })
      .Case([](tosa::ReduceAllOp) -> Result { return Combine::And; })
      .Case([](tosa::ReduceAnyOp) -> Result { return Combine::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

static bool isUnary(Operation *op) {
  return isa<tosa::AbsOp, tosa::CeilOp, tosa::CosOp, tosa::ErfOp, tosa::ExpOp,
             tosa::FloorOp, tosa::IdentityOp, tosa::LogOp, tosa::NegateOp,
             tosa::ReciprocalOp, tosa::RsqrtOp, tosa::SinOp, tosa::TanhOp,
             tosa::SigmoidOp>(op);
}

bool TosaFormula::hasElement(Operation *op) const {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return ElementwiseFormula().hasElement(op);
  if (isUnary(op))
    return isReal(op->getOperand(0)) &&
           (!isa<tosa::NegateOp>(op) ||
            (isZero(op->getOperand(1)) && isZero(op->getOperand(2))));
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tosa::MaximumOp, tosa::MinimumOp, tosa::ClampOp, tosa::ReduceMaxOp,
            tosa::ReduceMinOp>([](auto choice) { return !ignoresNaN(choice); })
      .Case([](tosa::CastOp cast) { return isCastOfNumbers(cast); })
      .Case([](tosa::MulOp mul) {
        return isReal(mul.getInput1()) ||
               (isZero(mul.getShift()) &&
                getElementTypeOrSelf(mul.getInput1()) ==
                    getElementTypeOrSelf(mul.getType()));
      })
      .Case([](tosa::PowOp power) { return isReal(power.getInput1()); })
      .Case<tosa::ReduceSumOp, tosa::ReduceProductOp, tosa::ReduceAllOp,
            tosa::ReduceAnyOp, tosa::SelectOp, tosa::AddOp, tosa::SubOp,
            tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp,
            tosa::LogicalAndOp, tosa::LogicalOrOp, tosa::LogicalXorOp,
            tosa::LogicalNotOp, tosa::BitwiseAndOp, tosa::BitwiseOrOp,
            tosa::BitwiseXorOp>([](auto) { return true; })
      .Default([](Operation *) { return false; });
}

LogicalResult TosaFormula::buildElement(Operation *op, ElementBuilder &elements,
                                        SmallVectorImpl<Value> &results) const {
  if (op->getNumOperands() == 0)
    return ElementwiseFormula().buildElement(op, elements, results);
  Scalars s(op, elements);
  if (std::optional<Combine> how = combineOf(op))
    results.push_back(elements.reduce(*how, s.in(0)));
  else if (isa<tosa::SelectOp>(op))
    results.push_back(s.make<arith::SelectOp>(s.in(0), s.in(1), s.in(2)));
  else if (auto clamp = dyn_cast<tosa::ClampOp>(op))
    results.push_back(clampFormula(clamp, elements));
  else if (auto convert = dyn_cast<tosa::CastOp>(op))
    results.push_back(castFormula(convert, s));
  else
    results.push_back(isUnary(op) ? unaryFormula(op, s) : binaryFormula(op, s));
  return success(results.back() != nullptr);
}
