// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite differences (torch.gradient), lines between ends that are tensors, and
// sequences of several lengths side by side.
//
// Inside, with l and r the distances to both neighbours,
//   f'[i] = -r / (l (l + r)) f[i-1] + (r - l) / (l r) f[i]
//           + l / (r (l + r)) f[i+1],
// which is (f[i+1] - f[i-1]) / 2l where they are equal. At an edge the line
// through two elements or the parabola through three. A line counts from the
// nearer end.

#include "FactorRules.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

//===----------------------------------------------------------------------===//
// Finite differences
//===----------------------------------------------------------------------===//

namespace {

/// Differences along one dimension.
class Differences {
public:
  Differences(CallBuilder &b, Value self, int64_t dim, int64_t order)
      : b(b), self(self), dim(dim), order(order) {}

  Value evenly(double distance) {
    Value inside = b.call(op::sub_Tensor, {from(2), until(-2)});
    Value first, last;
    if (order == 1) {
      first = sum({{-2, one(0)}, {2, one(1)}});
      last = sum({{-2, one(-2)}, {2, one(-1)}});
    } else {
      first = sum({{-3, one(0)}, {4, one(1)}, {-1, one(2)}});
      last = sum({{1, one(-3)}, {-4, one(-2)}, {3, one(-1)}});
    }
    Value all = b.call(op::cat, {{first, inside, last}, dim});
    return b.call(op::div_Scalar, {all, 2 * distance});
  }

  /// `places` has the coordinate of each element.
  Value at(Value places) {
    Value gaps = Differences(b, places, 0, 1).steps();
    for (int64_t i = dim + 1; i < rankOf(self); ++i)
      gaps = b.call(op::unsqueeze, {gaps, -1});
    Differences g(b, gaps, 0, 1);
    Value left = g.until(-1), right = g.from(1);
    Value inside = parabola(left, right, {until(-2), middle(), from(2)}, 1);
    Value first, last;
    if (order == 1) {
      first = div(sum({{-1, one(0)}, {1, one(1)}}), g.one(0));
      last = div(sum({{-1, one(-2)}, {1, one(-1)}}), g.one(-1));
    } else {
      first = parabola(g.one(0), g.one(1), {one(0), one(1), one(2)}, 0);
      last = parabola(g.one(-2), g.one(-1), {one(-3), one(-2), one(-1)}, 2);
    }
    return b.call(op::cat, {{first, inside, last}, dim});
  }

private:
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

  Value from(int64_t start) { return sliceOf(b, self, dim, start, kEnd); }
  Value until(int64_t end) { return sliceOf(b, self, dim, 0, end); }
  Value middle() { return sliceOf(b, self, dim, 1, -1); }
  /// One element, counted from the end where negative.
  Value one(int64_t at) {
    return sliceOf(b, self, dim, at, at == -1 ? kEnd : at + 1);
  }
  Value steps() { return b.call(op::sub_Tensor, {from(1), until(-1)}); }
  Value mul(Value x, Value y) { return b.call(op::mul_Tensor, {x, y}); }
  Value add(Value x, Value y) { return b.call(op::add_Tensor, {x, y}); }
  Value sub(Value x, Value y) { return b.call(op::sub_Tensor, {x, y}); }
  Value div(Value x, Value y) { return b.call(op::div_Tensor, {x, y}); }

  Value sum(ArrayRef<std::pair<double, Value>> terms) {
    Value result;
    for (auto [factor, value] : terms) {
      Value term =
          factor == 1 ? value : b.call(op::mul_Scalar, {value, factor});
      result = result ? add(result, term) : term;
    }
    return result;
  }

  /// The slope at point 0, 1 or 2 of the parabola through three points that
  /// are `l` and `r` apart.
  Value parabola(Value l, Value r, ArrayRef<Value> f, int point) {
    Value whole = add(l, r),
          products[3] = {mul(l, whole), mul(l, r), mul(r, whole)};
    Value tops[3];
    if (point == 0) {
      tops[0] = b.call(op::neg, {add(l, whole)});
      tops[1] = whole;
      tops[2] = b.call(op::neg, {l});
    } else if (point == 1) {
      tops[0] = b.call(op::neg, {r});
      tops[1] = sub(r, l);
      tops[2] = l;
    } else {
      tops[0] = r;
      tops[1] = b.call(op::neg, {whole});
      tops[2] = add(r, whole);
    }
    Value result;
    for (int i = 0; i < 3; ++i) {
      Value term = mul(f[i], div(tops[i], products[i]));
      result = result ? add(result, term) : term;
    }
    return result;
  }

  CallBuilder &b;
  Value self;
  int64_t dim, order;
};

} // namespace

static Values gradient(Rewrite &c) {
  Value self = castTo(c.b, c.r.value("self"), elementOf(c.result()));
  int64_t rank = rankOf(self);
  int64_t order = c.r.integer("edge_order").value_or(1);
  SmallVector<int64_t> dims;
  StringRef overload = c.op.getSchema().overload;
  if (overload.ends_with("array"))
    dims = c.r.integers("dim").value_or(SmallVector<int64_t>());
  else if (std::optional<int64_t> dim = c.r.integer("dim"))
    dims = {*dim};
  else
    dims = allDims(self);
  std::vector<Arg> spacing;
  if (overload != "array")
    spacing = overload == "scalarint" || overload == "scalararray"
                  ? std::vector<Arg>(dims.size(), c.r.arg(optional("spacing")))
                  : c.r.list(optional("spacing"));
  Values results;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Arg distance = i < spacing.size() ? spacing[i] : Arg();
    Differences along(c.b, self, wrapDim(dim, rank), order);
    if (distance.isValue() &&
        !isa<RankedTensorType>(distance.getValue().getType())) {
      c.b.error("'aten.gradient' needs distances that are numbers or tensors");
      return {};
    }
    results.push_back(distance.isValue()
                          ? along.at(distance.getValue())
                          : along.evenly(distance.getNumber().value_or(1.0)));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Lines, sequences
//===----------------------------------------------------------------------===//

static Value lineBetween(Rewrite &c) {
  CallBuilder &b = c.b;
  Type type = elementOf(c.result());
  auto end = [&](const char *param) {
    Value value = c.r.value(param);
    return value
               ? castTo(b, value, type)
               : b.call(op::scalar_tensor, {c.r.arg(param)}, {{"dtype", type}});
  };
  int64_t steps = c.r.integer("steps").value_or(0);
  Value first = end("start"), last = end("end");
  auto powers = [&](Value line) {
    return c.packet() == "aten.linspace"
               ? line
               : b.call(op::pow_Scalar, {c.r.arg(optional("base")), line});
  };
  if (steps <= 1)
    return powers(expandTo(b, first, {Arg(steps)}));
  Value step = b.call(op::div_Scalar,
                      {b.call(op::sub_Tensor, {last, first}), steps - 1});
  auto complex = dyn_cast<ComplexType>(type);
  Value count = b.call(op::arange, {steps},
                       {{"dtype", complex ? complex.getElementType() : type}});
  Value back = b.call(op::rsub_Scalar, {count, steps - 1});
  Value isFirst = b.call(op::lt_Scalar, {count, steps / 2});
  Value up =
      b.call(op::add_Tensor, {first, b.call(op::mul_Tensor, {count, step})});
  Value down =
      b.call(op::sub_Tensor, {last, b.call(op::mul_Tensor, {back, step})});
  return powers(b.call(op::where_self, {isFirst, up, down}));
}

static Value padSequence(Rewrite &c) {
  std::vector<Arg> sequences = c.r.list("sequences");
  bool batchFirst = c.r.boolean("batch_first").value_or(false);
  bool isLeft = c.r.string("padding_side") == "left";
  int64_t longest = shapeOf(c.result())[batchFirst ? 1 : 0];
  for (Arg &sequence : sequences) {
    Value value = sequence.getValue();
    int64_t length = shapeOf(value)[0];
    if (ShapedType::isDynamic(longest) || ShapedType::isDynamic(length)) {
      c.b.error("'aten.pad_sequence' of lengths that are not known");
      return {};
    }
    std::vector<Arg> pad(2 * rankOf(value), Arg(int64_t(0)));
    // The last dimension comes first.
    pad[pad.size() - (isLeft ? 2 : 1)] = Arg(longest - length);
    if (length != longest)
      sequence = Arg(c.b.call(op::constant_pad_nd,
                              {value, pad, c.r.arg("padding_value")}));
  }
  return c.b.call(op::stack, {sequences, batchFirst ? 0 : 1});
}

/// As many steps as the result has elements.
static Value range(Rewrite &c) {
  CallBuilder &b = c.b;
  Type type = elementOf(c.result());
  int64_t count = shapeOf(c.result())[0];
  if (ShapedType::isDynamic(count)) {
    b.error("'aten.range' of bounds that are not known");
    return {};
  }
  Value steps = b.call(op::arange, {count}, {{"dtype", type}});
  if (!c.r.isNone(optional("step")))
    steps = b.call(op::mul_Scalar, {steps, c.r.arg(optional("step"))});
  return b.call(op::add_Scalar, {steps, c.r.arg("start")});
}

const DecomposeFn decompositions::range = one<::range>;
const DecomposeFn decompositions::gradient = many<::gradient>;
const DecomposeFn decompositions::lineBetween = one<::lineBetween>;
const DecomposeFn decompositions::padSequence = one<::padSequence>;
