// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on complex numbers as ops on their parts, which kernels have: a complex
// tensor is the view of a real one with the two parts of a number side by side,
// in a last dimension. Sums and copies are those of that tensor; a product is
//
//   (a + bi) (c + di) = (ac - bd) + (ad + bc) i
//
// with each product and sum rounded, as PyTorch does it. The rules are of the
// list of core ops alone, and apply to complex operands or results. Transforms
// have rules of their own (CoreSpectral.cpp); factorizations stay as they are.

#include "ComplexParts.h"
#include "CoreRules.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

bool decompose::isComplex(Value value) {
  return isa<ComplexType>(getElementTypeOrSelf(value.getType()));
}
bool decompose::areAllComplex(CallOp op) {
  return llvm::all_of(op->getOperands(), isComplex);
}
static bool hasComplexOperand(CallOp op) {
  return llvm::any_of(op->getOperands(), isComplex);
}

/// A product, quotient or sum of complex tensors, or of one with a real tensor
/// or number.
static bool isOfComplex(CallOp op) {
  CallReader call(op);
  return hasComplexOperand(op) && isComplex(op->getResult(0)) &&
         llvm::all_of(op->getOperands(),
                      [](Value operand) {
                        return isa<RankedTensorType>(operand.getType());
                      }) &&
         (call.value("other") || call.number("other"));
}

using Parts = ComplexParts;

/// The real tensor that `value` is seen from, as a view or as a copy; null if
/// there is none.
static Value realBehind(Value value) {
  auto call = value.getDefiningOp<CallOp>();
  bool isView = call && call.getSchema().packet == "aten.view_as_complex";
  return isView ? CallReader(call).value("self") : Value();
}
/// `value` with its parts in a last dimension.
static Value asReal(CallBuilder &b, Value value) {
  Value real = realBehind(value);
  return real ? real : b.call("aten.view_as_real.default", {value});
}
static bool isOfRealView(CallOp op) {
  return bool(realBehind(op->getOperand(0)));
}
/// A real tensor, seen as complex and as real again.
static Value unviewed(Rewrite &c) { return asReal(c.b, c.r.value("self")); }
static Value asComplex(CallBuilder &b, Value both) {
  return b.call("aten.view_as_complex.default", {both});
}
Type decompose::partTypeOf(Value complex) {
  return cast<ComplexType>(elementOf(complex)).getElementType();
}
Value decompose::fromParts(CallBuilder &b, Value real, Value imaginary) {
  return asComplex(
      b, b.call("aten.stack.default", {std::vector<Arg>{real, imaginary}, -1}));
}
Parts decompose::partsOf(CallBuilder &b, Value value, Value like) {
  if (!isComplex(value))
    return {castTo(b, value, partTypeOf(like)), Value()};
  Value both = asReal(b, value);
  auto part = [&](int64_t which) {
    return b.call("aten.select.int", {both, -1, which});
  };
  return {part(0), part(1)};
}

static Value times(CallBuilder &b, Value x, Value y) {
  return b.call("aten.mul.Tensor", {x, y});
}

/// (a + bi) (c + di), each of the four products made by `by`.
static Value productOf(CallBuilder &b, Parts x, Parts y,
                       llvm::function_ref<Value(Value, Value)> by) {
  Value real = b.call("aten.sub.Tensor",
                      {by(x.real, y.real), by(x.imaginary, y.imaginary)});
  Value imaginary = b.call("aten.add.Tensor",
                           {by(x.real, y.imaginary), by(x.imaginary, y.real)});
  return fromParts(b, real, imaginary);
}

static Value product(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), other = c.r.value("other");
  if (!other)
    return asComplex(
        b, b.call("aten.mul.Scalar", {asReal(b, self), *c.r.number("other")}));
  Parts x = partsOf(b, self, c.result()), y = partsOf(b, other, c.result());
  if (!x.imaginary)
    std::swap(x, y);
  if (!y.imaginary)
    return fromParts(b, times(b, x.real, y.real),
                     times(b, x.imaginary, y.real));
  return productOf(b, x, y, [&](Value p, Value q) { return times(b, p, q); });
}

/// By the conjugate: overflows where the square of a divisor does.
static Value quotient(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self"), other = c.r.value("other");
  if (!other)
    return asComplex(
        b, b.call("aten.div.Scalar", {asReal(b, self), *c.r.number("other")}));
  auto over = [&](Value x, Value y) {
    return b.call("aten.div.Tensor", {x, y});
  };
  Parts x = partsOf(b, self, c.result()), y = partsOf(b, other, c.result());
  if (!y.imaginary)
    return fromParts(b, over(x.real, y.real), over(x.imaginary, y.real));
  Value square =
      b.call("aten.add.Tensor",
             {times(b, y.real, y.real), times(b, y.imaginary, y.imaginary)});
  Value real = times(b, x.real, y.real),
        imaginary = b.call("aten.neg.default", {times(b, x.real, y.imaginary)});
  if (x.imaginary) {
    real =
        b.call("aten.add.Tensor", {real, times(b, x.imaginary, y.imaginary)});
    imaginary =
        b.call("aten.add.Tensor", {imaginary, times(b, x.imaginary, y.real)});
  }
  return fromParts(b, over(real, square), over(imaginary, square));
}

/// Sums and differences: part by part.
static Value sum(Rewrite &c) {
  CallBuilder &b = c.b;
  std::string name = (c.packet() + ".Tensor").str();
  std::vector<NamedArg> alpha;
  if (std::optional<double> given = c.r.number("alpha"))
    alpha.push_back({"alpha", *given});
  Value self = c.r.value("self"), other = c.r.value("other");
  if (!other) {
    Parts x = partsOf(b, self, c.result());
    return fromParts(b, b.call(name, {x.real, *c.r.number("other")}, alpha),
                     x.imaginary);
  }
  if (isComplex(self) && isComplex(other) &&
      rankOf(self) == rankOf(other)) // else the last dimensions do not meet
    return asComplex(b,
                     b.call(name, {asReal(b, self), asReal(b, other)}, alpha));
  Parts x = partsOf(b, self, c.result()), y = partsOf(b, other, c.result());
  auto zeros = [&](Value like) {
    return b.call("aten.zeros_like.default", {like});
  };
  Value real = b.call(name, {x.real, y.real}, alpha);
  Value imaginary = b.call(name,
                           {x.imaginary ? x.imaginary : zeros(x.real),
                            y.imaginary ? y.imaginary : zeros(y.real)},
                           alpha);
  return fromParts(b, real, imaginary);
}

bool decompose::isComplexSum(CallOp op) { return hasComplexOperand(op); }
/// The dimensions of `self` that an argument lists, counted from 0.
static SmallVector<int64_t> dimsIn(const CallReader &call, ParamRef param) {
  SmallVector<int64_t> dims;
  for (int64_t dim : call.integers(param).value_or(SmallVector<int64_t>()))
    dims.push_back(wrapDim(dim, rankOf(call.value("self"))));
  return dims;
}

/// Of all elements, or along dimensions.
Value decompose::complexSum(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  SmallVector<int64_t> dims;
  bool keeps = false;
  if (c.op.getSchema().find("dim") >= 0) {
    dims = dimsIn(c.r, "dim");
    keeps = c.r.boolean("keepdim").value_or(false);
  }
  if (dims.empty())
    dims = allDims(self);
  if (dims.empty()) // a number is its own sum
    return asComplex(b, b.call("aten.clone.default", {asReal(b, self)}));
  return asComplex(
      b, b.call("aten.sum.dim_IntList", {asReal(b, self), dims, keeps}));
}

static Value ofPolar(CallBuilder &b, Value length, Value angle) {
  return fromParts(b, times(b, length, b.call("aten.cos.default", {angle})),
                   times(b, length, b.call("aten.sin.default", {angle})));
}
static Value polar(Rewrite &c) {
  return ofPolar(c.b, c.r.value("abs"), c.r.value("angle"));
}
static Value exponential(Rewrite &c) {
  Parts x = partsOf(c.b, c.r.value("self"), c.result());
  return ofPolar(c.b, c.b.call("aten.exp.default", {x.real}), x.imaginary);
}

/// What lies on the unit circle; zero stays.
static Value direction(Rewrite &c) {
  CallBuilder &b = c.b;
  Parts x = partsOf(b, c.r.value("self"), c.result());
  Value length = b.call("aten.hypot.default", {x.real, x.imaginary});
  Value isZero = b.call("aten.eq.Scalar", {length, 0.0});
  auto over = [&](Value part) {
    return b.call("aten.where.self",
                  {isZero, part, b.call("aten.div.Tensor", {part, length})});
  };
  return fromParts(b, over(x.real), over(x.imaginary));
}

/// Products of matrices: four of real ones.
static Value matrices(Rewrite &c) {
  CallBuilder &b = c.b;
  std::string name = (c.packet() + ".default").str();
  Parts x = partsOf(b, c.r.value("self"), c.result()),
        y = partsOf(b, c.r.value("mat2"), c.result());
  return productOf(b, x, y, [&](Value left, Value right) {
    return b.call(name, {left, right});
  });
}

/// To complex numbers of another precision, or from real ones.
static bool isToComplex(CallOp op) { return isComplex(op->getResult(0)); }
static Value converted(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  Type part = partTypeOf(c.result());
  if (isComplex(self)) {
    Value both = asReal(b, self), cast = castTo(b, both, part);
    return asComplex(b, cast == both ? b.call("aten.clone.default", {both})
                                     : cast);
  }
  Value real = castTo(b, self, part);
  return fromParts(b, real, b.call("aten.zeros_like.default", {real}));
}

/// Moves of whole numbers; of both parts alike.
static bool isMove(CallOp op) {
  CallReader call(op);
  StringRef packet = op.getSchema().packet;
  Value self = call.value("self");
  if (!self || !isComplex(self))
    return false;
  if (packet.ends_with("_scatter"))
    return isComplex(call.value("src"));
  if (packet == "aten.constant_pad_nd") // of both parts the same
    return call.number("value").value_or(0) == 0;
  if (packet == "aten.roll") // else of the tensor as one line
    return !call.list("dims").empty();
  return true;
}
static Value moved(Rewrite &c) {
  CallBuilder &b = c.b;
  StringRef packet = c.packet();
  Value self = c.r.value("self");
  std::vector<Arg> args = {asReal(b, self)};
  auto addDim = [&] {
    args.push_back(wrapDim(c.r.integer("dim").value_or(0), rankOf(self)));
  };
  if (packet == "aten.slice_scatter" || packet == "aten.select_scatter") {
    args.push_back(asReal(b, c.r.value("src")));
    addDim();
    if (packet == "aten.select_scatter")
      args.push_back(c.r.arg("index"));
    else
      for (const char *bound : {"start", "end", "step"})
        args.push_back(c.r.arg(bound));
  } else if (packet == "aten.constant_pad_nd") {
    std::vector<Arg> pads = {0, 0};
    llvm::append_range(pads, c.r.list("pad"));
    args.push_back(pads);
  } else if (packet == "aten.flip") {
    args.push_back(dimsIn(c.r, "dims"));
  } else if (packet == "aten.roll") {
    args.push_back(c.r.list("shifts"));
    args.push_back(dimsIn(c.r, "dims"));
  } else {
    addDim();
    args.push_back(c.r.arg("index"));
  }
  return asComplex(b, b.call((packet + ".default").str(), args));
}

/// Zeros of given sizes, or of those of another tensor.
static Value zeros(Rewrite &c) {
  CallBuilder &b = c.b;
  Type part = partTypeOf(c.result());
  std::vector<Arg> sizes = c.packet() == "aten.zeros_like"
                               ? b.sizes(c.r.value("self")).getList().vec()
                               : c.r.list("size");
  sizes.push_back(2);
  return asComplex(b, b.call("aten.zeros.default", {sizes}, {{"dtype", part}}));
}

/// The gradient of a slice or of an element along a dimension.
static bool isMoveBack(CallOp op) {
  return isComplex(op->getOperand(0)) && isComplex(op->getResult(0));
}
static Value movedBack(Rewrite &c) {
  CallBuilder &b = c.b;
  std::vector<Arg> sizes = c.r.list("input_sizes");
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0),
                        static_cast<int64_t>(sizes.size()));
  sizes.push_back(2);
  std::vector<Arg> args = {asReal(b, c.r.value("grad_output")), sizes, dim};
  if (c.packet() == "aten.select_backward")
    args.push_back(c.r.arg("index"));
  else
    for (const char *bound : {"start", "end", "step"})
      args.push_back(c.r.arg(bound));
  return asComplex(b, b.call((c.packet() + ".default").str(), args));
}

/// Under other sizes: where strides do not allow that it is a copy, of parts.
static Value viewed(Rewrite &c) {
  std::vector<Arg> sizes = c.b.sizes(c.result()).getList().vec();
  sizes.push_back(2);
  return asComplex(c.b, c.b.call("aten.view.default",
                                 {asReal(c.b, c.r.value("self")), sizes}));
}

/// One real number everywhere.
static bool isFullOfReal(CallOp op) {
  return isComplex(op->getResult(0)) && CallReader(op).number("fill_value");
}
static Value full(Rewrite &c) {
  CallBuilder &b = c.b;
  Type part = partTypeOf(c.result());
  std::vector<Arg> sizes = c.r.list("size");
  Value real = b.call("aten.full.default", {sizes, *c.r.number("fill_value")},
                      {{"dtype", part}});
  return fromParts(b, real,
                   b.call("aten.zeros.default", {sizes}, {{"dtype", part}}));
}

Value decompose::complexConcat(Rewrite &c) {
  std::vector<Arg> parts;
  for (const Arg &tensor : c.r.list("tensors"))
    parts.push_back(asReal(c.b, tensor.getValue()));
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(c.result()));
  return asComplex(c.b, c.b.call("aten.cat.default", {parts, dim}));
}

static Value conjugate(Rewrite &c) {
  Parts x = partsOf(c.b, c.r.value("self"), c.result());
  return fromParts(c.b, x.real, c.b.call("aten.neg.default", {x.imaginary}));
}
static Value negated(Rewrite &c) {
  return asComplex(
      c.b, c.b.call("aten.neg.default", {asReal(c.b, c.r.value("self"))}));
}
static Value copied(Rewrite &c) {
  return asComplex(c.b, c.b.call("aten.clone.default",
                                 {asReal(c.b, c.r.value("self"))},
                                 {{"memory_format", "contiguous_format"}}));
}
static Value magnitude(Rewrite &c) {
  Value self = c.r.value("self");
  Parts x = partsOf(c.b, self, self);
  return c.b.call("aten.hypot.default", {x.real, x.imaginary});
}
static Value angle(Rewrite &c) {
  Value self = c.r.value("self");
  Parts x = partsOf(c.b, self, self);
  return c.b.call("aten.atan2.default", {x.imaginary, x.real});
}
static Value together(Rewrite &c) {
  return fromParts(c.b, c.r.value("real"), c.r.value("imag"));
}

const CoreRule forms::realOfReal = {one<::unviewed>, ::isOfRealView};
const CoreRule forms::complexProduct = {one<::product>, ::isOfComplex};
const CoreRule forms::complexQuotient = {one<::quotient>, ::isOfComplex};
const CoreRule forms::complexSum = {one<::sum>, ::isOfComplex};
const CoreRule forms::complexMove = {one<::moved>, ::isMove};
const CoreRule forms::complexMoveBack = {one<::movedBack>, ::isMoveBack};
const CoreRule forms::complexView = {one<::viewed>, ::hasComplexOperand};
const CoreRule forms::complexFull = {one<::full>, ::isFullOfReal};
const CoreRule forms::complexZeros = {one<::zeros>, ::isToComplex};
const CoreRule forms::complexTotal = {one<decompose::complexSum>, isComplexSum};
const CoreRule forms::complexExponential = {one<::exponential>,
                                            ::hasComplexOperand};
const CoreRule forms::complexDirection = {one<::direction>,
                                          ::hasComplexOperand};
const CoreRule forms::complexMatrices = {one<::matrices>, ::areAllComplex};
const CoreRule forms::complexConversion = {one<::converted>, ::isToComplex};
const CoreRule forms::complexConjugate = {one<::conjugate>,
                                          ::hasComplexOperand};
const CoreRule forms::complexNegative = {one<::negated>, ::hasComplexOperand};
const CoreRule forms::complexCopy = {one<::copied>, ::hasComplexOperand};
const CoreRule forms::complexMagnitude = {one<::magnitude>,
                                          ::hasComplexOperand};
const CoreRule forms::complexAngle = {one<::angle>, ::hasComplexOperand};
const CoreRule forms::complexOfParts = {one<::together>};
const CoreRule forms::complexOfPolar = {one<::polar>};
