// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a loop nest runs on threads: the mapping, and which ops run in which loop
// over a row.
#ifndef CUTBACK_LIB_TARGET_CUDA_NESTPLAN_H
#define CUTBACK_LIB_TARGET_CUDA_NESTPLAN_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include <string>

namespace cutback::cuda {

/// How the loops of a nest are laid over threads.
struct NestSchedule {
  enum Mapping {
    Elements, ///< neighbours of a thread, 256 threads a block
    WarpRow,  ///< 32 lanes a row, four rows a block
    BlockRow, ///< a block a row
    Columns,  ///< 32 columns a block, eight threads a column
  } mapping = Elements;
  int64_t kept = 1, reduced = 1; ///< iterations
  int64_t width = 4;             ///< neighbours that a thread has
  int64_t threads = 1;           ///< that share a row or column
  int64_t blockThreads = 256;
  int64_t blocks = 1;

  /// In blocks of another size, not a smaller one: more elements, rows or
  /// columns a block; threads that a row of a block has no use for are idle.
  void setBlock(int64_t size);

  /// Elements of a row that a thread has, in neighbours.
  int64_t passes() const {
    return (reduced + width * threads - 1) / (width * threads);
  }
  /// Threads that would share a row if each had four neighbours. The order of a
  /// sum is theirs, so that it is a function of the extents alone: neither
  /// fewer neighbours nor a block of another size change it.
  int64_t fours() const {
    return mapping != BlockRow || reduced <= 1024 ? 32
           : reduced <= 4096                      ? 256
                                                  : 1024;
  }
};
/// Four neighbours a thread; two or one where a thread would have more in
/// registers than keeps half of a device's threads busy.
NestSchedule scheduleNest(kernel::NestOp nest);

/// A reduction, an index of one, a choice: what divides a body into loops.
bool isRoot(mlir::Operation *op);
bool isConstant(mlir::Value value);

class NestPlan {
public:
  NestPlan(kernel::NestOp nest, const NestSchedule &schedule);

  /// False, with why in `problem`, for a body that has no loops on threads.
  bool run(std::string &problem);

  /// One an element, not one a row. Constants are neither.
  bool isElement(mlir::Value value) const;
  bool isElementStore(kernel::StoreOp store) const;
  /// Whether what a thread has at once keeps to its share of registers.
  bool fits() const;
  /// Whether loops compute again what they have of held reads.
  bool isComputedAgain() const { return hold == Hold::Reads; }
  /// Whether a result may lie where all threads of a row read an operand.
  bool mayReplaceRowScalar() const;
  /// Axes with several iterations that store to one element.
  llvm::SmallVector<unsigned> repeatedAxes(kernel::StoreOp store) const;

  int numLoops = 1;
  /// By value: the loop in which an element is computed first, or in front of
  /// which loop a value of the row is known.
  llvm::DenseMap<mlir::Value, int> loopOf;
  llvm::DenseMap<mlir::Operation *, int> rootLoop;
  std::vector<llvm::DenseSet<mlir::Operation *>> needed; ///< by loop
  /// Elements that stay in registers for later loops.
  llvm::DenseSet<mlir::Value> held;

private:
  /// What an earlier loop has that a later one needs: everything, what it read
  /// of the row alone, nothing.
  enum class Hold { All, Reads, Nothing };

  bool findOrder(std::string &problem);
  void findLoops(Hold hold);
  void need(mlir::Value value, int loop, Hold hold);
  bool isHeld(mlir::Operation *op, Hold hold) const;
  bool isIndexMath(mlir::Value value) const;
  int64_t heldRegisters() const;
  int64_t loopRegisters(int loop) const;

  Hold hold = Hold::All;
  mutable kernel::NestOp nest; ///< accessors of ops are not const
  const NestSchedule &schedule;
  llvm::DenseMap<mlir::Value, bool> isReduced;
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_NESTPLAN_H
