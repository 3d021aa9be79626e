// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of single precision, Philox and rounding, as scalar ops.
#ifndef CUTBACK_LIB_TARGET_CPU_FORMULAS_H
#define CUTBACK_LIB_TARGET_CPU_FORMULAS_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace cutback::cpu {

/// Builds ops one after the other, for formulas that read like formulas.
class Formulas {
public:
  Formulas(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Of f32; null if there is no formula for `op`. `hasScaling` changes no bit
  /// (LoopChoices).
  mlir::Value function(mlir::Operation *op, mlir::Value x, bool hasScaling);

  mlir::Value exp(mlir::Value x, bool hasScaling);
  mlir::Value log(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sinOrCos(mlir::Value x, bool isCos);

  /// f32 to bf16: to nearest, ties to even; a NaN stays one.
  mlir::Value roundToBf16(mlir::Value x);
  /// f64 to f32, to an odd last bit where it is not exact: what rounds that to
  /// fewer bits rounds as if it had the f64.
  mlir::Value roundToOdd(mlir::Value x);
  /// f32 of bf16, exact.
  mlir::Value widenBf16(mlir::Value x);

  /// Words 2 and 3 of a counter: a stream, and the round of a loop (may be
  /// null).
  mlir::Value streamOf(int64_t stream, mlir::Value round);
  /// Words of a random stream, as i64 below 2^32, and as i64.
  mlir::Value randomWord(mlir::Value seed, mlir::Value stream, mlir::Value i);
  mlir::Value randomWord64(mlir::Value seed, mlir::Value stream, mlir::Value i);
  /// `base` to the `exponent`, of i64: 1 for an exponent below 1; wraps around.
  mlir::Value integerPower(mlir::Value base, mlir::Value exponent);
  /// All words of counter `number`, as i64 below 2^32.
  std::array<mlir::Value, 4> philox(mlir::Value seed, mlir::Value stream,
                                    mlir::Value number);
  /// In [0, 1), f32, of a word (i32).
  mlir::Value uniformOf(mlir::Value word);
  /// In [0, 1): f32, or f64 of 53 bits.
  mlir::Value randomUniform(mlir::Value seed, mlir::Value stream, mlir::Value i,
                            bool isWide);

  mlir::Value number(double value); ///< f32
  mlir::Value wide(double value);   ///< f64
  mlir::Value integer(int64_t value, unsigned width = 32);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpFPredicate how, mlir::Value a,
                      mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a,
                      mlir::Value b);
  template <typename Op> mlir::Value make(mlir::Value a, mlir::Value b) {
    return Op::create(builder, loc, a, b).getResult();
  }
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value absolute(mlir::Value x);

private:
  mlir::Value atLeast(mlir::Value x, mlir::Value bound);
  mlir::Value atMost(mlir::Value x, mlir::Value bound);
  /// How e^f is multiplied by 2^n: as a normal number, as two, or by an
  /// instruction that has any n.
  enum class Scale { Normal, Halves, Instruction };
  /// e^x for x in [-104, 89] or NaN; with Scale::Normal in [-86, 86].
  mlir::Value expWithin(mlir::Value x, Scale scale);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value fma(mlir::Value a, mlir::Value b, double c) {
    return fma(a, b, number(c));
  }
  /// c0 x^n + c1 x^(n-1) + ... + cn, one fma a step.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> factors);
  mlir::Value bits(mlir::Value x);     ///< of f32, as i32
  mlir::Value fromBits(mlir::Value x); ///< f32
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value sinPart(mlir::Value r);
  mlir::Value cosPart(mlir::Value r);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_FORMULAS_H
