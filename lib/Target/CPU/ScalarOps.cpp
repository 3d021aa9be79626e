// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM leaves open, kernels do not: divisions by zero, shifts by the width
// and conversions of floats that no integer holds give here what the
// interpreter says they give. Half precision computes in single and rounds once
// an op. Functions with a formula have it (Formulas.h), the rare ones are the C
// library's in double precision, rounded once.

#include "ScalarOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Functions that are called
//===----------------------------------------------------------------------===//

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static void *of(Unary function) { return reinterpret_cast<void *>(function); }
static void *of2(Binary function) { return reinterpret_cast<void *>(function); }

ArrayRef<LibraryFunction> cpu::libraryFunctions() {
  static const LibraryFunction all[] = {
      {"exp", of(std::exp)},      {"exp2", of(std::exp2)},
      {"expm1", of(std::expm1)},  {"log", of(std::log)},
      {"log2", of(std::log2)},    {"log10", of(std::log10)},
      {"log1p", of(std::log1p)},  {"cbrt", of(std::cbrt)},
      {"sin", of(std::sin)},      {"cos", of(std::cos)},
      {"tan", of(std::tan)},      {"asin", of(std::asin)},
      {"acos", of(std::acos)},    {"atan", of(std::atan)},
      {"sinh", of(std::sinh)},    {"cosh", of(std::cosh)},
      {"tanh", of(std::tanh)},    {"asinh", of(std::asinh)},
      {"acosh", of(std::acosh)},  {"atanh", of(std::atanh)},
      {"erf", of(std::erf)},      {"erfc", of(std::erfc)},
      {"atan2", of2(std::atan2)}, {"pow", of2(std::pow)},
      {"fmod", of2(std::fmod)},
  };
  return all;
}

/// As an op, which is called like the function of the C library but for two.
static Value asOp(OpBuilder &builder, Location loc, StringRef name, Type result,
                  ValueRange operands) {
  std::string op = name == "fmod"  ? "arith.remf"
                   : name == "pow" ? "math.powf"
                                   : "math." + name.str();
  return builder.create(OperationState(loc, op, operands, TypeRange(result)))
      ->getResult(0);
}

/// Under a name of ours: LLVM knows what `pow` does, and rewrites it.
Value ScalarOps::call(Location loc, StringRef name, Type result,
                      ValueRange operands) {
  if (functions == RareFunctions::AreOps)
    return asOp(builder, loc, name, result, operands);
  std::string symbol = ("cutback_" + name).str();
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    function = func::FuncOp::create(
        builder, loc, symbol,
        builder.getFunctionType(operands.getTypes(), result));
    function.setPrivate();
  }
  return func::CallOp::create(builder, loc, function, operands).getResult(0);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Value ScalarOps::widen(Location loc, Value x) {
  if (x.getType().isBF16())
    return Formulas(builder, loc).widenBf16(x);
  if (!x.getType().isF16())
    return x;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), x);
}

static Value extend(OpBuilder &builder, Location loc, Value x, Type type) {
  return x.getType() == type
             ? x
             : arith::ExtFOp::create(builder, loc, type, x).getResult();
}

Value ScalarOps::round(Location loc, Value x, Type type) {
  auto from = dyn_cast<FloatType>(x.getType()), to = dyn_cast<FloatType>(type);
  if (!from || !to || from == to)
    return x;
  if (to.getWidth() > from.getWidth())
    return extend(builder, loc, widen(loc, x), type);
  if (to.getWidth() == 16 && from.isF64())
    x = Formulas(builder, loc).roundToOdd(x);
  if (to.isBF16())
    return Formulas(builder, loc).roundToBf16(widen(loc, x));
  if (to.isF16() && from.isBF16())
    x = widen(loc, x);
  return arith::TruncFOp::create(builder, loc, type, x);
}

/// A copy of `op` on other operands.
Value ScalarOps::again(Operation *op, ValueRange operands, Type type) {
  OperationState state(op->getLoc(), op->getName(), operands, type,
                       op->getDiscardableAttrDictionary().getValue());
  Operation *copy = Operation::create(state);
  copy->copyProperties(op->getPropertiesStorage());
  return builder.insert(copy)->getResult(0);
}

//===----------------------------------------------------------------------===//
// arith
//===----------------------------------------------------------------------===//

/// Division by 0 is 0, and by -1 wraps around; the machine traps at both.
Value ScalarOps::divide(Operation *op, ValueRange x) {
  Formulas f(builder, op->getLoc());
  Type type = op->getResult(0).getType();
  APInt constant;
  bool isKnown = matchPattern(op->getOperand(1), m_ConstantInt(&constant));
  if (isKnown && !constant.isZero() && !constant.isAllOnes())
    if (!isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
      return again(op, x, type);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     builder.getIntegerAttr(type, value));
  };
  Value zero = number(0), one = number(1), minus = number(-1);
  Value isZero = f.compare(IP::eq, x[1], zero);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    Value safe = again(op, {x[0], f.select(isZero, one, x[1])}, type);
    return f.select(isZero, zero, safe);
  }
  Value isMinus = f.compare(IP::eq, x[1], minus);
  Value by = f.select(f.make<arith::OrIOp>(isZero, isMinus), one, x[1]);
  Value quotient = f.make<arith::DivSIOp>(x[0], by);
  Value rest = f.make<arith::RemSIOp>(x[0], by);
  if (isa<arith::RemSIOp>(op))
    return f.select(isZero, zero, rest); // of -1 it is that of 1: 0
  Value isUneven = f.compare(IP::ne, rest, zero);
  Value differ = f.compare(IP::slt, f.make<arith::XOrIOp>(x[0], x[1]), zero);
  if (isa<arith::FloorDivSIOp>(op))
    quotient = f.select(f.make<arith::AndIOp>(isUneven, differ),
                        f.subtract(quotient, one), quotient);
  if (isa<arith::CeilDivSIOp>(op)) {
    Value isAbove = f.make<arith::AndIOp>(
        isUneven, f.compare(IP::sge, f.make<arith::XOrIOp>(x[0], x[1]), zero));
    quotient = f.select(isAbove, f.add(quotient, one), quotient);
  }
  quotient = f.select(isMinus, f.subtract(zero, x[0]), quotient);
  return f.select(isZero, zero, quotient);
}

/// By the width and more nothing is left, but of a sign.
Value ScalarOps::shift(Operation *op, ValueRange x) {
  Formulas f(builder, op->getLoc());
  Type type = op->getResult(0).getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     builder.getIntegerAttr(type, value));
  };
  int64_t width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Value isInside = f.compare(IP::ult, x[1], number(width));
  Value by = f.select(isInside, x[1], number(0));
  Value shifted = again(op, {x[0], by}, type);
  Value beyond = number(0);
  if (isa<arith::ShRSIOp>(op)) {
    Value sign = again(op, {x[0], number(width - 1)}, type);
    beyond = f.select(f.compare(IP::ult, x[1], number(64)), sign, beyond);
  }
  return f.select(isInside, shifted, beyond);
}

/// The greater or the less of what is no NaN; of zeros LLVM leaves it open.
Value ScalarOps::ofNumbers(Operation *op, ValueRange x) {
  Formulas f(builder, op->getLoc());
  Value both = isa<arith::MaxNumFOp>(op)
                   ? f.make<arith::MaximumFOp>(x[0], x[1])
                   : f.make<arith::MinimumFOp>(x[0], x[1]);
  both = f.select(f.compare(FP::UNO, x[1], x[1]), x[0], both);
  return f.select(f.compare(FP::UNO, x[0], x[0]), x[1], both);
}

/// Beyond 64 bits the least integer; then the lower bits.
Value ScalarOps::toInteger(Operation *op, Value x) {
  Location loc = op->getLoc();
  Formulas f(builder, loc);
  x = widen(loc, x);
  Type i64 = builder.getI64Type(), type = op->getResult(0).getType();
  bool isWide = x.getType().isF64();
  auto number = [&](double value) {
    return isWide ? f.wide(value) : f.number(value);
  };
  Value fits = f.make<arith::AndIOp>(f.compare(FP::OGE, x, number(-0x1p63)),
                                     f.compare(FP::OLT, x, number(0x1p63)));
  Value safe = f.select(fits, x, number(0));
  Value all = arith::FPToSIOp::create(builder, loc, i64, safe);
  Value beyond = f.integer(INT64_MIN, 64);
  if (isa<arith::FPToUIOp>(op)) {
    Value isUpper =
        f.make<arith::AndIOp>(f.compare(FP::OGE, x, number(0x1p63)),
                              f.compare(FP::OLT, x, number(0x1p64)));
    Value upper =
        f.subtract(f.select(isUpper, x, number(0x1p63)), number(0x1p63));
    upper = arith::FPToSIOp::create(builder, loc, i64, upper);
    beyond = f.select(isUpper, f.make<arith::XOrIOp>(upper, beyond), beyond);
  }
  all = f.select(fits, all, beyond);
  if (type == i64)
    return all;
  return arith::TruncIOp::create(builder, loc, type, all);
}

/// Whether LLVM's op is the one of kernels, for floats of 32 bits and more.
static bool isDirect(Operation *op) {
  using namespace arith;
  return isa<AddFOp, SubFOp, MulFOp, DivFOp, NegFOp, MaximumFOp, MinimumFOp,
             SelectOp, CmpIOp, AddIOp, SubIOp, MulIOp, AndIOp, OrIOp, XOrIOp,
             MaxSIOp, MinSIOp, MaxUIOp, MinUIOp, ExtSIOp, ExtUIOp, TruncIOp,
             IndexCastOp, IndexCastUIOp, ConstantOp>(op) ||
         isa<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp, math::AbsFOp, math::CopySignOp, math::FmaOp,
             math::AbsIOp>(op);
}

static bool isHandled(Type type) {
  return isa<IntegerType, IndexType>(type) || type.isF32() || type.isF64() ||
         type.isF16() || type.isBF16();
}

/// By the bits: LLVM widens both numbers and narrows one by a library else.
Value ScalarOps::selectBits(Location loc, ValueRange operands, Type type) {
  Type narrow = builder.getI16Type();
  auto bits = [&](Value x) {
    return arith::BitcastOp::create(builder, loc, narrow, x).getResult();
  };
  Value chosen = arith::SelectOp::create(builder, loc, operands[0],
                                         bits(operands[1]), bits(operands[2]));
  return arith::BitcastOp::create(builder, loc, type, chosen);
}

Value ScalarOps::lower(Operation *op, ValueRange operands) {
  if (op->getNumResults() != 1 || !isHandled(op->getResult(0).getType()) ||
      !llvm::all_of(op->getOperandTypes(), isHandled))
    return Value();
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Formulas f(builder, loc);
  using namespace arith;
  bool isHalf = type.isBF16() || type.isF16();
  if (isa<SelectOp>(op) && isHalf)
    return selectBits(loc, operands, type);
  if (isa<ConstantOp, SelectOp>(op))
    return again(op, operands, type);
  if (isa<ExtFOp, TruncFOp>(op))
    return round(loc, operands[0], type);
  if (isa<DivSIOp, DivUIOp, RemSIOp, RemUIOp, FloorDivSIOp, CeilDivSIOp>(op))
    return divide(op, operands);
  if (isa<ShLIOp, ShRSIOp, ShRUIOp>(op))
    return shift(op, operands);
  if (isa<FPToSIOp, FPToUIOp>(op))
    return toInteger(op, operands[0]);
  Type computed = isHalf ? Type(builder.getF32Type()) : type;
  if (isa<SIToFPOp, UIToFPOp>(op))
    return round(loc, again(op, operands, computed), type);
  SmallVector<Value, 3> x;
  for (Value operand : operands)
    x.push_back(widen(loc, operand));
  if (auto compare = dyn_cast<CmpFOp>(op))
    return f.compare(compare.getPredicate(), x[0], x[1]);
  if (isDirect(op))
    return round(loc, again(op, x, computed), type);
  if (isa<MaxNumFOp, MinNumFOp>(op))
    return round(loc, ofNumbers(op, x), type);
  Value result = math(op, x, computed);
  return result ? round(loc, result, type) : result;
}

//===----------------------------------------------------------------------===//
// math
//===----------------------------------------------------------------------===//

/// What the C library calls a function; empty if it has none.
static StringRef libraryName(Operation *op) {
  using namespace mlir::math;
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](ExpOp) { return "exp"; })
      .Case([](Exp2Op) { return "exp2"; })
      .Case([](ExpM1Op) { return "expm1"; })
      .Case([](LogOp) { return "log"; })
      .Case([](Log2Op) { return "log2"; })
      .Case([](Log10Op) { return "log10"; })
      .Case([](Log1pOp) { return "log1p"; })
      .Case([](CbrtOp) { return "cbrt"; })
      .Case([](SinOp) { return "sin"; })
      .Case([](CosOp) { return "cos"; })
      .Case([](TanOp) { return "tan"; })
      .Case([](AsinOp) { return "asin"; })
      .Case([](AcosOp) { return "acos"; })
      .Case([](AtanOp) { return "atan"; })
      .Case([](SinhOp) { return "sinh"; })
      .Case([](CoshOp) { return "cosh"; })
      .Case([](TanhOp) { return "tanh"; })
      .Case([](AsinhOp) { return "asinh"; })
      .Case([](AcoshOp) { return "acosh"; })
      .Case([](AtanhOp) { return "atanh"; })
      .Case([](ErfOp) { return "erf"; })
      .Case([](ErfcOp) { return "erfc"; })
      .Case([](Atan2Op) { return "atan2"; })
      .Case<PowFOp, FPowIOp>([](auto) { return "pow"; })
      .Case([](arith::RemFOp) { return "fmod"; })
      .Default([](Operation *) { return StringRef(); });
}

/// MLIR makes a function of libdevice of a root, which of single precision is
/// approximate. That of double is not, and rounded it is that of single.
Value ScalarOps::root(Location loc, Value x) {
  Type type = x.getType();
  if (functions == RareFunctions::AreOps)
    x = round(loc, x, builder.getF64Type());
  return round(loc, mlir::math::SqrtOp::create(builder, loc, x), type);
}

Value ScalarOps::math(Operation *op, ValueRange x, Type type) {
  using namespace mlir::math;
  Location loc = op->getLoc();
  Formulas f(builder, loc);
  auto constant = [&](double value) {
    return x[0].getType().isF64() ? f.wide(value) : f.number(value);
  };
  if (isa<IsNaNOp>(op))
    return f.compare(FP::UNO, x[0], x[0]);
  if (isa<IsInfOp>(op))
    return f.compare(FP::OEQ, f.absolute(x[0]), constant(INFINITY));
  if (isa<IsFiniteOp>(op))
    return f.compare(FP::OLT, f.absolute(x[0]), constant(INFINITY));
  if (isa<SqrtOp>(op))
    return root(loc, x[0]);
  if (isa<RsqrtOp>(op))
    return f.make<arith::DivFOp>(constant(1), root(loc, x[0]));
  if (isa<IPowIOp>(op)) {
    Type i64 = builder.getI64Type();
    SmallVector<Value, 2> wide;
    for (Value value : x)
      wide.push_back(value.getType() == i64
                         ? value
                         : arith::ExtSIOp::create(builder, loc, i64, value));
    Value all = f.integerPower(wide[0], wide[1]);
    return type == i64 ? all : arith::TruncIOp::create(builder, loc, type, all);
  }
  if (!isa<FloatType>(type))
    return Value();
  if (type.isF32())
    if (Value formula = f.function(op, x[0], hasScaling))
      return formula;
  StringRef name = libraryName(op);
  if (name.empty())
    return Value();
  SmallVector<Value, 2> wide;
  for (Value value : x)
    wide.push_back(isa<FloatType>(value.getType())
                       ? round(loc, value, builder.getF64Type())
                       : arith::SIToFPOp::create(builder, loc,
                                                 builder.getF64Type(), value));
  return round(loc, call(loc, name, builder.getF64Type(), wide), type);
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

Value ScalarOps::draw(kernel::DrawOp op, Value seed, Value index,
                      Value inRound) {
  Location loc = op.getLoc();
  Formulas f(builder, loc);
  Type type = op.getResult().getType();
  if (!isHandled(type))
    return Value();
  Value stream = f.streamOf(static_cast<int64_t>(op.getStream()), inRound);
  bool isWide = type.isIndex() || type.getIntOrFloatBitWidth() == 64;
  Value i =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  bool isNormal = op.getDraw() == kernel::Draw::Normal;
  if (!isWide && !isNormal)
    return drawFrom(op,
                    arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                            f.randomWord(seed, stream, i)));
  if (op.getDraw() == kernel::Draw::Bits)
    return f.randomWord64(seed, stream, i);
  if (!isNormal)
    return round(loc, f.randomUniform(seed, stream, i, isWide), type);
  // Box and Muller's transform of the uniform numbers 2k and 2k + 1.
  Type f64 = builder.getF64Type();
  Value one = f.integer(1, 64);
  Value even = f.make<arith::AndIOp>(i, f.integer(-2, 64));
  Value u = round(loc, f.randomUniform(seed, stream, even, isWide), f64);
  Value v = round(
      loc, f.randomUniform(seed, stream, f.make<arith::OrIOp>(i, one), isWide),
      f64);
  Value length = call(loc, "log", f64, f.subtract(f.wide(1), u));
  length =
      mlir::math::SqrtOp::create(builder, loc, f.multiply(f.wide(-2), length));
  Value angle = f.multiply(f.wide(2 * 3.14159265358979323846), v);
  Value isOdd = f.compare(IP::eq, f.make<arith::AndIOp>(i, one), one);
  Value turned = f.select(isOdd, call(loc, "sin", f64, angle),
                          call(loc, "cos", f64, angle));
  return round(loc, f.multiply(length, turned), type);
}

std::array<Value, 4> ScalarOps::drawWords(kernel::DrawOp op, Value seed,
                                          Value counter, Value inRound) {
  Formulas f(builder, op.getLoc());
  Value stream = f.streamOf(static_cast<int64_t>(op.getStream()), inRound);
  Value number = arith::IndexCastOp::create(builder, op.getLoc(),
                                            builder.getI64Type(), counter);
  std::array<Value, 4> words = f.philox(seed, stream, number);
  for (Value &word : words)
    word = arith::TruncIOp::create(builder, op.getLoc(), builder.getI32Type(),
                                   word);
  return words;
}

Value ScalarOps::drawFrom(kernel::DrawOp op, Value word) {
  Formulas f(builder, op.getLoc());
  Type type = op.getResult().getType();
  if (op.getDraw() == kernel::Draw::Uniform)
    return round(op.getLoc(), f.uniformOf(word), type);
  return type == word.getType()
             ? word
             : arith::TruncIOp::create(builder, op.getLoc(), type, word)
                   .getResult();
}

Value ScalarOps::combine(Location loc, kernel::Combine how, Value a, Value b) {
  Formulas f(builder, loc);
  bool isReal = isa<FloatType>(getElementTypeOrSelf(a));
  switch (how) {
  case kernel::Combine::Add:
    return f.add(a, b);
  case kernel::Combine::Mul:
    return f.multiply(a, b);
  case kernel::Combine::Max:
  case kernel::Combine::Min: {
    bool isMax = how == kernel::Combine::Max;
    if (!isReal)
      return isMax ? f.make<arith::MaxSIOp>(a, b)
                   : f.make<arith::MinSIOp>(a, b);
    // NaN if one is. Apart: one instruction, not a choice by two conditions.
    Value better = keepApart(
        loc, f.select(f.compare(isMax ? FP::OGT : FP::OLT, a, b), a, b));
    return f.select(f.compare(FP::UNO, a, a), a, better);
  }
  case kernel::Combine::MaxUnsigned:
    return f.make<arith::MaxUIOp>(a, b);
  case kernel::Combine::MinUnsigned:
    return f.make<arith::MinUIOp>(a, b);
  case kernel::Combine::And:
    return f.make<arith::AndIOp>(a, b);
  case kernel::Combine::Or:
    return f.make<arith::OrIOp>(a, b);
  }
  return Value();
}

Value ScalarOps::keepApart(Location loc, Value choice) {
  if (loops == LoopsFor::Processor &&
      isa<FloatType>(getElementTypeOrSelf(choice.getType())))
    return LLVM::FreezeOp::create(builder, loc, choice);
  return choice;
}
