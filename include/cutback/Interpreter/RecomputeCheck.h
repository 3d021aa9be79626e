// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether what the backward computes again is what the forward has computed.
#ifndef CUTBACK_INTERPRETER_RECOMPUTECHECK_H
#define CUTBACK_INTERPRETER_RECOMPUTECHECK_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Observer.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace cutback::interpreter {

/// Keeps what the forward computes of each value that the backward recomputes,
/// and compares the two: type, sizes and bits. The run stops, with an error at
/// the recomputed op and a note at that of the forward, where they differ.
///
/// Of a view sizes are compared, its elements with those that it looks at. A
/// value that is in no memory, because it stays inside of a kernel, is not
/// seen. Takes the memory of the strategy save-all, and that of a copy.
class RecomputeCheck : public OpObserver {
public:
  llvm::LogicalResult starts(mlir::Operation *function,
                             llvm::ArrayRef<RuntimeValue> arguments) override;
  llvm::LogicalResult ran(mlir::Operation *op,
                          llvm::MutableArrayRef<RuntimeValue> results) override;

  bool hasDiffered() const { return differs; }
  uint64_t numCompared() const { return compared; }
  /// Recomputed values of the step that were not seen in both halves.
  uint64_t numUnseen() const;
  /// Bytes of the forward's values that were kept.
  int64_t keptBytes() const { return bytes; }

private:
  enum class Half { None, Forward, Backward };
  struct Kept {
    RuntimeValue value;
    mlir::Value made;
    bool isView = false;
  };

  void readHalves(joint::PartitionOp link, mlir::Operation *backward);
  void keep(mlir::Value made, const RuntimeValue &value);
  llvm::LogicalResult compare(mlir::Value made, const RuntimeValue &value);
  llvm::LogicalResult report(const Kept &kept, mlir::Value made,
                             const RuntimeValue &value);

  Half half = Half::None;
  mlir::Operation *partition = nullptr; ///< whose names are read
  /// Values of the forward by name, and whether the backward has them again.
  llvm::StringMap<std::pair<mlir::Value, bool>> wanted;
  llvm::StringMap<Kept> kept;
  llvm::DenseSet<mlir::Value> recomputed, seen; ///< of the backward
  uint64_t compared = 0;
  int64_t bytes = 0;
  bool differs = false;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_RECOMPUTECHECK_H
