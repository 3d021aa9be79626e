// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differentiation tells an op when it asks for its vector-Jacobian
// product, and what the op answers.
#ifndef CUTBACK_DIALECT_JOINT_VJP_H
#define CUTBACK_DIALECT_JOINT_VJP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace cutback::joint {

/// One VJP being built. `builder` inserts into the backward; the operands and
/// results of the forward op may be used there (and may have to be saved).
class VjpContext {
public:
  /// `resultGradients`: one a result, null where no gradient arrives.
  /// `needed`: one bit an operand.
  VjpContext(mlir::OpBuilder &builder, mlir::Operation *op,
             llvm::ArrayRef<mlir::Value> resultGradients,
             llvm::SmallBitVector needed)
      : builder(builder), op(op), resultGradients(resultGradients),
        needed(std::move(needed)), operandGradients(op->getNumOperands()),
        zeros(op->getNumOperands()), none(op->getNumOperands()) {}

  mlir::OpBuilder &builder;
  mlir::Operation *op;

  /// The gradient of result `i`, of the result's type; null for none (zero).
  mlir::Value gradient(unsigned i = 0) const { return resultGradients[i]; }
  /// True if the gradient of operand `i` is asked for.
  bool needs(unsigned i) const { return needed.test(i); }

  /// Answers with the gradient of operand `i`, which has the operand's shape
  /// and element type. An operand that occurs twice is answered twice.
  void set(unsigned i, mlir::Value gradient) { operandGradients[i] = gradient; }
  llvm::ArrayRef<mlir::Value> getOperandGradients() const {
    return operandGradients;
  }

  /// Answers that operand `i` has a gradient, which is zero everywhere. Nothing
  /// is built for it unless it is all that an argument gets.
  void setZero(unsigned i) { zeros.set(i); }
  bool isZero(unsigned i) const { return zeros.test(i); }

  /// Answers that operand `i` has no gradient by those that arrive.
  void setNone(unsigned i) { none.set(i); }
  /// True if operand `i` got one of these answers.
  bool isAnswered(unsigned i) const {
    return operandGradients[i] || zeros.test(i) || none.test(i);
  }

private:
  llvm::ArrayRef<mlir::Value> resultGradients;
  llvm::SmallBitVector needed;
  llvm::SmallVector<mlir::Value, 4> operandGradients;
  llvm::SmallBitVector zeros, none;
};

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_VJP_H
