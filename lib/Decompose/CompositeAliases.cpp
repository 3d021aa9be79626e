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

/// Parameters that the first name does not have fall away.
static Value alias(Rewrite &c) {
  StringRef name = c.op.getInfo().torchName;
  const SecondName *entry =
      llvm::find_if(getSecondNames(),
                    [&](const SecondName &each) { return name == each.name; });
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
  return c.b.call(op::scalar_tensor, {arg}, {{"dtype", type}});
}

static Value where(Rewrite &c) {
  return c.b.call(op::where_self,
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
  Value scaled = c.b.call(op::mul_Tensor, {weight, self});
  Value isPositive = c.b.call(op::gt_Scalar, {self, 0});
  return c.b.call(op::where_self, {isPositive, self, scaled});
}

/// The slope is the mean of the bounds; in training it is drawn between them,
/// for each element.
static Value rrelu(Rewrite &c) {
  double lower = c.r.number("lower").value_or(0.125);
  double upper = c.r.number("upper").value_or(1.0 / 3.0);
  Value self = c.r.value("self");
  if (!c.r.boolean("training").value_or(false))
    return c.b.call(op::leaky_relu, {self, (lower + upper) / 2.0});
  Value slope = c.b.call(op::rand_like, {self});
  slope = c.b.call(op::add_Scalar,
                   {c.b.call(op::mul_Scalar, {slope, upper - lower}), lower});
  Value isPositive = c.b.call(op::gt_Scalar, {self, 0});
  Value scaled = c.b.call(op::mul_Tensor, {self, slope});
  return c.b.call(op::where_self, {isPositive, self, scaled});
}

/// The same, where the slopes are a result, 1 of what is positive; outside of
/// training that is the noise as it came.
static Values rreluWithNoise(Rewrite &c) {
  if (!c.r.boolean("training").value_or(false))
    return {rrelu(c), c.r.value("noise")};
  double lower = c.r.number("lower").value_or(0.125);
  double upper = c.r.number("upper").value_or(1.0 / 3.0);
  Value self = c.r.value("self");
  Value slope =
      c.b.call(op::add_Scalar,
               {c.b.call(op::mul_Scalar,
                         {c.b.call(op::rand_like, {self}), upper - lower}),
                lower});
  Value isPositive = c.b.call(op::gt_Scalar, {self, 0});
  slope = c.b.call(op::where_self,
                   {isPositive, c.b.call(op::ones_like, {slope}), slope});
  return {c.b.call(op::mul_Tensor, {self, slope}), slope};
}

static Value floatPower(Rewrite &c) {
  Type type = elementOf(c.result());
  Value base = c.r.value("self"), exponent = c.r.value("exponent");
  if (!base)
    return c.b.call(op::pow_Scalar,
                    {c.r.arg("self"), castTo(c.b, exponent, type)});
  base = castTo(c.b, base, type);
  if (!exponent)
    return c.b.call(op::pow_Tensor_Scalar, {base, c.r.arg("exponent")});
  return c.b.call(op::pow_Tensor_Tensor, {base, castTo(c.b, exponent, type)});
}

static Value ldexp(Rewrite &c) {
  Value power = c.b.call(op::pow_Scalar, {2.0, c.r.value("other")});
  return c.b.call(op::mul_Tensor, {c.r.value("self"), power});
}

static Value xlog1py(Rewrite &c) {
  Value sum = c.b.call(op::add_Scalar, {c.r.value("other"), 1});
  return c.b.call(op::xlogy_Tensor, {c.r.value("self"), sum});
}

const DecomposeFn decompositions::alias = one<::alias>;
const DecomposeFn decompositions::where = one<::where>;
const DecomposeFn decompositions::prelu = one<::prelu>;
const DecomposeFn decompositions::rrelu = one<::rrelu>;
const DecomposeFn decompositions::rreluWithNoise = many<::rreluWithNoise>;
const DecomposeFn decompositions::floatPower = one<::floatPower>;
const DecomposeFn decompositions::ldexp = one<::ldexp>;
const DecomposeFn decompositions::xlog1py = one<::xlog1py>;
