// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of elementwise ops with two or more operands. `Vjp::set` undoes
// broadcasting and type promotion, so a formula here is that of one element.
// A product reads the other factor only for the gradients that are asked for;
// a quotient reads its result and its divisor, not its dividend.

#include "Common.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

static void add(Vjp &v) {
  v.set("self", v.grad());
  if (v.needs("other"))
    v.set("other", v.scale(v.grad(), v.arg("alpha")));
}

static void sub(Vjp &v) {
  v.set("self", v.grad());
  if (v.needs("other"))
    v.set("other", v.neg(v.scale(v.grad(), v.arg("alpha"))));
}

/// other - alpha * self
static void rsub(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.neg(v.scale(v.grad(), v.arg("alpha"))));
  v.set("other", v.grad());
}

static void mul(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.mul(v.grad(), v.conj(v.arg("other"))));
  if (v.needs("other"))
    v.set("other", v.mul(v.grad(), v.conj(v.arg("self"))));
}

static void div(Vjp &v) {
  if (v.needs("self"))
    v.set("self", v.div(v.grad(), v.conj(v.arg("other"))));
  if (!v.needs("other"))
    return;
  Value slope = v.div(v.result(), v.arg("other"));
  v.set("other", v.mul(v.neg(v.grad()), v.conj(slope)));
}

/// A rounded quotient is constant almost everywhere.
static void divMode(Vjp &v) {
  if (v.in.isNone("rounding_mode"))
    return div(v);
  v.setZero("self");
  v.setZero("other");
}

/// The quotient of the operands, rounded.
static Value rounded(Vjp &v, StringRef mode) {
  return v.call(op::div_Tensor_mode, {v.arg("self"), v.arg("other")},
                {{"rounding_mode", mode}});
}

static void fmod(Vjp &v) {
  v.set("self", v.grad());
  if (v.needs("other"))
    v.set("other", v.mul(v.neg(v.grad()), rounded(v, "trunc")));
}

static void remainder(Vjp &v) {
  v.set("self", v.grad());
  if (v.needs("other"))
    v.set("other", v.mul(v.neg(v.grad()), rounded(v, "floor")));
}

static void addcmul(Vjp &v) {
  v.set("self", v.grad());
  for (auto [own, other] :
       {std::pair("tensor1", "tensor2"), std::pair("tensor2", "tensor1")})
    if (v.needs(own)) {
      Value scaled = v.scale(v.grad(), v.arg("value"));
      v.set(own, v.mul(scaled, v.arg(other)));
    }
}

static void addcdiv(Vjp &v) {
  v.set("self", v.grad());
  if (!v.needs("tensor1") && !v.needs("tensor2"))
    return;
  Value divisor = v.value("tensor2");
  Value slope = v.div(v.scale(v.grad(), v.arg("value")), divisor);
  v.set("tensor1", slope);
  if (v.needs("tensor2"))
    v.set("tensor2", v.mul(v.neg(slope), v.div(v.arg("tensor1"), divisor)));
}

static void lerpScalar(Vjp &v) {
  double weight = v.in.number("weight").value_or(0);
  if (v.needs("self"))
    v.set("self", v.scale(v.grad(), 1 - weight));
  if (v.needs("end"))
    v.set("end", v.scale(v.grad(), weight));
}

static void lerpTensor(Vjp &v) {
  Value weight = v.value("weight");
  if (v.needs("self"))
    v.set("self", v.mul(v.grad(), v.call(op::rsub_Scalar, {weight, 1})));
  if (v.needs("end"))
    v.set("end", v.mul(v.grad(), weight));
  if (v.needs("weight"))
    v.set("weight", v.mul(v.grad(), v.sub(v.arg("end"), v.arg("self"))));
}

static void fma(Vjp &v) {
  if (v.needs("a"))
    v.set("a", v.mul(v.grad(), v.arg("b")));
  if (v.needs("b"))
    v.set("b", v.mul(v.grad(), v.arg("a")));
  v.set("c", v.grad());
}

//===----------------------------------------------------------------------===//
// Functions of two
//===----------------------------------------------------------------------===//

/// The slope at the origin is 0.
static void atan2(Vjp &v) {
  Value x = v.value("self"), y = v.value("other");
  Value square = v.add(v.mul(x, x), v.mul(y, y));
  Value scaled =
      v.call(op::masked_fill_Scalar, {v.div(v.grad(), square),
                                      v.call(op::eq_Scalar, {square, 0}), 0.0});
  if (v.needs("self"))
    v.set("self", v.mul(scaled, y));
  if (v.needs("other"))
    v.set("other", v.mul(v.neg(scaled), x));
}

static void hypot(Vjp &v) {
  for (const char *own : {"self", "other"})
    if (v.needs(own))
      v.set(own, v.mul(v.grad(), v.div(v.arg(own), v.result())));
}

/// 0 * log(anything) counts as 0, so its slope there is 0 too.
static void xlogy(Vjp &v) {
  Arg x = v.arg("self"), y = v.arg("other");
  if (v.needs("self")) {
    Value slope = v.call(
        y.isValue() ? op::xlogy_Tensor : op::xlogy_Scalar_Other, {v.grad(), y});
    Value masked = v.call(op::eq_Scalar, {x, 0});
    if (y.isValue())
      masked = v.call(op::logical_and, {masked, v.call(op::le_Scalar, {y, 0})});
    if (y.isValue() || y.getNumber().value_or(0) <= 0)
      slope = v.call(op::masked_fill_Scalar, {slope, masked, 0.0});
    v.set("self", slope);
  }
  if (v.needs("other"))
    v.set("other", v.div(v.mul(v.grad(), x), y));
}

/// The slope is a logistic function of the difference.
static void logaddexpWith(Vjp &v, const char *power) {
  for (auto [own, other] :
       {std::pair("self", "other"), std::pair("other", "self")})
    if (v.needs(own)) {
      Value ratio = v.un(power, v.sub(v.arg(other), v.arg(own)));
      v.set(own, v.div(v.grad(), v.call(op::add_Scalar, {ratio, 1})));
    }
}

static void logaddexp(Vjp &v) { logaddexpWith(v, "exp"); }
static void logaddexp2(Vjp &v) { logaddexpWith(v, "exp2"); }

static void copysign(Vjp &v) {
  v.setZero("other");
  if (!v.needs("self"))
    return;
  Value self = v.value("self");
  Value ratio =
      v.call(op::masked_fill_Scalar,
             {v.div(v.result(), self), v.call(op::eq_Scalar, {self, 0}), 0.0});
  v.set("self", v.mul(v.grad(), ratio));
}

/// A step to the next number moves with the number, unless it is there.
static void nextafter(Vjp &v) {
  Value isThere = v.call(op::eq_Tensor, {v.value("self"), v.value("other")});
  v.set("self", v.dropWhere(isThere, v.grad()));
  v.setZero("other");
}

/// The integrand at its bound: x^(a - 1) exp(-x) / gamma(a). In `a` PyTorch has
/// no gradient either.
static Value gammaDensity(Vjp &v) {
  Value a = v.value("self"), x = v.value("other");
  Value power = v.mul(v.call(op::sub_Scalar, {a, 1}), v.un("log", x));
  return v.un("exp", v.sub(v.sub(power, x), v.un("lgamma", a)));
}
static LogicalResult incompleteGamma(CallOp op, VjpContext &context,
                                     bool isUpper) {
  Vjp v(op, context);
  if (v.needs("self"))
    return v.error("no rule for the gradient of the first operand of '" +
                   op.getSchema().packet + "'");
  Value slope = v.mul(v.grad(), gammaDensity(v));
  v.set("other", isUpper ? v.neg(slope) : slope);
  return v.done();
}
static LogicalResult lowerGamma(CallOp op, VjpContext &context) {
  return incompleteGamma(op, context, false);
}
static LogicalResult upperGamma(CallOp op, VjpContext &context) {
  return incompleteGamma(op, context, true);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// conj(exponent * self ^ (exponent - 1)), and 0 where the exponent is 0.
static void powScalar(Vjp &v) {
  if (!v.needs("self"))
    return;
  Value self = v.value("self");
  std::optional<double> exponent = v.in.number("exponent");
  if (!exponent) {
    v.b.error("the exponent of a power that is differentiated is no number");
    return;
  }
  if (*exponent == 0) {
    v.set("self", v.zerosLike(self));
    return;
  }
  Value power = self;
  if (*exponent == 1)
    power = {};
  else if (*exponent != 2)
    power = v.call(op::pow_Tensor_Scalar, {self, *exponent - 1});
  if (!power)
    v.set("self", v.grad());
  else
    v.set("self", v.mul(v.grad(), v.conj(v.scale(power, *exponent))));
}

static void powTensor(Vjp &v) {
  Arg base = v.arg("self"), exponent = v.arg("exponent");
  if (v.needs("self")) {
    Value less = v.call(op::sub_Scalar, {exponent, 1});
    Value power = v.call(op::pow_Tensor_Tensor, {base, less});
    Value slope = v.mul(v.grad(), v.mul(exponent, power));
    v.set("self", v.dropWhere(v.call(op::eq_Scalar, {exponent, 0.0}), slope));
  }
  if (!v.needs("exponent"))
    return;
  // 0 ^ y has slope 0 for y >= 0, where log gives -inf.
  Value isZero =
      v.call(op::logical_and, {v.call(op::eq_Scalar, {base, 0}),
                               v.call(op::ge_Scalar, {exponent, 0})});
  Value slope = v.mul(v.result(), v.un("log", base));
  v.set("exponent", v.mul(v.grad(), v.dropWhere(isZero, slope)));
}

static void powOfNumber(Vjp &v) {
  double base = v.in.number("self").value_or(1);
  if (!v.needs("exponent"))
    return;
  Value slope = v.scale(v.result(), std::log(base));
  if (base == 0)
    slope = v.dropWhere(v.call(op::ge_Scalar, {v.arg("exponent"), 0}), slope);
  v.set("exponent", v.mul(v.grad(), slope));
}

//===----------------------------------------------------------------------===//
// Minimum, maximum, clamp: who wins takes the gradient
//===----------------------------------------------------------------------===//

/// Equal operands take half each.
static void extremum(Vjp &v, const char *selfLoses, const char *otherLoses) {
  Value self = v.value("self"), other = v.value("other");
  Value half =
      v.call(op::where_self, {v.call(op::eq_Tensor, {self, other}),
                              v.call(op::div_Scalar, {v.grad(), 2}), v.grad()});
  for (auto [own, loses] :
       {std::pair("self", selfLoses), std::pair("other", otherLoses)})
    if (v.needs(own))
      v.set(own, v.call(op::masked_fill_Scalar,
                        {half, v.call(loses, {self, other}), 0.0}));
}

static void maximum(Vjp &v) { extremum(v, op::lt_Tensor, op::gt_Tensor); }
static void minimum(Vjp &v) { extremum(v, op::gt_Tensor, op::lt_Tensor); }

/// Equal operands: the first takes all. A NaN loses.
static void extremumOfNumbers(Vjp &v, const char *wins) {
  Value other = v.value("other");
  Value first = v.call(op::logical_or, {v.call(wins, {v.arg("self"), other}),
                                        v.un("isnan", other)});
  if (v.needs("self"))
    v.set("self", v.keepWhere(first, v.grad()));
  if (v.needs("other"))
    v.set("other", v.dropWhere(first, v.grad()));
}

static void fmax(Vjp &v) { extremumOfNumbers(v, op::ge_Tensor); }
static void fmin(Vjp &v) { extremumOfNumbers(v, op::le_Tensor); }

/// `self` compared with a bound that is a number or a tensor.
static Value compare(Vjp &v, const char *name, const Arg &bound) {
  std::string op =
      std::string("aten.") + name + (bound.isValue() ? ".Tensor" : ".Scalar");
  return v.call(op, {v.arg("self"), bound});
}

static Value both(Vjp &v, const char *op, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return v.un2(op, x, y);
}

/// Bounds are inclusive. A lower bound above the upper one takes nothing.
static void clamp(Vjp &v) {
  Arg low = v.arg(optional("min")), high = v.arg(optional("max"));
  bool hasLow = !low.isNone(), hasHigh = !high.isNone();
  if (v.needs("self")) {
    Value inside =
        both(v, "logical_and", hasLow ? compare(v, "ge", low) : Value(),
             hasHigh ? compare(v, "le", high) : Value());
    v.set("self", inside ? v.keepWhere(inside, v.grad()) : v.grad());
  }
  if (hasLow && v.needs(optional("min"))) {
    Value ordered = hasHigh ? v.call(op::lt_Tensor, {low, high}) : Value();
    v.set(optional("min"),
          v.keepWhere(both(v, "logical_and", compare(v, "lt", low), ordered),
                      v.grad()));
  }
  if (hasHigh && v.needs(optional("max"))) {
    Value crossed = hasLow ? v.call(op::lt_Tensor, {high, low}) : Value();
    v.set(optional("max"),
          v.keepWhere(both(v, "logical_or", compare(v, "gt", high), crossed),
                      v.grad()));
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static void where(Vjp &v) {
  Value condition = v.value("condition");
  if (v.needs("self"))
    v.set("self", v.keepWhere(condition, v.grad()));
  if (v.needs("other"))
    v.set("other", v.dropWhere(condition, v.grad()));
}

static void maskedFill(Vjp &v) {
  Value mask = v.value("mask");
  if (v.needs("self"))
    v.set("self", v.call(op::masked_fill_Scalar, {v.grad(), mask, 0.0}));
  if (v.needs("value"))
    v.set("value", v.keepWhere(mask, v.grad()));
}

/// The old elements are gone.
static void fill(Vjp &v) {
  v.setZero("self");
  v.set(optional("value"), v.grad());
}

/// New random numbers, with parameters for each; those that the op lacks have
/// no operands.
static void draw(Vjp &v) {
  for (const char *param : {"self", "p", "mean", "std"})
    v.setZero(optional(param));
}

static void complexOf(Vjp &v) {
  if (v.needs("real"))
    v.set("real", v.un("real", v.grad()));
  if (v.needs("imag"))
    v.set("imag", v.un("imag", v.grad()));
}

/// abs * (cos angle + i sin angle)
static void polar(Vjp &v) {
  Value angle = v.value("angle");
  Value x = v.un("real", v.grad()), y = v.un("imag", v.grad());
  Value cos = v.un("cos", angle), sin = v.un("sin", angle);
  if (v.needs("abs"))
    v.set("abs", v.add(v.mul(x, cos), v.mul(y, sin)));
  if (v.needs("angle"))
    v.set("angle", v.mul(v.arg("abs"), v.sub(v.mul(y, cos), v.mul(x, sin))));
}

const VjpFn vjps::add = vjpAny<::add>;
const VjpFn vjps::sub = vjpAny<::sub>;
const VjpFn vjps::rsub = vjpAny<::rsub>;
const VjpFn vjps::mul = vjpAny<::mul>;
const VjpFn vjps::div = vjpAny<::div>;
const VjpFn vjps::divMode = vjp<::divMode>;
const VjpFn vjps::fmod = vjp<::fmod>;
const VjpFn vjps::remainder = vjp<::remainder>;
const VjpFn vjps::addcmul = vjp<::addcmul>;
const VjpFn vjps::addcdiv = vjp<::addcdiv>;
const VjpFn vjps::lerpScalar = vjp<::lerpScalar>;
const VjpFn vjps::lerpTensor = vjp<::lerpTensor>;
const VjpFn vjps::fma = vjp<::fma>;
const VjpFn vjps::atan2 = vjp<::atan2>;
const VjpFn vjps::hypot = vjp<::hypot>;
const VjpFn vjps::xlogy = vjp<::xlogy>;
const VjpFn vjps::logaddexp = vjp<::logaddexp>;
const VjpFn vjps::logaddexp2 = vjp<::logaddexp2>;
const VjpFn vjps::copysign = vjp<::copysign>;
const VjpFn vjps::nextafter = vjp<::nextafter>;
const VjpFn vjps::lowerGamma = ::lowerGamma;
const VjpFn vjps::upperGamma = ::upperGamma;
const VjpFn vjps::powScalar = vjpAny<::powScalar>;
const VjpFn vjps::powTensor = vjp<::powTensor>;
const VjpFn vjps::powOfNumber = vjp<::powOfNumber>;
const VjpFn vjps::maximum = vjp<::maximum>;
const VjpFn vjps::minimum = vjp<::minimum>;
const VjpFn vjps::fmax = vjp<::fmax>;
const VjpFn vjps::fmin = vjp<::fmin>;
const VjpFn vjps::clamp = vjp<::clamp>;
const VjpFn vjps::where = vjpAny<::where>;
const VjpFn vjps::maskedFill = vjpAny<::maskedFill>;
const VjpFn vjps::fill = vjpAny<::fill>;
const VjpFn vjps::draw = vjpAny<::draw>;
const VjpFn vjps::complexOf = vjpAny<::complexOf>;
const VjpFn vjps::polar = vjpAny<::polar>;
