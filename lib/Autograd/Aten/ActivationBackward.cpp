// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of the backward ops of activation functions, for second derivatives.
//
// A backward op is g f'(x), linear in g: with z what arrives,
//   dg = z f'(x)      the op itself on z
//   dx = z g f''(x)   0 for the piecewise linear ones
// With s = sigmoid(x) and t the tanh that stands in f:
//   sigmoid, tanh   of the result y: 1 - 2 y, -2 y
//   silu            s (1 - s) (2 + x (1 - 2 s))
//   gelu            phi(x) (2 - x^2);  by tanh(u), u = k (x + c x^3):
//                   (1 - t^2) (u' + x u'' / 2 - x t u'^2)
//   mish            (1 - t^2) s (2 + x ((1 - s) - 2 t s)),  t = tanh(softplus)
//   elu             g a b^2 exp(b x) where x < 0; of the result: b
//   softplus        b s (1 - s), s of b x, below the threshold
// Where a function has a kink the second derivative is 0, as in PyTorch.

#include "Common.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

/// The op itself on the gradient of its result, in place of its first
/// argument.
static void again(Vjp &v) {
  aten::CallOp op = v.in.getOp();
  const aten::Schema &schema = op.getSchema();
  SmallVector<Arg> positional;
  SmallVector<NamedArg> named;
  for (auto [i, param] : llvm::enumerate(schema.params)) {
    Arg arg = i == 0 ? Arg(v.grad()) : v.arg(unsigned(i));
    if (param.keywordOnly)
      named.push_back({param.name, arg});
    else
      positional.push_back(arg);
  }
  std::string name = (schema.packet + "." + schema.overload).str();
  if (v.needsOperand(0))
    v.set(0u, v.call(name, positional, named));
}

/// Of what is linear in parts: no slope of it changes with the other operands.
static void againAlone(Vjp &v) {
  again(v);
  for (const aten::SchemaParam &param :
       llvm::drop_begin(v.in.getOp().getSchema().params))
    v.setNone(param.name);
}

/// z · g
static Value both(Vjp &v) { return v.mul(v.grad(), v.arg("grad_output")); }

static Value plus(Vjp &v, Value x, double number) {
  return v.call(op::add_Scalar, {x, number});
}
/// number - x
static Value from(Vjp &v, double number, Value x) {
  return v.call(op::rsub_Scalar, {x, number});
}

//===----------------------------------------------------------------------===//
// Smooth functions
//===----------------------------------------------------------------------===//

/// What `bend` makes of `param` is f''.
template <Value bend(Vjp &v, Value x)>
static void smooth(Vjp &v, ParamRef param) {
  again(v);
  if (v.needs(param))
    v.set(param, v.mul(both(v), bend(v, v.value(param))));
}

static Value bendOfSigmoid(Vjp &v, Value y) {
  return from(v, 1, v.scale(y, 2.0));
}
static Value bendOfTanh(Vjp &v, Value y) { return v.scale(y, -2.0); }

/// s (1 - s)
static Value slopeOfSigmoid(Vjp &v, Value s) { return v.mul(s, from(v, 1, s)); }

static Value bendOfSilu(Vjp &v, Value x) {
  Value s = v.un("sigmoid", x);
  Value inner = plus(v, v.mul(x, from(v, 1, v.scale(s, 2.0))), 2);
  return v.mul(slopeOfSigmoid(v, s), inner);
}

static Value bendOfGelu(Vjp &v, Value x) {
  Value square = v.mul(x, x);
  if (v.in.string("approximate") != "tanh") {
    Value density =
        v.scale(v.un("exp", v.scale(square, -0.5)), 1 / std::sqrt(2 * M_PI));
    return v.mul(density, from(v, 2, square));
  }
  double k = std::sqrt(2 / M_PI), c = 0.044715;
  Value u = v.scale(v.mul(x, plus(v, v.scale(square, c), 1)), k);
  Value slope = v.scale(plus(v, v.scale(square, 3 * c), 1), k);
  Value t = v.un("tanh", u);
  // u' + x u'' / 2 - x t u'^2
  Value sum = v.add(slope, v.scale(square, 3 * k * c));
  sum = v.sub(sum, v.mul(v.mul(x, t), v.mul(slope, slope)));
  return v.mul(from(v, 1, v.mul(t, t)), sum);
}

static Value bendOfMish(Vjp &v, Value x) {
  Value s = v.un("sigmoid", x);
  Value t = v.un("tanh", v.un("softplus", x));
  Value inner = v.sub(from(v, 1, s), v.scale(v.mul(t, s), 2.0));
  inner = plus(v, v.mul(x, inner), 2);
  return v.mul(v.mul(from(v, 1, v.mul(t, t)), s), inner);
}

static Value bendOfLogSigmoid(Vjp &v, Value x) {
  return v.neg(slopeOfSigmoid(v, v.un("sigmoid", x)));
}

static void sigmoidBackward(Vjp &v) { smooth<bendOfSigmoid>(v, "output"); }
static void tanhBackward(Vjp &v) { smooth<bendOfTanh>(v, "output"); }
static void siluBackward(Vjp &v) { smooth<bendOfSilu>(v, "self"); }
static void geluBackward(Vjp &v) { smooth<bendOfGelu>(v, "self"); }
static void mishBackward(Vjp &v) { smooth<bendOfMish>(v, "self"); }
static void logSigmoidBackward(Vjp &v) {
  smooth<bendOfLogSigmoid>(v, "self");
  v.setNone("buffer"); // exp(-|self|), or empty
}

//===----------------------------------------------------------------------===//
// Functions of parts
//===----------------------------------------------------------------------===//

static void hardswishBackward(Vjp &v) {
  again(v);
  if (!v.needs("self"))
    return;
  Value inside = v.call(op::lt_Scalar, {v.un("abs", v.value("self")), 3.0});
  v.set("self", v.keepWhere(inside, v.scale(both(v), 1.0 / 3)));
}

static void eluBackward(Vjp &v) {
  again(v);
  if (!v.needs("self_or_result"))
    return;
  Value x = v.value("self_or_result");
  double b = v.in.number("input_scale").value_or(1);
  double a =
      v.in.number("alpha").value_or(1) * v.in.number("scale").value_or(1);
  Value bend = v.scale(both(v), b);
  if (v.in.boolean("is_result") != true)
    bend = v.mul(v.scale(bend, a * b), v.un("exp", v.scale(x, b)));
  // Large positive x would overflow in exp: those elements are dropped.
  v.set("self_or_result", v.keepWhere(v.call(op::le_Scalar, {x, 0.0}), bend));
}

static void softplusBackward(Vjp &v) {
  again(v);
  if (!v.needs("self"))
    return;
  double b = v.in.number("beta").value_or(1);
  Value x = v.scale(v.value("self"), b);
  Value below = v.call(op::le_Scalar, {x, v.arg("threshold")});
  Value bend = v.scale(slopeOfSigmoid(v, v.un("sigmoid", x)), b);
  v.set("self", v.keepWhere(below, v.mul(both(v), bend)));
}

/// g / (x (1 - x)), nothing within eps of 0 and 1.
static void logitBackward(Vjp &v) {
  again(v);
  if (!v.needs("self"))
    return;
  Value x = v.value("self");
  Value product = slopeOfSigmoid(v, x);
  Value bend = v.div(plus(v, v.scale(x, 2.0), -1), v.mul(product, product));
  Value result = v.mul(both(v), bend);
  if (std::optional<double> eps = v.in.number("eps")) {
    Value above = v.call(op::ge_Scalar, {x, *eps});
    Value below = v.call(op::le_Scalar, {x, 1 - *eps});
    result = v.keepWhere(v.call(op::logical_and, {above, below}), result);
  }
  v.set("self", result);
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

/// With x = (a, b), s = sigmoid(b) and d = s (1 - s) the backward is
/// (g s, g a d); z = (p, q) arrives:
///   dg = p s + q a d     da = q g d     db = g d (p + q a (1 - 2 s))
static void gluBackward(Vjp &v) {
  auto halves = [&](Value both) {
    SmallVector<Value> parts = v.b.callMany(op::chunk, {both, 2, v.arg("dim")});
    return parts.size() == 2 ? std::pair(parts[0], parts[1])
                             : std::pair(Value(), Value());
  };
  auto [p, q] = halves(v.grad());
  auto [a, b] = halves(v.value("self"));
  Value s = v.un("sigmoid", b);
  Value d = slopeOfSigmoid(v, s);
  if (v.needs("grad_output"))
    v.set("grad_output", v.add(v.mul(p, s), v.mul(v.mul(q, a), d)));
  if (!v.needs("self"))
    return;
  Value gd = v.mul(v.value("grad_output"), d);
  Value ofGate = v.mul(v.mul(q, a), from(v, 1, v.scale(s, 2.0)));
  v.set("self", v.call(op::cat, {{v.mul(q, gd), v.mul(gd, v.add(p, ofGate))},
                                 v.arg("dim")}));
}

/// The gradients are (g, 0) where x > 0, else (w g, x g).
static void preluBackward(Vjp &v) {
  Value g = v.value("grad_output"), x = v.value("self"), w = v.value("weight");
  Value p = v.gradOrZeros(0), q = v.gradOrZeros(1);
  Value above = v.call(op::gt_Scalar, {x, 0.0});
  if (v.needs("grad_output"))
    v.set("grad_output",
          v.call(op::where_self, {above, p, v.add(v.mul(w, p), v.mul(x, q))}));
  if (v.needs("self"))
    v.set("self", v.dropWhere(above, v.mul(q, g)));
  if (v.needs("weight"))
    v.set("weight", v.dropWhere(above, v.mul(p, g)));
}

const VjpFn vjps::again = vjp<::againAlone>;
const VjpFn vjps::sigmoidBackward = vjp<::sigmoidBackward>;
const VjpFn vjps::tanhBackward = vjp<::tanhBackward>;
const VjpFn vjps::siluBackward = vjp<::siluBackward>;
const VjpFn vjps::geluBackward = vjp<::geluBackward>;
const VjpFn vjps::mishBackward = vjp<::mishBackward>;
const VjpFn vjps::logSigmoidBackward = vjp<::logSigmoidBackward>;
const VjpFn vjps::hardswishBackward = vjp<::hardswishBackward>;
const VjpFn vjps::eluBackward = vjp<::eluBackward>;
const VjpFn vjps::softplusBackward = vjp<::softplusBackward>;
const VjpFn vjps::logitBackward = vjp<::logitBackward>;
const VjpFn vjps::gluBackward = vjp<::gluBackward>;
const VjpFn vjps::preluBackward = vjp<::preluBackward>;
