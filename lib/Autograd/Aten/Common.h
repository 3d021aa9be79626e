// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What VJP rules are written with:
//
//   static void maximum(Vjp &v) {
//     if (v.needs("self"))
//       v.set("self", ...);
//   }
//   const VjpFn vjps::maximum = vjp<::maximum>;
//
// The name is what an op's line in the ODS files says: `Vjp<"maximum">`.
// A rule builds nothing for a gradient that is not asked for, and reads the
// least of the forward. Names and places of the new ops are given afterwards,
// by whoever asked.
#ifndef CUTBACK_LIB_AUTOGRAD_ATEN_COMMON_H
#define CUTBACK_LIB_AUTOGRAD_ATEN_COMMON_H

#include "Rules.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/Vjp.h"

namespace cutback::autograd {

using aten::Arg;
using aten::CallOp;
using aten::NamedArg;
namespace op = aten::op;
using aten::optional;
using aten::ParamRef;
using joint::VjpContext;
using llvm::ArrayRef;
using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

/// `gradient` summed over the dimensions along which a tensor like `operand`
/// was broadcast to it. Two unknown sizes count as equal: a size that is not
/// known is not 1.
Value sumToSize(aten::CallBuilder &b, Value gradient, Value operand);

/// `value` as `type`; the real part where `value` alone is complex.
Value castTo(aten::CallBuilder &b, Value value, Type type);

bool isComplex(Value tensor);

/// A list of one: `{x}` would be `x` itself.
inline Arg listOf(const Arg &x) { return Arg(ArrayRef<Arg>(x)); }

/// A VJP that is being built: reads the call, writes the backward.
class Vjp {
public:
  Vjp(CallOp op, VjpContext &context)
      : in(op), b(context.builder, op.getLoc()), context(context),
        asked(op->getNumResults()), ended(op->getNumResults()) {}

  aten::CallReader in;
  aten::CallBuilder b;

  // The question.

  /// The gradient of result `i`; null for none. At least one of them is there.
  /// One that arrives and that the rule never asks for is an error: what goes
  /// through that result would be lost.
  Value grad(unsigned i = 0) {
    asked.set(i);
    return context.gradient(i);
  }
  /// Result `i` does not depend on what takes a gradient: one that arrives
  /// there goes nowhere.
  void endsAt(unsigned i) {
    asked.set(i);
    ended.set(i);
  }
  /// The same, but zeros of the result's size for none. For formulas that
  /// cannot leave the term out.
  Value gradOrZeros(unsigned i);
  /// The forward op's result.
  Value result(unsigned i = 0) const { return context.op->getResult(i); }
  /// The forward op's argument; null if it is no value.
  Value value(ParamRef param) const { return in.value(param); }
  Arg arg(ParamRef param) const { return in.arg(param); }
  /// True if the gradient of (an entry of) the argument is asked for.
  bool needs(ParamRef param) const;
  bool needsOperand(unsigned i) const { return context.needs(i); }
  /// Operands of a list argument: [first, first + size).
  std::pair<unsigned, unsigned> operands(ParamRef param) const;
  Value operand(unsigned i) const { return context.op->getOperand(i); }

  // The answer: summed to the operand's size and cast to its type. A null
  // gradient is none; an operand whose gradient is not asked for is left out.

  void set(ParamRef param, Value gradient);
  void setOperand(unsigned i, Value gradient);
  /// The gradient is zero: nothing is built for it.
  void setZero(ParamRef param);
  /// What arrives does not depend on the operand.
  void setNone(ParamRef param);
  LogicalResult done();
  LogicalResult error(const llvm::Twine &message) {
    b.error(message);
    return done();
  }

  // Ops of the backward.

  Value call(StringRef torchName, ArrayRef<Arg> positional,
             ArrayRef<NamedArg> named = {}) {
    return b.call(torchName, positional, named);
  }
  Value mul(const Arg &x, const Arg &y);
  Value add(const Arg &x, const Arg &y);
  Value sub(const Arg &x, const Arg &y);
  Value div(const Arg &x, const Arg &y);
  Value neg(const Arg &x) { return call(op::neg, {x}); }
  /// `gradient` times a number; itself for 1.
  Value scale(Value gradient, const Arg &number);
  /// The conjugate; `x` itself where it is not complex.
  Arg conj(const Arg &x);
  /// aten.NAME.default of one or two operands.
  Value un(StringRef name, const Arg &x) {
    return call(("aten." + name + ".default").str(), {x});
  }
  Value un2(StringRef name, const Arg &x, const Arg &y) {
    return call(("aten." + name + ".default").str(), {x, y});
  }
  /// `gradient` where `condition`, 0 elsewhere; and the other way round.
  Value keepWhere(Value condition, Value gradient);
  Value dropWhere(Value condition, Value gradient);
  /// Zeros, ones like `tensor`; a tensor of sizes and type.
  Value zerosLike(Value tensor);
  Value zeros(const Arg &sizes, Type element);
  /// Sum and negative of sizes, folded where they are numbers.
  Arg plus(const Arg &x, const Arg &y);
  Arg minus(const Arg &x);
  /// The elements of `x` in the shape of `like`.
  Value viewLike(Value x, Value like);
  /// Dimension i of the result is dimension `dims[i]` of `x`.
  Value permute(Value x, ArrayRef<int64_t> dims);

private:
  void checkAnswers();

  VjpContext &context;
  llvm::SmallBitVector asked; ///< results whose gradient the rule asked for
  llvm::SmallBitVector ended; ///< those that depend on nothing
};

/// The dimensions that a reduction of argument `self` combines, and how its
/// results get them back.
struct Reduced {
  /// From the arguments `dim` and `keepdim`; all dimensions without.
  explicit Reduced(Vjp &v);
  /// All dimensions of `tensor`, which are not kept.
  static Reduced all(Value tensor);

  Value self;
  int64_t rank = 0;
  SmallVector<int64_t> dims; ///< ascending
  bool keep = false;         ///< the results have them, with size 1

  /// `x`, of a result's shape, with size 1 in the combined dimensions.
  Value restore(Vjp &v, Value x) const;
  /// The same, expanded to the shape of `self`.
  Value expand(Vjp &v, Value x) const;
  /// How many elements are combined to one: a number or a symbolic size.
  Arg count(Vjp &v) const;
  /// Sum and mean of `x`, of the shape of `self`, with the dimensions kept.
  Value sum(Vjp &v, Value x) const;
  Value mean(Vjp &v, Value x) const;

private:
  Reduced() = default;
};

/// A rule as the table wants it. `vjp` refuses complex tensors, for
/// formulas without conjugates.
template <void (*rule)(Vjp &)>
LogicalResult vjpAny(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  rule(v);
  return v.done();
}
LogicalResult refuseComplex(Vjp &v);
template <void (*rule)(Vjp &)>
LogicalResult vjp(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (failed(refuseComplex(v)))
    return mlir::failure();
  rule(v);
  return v.done();
}
/// The same for an op with one operand `self`, by a formula for its gradient.
template <Value (*formula)(Vjp &)>
LogicalResult vjpOfSelf(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  if (failed(refuseComplex(v)))
    return mlir::failure();
  v.set("self", formula(v));
  return v.done();
}

/// The same where the formula has the conjugates that complex numbers need.
template <Value (*formula)(Vjp &)>
LogicalResult vjpOfAnySelf(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  v.set("self", formula(v));
  return v.done();
}

} // namespace cutback::autograd

#endif // CUTBACK_LIB_AUTOGRAD_ATEN_COMMON_H
