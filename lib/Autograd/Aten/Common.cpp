// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all VJP rules share: where the gradient of an operand is summed and
// cast so that it has the operand's shape and type, as PyTorch's engine does
// with every gradient that it passes on (first the sum, then the cast: the sum
// of a low-precision operand is taken in the precision of the result).

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

bool autograd::isComplex(Value tensor) {
  return isa<ComplexType>(elementOf(tensor));
}

Value autograd::sumToSize(CallBuilder &b, Value gradient, Value operand) {
  if (!gradient || b.failed())
    return {};
  ArrayRef<int64_t> from = shapeOf(gradient), to = shapeOf(operand);
  int64_t leading = static_cast<int64_t>(from.size() - to.size());
  SmallVector<int64_t> dims, added;
  bool keep = false;
  for (int64_t dim = 0; dim < static_cast<int64_t>(from.size()); ++dim) {
    if (dim < leading) {
      dims.push_back(dim);
      added.push_back(dim);
    } else if (to[dim - leading] == 1 && from[dim] != 1) {
      dims.push_back(dim);
      keep = true;
    }
  }
  if (dims.empty())
    return gradient;
  Value sum = b.call(op::sum_dim_IntList, {gradient, dims, keep});
  if (sum && keep && !added.empty())
    sum = b.call(op::squeeze_dims, {sum, added});
  return sum;
}

Value autograd::castTo(CallBuilder &b, Value value, Type type) {
  if (!value || b.failed() || elementOf(value) == type)
    return value;
  if (isComplex(value) && !isa<ComplexType>(type)) {
    value = b.call(op::real, {value});
    return castTo(b, value, type);
  }
  return b.call(op::_to_copy, {value}, {{"dtype", type}});
}

//===----------------------------------------------------------------------===//
// Vjp
//===----------------------------------------------------------------------===//

Value Vjp::gradOrZeros(unsigned i) {
  if (Value gradient = grad(i))
    return gradient;
  return zerosLike(result(i));
}

/// Of a gradient that arrived and has been asked for, the rule has said for
/// each operand what it makes of it.
void Vjp::checkAnswers() {
  bool isLive = false;
  for (unsigned i = 0; i < asked.size(); ++i)
    isLive |= context.gradient(i) && !ended.test(i);
  for (unsigned i = 0; isLive && i < in.getOp()->getNumOperands(); ++i)
    if (!b.failed() && context.needs(i) && !context.isAnswered(i))
      b.error("no rule for the gradient of '" + in.parameterOf(i) + "' of '" +
              in.getOp().getInfo().torchName + "', which is asked for");
}

LogicalResult Vjp::done() {
  // Steps have a gradient of zeros whatever arrives at their one result.
  for (unsigned i = 0; asked.size() > 1 && i < asked.size(); ++i)
    if (!b.failed() && context.gradient(i) && !asked.test(i))
      b.error("no rule for the gradient of result " + Twine(i) + " of '" +
              in.getOp().getInfo().torchName +
              "', which is differentiated: compute what it gives by other ops, "
              "or detach() it");
  checkAnswers();
  return b.result();
}

std::pair<unsigned, unsigned> Vjp::operands(ParamRef param) const {
  int first = in.operand(param);
  if (first < 0)
    return {0, 0};
  unsigned count = 0;
  Arg arg = in.arg(param);
  if (arg.isValue())
    return {first, first + 1};
  for (const Arg &entry : arg.getList())
    count += entry.isValue();
  return {first, first + count};
}

bool Vjp::needs(ParamRef param) const {
  auto [begin, end] = operands(param);
  for (unsigned i = begin; i < end; ++i)
    if (context.needs(i))
      return true;
  return false;
}

void Vjp::set(ParamRef param, Value gradient) {
  int i = in.operand(param);
  if (i >= 0)
    setOperand(i, gradient);
}

void Vjp::setZero(ParamRef param) {
  auto [begin, end] = operands(param);
  for (unsigned i = begin; i < end; ++i)
    context.setZero(i);
}

void Vjp::setNone(ParamRef param) {
  auto [begin, end] = operands(param);
  for (unsigned i = begin; i < end; ++i)
    context.setNone(i);
}

void Vjp::setOperand(unsigned i, Value gradient) {
  if (b.failed() || !context.needs(i))
    return;
  if (!gradient) {
    context.setNone(i);
    return;
  }
  gradient = sumToSize(b, gradient, operand(i));
  gradient = castTo(b, gradient, elementOf(operand(i)));
  if (!b.failed())
    context.set(i, gradient);
}

Value Vjp::mul(const Arg &x, const Arg &y) {
  return call(op::mul_Tensor, {x, y});
}

Value Vjp::add(const Arg &x, const Arg &y) {
  return call(op::add_Tensor, {x, y});
}

Value Vjp::sub(const Arg &x, const Arg &y) {
  return call(op::sub_Tensor, {x, y});
}

Value Vjp::div(const Arg &x, const Arg &y) {
  return call(op::div_Tensor, {x, y});
}

Value Vjp::scale(Value gradient, const Arg &number) {
  if (number.getNumber() == 1.0)
    return gradient;
  return call(op::mul_Scalar, {gradient, number});
}

Arg Vjp::conj(const Arg &x) {
  if (!x.isValue() || !isa<RankedTensorType>(x.getValue().getType()) ||
      !isComplex(x.getValue()))
    return x;
  Value imaginary = neg(un("imag", x));
  return Arg(call(op::complex, {un("real", x), imaginary}));
}

Value Vjp::keepWhere(Value condition, Value gradient) {
  return call(op::where_ScalarOther, {condition, gradient, 0.0});
}

Value Vjp::dropWhere(Value condition, Value gradient) {
  return call(op::where_ScalarSelf, {condition, 0.0, gradient});
}

Value Vjp::zerosLike(Value tensor) {
  return zeros(b.sizes(tensor), elementOf(tensor));
}

Value Vjp::zeros(const Arg &sizes, Type element) {
  return call(op::full, {sizes, 0.0}, {{"dtype", element}});
}

LogicalResult autograd::refuseComplex(Vjp &v) {
  Operation *op = v.in.getOp();
  auto check = [](Value value) {
    return isa<RankedTensorType>(value.getType()) && isComplex(value);
  };
  if (llvm::none_of(op->getOperands(), check) &&
      llvm::none_of(op->getResults(), check))
    return success();
  return v.error("no rule for the gradient of a complex tensor");
}

Arg Vjp::plus(const Arg &x, const Arg &y) {
  if (x.getInt() && y.getInt())
    return Arg(*x.getInt() + *y.getInt());
  if (x.getInt() == 0)
    return y;
  if (y.getInt() == 0)
    return x;
  return Arg(call(op::operator_add, {x, y}));
}

Arg Vjp::minus(const Arg &x) {
  if (x.getInt())
    return Arg(-*x.getInt());
  return Arg(call(op::operator_neg, {x}));
}

Value Vjp::viewLike(Value x, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (!x || b.failed() ||
      (type.hasStaticShape() && shapeOf(x) == type.getShape()))
    return x;
  return call(op::view, {x, b.sizes(like)});
}

Value Vjp::permute(Value x, ArrayRef<int64_t> dims) {
  if (llvm::equal(dims, llvm::seq<int64_t>(0, dims.size())))
    return x;
  return call(op::permute, {x, dims});
}

//===----------------------------------------------------------------------===//
// Reduced
//===----------------------------------------------------------------------===//

Reduced Reduced::all(Value tensor) {
  Reduced over;
  over.self = tensor;
  over.rank = rankOf(tensor);
  over.dims = llvm::to_vector(llvm::seq<int64_t>(0, over.rank));
  return over;
}

Reduced::Reduced(Vjp &v) {
  *this = all(v.value("self"));
  std::optional<SmallVector<int64_t>> given = v.in.integers(optional("dim"));
  if (given && !given->empty()) {
    dims.clear();
    for (int64_t dim : *given)
      if (rank > 0)
        dims.push_back(wrapDim(dim, rank));
    llvm::sort(dims);
  }
  keep = v.in.boolean(optional("keepdim")).value_or(false);
}

Value Reduced::restore(Vjp &v, Value x) const {
  if (keep || !x || v.b.failed() || rankOf(x) == rank)
    return x;
  if (rankOf(x) == 0 && rank > 1)
    return x; // broadcasts as it is
  for (int64_t dim : dims)
    x = v.call(op::unsqueeze, {x, dim});
  return x;
}

Value Reduced::expand(Vjp &v, Value x) const {
  if (!x || rank == 0)
    return x;
  if (rankOf(x) > 0)
    x = restore(v, x);
  return v.call(op::expand, {x, v.b.sizes(self)});
}

Arg Reduced::count(Vjp &v) const {
  Arg product(1);
  for (int64_t dim : dims)
    product = v.b.times(product, v.b.size(self, dim));
  return product;
}

Value Reduced::sum(Vjp &v, Value x) const {
  if (rank == 0)
    return x;
  return v.call(op::sum_dim_IntList, {x, dims, true});
}

Value Reduced::mean(Vjp &v, Value x) const {
  if (rank == 0)
    return x;
  return v.call(op::mean_dim, {x, dims, true});
}
