// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops with two names: the second one is replaced by the first, argument by
// argument. Then ops that are one or two elementwise ops.
//
// A number that stands for a tensor (`where.Scalar`) becomes a tensor without
// dimensions of the result's type, so that nothing is promoted by it.

#include "Rules.h"

#include "cutback/Dialect/Aten/SecondNames.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// Besides those of SecondNames.h; parameters that the other one does not have
/// fall away.
static constexpr SecondName moreNames[] = {
    {"aten.true_divide.Tensor", "aten.div.Tensor"},
    {"aten.true_divide.Scalar", "aten.div.Scalar"},
    {"aten.floor_divide.Scalar", "aten.floor_divide.default"},
    {"aten.special_erfinv.default", "aten.erfinv.default"},
    {"aten.special_i0.default", "aten.i0.default"},
    {"aten.special_polygamma.default", "aten.polygamma.default"},
    {"aten.special_gammainc.default", "aten.igamma.default"},
    {"aten.special_gammaincc.default", "aten.igammac.default"},
    {"aten.special_chebyshev_polynomial_t.n_scalar",
     "aten.special_chebyshev_polynomial_t.default"},
    {"aten.special_chebyshev_polynomial_t.x_scalar",
     "aten.special_chebyshev_polynomial_t.default"},
    {"aten.special_chebyshev_polynomial_u.n_scalar",
     "aten.special_chebyshev_polynomial_u.default"},
    {"aten.special_chebyshev_polynomial_u.x_scalar",
     "aten.special_chebyshev_polynomial_u.default"},
    {"aten.special_chebyshev_polynomial_v.n_scalar",
     "aten.special_chebyshev_polynomial_v.default"},
    {"aten.special_chebyshev_polynomial_v.x_scalar",
     "aten.special_chebyshev_polynomial_v.default"},
    {"aten.special_chebyshev_polynomial_w.n_scalar",
     "aten.special_chebyshev_polynomial_w.default"},
    {"aten.special_chebyshev_polynomial_w.x_scalar",
     "aten.special_chebyshev_polynomial_w.default"},
    {"aten.special_hermite_polynomial_h.n_scalar",
     "aten.special_hermite_polynomial_h.default"},
    {"aten.special_hermite_polynomial_h.x_scalar",
     "aten.special_hermite_polynomial_h.default"},
    {"aten.special_hermite_polynomial_he.n_scalar",
     "aten.special_hermite_polynomial_he.default"},
    {"aten.special_hermite_polynomial_he.x_scalar",
     "aten.special_hermite_polynomial_he.default"},
    {"aten.special_laguerre_polynomial_l.n_scalar",
     "aten.special_laguerre_polynomial_l.default"},
    {"aten.special_laguerre_polynomial_l.x_scalar",
     "aten.special_laguerre_polynomial_l.default"},
    {"aten.special_legendre_polynomial_p.n_scalar",
     "aten.special_legendre_polynomial_p.default"},
    {"aten.special_legendre_polynomial_p.x_scalar",
     "aten.special_legendre_polynomial_p.default"},
    {"aten.special_shifted_chebyshev_polynomial_t.n_scalar",
     "aten.special_shifted_chebyshev_polynomial_t.default"},
    {"aten.special_shifted_chebyshev_polynomial_t.x_scalar",
     "aten.special_shifted_chebyshev_polynomial_t.default"},
    {"aten.special_shifted_chebyshev_polynomial_u.n_scalar",
     "aten.special_shifted_chebyshev_polynomial_u.default"},
    {"aten.special_shifted_chebyshev_polynomial_u.x_scalar",
     "aten.special_shifted_chebyshev_polynomial_u.default"},
    {"aten.special_shifted_chebyshev_polynomial_v.n_scalar",
     "aten.special_shifted_chebyshev_polynomial_v.default"},
    {"aten.special_shifted_chebyshev_polynomial_v.x_scalar",
     "aten.special_shifted_chebyshev_polynomial_v.default"},
    {"aten.special_shifted_chebyshev_polynomial_w.n_scalar",
     "aten.special_shifted_chebyshev_polynomial_w.default"},
    {"aten.special_shifted_chebyshev_polynomial_w.x_scalar",
     "aten.special_shifted_chebyshev_polynomial_w.default"},
    {"aten.special_modified_bessel_i0.default", "aten.i0.default"},
    {"aten.special_modified_bessel_i1.default", "aten.special_i1.default"},
    {"aten.searchsorted.Scalar", "aten.searchsorted.Tensor"},
    {"aten.bucketize.Scalar", "aten.bucketize.Tensor"},
    {"aten.special_zeta.self_scalar", "aten.special_zeta.default"},
    {"aten.special_zeta.other_scalar", "aten.special_zeta.default"},
    {"aten.special_xlogy.other_scalar", "aten.xlogy.Scalar_Other"},
    {"aten.special_xlogy.self_scalar", "aten.xlogy.Scalar_Self"},
    {"aten.max.other", "aten.maximum.default"},
    {"aten.min.other", "aten.minimum.default"},
    {"aten.__and__.Tensor", "aten.bitwise_and.Tensor"},
    {"aten.__and__.Scalar", "aten.bitwise_and.Scalar"},
    {"aten.__or__.Tensor", "aten.bitwise_or.Tensor"},
    {"aten.__or__.Scalar", "aten.bitwise_or.Scalar"},
    {"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor"},
    {"aten.__xor__.Scalar", "aten.bitwise_xor.Scalar"},
    {"aten.__lshift__.Tensor", "aten.bitwise_left_shift.Tensor"},
    {"aten.__lshift__.Scalar", "aten.bitwise_left_shift.Tensor_Scalar"},
    {"aten.__rshift__.Tensor", "aten.bitwise_right_shift.Tensor"},
    {"aten.__rshift__.Scalar", "aten.bitwise_right_shift.Tensor_Scalar"},
    {"aten._convolution.default", "aten.convolution.default"},
    {"aten._conj_copy.default", "aten._conj_physical.default"},
    {"aten._neg_view.default", "aten.neg.default"},
    {"aten._neg_view_copy.default", "aten.neg.default"},
    {"aten._lazy_clone.default", "aten.clone.default"},
    {"aten._stack.default", "aten.stack.default"},
    {"aten.data.default", "aten.detach.default"},
};

static Value alias(Rewrite &c) {
  StringRef name = c.op.getInfo().torchName;
  auto isIt = [&](const SecondName &entry) { return name == entry.name; };
  const SecondName *entry = llvm::find_if(moreNames, isIt);
  if (entry == std::end(moreNames))
    entry = llvm::find_if(getSecondNames(), isIt);
  SmallVector<NamedArg> args;
  const Schema *meant =
      SchemaTable::get(c.b.getBuilder().getContext()).lookup(entry->meant);
  for (auto [i, param] : llvm::enumerate(c.op.getSchema().params))
    if (meant && meant->find(param.name) >= 0)
      args.push_back({param.name, c.r.arg(static_cast<int>(i))});
  return c.b.call(entry->meant, {}, args);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A 0-d tensor of the result's type for a number.
static Value asTensor(Rewrite &c, const Arg &arg) {
  Type type = elementOf(c.result());
  if (Value value = arg.getValue();
      value && isa<RankedTensorType>(value.getType()))
    return castTo(c.b, value, type);
  return c.b.call("aten.scalar_tensor.default", {arg}, {{"dtype", type}});
}

static Value where(Rewrite &c) {
  return c.b.call("aten.where.self",
                  {c.r.value("condition"), asTensor(c, c.r.arg("self")),
                   asTensor(c, c.r.arg("other"))});
}

/// Negative elements times the weight of their channel (dimension 1).
static Value prelu(Rewrite &c) {
  Value self = c.r.value("self"), weight = c.r.value("weight");
  if (rankOf(weight) == 1 && shapeOf(weight)[0] != 1 && rankOf(self) > 1) {
    std::vector<Arg> sizes(rankOf(self), Arg(int64_t(1)));
    sizes[1] = c.b.size(weight, 0);
    weight = viewAs(c.b, weight, sizes);
  } else if (rankOf(weight) == 1 && rankOf(self) == 0) {
    weight = viewAs(c.b, weight, {});
  }
  Value scaled = c.b.call("aten.mul.Tensor", {weight, self});
  Value isPositive = c.b.call("aten.gt.Scalar", {self, 0});
  return c.b.call("aten.where.self", {isPositive, self, scaled});
}

/// The slope is the mean of the bounds; in training it is drawn between them,
/// for each element.
static Value rrelu(Rewrite &c) {
  double lower = c.r.number("lower").value_or(0.125);
  double upper = c.r.number("upper").value_or(1.0 / 3.0);
  Value self = c.r.value("self");
  if (!c.r.boolean("training").value_or(false))
    return c.b.call("aten.leaky_relu.default", {self, (lower + upper) / 2.0});
  Value slope = c.b.call("aten.rand_like.default", {self});
  slope =
      c.b.call("aten.add.Scalar",
               {c.b.call("aten.mul.Scalar", {slope, upper - lower}), lower});
  Value isPositive = c.b.call("aten.gt.Scalar", {self, 0});
  Value scaled = c.b.call("aten.mul.Tensor", {self, slope});
  return c.b.call("aten.where.self", {isPositive, self, scaled});
}

/// The same, where the slopes are a result, 1 of what is positive; outside of
/// training that is the noise as it came.
static Values rreluWithNoise(Rewrite &c) {
  if (!c.r.boolean("training").value_or(false))
    return {rrelu(c), c.r.value("noise")};
  double lower = c.r.number("lower").value_or(0.125);
  double upper = c.r.number("upper").value_or(1.0 / 3.0);
  Value self = c.r.value("self");
  Value slope = c.b.call(
      "aten.add.Scalar",
      {c.b.call("aten.mul.Scalar",
                {c.b.call("aten.rand_like.default", {self}), upper - lower}),
       lower});
  Value isPositive = c.b.call("aten.gt.Scalar", {self, 0});
  slope = c.b.call(
      "aten.where.self",
      {isPositive, c.b.call("aten.ones_like.default", {slope}), slope});
  return {c.b.call("aten.mul.Tensor", {self, slope}), slope};
}

static Value floatPower(Rewrite &c) {
  Type type = elementOf(c.result());
  Value base = c.r.value("self"), exponent = c.r.value("exponent");
  if (!base)
    return c.b.call("aten.pow.Scalar",
                    {c.r.arg("self"), castTo(c.b, exponent, type)});
  base = castTo(c.b, base, type);
  if (!exponent)
    return c.b.call("aten.pow.Tensor_Scalar", {base, c.r.arg("exponent")});
  return c.b.call("aten.pow.Tensor_Tensor",
                  {base, castTo(c.b, exponent, type)});
}

static Value ldexp(Rewrite &c) {
  Value power = c.b.call("aten.pow.Scalar", {2.0, c.r.value("other")});
  return c.b.call("aten.mul.Tensor", {c.r.value("self"), power});
}

static Value xlog1py(Rewrite &c) {
  Value sum = c.b.call("aten.add.Scalar", {c.r.value("other"), 1});
  return c.b.call("aten.xlogy.Tensor", {c.r.value("self"), sum});
}

RuleTable decompose::aliasRules() {
  static const std::vector<DecomposeRule> rules = [] {
    std::vector<DecomposeRule> table = {
        {"aten.where.Scalar", one<where>},
        {"aten.where.ScalarSelf", one<where>},
        {"aten.where.ScalarOther", one<where>},
        {"aten.prelu.default", one<prelu>},
        {"aten.rrelu.default", one<rrelu>},
        {"aten.rrelu_with_noise_functional.default", many<rreluWithNoise>},
        {"aten.float_power.Tensor_Tensor", one<floatPower>},
        {"aten.float_power.Tensor_Scalar", one<floatPower>},
        {"aten.float_power.Scalar", one<floatPower>},
        {"aten.ldexp.Tensor", one<ldexp>},
        {"aten.special_xlog1py.default", one<xlog1py>},
    };
    for (ArrayRef<SecondName> names :
         {getSecondNames(), ArrayRef<SecondName>(moreNames)})
      for (const SecondName &entry : names)
        table.push_back({entry.name, one<alias>});
    return table;
  }();
  return rules;
}
