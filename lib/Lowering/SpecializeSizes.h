// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A half of a step for one set of sizes.
#ifndef CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H
#define CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H

#include "cutback/MemoryPlan/StepView.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace cutback {

/// Floats that follow from sizes, by value of a step.
using KnownReals = llvm::DenseMap<uint32_t, double>;

/// Gives the values of `half`, a copy of a segment of `step` by `copies`, the
/// types that the step knows, without symbols, and writes the numbers that it
/// knows into the calls that take them. `known`: of segments before this one,
/// which may hand floats over; takes those of this one in. Linear.
void specializeSizes(mlir::func::FuncOp half, const StepView &step,
                     unsigned segment, const mlir::IRMapping &copies,
                     KnownReals &known);

/// What halves were before specializeSizes(), to be put back. Ops are known by
/// an attribute, so that what is cloned meanwhile is open again, too.
class OpenSizes {
public:
  /// `half` is about to be specialized.
  void remember(mlir::func::FuncOp half);
  /// Whether `op` had sizes as operands that it has as literals now.
  bool tookSizes(mlir::Operation *op) const;
  /// Takes the literals off again. All ops stand in one block, as they were.
  void restoreOperands(mlir::func::FuncOp half) const;
  /// Gives values their types back, through launches. The first `saved`
  /// arguments of `backward` are the last results of `forward`.
  void restoreTypes(mlir::func::FuncOp forward, mlir::func::FuncOp backward,
                    unsigned saved) const;

private:
  struct Entry {
    llvm::SmallVector<mlir::Value, 4> operands;
    llvm::SmallVector<mlir::Type, 1> types; ///< of results
    mlir::ArrayAttr args;                   ///< of a call
  };
  const Entry *entryOf(mlir::Operation *op) const;

  std::vector<Entry> entries;                    ///< by value of the attribute
  llvm::DenseMap<mlir::Value, mlir::Type> types; ///< of arguments
};

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_SPECIALIZESIZES_H
