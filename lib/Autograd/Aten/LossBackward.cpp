// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of the backward ops of losses of two classes, for second derivatives.
//
// A backward op is n g l'(x, t), where n is 1 over the number of elements of a
// mean. With z what arrives:
//   dg = n z l'(x, t), summed      the op itself on z, where g is one number
//   dx = n z g d l'/dx             dt = n z g d l'/dt
// Binary cross entropy has l' = (x - t) / (x (1 - x)), the soft margin
// l' = -t sigmoid(-t x). Losses of a difference are in SecondOrder.cpp.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static Value oneMinus(Vjp &v, Value x) {
  return v.call(op::rsub_Scalar, {x, 1});
}

/// z g n, with the weight where there is one.
static Value common(Vjp &v) {
  Value factor = v.mul(v.grad(), v.value("grad_output"));
  if (Value weight = v.value(optional("weight")))
    factor = v.mul(factor, weight);
  if (v.in.integer("reduction") == 1)
    factor = v.div(factor, v.b.numel(v.grad()));
  return factor;
}

/// The op itself with z in place of the gradient.
static Value onGradient(Vjp &v) {
  std::vector<Arg> args = {v.grad(), v.arg("self"), v.arg("target")};
  if (v.in.getOp().getSchema().find("weight") >= 0)
    args.push_back(v.arg(optional("weight")));
  args.push_back(v.arg("reduction"));
  return v.call(v.in.getOp().getInfo().torchName, args);
}

static void crossEntropyOfTwoBackward(Vjp &v) {
  if (v.needs("grad_output"))
    v.set("grad_output", onGradient(v));
  if (!v.needs("self") && !v.needs("target"))
    return;
  Value x = v.value("self"), t = v.value("target");
  // As in the op: a class that is certain has a finite slope.
  Value product = v.call(op::clamp_min, {v.mul(x, oneMinus(v, x)), 1e-12});
  if (v.needs("self")) {
    // x^2 - 2 x t + t
    Value bend = v.add(v.mul(x, v.sub(x, v.scale(t, 2.0))), t);
    v.set("self", v.div(v.mul(common(v), bend), v.mul(product, product)));
  }
  if (v.needs("target"))
    v.set("target", v.neg(v.div(common(v), product)));
}

static void softMarginBackward(Vjp &v) {
  if (v.needs("grad_output"))
    v.set("grad_output", onGradient(v));
  if (!v.needs("self") && !v.needs("target"))
    return;
  Value x = v.value("self"), t = v.value("target");
  Value wrong = v.un("sigmoid", v.neg(v.mul(t, x)));
  Value slope = v.mul(wrong, oneMinus(v, wrong));
  if (v.needs("self"))
    v.set("self", v.mul(common(v), v.mul(slope, v.mul(t, t))));
  if (v.needs("target"))
    v.set("target", v.mul(common(v), v.sub(v.mul(v.mul(t, x), slope), wrong)));
}

const VjpFn vjps::crossEntropyOfTwoBackward = vjp<::crossEntropyOfTwoBackward>;
const VjpFn vjps::softMarginBackward = vjp<::softMarginBackward>;
