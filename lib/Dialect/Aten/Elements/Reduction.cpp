// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions: what of each element is combined, and what becomes of the
// combination. Sums are of the result's compute type, extremes of the
// operand's, where half precision is f32 too. Variances take two passes over
// the elements, as the interpreter's do. The axes are those of the call's
// loops; what an empty list of dimensions means differs from op to op.

#include "ElementCall.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::elements;
using joint::Combine;

namespace {

class ReducingCall : public ElementCall {
public:
  using ElementCall::ElementCall;

  /// The element of `self` as one of `to`.
  Num self(Type to) const { return argument("self", to); }
  /// The same, in its own compute type.
  Num self() const {
    Type own = typeOf("self");
    return own ? cast(self(own), own, computeTypeOf(own)) : Num();
  }
  Num reduce(Combine how, const Num &x) const {
    return x ? Num(elements, elements.reduce(how, x.get())) : Num();
  }
  Num sum(const Num &x) const { return reduce(Combine::Add, x); }
  Num mean(const Num &x) const { return sum(x) / count(); }
  double count() const { return static_cast<double>(elements.numReduced()); }
  Type sumType() const { return computeTypeOf(resultType()); }
};

} // namespace

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

LogicalResult elements::sum(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return call.give(call.sum(call.self(call.sumType())));
}
LogicalResult elements::product(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return call.give(call.reduce(Combine::Mul, call.self(call.sumType())));
}
LogicalResult elements::mean(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return call.give(call.mean(call.self(call.realTypeIn(call.resultType()))));
}

LogicalResult elements::nanSum(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  Num x = call.self(call.sumType());
  return call.give(call.sum(x && x.isFloat() ? select(isNan(x), 0, x) : x));
}
LogicalResult elements::nanMean(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  Num x = call.self(call.realTypeIn(call.resultType()));
  Num isNothing = isNan(x);
  Num one = x ? x.constant(1) : Num();
  return call.give(call.sum(select(isNothing, 0, x)) /
                   call.sum(select(isNothing, 0, one)));
}

LogicalResult elements::countNonzero(Operation *op, ElementBuilder &b,
                                     Results &r) {
  ReducingCall call(op, b, r);
  Type i1 = b.builder.getI1Type();
  Num truth = call.self() != 0;
  return call.give(call.sum(cast(truth, i1, call.sumType())));
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

LogicalResult elements::greatest(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return call.give(call.reduce(Combine::Max, call.self()));
}
LogicalResult elements::least(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return call.give(call.reduce(Combine::Min, call.self()));
}
LogicalResult elements::leastAndGreatest(Operation *op, ElementBuilder &b,
                                         Results &r) {
  ReducingCall call(op, b, r);
  Num x = call.self();
  return call.give(
      {call.reduce(Combine::Min, x), call.reduce(Combine::Max, x)});
}

static Num placeOf(const ReducingCall &call, bool greatest, const Num &x) {
  return x ? Num(call.elements, call.elements.reduceIndex(greatest, x.get()))
           : Num();
}

LogicalResult elements::placeOfGreatest(Operation *op, ElementBuilder &b,
                                        Results &r) {
  ReducingCall call(op, b, r);
  return call.give(placeOf(call, /*greatest=*/true, call.self()));
}
LogicalResult elements::placeOfLeast(Operation *op, ElementBuilder &b,
                                     Results &r) {
  ReducingCall call(op, b, r);
  return call.give(placeOf(call, /*greatest=*/false, call.self()));
}
LogicalResult elements::greatestWithPlace(Operation *op, ElementBuilder &b,
                                          Results &r) {
  ReducingCall call(op, b, r);
  Num x = call.self();
  return call.give(
      {call.reduce(Combine::Max, x), placeOf(call, /*greatest=*/true, x)});
}
LogicalResult elements::leastWithPlace(Operation *op, ElementBuilder &b,
                                       Results &r) {
  ReducingCall call(op, b, r);
  Num x = call.self();
  return call.give(
      {call.reduce(Combine::Min, x), placeOf(call, /*greatest=*/false, x)});
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

/// An empty list of dimensions is none here, where it is all in the loops.
static LogicalResult quantify(const ReducingCall &call, Combine how) {
  if (!call.isNone(optional("dim")) && call.list(optional("dim")).empty())
    return failure();
  return call.give(call.reduce(how, call.self() != 0));
}
LogicalResult elements::any(Operation *op, ElementBuilder &b, Results &r) {
  return quantify(ReducingCall(op, b, r), Combine::Or);
}
LogicalResult elements::all(Operation *op, ElementBuilder &b, Results &r) {
  return quantify(ReducingCall(op, b, r), Combine::And);
}

//===----------------------------------------------------------------------===//
// Variances
//===----------------------------------------------------------------------===//

/// Elements that do not count: `correction`, or 1 if `unbiased`.
static double correctionOf(const ReducingCall &call) {
  if (!call.isNone(optional("correction")))
    return call.literal(optional("correction"));
  return call.boolean(optional("unbiased")).value_or(true) ? 1 : 0;
}

static LogicalResult spread(const ReducingCall &call, bool root,
                            bool withMean) {
  double divisor = std::max(0.0, call.count() - correctionOf(call));
  Num x = call.self(call.realTypeIn(call.resultType()));
  Num mean = call.mean(x), distance = x - mean;
  Num variance = call.sum(distance * distance) / divisor;
  Num first = root ? sqrt(variance) : variance;
  return withMean ? call.give({first, mean}) : call.give(first);
}

LogicalResult elements::variance(Operation *op, ElementBuilder &b, Results &r) {
  return spread(ReducingCall(op, b, r), /*root=*/false, /*withMean=*/false);
}
LogicalResult elements::deviation(Operation *op, ElementBuilder &b,
                                  Results &r) {
  return spread(ReducingCall(op, b, r), /*root=*/true, /*withMean=*/false);
}
LogicalResult elements::varianceWithMean(Operation *op, ElementBuilder &b,
                                         Results &r) {
  return spread(ReducingCall(op, b, r), /*root=*/false, /*withMean=*/true);
}
LogicalResult elements::deviationWithMean(Operation *op, ElementBuilder &b,
                                          Results &r) {
  return spread(ReducingCall(op, b, r), /*root=*/true, /*withMean=*/true);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult normOfOrder(const ReducingCall &call, double order) {
  Num x = abs(call.self(call.realTypeIn(call.resultType())));
  if (!x)
    return failure();
  if (std::isinf(order))
    return call.give(call.reduce(order > 0 ? Combine::Max : Combine::Min, x));
  if (order == 0)
    return call.give(call.sum(select(x != 0, x.constant(1), 0)));
  if (order == 1)
    return call.give(call.sum(x));
  if (order == 2)
    return call.give(sqrt(call.sum(x * x)));
  return call.give(pow(call.sum(pow(x, order)), 1 / order));
}
LogicalResult elements::vectorNorm(Operation *op, ElementBuilder &b,
                                   Results &r) {
  ReducingCall call(op, b, r);
  return normOfOrder(call, call.literal("ord", 2));
}
LogicalResult elements::norm(Operation *op, ElementBuilder &b, Results &r) {
  ReducingCall call(op, b, r);
  return normOfOrder(call, call.literal("p", 2));
}
