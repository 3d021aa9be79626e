// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that take the place of another op.
#ifndef CUTBACK_LIB_DECOMPOSE_REPLACEMENT_H
#define CUTBACK_LIB_DECOMPOSE_REPLACEMENT_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Builders.h"

namespace cutback {

/// Collects the ops that are built in front of `op` and makes them its heirs:
/// they get its policy and other tags, and names that no other value has.
class Replacement : public mlir::OpBuilder::Listener {
public:
  Replacement(mlir::Operation *op, aten::ValueNamer &namer)
      : builder(op, this), op(op), namer(namer) {}

  void notifyOperationInserted(mlir::Operation *created,
                               mlir::OpBuilder::InsertPoint) override {
    ops.push_back(created);
  }

  /// Tags and names for what was built since the last call. Results that stand
  /// for results of the op (one entry each, null for none) take their names,
  /// if they were built here.
  void settle(llvm::ArrayRef<mlir::Value> results = {});

  /// All ops built so far, in order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

  mlir::OpBuilder builder;

private:
  mlir::Operation *op;
  aten::ValueNamer &namer;
  llvm::SmallVector<mlir::Operation *> ops;
  size_t settled = 0;
};

/// Gives `graph` the result types that its output has: sizes may have become
/// known.
void updateResultTypes(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_LIB_DECOMPOSE_REPLACEMENT_H
