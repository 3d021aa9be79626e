// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons, logic on truth values and bits, and choices between elements.
// Comparisons are exact in the promoted type. Conditions and masks are
// booleans, which change no promotion. What is chosen is not computed: it stays
// of the promoted type, and keeps its bits.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

#define CUTBACK_COMPARISON(name, sign)                                         \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).ordered(                                      \
        {"self", "other"}, [](Num x, Num y) { return x sign y; },              \
        /*exact=*/true);                                                       \
  }
CUTBACK_COMPARISON(equal, ==)
CUTBACK_COMPARISON(notEqual, !=)
CUTBACK_COMPARISON(less, <)
CUTBACK_COMPARISON(lessOrEqual, <=)
CUTBACK_COMPARISON(greater, >)
CUTBACK_COMPARISON(greaterOrEqual, >=)
#undef CUTBACK_COMPARISON

/// |x - y| <= atol + rtol |y|; equal infinities are close.
LogicalResult elements::isClose(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  double relative = call.literal("rtol"), absolute = call.literal("atol");
  bool equalNan = call.boolean("equal_nan").value_or(false);
  return call.real(
      {"self", "other"},
      [&](Num x, Num y) {
        Num same = x == y;
        if (equalNan)
          same = same | (isNan(x) & isNan(y));
        Num finite = (abs(x) < HUGE_VAL) & (abs(y) < HUGE_VAL);
        Num close = abs(x - y) <= absolute + relative * abs(y);
        return same | (finite & close);
      },
      /*exact=*/true);
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

#define CUTBACK_LOGIC(name, sign)                                              \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).ordered({"self", "other"}, [](Num x, Num y) { \
      return (x != 0) sign(y != 0);                                            \
    });                                                                        \
  }
CUTBACK_LOGIC(logicalAnd, &)
CUTBACK_LOGIC(logicalOr, |)
CUTBACK_LOGIC(logicalXor, ^)
#undef CUTBACK_LOGIC

#define CUTBACK_PREDICATE(name, formula)                                       \
  LogicalResult elements::name(Operation *op, ElementBuilder &b, Results &r) { \
    return ElementCall(op, b, r).ordered({"self"},                             \
                                         [](Num x) { return formula; });       \
  }
CUTBACK_PREDICATE(logicalNot, x == 0)
CUTBACK_PREDICATE(isNan, isNan(x))
CUTBACK_PREDICATE(isInf, isInfinite(x))
CUTBACK_PREDICATE(isFinite, negated(isNan(x) | isInfinite(x)))
CUTBACK_PREDICATE(isPosInf, isInfinite(x) & (x > 0))
CUTBACK_PREDICATE(isNegInf, isInfinite(x) & (x < 0))
CUTBACK_PREDICATE(signBit, x.isFloat() ? copysign(1, x) < 0 : x < 0)
CUTBACK_PREDICATE(isReal, isNan(x) | negated(isNan(x)))
#undef CUTBACK_PREDICATE

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Formulas of integers; there are none of floats.
template <typename F>
static LogicalResult bits(Operation *op, ElementBuilder &b, Results &r, F f) {
  ElementCall call(op, b, r);
  Type common = call.promoted({"self", "other"});
  if (!isa_and_nonnull<IntegerType>(common))
    return failure();
  return call.ordered({"self", "other"},
                      [&](Num x, Num y) { return f(x, y, common); });
}

LogicalResult elements::bitAnd(Operation *op, ElementBuilder &b, Results &r) {
  return bits(op, b, r, [](Num x, Num y, Type) { return x & y; });
}
LogicalResult elements::bitOr(Operation *op, ElementBuilder &b, Results &r) {
  return bits(op, b, r, [](Num x, Num y, Type) { return x | y; });
}
LogicalResult elements::bitXor(Operation *op, ElementBuilder &b, Results &r) {
  return bits(op, b, r, [](Num x, Num y, Type) { return x ^ y; });
}

LogicalResult elements::bitNot(Operation *op, ElementBuilder &b, Results &r) {
  ElementCall call(op, b, r);
  Type common = call.promoted({"self"});
  if (!isa_and_nonnull<IntegerType>(common))
    return failure();
  return call.ordered({"self"}, [&](Num x) {
    return common.isInteger(1) ? x == 0 : x ^ x.wholeConstant(-1);
  });
}

/// A shift by the width of the type or more leaves 0, or the sign.
template <bool isLeft>
static LogicalResult shift(Operation *op, ElementBuilder &b, Results &r) {
  return bits(op, b, r, [](Num x, Num y, Type common) {
    // A truth value is a byte.
    int64_t width = std::max(8u, common.getIntOrFloatBitWidth());
    Num fits = (y >= 0) & (y < width), by = select(fits, y, 0);
    if (isLeft)
      return select(fits, shiftLeft(x, by), 0);
    return select(fits, shiftRight(x, by), select(x < 0, x.constant(-1), 0));
  });
}
LogicalResult elements::shiftLeft(Operation *op, ElementBuilder &b,
                                  Results &r) {
  return shift<true>(op, b, r);
}
LogicalResult elements::shiftRight(Operation *op, ElementBuilder &b,
                                   Results &r) {
  return shift<false>(op, b, r);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Of two arguments as they are: nothing is computed.
static LogicalResult choose(const ElementCall &call, ParamRef condition,
                            ParamRef ifTrue, ParamRef ifFalse) {
  Type common = call.promoted({condition, ifTrue, ifFalse});
  auto promoted = [&](ParamRef param) {
    return call.promotedArgument(param, common, common, /*exact=*/false);
  };
  Num truth = call.argument(condition, call.elements.builder.getI1Type());
  return call.giveAs(select(truth, promoted(ifTrue), promoted(ifFalse)),
                     common);
}

LogicalResult elements::where(Operation *op, ElementBuilder &b, Results &r) {
  return choose(ElementCall(op, b, r), "condition", "self", "other");
}
LogicalResult elements::maskedFill(Operation *op, ElementBuilder &b,
                                   Results &r) {
  return choose(ElementCall(op, b, r), "mask", "value", "self");
}
