// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anomaly mode: the first gradient that is not finite stops the run.
#ifndef CUTBACK_INTERPRETER_ANOMALYCHECK_H
#define CUTBACK_INTERPRETER_ANOMALYCHECK_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Observer.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace cutback::interpreter {

/// What there is to say of the elements of a tensor: all that are finite lie
/// between `least` and `greatest`.
struct ElementSummary {
  int64_t count = 0, wrong = 0; ///< `wrong`: NaN or infinite
  int64_t first = -1;           ///< of these, in row-major order
  double value = 0;             ///< that element
  double least = 0, greatest = 0;

  bool isFinite() const { return wrong == 0; }
};
ElementSummary summarize(const Tensor &tensor);

/// Looks at the results of each op of a step, whole, in halves, or in launches.
/// The run stops, with an error at the op that made it, where a NaN or an
/// infinity
///
///  1. was made by an op of the backward, and no operand brings one that an
///     earlier op of the backward has made, and
///  2. leaves the backward of its forward op: an op of another one reads it, or
///     it is a gradient that the step returns. What a rule masks away itself is
///     no anomaly.
///
/// An op of the backward is one with a key (BackwardKey.h), or in a graph
/// without any, one that depends on a tangent; there 2 holds of each op. Notes
/// name the forward op, the parent's if that is of a backward, and say of each
/// operand what it was before.
class AnomalyCheck : public OpObserver {
public:
  llvm::LogicalResult starts(mlir::Operation *function,
                             llvm::ArrayRef<RuntimeValue> arguments) override;
  llvm::LogicalResult ran(mlir::Operation *op,
                          llvm::MutableArrayRef<RuntimeValue> results) override;
  llvm::LogicalResult ends(mlir::Operation *function,
                           llvm::ArrayRef<RuntimeValue> results) override;
  bool keepsOperands() const override { return true; }
  bool wantsOpsOf(mlir::Operation *launch,
                  llvm::ArrayRef<RuntimeValue> results) override;

  /// The op that made the anomaly at which the run stopped; null if none did.
  mlir::Operation *anomaly() const { return found; }
  /// Tensors of the backward that were looked at, those inside of launches too.
  uint64_t numLooked() const { return looked; }

private:
  /// What is known of a value.
  struct Known {
    ElementSummary elements;
    mlir::Value made; ///< by the op that made it, in whichever function
    /// The op of the backward that began it; null where it was made in front.
    mlir::Operation *origin = nullptr;
  };

  void readFunction(mlir::Operation *function);
  bool isOfBackward(mlir::Operation *op) const;
  bool sameBackward(mlir::Operation *a, mlir::Operation *b) const;
  const Known *findKnown(mlir::Value value) const;
  void keep(mlir::Value value, const RuntimeValue &held, mlir::Operation *from);
  bool keepsToItself(kernel::LaunchOp launch) const;
  mlir::Operation *originOf(mlir::Operation *op) const;
  llvm::LogicalResult checkReads(mlir::Operation *op);
  void finishLaunch(mlir::Operation *launch,
                    llvm::ArrayRef<RuntimeValue> results);
  llvm::LogicalResult report(mlir::Operation *origin);
  void describeOperands(mlir::InFlightDiagnostic &diag, mlir::Operation *op);
  void describeForward(mlir::InFlightDiagnostic &diag, mlir::Operation *op);
  mlir::Operation *opOnLine(mlir::Location location) const;

  llvm::DenseMap<mlir::Value, Known> known;
  llvm::StringMap<Known> handed; ///< results of earlier functions, by name
  /// Values that depend on a tangent, in a graph without keys.
  llvm::DenseSet<mlir::Value> dependent;
  llvm::StringMap<mlir::Operation *> ops; ///< by the names of results
  std::vector<mlir::Operation *> named;   ///< the same, in their order
  llvm::DenseSet<mlir::Operation *> functions;
  bool hasKeys = false;
  uint64_t looked = 0;
  mlir::Operation *found = nullptr;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_ANOMALYCHECK_H
