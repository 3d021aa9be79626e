// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scalar op of a kernel's body as ops that LLVM has.
#ifndef CUTBACK_LIB_TARGET_CPU_SCALAROPS_H
#define CUTBACK_LIB_TARGET_CPU_SCALAROPS_H

#include "Formulas.h"

#include "cutback/Target/CPU/LowerKernel.h"

namespace cutback::cpu {

/// Functions of the C library and of ours that machine code calls, by the name
/// that it calls them.
struct LibraryFunction {
  const char *name;
  void *address;
};
llvm::ArrayRef<LibraryFunction> libraryFunctions();

/// Builds scalar ops where `builder` stands.
class ScalarOps {
public:
  ScalarOps(mlir::OpBuilder &builder, const KernelFrame &frame)
      : builder(builder), functions(frame.functions), loops(frame.loops),
        hasScaling(frame.hasScaling) {}

  /// `op` (of arith or math) on `operands`, rounded to its type; null if there
  /// is no machine code for it.
  mlir::Value lower(mlir::Operation *op, mlir::ValueRange operands);

  /// kernel.draw: element number `index`.
  /// `inRound` may be null.
  mlir::Value draw(kernel::DrawOp op, mlir::Value seed, mlir::Value index,
                   mlir::Value inRound);
  /// Elements 4 * `counter` to 4 * `counter` + 3 as words, i32.
  std::array<mlir::Value, 4> drawWords(kernel::DrawOp op, mlir::Value seed,
                                       mlir::Value counter,
                                       mlir::Value inRound);
  /// The element of such a word; not of numbers that take several.
  mlir::Value drawFrom(kernel::DrawOp op, mlir::Value word);

  /// Combines two scalars of a reduction.
  mlir::Value combine(mlir::Location loc, kernel::Combine how, mlir::Value a,
                      mlir::Value b);
  /// `choice` as it stands, whatever LLVM would make of it and what is around.
  mlir::Value keepApart(mlir::Location loc, mlir::Value choice);

  /// f32, for types that compute in it; others as they are.
  mlir::Value widen(mlir::Location loc, mlir::Value x);
  /// Rounds a float to `type`, once.
  mlir::Value round(mlir::Location loc, mlir::Value x, mlir::Type type);

private:
  mlir::Value math(mlir::Operation *op, mlir::ValueRange x, mlir::Type type);
  mlir::Value root(mlir::Location loc, mlir::Value x);
  mlir::Value divide(mlir::Operation *op, mlir::ValueRange x);
  mlir::Value shift(mlir::Operation *op, mlir::ValueRange x);
  mlir::Value toInteger(mlir::Operation *op, mlir::Value x);
  mlir::Value ofNumbers(mlir::Operation *op, mlir::ValueRange x);
  mlir::Value call(mlir::Location loc, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange operands);
  mlir::Value selectBits(mlir::Location loc, mlir::ValueRange operands,
                         mlir::Type type);
  mlir::Value again(mlir::Operation *op, mlir::ValueRange operands,
                    mlir::Type type);

  mlir::OpBuilder &builder;
  const RareFunctions functions;
  const LoopsFor loops;
  const bool hasScaling;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_SCALAROPS_H
