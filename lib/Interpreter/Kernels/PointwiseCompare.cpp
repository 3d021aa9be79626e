// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons, logic on truth values and bits, and choices between elements.
// Comparisons are exact in the promoted type: a number is rounded to it first,
// so that `x == 0.1` can hold. Conditions and masks are booleans, which change
// no promotion, so a choice is an elementwise op of three operands.

#include "Kernels.h"
#include "Pointwise.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

LogicalResult equal(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}, /*exact=*/true)
      .all<2>([](auto a, auto b) { return a == b; });
}
LogicalResult notEqual(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}, /*exact=*/true)
      .all<2>([](auto a, auto b) { return a != b; });
}

struct Less {
  template <typename V> bool operator()(V a, V b) const { return a < b; }
};
struct LessEqual {
  template <typename V> bool operator()(V a, V b) const { return a <= b; }
};
struct Greater {
  template <typename V> bool operator()(V a, V b) const { return a > b; }
};
struct GreaterEqual {
  template <typename V> bool operator()(V a, V b) const { return a >= b; }
};

template <typename Order> LogicalResult compare(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}, /*exact=*/true)
      .ordered<2>(Order());
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

template <typename V> bool isTrue(V x) { return x != V(0); }

LogicalResult logicalAnd(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).all<2>([](auto a, auto b) {
    return isTrue(a) && isTrue(b);
  });
}
LogicalResult logicalOr(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).all<2>([](auto a, auto b) {
    return isTrue(a) || isTrue(b);
  });
}
LogicalResult logicalXor(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).all<2>([](auto a, auto b) {
    return isTrue(a) != isTrue(b);
  });
}
LogicalResult logicalNot(const KernelCall &call) {
  return Elementwise(call, {"self"}).all<1>([](auto a) { return !isTrue(a); });
}

bool isNan(int64_t) { return false; }
bool isNan(double x) { return std::isnan(x); }
bool isNan(Complex x) { return isNan(x.real()) || isNan(x.imag()); }
bool isInfinite(int64_t) { return false; }
bool isInfinite(double x) { return std::isinf(x); }
bool isInfinite(Complex x) {
  return isInfinite(x.real()) || isInfinite(x.imag());
}

LogicalResult isNanOp(const KernelCall &call) {
  return Elementwise(call, {"self"}).all<1>([](auto a) { return isNan(a); });
}
LogicalResult isInfOp(const KernelCall &call) {
  return Elementwise(call, {"self"}).all<1>([](auto a) {
    return isInfinite(a);
  });
}
LogicalResult isFiniteOp(const KernelCall &call) {
  return Elementwise(call, {"self"}).all<1>([](auto a) {
    return !isNan(a) && !isInfinite(a);
  });
}

LogicalResult isPosInf(const KernelCall &call) {
  return Elementwise(call, {"self"}).ordered<1>([](auto a) {
    return isInfinite(a) && a > 0;
  });
}
LogicalResult isNegInf(const KernelCall &call) {
  return Elementwise(call, {"self"}).ordered<1>([](auto a) {
    return isInfinite(a) && a < 0;
  });
}
LogicalResult signBit(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Integer)
    return loop.in<int64_t, 1>([](int64_t a) { return a < 0; });
  return loop.real<1>([](double a) { return std::signbit(a); });
}
LogicalResult isReal(const KernelCall &call) {
  return Elementwise(call, {"self"}).in<Complex, 1>([](Complex a) {
    return a.imag() == 0;
  });
}

/// |a - b| <= atol + rtol |b|; equal infinities are close.
LogicalResult isClose(const KernelCall &call) {
  double relative = call.number("rtol"), absolute = call.number("atol");
  bool equalNan = call.boolean("equal_nan");
  Elementwise loop(call, {"self", "other"}, /*exact=*/true);
  return loop.real<2>([=](double a, double b) {
    if (a == b || (equalNan && std::isnan(a) && std::isnan(b)))
      return true;
    return std::isfinite(a) && std::isfinite(b) &&
           std::fabs(a - b) <= absolute + relative * std::fabs(b);
  });
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

struct And {
  int64_t operator()(int64_t a, int64_t b) const { return a & b; }
};
struct Or {
  int64_t operator()(int64_t a, int64_t b) const { return a | b; }
};
struct Xor {
  int64_t operator()(int64_t a, int64_t b) const { return a ^ b; }
};

template <typename Op> LogicalResult bitwise(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).in<int64_t, 2>(Op());
}

LogicalResult bitwiseNot(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  bool isBool = loop.commonType() == DType::Bool;
  return loop.in<int64_t, 1>(
      [=](int64_t a) { return isBool ? int64_t(a == 0) : ~a; });
}

/// A shift by the width of the type or more leaves 0, or the sign.
LogicalResult shiftLeft(const KernelCall &call) {
  Elementwise loop(call, {"self", "other"});
  int64_t width = 8 * itemSize(loop.commonType());
  return loop.in<int64_t, 2>([=](int64_t a, int64_t b) {
    return b < 0 || b >= width ? 0 : asSigned(uint64_t(a) << b);
  });
}
LogicalResult shiftRight(const KernelCall &call) {
  Elementwise loop(call, {"self", "other"});
  int64_t width = 8 * itemSize(loop.commonType());
  return loop.in<int64_t, 2>([=](int64_t a, int64_t b) {
    return b < 0 || b >= width ? (a < 0 ? int64_t(-1) : 0) : a >> b;
  });
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// V of two operands; the condition does not promote.
template <typename V>
LogicalResult chooseAs(const KernelCall &call, aten::ParamRef condition,
                       aten::ParamRef ifTrue, aten::ParamRef ifFalse) {
  return Elementwise(call, {condition, ifTrue, ifFalse}, /*exact=*/false)
      .in<V, 3>([](V c, V a, V b) { return c != V(0) ? a : b; });
}

LogicalResult choose(const KernelCall &call, aten::ParamRef condition,
                     aten::ParamRef ifTrue, aten::ParamRef ifFalse) {
  switch (domainOf(call.resultType())) {
  case Domain::Integer:
    return chooseAs<int64_t>(call, condition, ifTrue, ifFalse);
  case Domain::Real:
    return chooseAs<double>(call, condition, ifTrue, ifFalse);
  case Domain::Complex:
    break;
  }
  return chooseAs<Complex>(call, condition, ifTrue, ifFalse);
}

LogicalResult where(const KernelCall &call) {
  return choose(call, "condition", "self", "other");
}

LogicalResult maskedFill(const KernelCall &call) {
  return choose(call, "mask", "value", "self");
}

} // namespace

const KernelFn kernels::equal = ::equal;
const KernelFn kernels::notEqual = ::notEqual;
const KernelFn kernels::lt = compare<Less>;
const KernelFn kernels::le = compare<LessEqual>;
const KernelFn kernels::gt = compare<Greater>;
const KernelFn kernels::ge = compare<GreaterEqual>;
const KernelFn kernels::logicalAnd = ::logicalAnd;
const KernelFn kernels::logicalOr = ::logicalOr;
const KernelFn kernels::logicalXor = ::logicalXor;
const KernelFn kernels::logicalNot = ::logicalNot;
const KernelFn kernels::isNanOp = ::isNanOp;
const KernelFn kernels::isInfOp = ::isInfOp;
const KernelFn kernels::isFiniteOp = ::isFiniteOp;
const KernelFn kernels::isPosInf = ::isPosInf;
const KernelFn kernels::isNegInf = ::isNegInf;
const KernelFn kernels::signBit = ::signBit;
const KernelFn kernels::isReal = ::isReal;
const KernelFn kernels::isClose = ::isClose;
const KernelFn kernels::bitwiseAnd = bitwise<And>;
const KernelFn kernels::bitwiseOr = bitwise<Or>;
const KernelFn kernels::bitwiseXor = bitwise<Xor>;
const KernelFn kernels::bitwiseNot = ::bitwiseNot;
const KernelFn kernels::shiftLeft = ::shiftLeft;
const KernelFn kernels::shiftRight = ::shiftRight;
const KernelFn kernels::where = ::where;
const KernelFn kernels::maskedFill = ::maskedFill;
